// node pyodide.mjs WHEEL CASES: the pure wheel in Pyodide reads the cases of the tests.
import { loadPyodide } from "pyodide";
import fs from "fs";
const py = await loadPyodide();
const wheel = fs.readFileSync(process.argv[2]);
py.unpackArchive(new Uint8Array(wheel), "wheel", { extractDir: "/lib/site" });
const cases = {};
for (const f of fs.readdirSync(process.argv[3])) cases[f] = fs.readFileSync(process.argv[3] + "/" + f, "utf8");
py.globals.set("cases_json", JSON.stringify(cases));
console.log(py.runPython(`
import sys, json; sys.path.insert(0, "/lib/site")
import toolstream
assert toolstream.BACKEND == "python"
FR = {"sse-openai-chat": "openai-chat", "sse-anthropic": "anthropic", "sse-gemini": "gemini", "ndjson-ollama": "ollama"}
ran = calls = 0
for name, text in json.loads(cases_json).items():
    case = json.loads(text)
    if isinstance(case["chunks"], dict): continue
    pieces = case["chunks"] if case["encoding"] == "json" else [bytes.fromhex(c) if case["encoding"] == "hex" else c.encode() for c in case["chunks"]]
    done = toolstream.assemble(pieces, FR.get(case["provider"], case["provider"]))
    want = case["expected"]["calls"]
    assert [(c.name, c.status, c.executable) for c in done.calls] == [(w["name"], w["status"], w["executable"]) for w in want], name
    ran += 1; calls += len(want)
f"Python {sys.version.split()[0]} {sys.platform}: {ran} cases, {calls} calls, all as expected"
`));
