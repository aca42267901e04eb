"""The documents: every code block runs, every output shown is what comes, and the list of defects is the library's.

Blocks of `python` run in order, with one namespace for a file. A block after the comment `<!-- not run: ... -->`, and
one with `needs-MODULE` where that module is missing, is only compiled. Blocks of `console` show commands after `$ `
with their output, in which a line `...` stands for any lines and `...` at the end of a line for any rest. Blocks of
`sh` install things and use networks; their lines that are commands of toolstream alone are run, all others parsed.
"""

import array
import asyncio
import doctest
import importlib.util
import inspect
import json
import re
import shlex
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

import toolstream
from toolstream.cli import _parser, main
from toolstream.defects import DEFECTS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


class Block(NamedTuple):
    line: int
    language: str
    options: str
    text: str
    before: str  # the line above


def blocks(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    found, at = [], 0
    while at < len(lines):
        fence = re.fullmatch(r"```([\w{}-]+)(.*)", lines[at])
        if fence:
            end = lines.index("```", at)
            text = "\n".join(lines[at + 1 : end]) + "\n"
            found.append(Block(at + 2, fence[1], fence[2].strip(), text, lines[at - 1] if at else ""))
            at = end
        at += 1
    return found


def of(page, *languages):
    return [block for block in blocks(page) if block.language in languages]


def pages_with(*languages):
    return [pytest.param(page, id=page.name) for page in PAGES if of(page, *languages)]


@pytest.fixture(autouse=True)
def workplace(tmp_path, monkeypatch):
    """An empty folder beside the example streams, where blocks may write."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


def run_python(page, namespace):
    """Run the blocks of a page."""
    for block in of(page, "python"):
        code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
        needs = re.findall(r"needs-(\w+)", block.options)
        if not block.before.startswith("<!-- not run:") and all(map(importlib.util.find_spec, needs)):
            exec(code, namespace)


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_blocks_run(page, capsys):
    run_python(page, {"__name__": "__main__"})


CALLED_BY_USERS = re.compile(r"[a-z]\w+|\w+(Accumulator|Decoder|Limits|Parser|Stream|Tracker|Watchdog)")


@pytest.mark.parametrize("name", [name for name in toolstream.__all__ if CALLED_BY_USERS.fullmatch(name)])
def test_examples_of_docstrings_run(name):
    public = getattr(toolstream, name)
    members = [value for key, value in vars(public).items() if key[0] != "_"] if inspect.isclass(public) else []
    known = {key: getattr(toolstream, key) for key in toolstream.__all__} | {"array": array.array, "asyncio": asyncio}
    runner = doctest.DocTestRunner()
    for documented in (public, *members):
        text = inspect.cleandoc(getattr(documented, "__doc__", None) or "")
        runner.run(doctest.DocTestParser().get_doctest(text, dict(known), name, None, None))
    assert runner.tries > 0
    assert runner.failures == 0


def matches(shown, real):
    """Whether the output of a document is the real one, with `...` for what is left out."""
    pattern = ""
    for line in shown.splitlines():
        if line == "...":
            pattern += r"(?:.*\n)*?"
        elif line.endswith("..."):
            pattern += re.escape(line.removesuffix("...")) + r".*\n"
        else:
            pattern += re.escape(line) + r"\n"
    return re.fullmatch(pattern, real) is not None


def commands(block):
    """The commands of a console block, each with the output shown."""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


@pytest.mark.parametrize("page", pages_with("console"))
def test_console_blocks_show_what_comes(page, capsys):
    for block in of(page, "console"):
        for command, output in commands(block):
            program, *argv = shlex.split(command)
            assert program == "toolstream"
            assert main(argv) in (0, 1), command
            real = capsys.readouterr().out
            assert matches(output, real), f"{page.name}:{block.line}: {command}\n{real}"


@pytest.mark.parametrize("page", pages_with("sh"))
def test_shell_blocks_name_commands_that_exist(page, capsys):
    for block in of(page, "sh"):
        for line in block.text.splitlines():
            for command in re.split(r"&&|\||>", line):
                words = shlex.split(command, comments=True)
                if not words or Path(words[0]).name != "toolstream":
                    continue
                _parser().parse_args(words[1:])
                if command == line and "*" not in line:
                    assert main(words[1:]) in (0, 1), line


def test_the_readme_shows_what_its_first_command_prints(capsys):
    parts = blocks(ROOT / "README.md")
    shown = [
        (re.search(r"toolstream (replay .*|demo.*)$", first.text.strip())[1], second.text)
        for first, second in pairwise(parts)
        if first.language == "sh" and second.language == "text"
    ]
    assert shown
    for command, output in shown:
        assert main(shlex.split(command)) == 0
        assert matches(output, capsys.readouterr().out), command


def test_shown_output_is_compared():
    assert matches("a\n...\nd\nhalf ...\n", "a\nb\nc\nd\nhalf of it\n")
    assert not matches("a\n...\nd\n", "a\nb\nc\n")
    assert not matches("a\n", "a\nb\n")


@pytest.mark.parametrize("page", pages_with("json"))
def test_json_blocks_are_json(page):
    for block in of(page, "json"):
        for line in block.text.splitlines():
            json.loads(line)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_the_recipe_records_what_every_command_reads(tmp_path, capsys):
    pytest.importorskip("httpx")
    content = (ROOT / "examples" / "weather.sse").read_bytes()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for at in range(0, len(content), 1500):
                self.wfile.write(content[at : at + 1500])
                self.wfile.flush()

        def log_message(self, *words):
            pass

    namespace = {}
    run_python(ROOT / "docs" / "cli.md", namespace)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            address = f"http://127.0.0.1:{server.server_port}/"
            namespace["record"]("stream.jsonl", "POST", address, json={"stream": True})
        finally:
            server.shutdown()
    assert main(["replay", "--json", "stream.jsonl"]) == 0
    recorded = json.loads(capsys.readouterr().out)["calls"]
    assert main(["replay", "--json", "examples/weather.sse"]) == 0
    assert recorded == json.loads(capsys.readouterr().out)["calls"]


def test_the_list_of_defects_is_the_one_of_the_library():
    source = ROOT / "docs" / "write_defects.py"
    namespace = {"__name__": "write_defects"}
    exec(compile(source.read_text(encoding="utf-8"), str(source), "exec"), namespace)
    text = (ROOT / "docs" / "defects.md").read_text(encoding="utf-8")
    assert text == namespace["page"](), "run: python docs/write_defects.py > docs/defects.md"
    assert re.findall(r"^### `(\w+)`$", text, re.MULTILINE) == sorted(
        DEFECTS, key=lambda code: ("error", "warning", "info").index(DEFECTS[code][0])
    )
