"""The cost of a delta grows neither with the number of calls nor with the length of the text, whatever comes.

Lines of Python are counted exactly; copies inside the interpreter are no lines, so the clock has the last word on
bigger input, with a wide margin: what is quadratic takes 64 times as long for 8 times the input.
"""

import gc
import time

import pytest
from chat import call, delta, entry, finish
from counting import lines_executed
from cutting import pieces_of

from toolstream import Limits, ToolCallStream


def fragments(text, size=1, head=""):
    return [call(0, "a", "f", head), *[call(0, arguments=piece) for piece in pieces_of(text, size)]]


def parallel(n):
    opened = [call(i, f"id{i}", "f", '{"x":') for i in range(n)]
    return opened + [call(i, arguments=str(i)) for i in range(n)] + [call(i, arguments="}") for i in reversed(range(n))]


# name -> the deltas of a stream with about n of them, or n characters
SHAPES = {
    "one string, one by one": lambda n: fragments('{"a":"' + "x" * n + '"}'),
    "one string, by 64": lambda n: fragments('{"a":"' + "x" * 64 * n + '"}', 64),
    "many members": lambda n: fragments("{" + ",".join(f'"k{i:06}":1' for i in range(n // 10)) + "}", 3),
    "parallel calls": lambda n: parallel(n // 3),
    "parallel calls in one delta": lambda n: [delta(*[entry(i, f"id{i}", "f", "{}") for i in range(n)])],
    "parallel calls without an index": lambda n: [call(None, f"id{i}", "f", "{}") for i in range(n)],
    "parallel calls without anything": lambda n: [call(name="f", arguments="{}") for i in range(n)],
    "one slot for all": lambda n: [call(0, f"id{i}", "f", '{"x":') for i in range(n)],
    "one slot and no id": lambda n: [call(0, None, "f", f'{{"x":{i % 2}}}') for i in range(n)],
    "bare entries by position": lambda n: [
        delta(*[entry(None, f"id{i}", "f", "") for i in range(n // 2)]),
        delta(*[entry(arguments="{}") for i in range(n // 2)]),
    ],
    "bare entries with no position": lambda n: [
        *[call(None, f"id{i}", "f", "") for i in range(n // 2)],
        *[delta(entry(arguments="{"), entry(arguments="{")) for i in range(n // 2)],
    ],
    "orphans": lambda n: [call(0, "a", "f", "{"), call(1, "b", "g", "{"), *[call(9, arguments="x")] * n],
    "text that waits": lambda n: [call(i % 7, arguments="x") for i in range(n)],
    "text that waits for its header": lambda n: [*[call(0, arguments=" ")] * n, call(0, "a", "f", "{}")],
    "drifting while others are closed": lambda n: [
        *[call(i, f"id{i}", "f", "{}") for i in range(n // 2)],
        call(n, "a", "f", '{"x":"'),
        *[call(n + i, arguments="x") for i in range(n // 2)],
    ],
    "everything repeated": lambda n: [call(0, "a", "f", piece) for piece in '{"a":"' + "x" * n + '"}'],
    "another id each time": lambda n: [
        call(0, "a", "f", '{"a":"'),
        *[call(0, f"id{i}", arguments="x") for i in range(n)],
    ],
    "a name in pieces": lambda n: [call(0, "a", f"{i}_") for i in range(n // 10)],
    "the name again after a long text": lambda n: [
        *fragments('{"a":"' + "x" * 64 * n + '"}', 640),
        *[call(0, None, "f", "")] * (n // 2),
        *[call(0, None, "f", " ")] * (n // 2),
    ],
    "placeholders": lambda n: [call(0, "a", "f", "{}"), *[call(0, arguments="{}")] * n, call(0, arguments='{"a":1}')],
    "placeholders in one delta": lambda n: [call(0, "a", "f", "{}" * n + '{"a":1}')],
    "copies": lambda n: [call(0, "a", "f", '{"a":1}'), *[call(0, arguments='{"a":1}')] * (n // 4)],
    "copies in one delta": lambda n: [call(0, "a", "f", '{"a":1}' * (n // 4))],
    "other values": lambda n: [call(0, "a", "f", '{"a":1}'), *[call(0, arguments='{"a":2}')] * (n // 4)],
    "other values in one delta": lambda n: [call(0, "a", "f", '{"a":1}' + "{} " * (n // 4))],
    "a long value after the end": lambda n: fragments('{"a":1}{"b":"' + "x" * n + '"}'),
    "noise after the end": lambda n: fragments('{"a":1}' + "no " * (n // 3)),
    "broken values after the end": lambda n: fragments('{"a":1}' + "[x" * (n // 8), 4),
    "broken values after the end, in one delta": lambda n: [call(0, "a", "f", '{"a":1}' + "[x" * (n // 8))],
    "openers after the end, in one delta": lambda n: [call(0, "a", "f", '{"a":1}; ' + "[" * 400 + "x" * n)],
    "repairs": lambda n: fragments('{"a":"' + "\n" * n + '"}'),
    "single quotes": lambda n: fragments("{'a':'" + "x" * n + "'}"),
    "malformed": lambda n: fragments('{"a":' + "x " * (n // 2) + "}"),
    "too deep": lambda n: fragments("[" * (512 + n), 2),
    "escapes that look suspicious": lambda n: fragments('{"a":"' + "\\b" * (n // 2) + '"}', 2),
    "objects": lambda n: [call(0, "a", "f", {f"k{i}": i}) for i in range(n // 4)],
    "objects that grow": lambda n: [call(0, "a", "f", {"b": "x" * n}), *[call(0, "a", None, {"c": 1})] * (n // 4)],
    "nameless": lambda n: [call(0, "a", arguments='{"a":"'), *[call(0, arguments="x")] * n, call(0, name="f")],
    "text": lambda n: [delta(content="x", reasoning="y", choice=i % 3) for i in range(n // 2)],
    "after the finish word": lambda n: [call(0, "a", "f", '{"a":"'), finish(), *[call(0, arguments="x")] * n],
    "finish words": lambda n: [finish(choice=i) for i in range(n)],
}


def reader(chunks, **options):
    def run():
        stream = ToolCallStream("openai-chat", **options)
        calls = stream.completion.calls
        for chunk in chunks:
            stream.feed(chunk)
            if calls:
                calls[-1].partial_arguments  # noqa: B018
        stream.feed(finish())
        stream.close()

    return run


@pytest.mark.parametrize("name", SHAPES)
def test_counted_work(name):
    reader(SHAPES[name](40))()
    once, twice = (lines_executed(reader(SHAPES[name](n))) for n in (400, 800))
    assert twice < 2.15 * once + 400


def seconds(action):
    best = float("inf")
    for _ in range(2):
        gc.collect()
        begin = time.process_time()
        action()
        best = min(best, time.process_time() - begin)
    return best


@pytest.mark.parametrize("name", SHAPES)
def test_time(name):
    small, large = (reader(SHAPES[name](n)) for n in (1000, 8000))
    base = seconds(small)
    assert seconds(large) < 24 * base + 0.02


@pytest.mark.parametrize(("length", "size"), [(100_000, 1), (1 << 18, 1), (1 << 21, 64)])
def test_a_long_text_with_a_view_of_every_piece(length, size):
    text = "x" * length
    chunks = fragments('{"a":"' + text + '"}', size)
    stream = ToolCallStream("openai-chat")
    shown = 0
    for chunk in chunks:
        stream.feed(chunk)
        view = stream.completion.calls[0].partial_arguments.get("a", "")
        assert len(view) >= shown
        shown = len(view)
    stream.feed(finish())
    stream.close()
    assert stream.completion.calls[0].arguments == {"a": text}


def test_ten_thousand_parallel_calls():
    stream = ToolCallStream("openai-chat")
    for chunk in [*parallel(10_000), finish()]:
        stream.feed(chunk)
    stream.close()
    assert [c.arguments for c in stream.completion.calls] == [{"x": i} for i in range(10_000)]
    assert stream.completion.defects == []


def test_a_million_defective_deltas():
    stream = ToolCallStream("openai-chat", limits=Limits(max_defects=10))
    stream.feed(call(0, "a", "f", "{"))
    stream.feed(call(1, "b", "g", "{"))
    chunk = delta(*[entry(n, f"id{n}" if n < 2 else None, None, " ") for n in range(100)])
    for _ in range(10_000):
        stream.feed(chunk)
    stream.close()
    assert len(stream.completion.defects) == 6  # two changed ids, orphans, no end, two calls that were cut
    assert stream.completion.defect_count == 10_000 * (2 + 98) + 3
