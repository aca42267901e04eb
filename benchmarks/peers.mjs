// The JavaScript reference in the modes of peers.py, which runs this and gives the input:
//
//   node peers.mjs INPUT.json        in a folder whose node_modules has @earendil-works/pi-ai and partial-json
//
// INPUT: {"pieces": {corpus: [piece, ...]}, "budget": seconds}. OUTPUT: {mode: {corpus: seconds of CPU time}}.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { pathToFileURL } from "node:url";

const input = JSON.parse(readFileSync(process.argv[2], "utf8"));
const module = pathToFileURL(`${process.cwd()}/node_modules/@earendil-works/pi-ai/dist/utils/streaming-json.js`);
const { StreamingJsonParser } = await import(module);

const modes = {
  append(pieces) {
    const parser = new StreamingJsonParser();
    for (const piece of pieces) parser.append(piece);
    return parser.snapshot();
  },
  live(pieces) {
    const parser = new StreamingJsonParser();
    let value;
    for (const piece of pieces) {
      parser.append(piece);
      value = parser.snapshot();
    }
    return value;
  },
};

function seconds(run, pieces, loops) {
  const start = process.cpuUsage();
  for (let i = 0; i < loops; i++) run(pieces);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1e6 / loops;
}

for (const run of Object.values(modes)) {
  const start = performance.now();
  while (performance.now() - start < 300) run(Object.values(input.pieces)[0]); // V8 compiles what is hot
}
const results = {};
for (const [mode, run] of Object.entries(modes)) {
  results[mode] = {};
  for (const [corpus, pieces] of Object.entries(input.pieces)) {
    if (!isDeepStrictEqual(run(pieces), JSON.parse(pieces.join("")))) throw new Error(`${mode} ${corpus}: wrong value`);
    const first = Math.max(1e-6, seconds(run, pieces, 1));
    const loops = Math.max(1, Math.ceil(0.01 / first));
    const rounds = Math.max(1, Math.min(7, Math.floor(input.budget / (first * loops))));
    const samples = Array.from({ length: rounds }, () => seconds(run, pieces, loops)).sort((a, b) => a - b);
    results[mode][corpus] = samples[rounds >> 1];
  }
}
process.stdout.write(JSON.stringify(results));
