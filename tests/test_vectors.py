"""The examples in data/vectors of the parser, of the arguments stream, and of finished calls.

A step of `streaming_json` and `arguments_stream` says what is seen after one call: `{"value": V}`, or `{"same": true}`
for the very object of the last step. `fresh` beside it is what is right where an implementation went on showing a value
that it had dropped. `{"$js": "undefined"}` is MISSING.
"""

import re

import pytest
from vectors import vectors

from toolstream import (
    MISSING,
    ToolCallArgumentsStream,
    apply_changes,
    parse_tool_call_arguments,
    tool_call_arguments_absent,
)

UNDEFINED = {"$js": "undefined"}
STRING = re.compile(r'"(?:\\.|[^"\\])*(?:"|\\?\Z)', re.DOTALL)
DELIMITERS = ' \t\r\n,:{}[]"'


def expand(specs):
    """The pieces that a list in the compact notation of the examples stands for."""
    for spec in specs:
        if isinstance(spec, str):
            yield spec
        elif "rep" in spec:
            yield spec["rep"] * spec["n"]
        elif "each" in spec:
            yield from [spec["each"]] * spec["n"]
        elif "chars" in spec:
            yield from spec["chars"]
        elif "num" in spec:
            yield from (spec["fmt"].replace("%", str(number)) for number in range(*spec["num"]))
        else:
            yield "".join(expand(spec["cat"]))


def equal(want, got):
    """Numbers by value, the order of members aside; `True` is no number."""
    if want == UNDEFINED:
        return got is MISSING
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(equal, want, got))
    if isinstance(want, dict):
        return isinstance(got, dict) and want.keys() == got.keys() and all(equal(want[key], got[key]) for key in want)
    if isinstance(want, (int, float)) and not isinstance(want, bool):
        return isinstance(got, (int, float)) and not isinstance(got, bool) and want == got
    return type(want) is type(got) and want == got


class Shown:
    """What was seen step by step, against the steps of an example."""

    def __init__(self):
        self.want, self.last, self.free, self.text = UNDEFINED, MISSING, False, ""

    def check(self, step, field, got, text):
        seen = step[field]
        self.want = seen.get("value", self.want)
        assert equal(step.get("fresh", self.want), got), text
        # which object it is is free once a dropped value was shown, and where a pending token ends
        self.free = self.free or "fresh" in step
        token_was_open = STRING.sub('"', self.text)[-1:] not in ("", *DELIMITERS)
        if "same" in seen and not self.free and not token_was_open:
            assert got is self.last or (not isinstance(got, (dict, list)) and got == self.last), text
        self.last, self.text = got, text


def changes_of(step):
    return [[change["kind"], change["path"], change.get("value", change.get("text"))] for change in step["changes"]]


@pytest.mark.parametrize("vector", vectors("streaming_json"))
def test_streaming_json(engine, vector):
    given, expected = vector["input"], vector["expected"]
    parser, changes, text, shown = engine.StreamingJsonParser(), [], "", Shown()
    if given["op"] == "sizes":
        return check_sizes(parser, given, expected)
    if given["op"] == "script":
        script = [(step[0], *step[1:]) for step in given["script"]]
        steps = expected["steps"]
    else:
        script, steps = [], []
        for piece, step in zip(expand(given["chunks"]), expected["steps"], strict=True):
            script.append(("append", piece))
            steps.append(step)
            if "snapshot" in step:
                script.append(("snapshot",))
                steps.append(step)
    snapshots = []
    for (what, *argument), step in zip(script, steps, strict=True):
        if what == "append":
            piece = "".join(expand(argument))
            text += piece
            new = parser.append(piece)
            assert equal(changes_of(step), [[kind, list(path), value] for kind, path, value in new]), text
            changes += new
        elif what == "snapshot":
            snapshots.append(parser.snapshot())
            shown.check(step, "snapshot", snapshots[-1], text)
        elif step["shared"]:
            one, other = snapshots[-2:]
            for part in argument[0]:
                one, other = one[part], other[part]
            assert one is other
    final = next((step["fresh"] for step in reversed(steps[-1:]) if "fresh" in step), expected["final"])
    assert equal(final, parser.snapshot())
    assert equal(expected["replay"], apply_changes(MISSING, changes))
    return None


def check_sizes(parser, given, expected):
    def size(value):
        for part in given["measure"]:
            try:
                value = value[part]
            except (LookupError, TypeError):
                return -1
        return len(value) if isinstance(value, (str, list, dict)) else -1 if value is MISSING else 0

    counts, sizes, changes = [], [], []
    for piece in expand(given["chunks"]):
        new = parser.append(piece)
        counts.append(len(new))
        changes += new
        sizes.append(size(parser.snapshot()))
    for name, got in (("sizes", sizes), ("change_counts", counts)):
        assert got == [first + i * step for first, count, step in expected[name] for i in range(count)]
    assert size(parser.snapshot()) == expected["final_size"]
    assert size(apply_changes(MISSING, changes)) == expected["replay_size"]


@pytest.mark.parametrize("vector", vectors("arguments_stream"))
def test_arguments_stream(vector):
    stream, shown = ToolCallArgumentsStream(), Shown()
    for (what, *argument), step in zip(vector["input"]["script"], vector["expected"]["steps"], strict=True):
        if what == "text":
            assert stream.text == step["text"]
        elif what == "finish":
            arguments, error = stream.finish()
            assert equal(step["arguments"], arguments)
            assert (error is not None) == step["error"]
            assert error is None or error.endswith(f"\n\nReceived arguments:\n{stream.text}")
        elif what == "append":
            shown.check(step, "arguments", stream.append("".join(expand(argument))), stream.text)
        else:
            delta, arguments = stream.replace("".join(expand(argument)))
            assert delta == (None if step["delta"] == UNDEFINED else step["delta"])
            shown.check(step, "arguments", arguments, stream.text)


@pytest.mark.parametrize("vector", vectors("parse_arguments"))
def test_parse_arguments(vector):
    expected, result = vector["expected"], parse_tool_call_arguments(vector["input"]["toolCall"])
    assert result.kind == expected["kind"]
    if result.kind == "parsed":
        assert equal(expected["arguments"], result.arguments)
    elif result.kind == "unsupported_type":
        assert result.type == expected["type"]
    else:
        assert result.detail
        assert all(word in result.detail for word in expected["detail"]["should_name"])


@pytest.mark.parametrize("vector", vectors("arguments_absent"))
def test_arguments_absent(vector):
    assert tool_call_arguments_absent(vector["input"]["rawArguments"]) is vector["expected"]["absent"]
