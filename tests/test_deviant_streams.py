"""The table of the README: eight deviant streams, and what toolstream makes of each."""

import re
from pathlib import Path

import pytest
from chat import call, delta, entry, finish, read
from protocol_helpers import brief

README = Path(__file__).parent.parent / "README.md"
ADD = ("add", {"x": 1}, "complete", True)
MUL = ("mul", {"y": 2}, "complete", True)

# stream -> its chunks, its calls, and the codes reported
DEVIANT = {
    "two calls under one index": (
        [call(0, "a", "add", '{"x":1}'), call(0, "b", "mul", '{"y":2}')],
        [ADD, MUL],
        [("index_reused", 1)],
    ),
    "calls without an index": (
        [call(None, "a", "add", '{"x":1}'), call(None, "b", "mul", '{"y":'), call(None, arguments="2}")],
        [ADD, MUL],
        [("index_missing", 0), ("index_missing", 1)],
    ),
    "indexes from 1": (
        [call(1, "a", "add", '{"x":'), call(1, arguments="1}"), call(2, "b", "mul", '{"y":2}')],
        [ADD, MUL],
        [("index_not_zero_based", 0)],
    ),
    "interleaved calls": (
        [
            delta(entry(0, "a", "add", ""), entry(1, "b", "mul", "")),
            call(1, arguments='{"y"'),
            call(0, arguments='{"x"'),
            call(1, arguments=":2}"),
            call(0, arguments=":1}"),
        ],
        [ADD, MUL],
        [],
    ),
    "id and name on every chunk": (
        [call(0, "a", "add", ""), call(0, "a", "add", '{"x"'), call(0, "a", "add", ":1}")],
        [ADD],
        [("id_repeated", 0), ("name_repeated", 0)],
    ),
    "a custom tool": (
        [
            delta({"index": 0, "id": "a", "type": "custom", "custom": {"name": "shell", "input": "ls "}}),
            delta({"index": 0, "custom": {"input": "-l"}}),
        ],
        [("shell", "ls -l", "complete", True)],
        [],
    ),
    "null arguments, then `{}`": (
        [call(0, "a", "now"), delta({"index": 0, "function": {"arguments": None}}), call(0, arguments="{}")],
        [("now", {}, "complete", True)],
        [("args_null_delta", 0)],
    ),
    "the whole text so far in every fragment": (
        [call(0, "a", "add", ""), call(0, arguments='{"x"'), call(0, arguments='{"x":1}')],
        [ADD],
        [("args_cumulative", 0)],
    ),
}


@pytest.mark.parametrize("name", DEVIANT)
def test_deviant_stream(name):
    chunks, calls, reported = DEVIANT[name]
    completion = read([*chunks, finish()])[0]
    assert brief(completion) == calls
    assert [(defect.code, defect.call) for defect in completion.defects] == reported


def test_the_readme_has_these_rows():
    table = README.read_text(encoding="utf-8").partition("## What providers send")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+?) \| .+? \| (.+) \|$", table, re.M)[2:]
    assert [row[0] for row in rows] == list(DEVIANT)
    for name, said in rows:
        assert set(re.findall(r"`(\w+_\w+)`", said)) == {code for code, _ in DEVIANT[name][2]}, name
