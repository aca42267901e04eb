"""Cost: counted work is linear in the characters and the calls for every shape of text, and so are time and memory.

The pure engine's work is counted exactly, by the lines that it executes. What happens inside a call of the interpreter,
such as a copy, is no line; the clock, on both engines, has the last word there, with a wide margin: what is quadratic
takes 64 times as long for 8 times the text.
"""

import gc
import time
import tracemalloc
from functools import partial
from itertools import pairwise
from math import log2

import pytest
from counting import lines_executed
from cutting import pieces_of

from toolstream import MISSING, ToolCallArgumentsStream, _engine_py, apply_changes

GRIN = "\\ud83d\\ude00"


def flat_object(n):
    return "{" + ",".join(f'"key{i:06}":{i % 10}' for i in range(n // 14))


def records(n):
    return "[" + ",".join(
        f'{{"id":{i},"name":"no {i}","tags":["a","b\\n"],"on":true}}' for i in range(10000, 10000 + n // 56)
    )


# name -> (text of about n characters, size of the pieces, options); none of them is closed, so that nothing is spared
SHAPES = {
    "long string": (lambda n: '{"a":"' + "x" * n, 64, {}),
    "long string, one by one": (lambda n: '{"a":"' + "x" * n, 1, {}),
    "long string beyond ASCII": (lambda n: '["' + "\u4e2d\u6587 \U0001f600" * (n // 4), 5, {}),
    "root string": (lambda n: '"' + "x" * n, 16, {}),
    "many escapes": (lambda n: '["' + "\\n" * (n // 2), 7, {}),
    "many escapes in one piece": (lambda n: '["' + "ab\\n\\u00e9" * (n // 10), 1 << 30, {}),
    "many surrogate pairs": (lambda n: '["' + GRIN * (n // 12), 7, {}),
    "many invalid escapes": (lambda n: '["' + "\\d" * (n // 2), 64, {}),
    "many control characters": (lambda n: '["' + "\n" * n, 64, {}),
    "many strings": (lambda n: "[" + '"ab",' * (n // 5), 64, {}),
    "many items": (lambda n: "[" + "1," * (n // 2), 64, {}),
    "many items, one by one": (lambda n: "[" + "1," * (n // 2), 1, {}),
    "many numbers": (lambda n: "[" + "-12.5e3 ," * (n // 9), 4, {}),
    "records": (records, 4, {}),
    "deep arrays": (lambda n: "[" * n, 64, {}),
    "deep arrays, one by one": (lambda n: "[" * n, 1, {}),
    "deep objects": (lambda n: '{"a":' * (n // 5), 4, {}),
    "deep and back": (lambda n: "[[1]," * (n // 5), 3, {}),
    "up and down": (lambda n: "[" + "[[[[]]]]," * (n // 9), 4, {}),
    "flat object": (flat_object, 64, {}),
    "flat object, small pieces": (flat_object, 4, {}),
    "one key again and again": (lambda n: "{" + '"k":{"a":1},' * (n // 12), 16, {}),
    "long key": (lambda n: '{"' + "k" * n, 64, {}),
    "long number": (lambda n: "[" + "1" * n, 64, {}),
    "long number, one by one": (lambda n: "[" + "1" * n, 1, {}),
    "long fraction": (lambda n: "[0." + "3" * n, 64, {}),
    "long word": (lambda n: "[" + "w" * n, 64, {}),
    "long word, one by one": (lambda n: "[" + "w" * n, 1, {}),
    "many words": (lambda n: "[" + "word " * (n // 5), 64, {}),
    "blanks": (lambda n: "[" + " " * n, 64, {}),
    "after the root": (lambda n: "[]" + "x{" * (n // 2), 64, {}),
    "stray punctuation": (lambda n: "}],:" * (n // 4), 64, {}),
    "no commas": (lambda n: "[" + "1 2" * (n // 3), 64, {}),
    "dropped values": (lambda n: "{" + "[1]," * (n // 4), 64, {}),
    "empty pieces between": (lambda n: '["' + "x" * n, 2, {}),
    "withheld": (lambda n: "[" + "true," * (n // 5), 4, {"pending_scalars": "withhold"}),
    "ends": (lambda n: "[" + '["a"],' * (n // 6), 4, {"report_ends": True}),
    "lenient": (lambda n: "[" + "'a\\'', True, /* c */ None, \\n" * (n // 30), 4, {"lenient": True}),
    "long comment": (lambda n: "[/*" + "* " * (n // 2), 1, {"lenient": True}),
    "many slashes": (lambda n: "[" + "a/b\\" * (n // 4), 1, {"lenient": True}),
    "many fences": (lambda n: "`" * n, 1, {"lenient": True}),
    "many tags": (lambda n: "<a>" * (n // 3), 4, {"lenient": True}),
    "unfinished tag": (lambda n: "<" + "a" * n, 4, {"lenient": True}),
}
# shapes of which a character costs few lines, so that they can be counted up to a larger size
FAST = {
    "long string",
    "many escapes in one piece",
    "many invalid escapes",
    "long key",
    "long number",
    "long fraction",
    "long word",
    "blanks",
    "after the root",
}


def read(engine, pieces, options, method="append"):
    """All pieces, with a snapshot after each."""
    parser = engine.StreamingJsonParser(**options)
    take, snapshot = getattr(parser, method), parser.snapshot
    for piece in pieces:
        take(piece)
        snapshot()
    return parser


def cut(name, n):
    make, size, options = SHAPES[name]
    pieces = pieces_of(make(n), size)
    if name == "empty pieces between":
        pieces = [piece for full in pieces for piece in (full, "")]
    return pieces, options


def assert_linear(counts):
    """Each doubling of the size doubles the work; a little is left for when in between a snapshot can be paid for."""
    exponents = [log2(after / before) for before, after in pairwise(counts[1:])]
    assert max(exponents) <= 1.05, (counts, exponents)


@pytest.mark.parametrize("name", SHAPES)
def test_counted_work(name):
    """Lines of the pure engine, at four sizes. (Of the compiled one a gate outside the tests counts instructions.)"""
    smallest = 1 << (14 if name in FAST else 9 if name == "deep arrays, one by one" else 10)
    counts = []
    for doubling in range(4):
        pieces, options = cut(name, smallest << doubling)
        counts.append(lines_executed(partial(read, _engine_py, pieces, options)))
    assert_linear(counts)


def test_the_counting_sees_what_is_quadratic():
    def quadratic(n):
        for i in range(n):
            _engine_py.StreamingJsonParser().feed("[1]" * i)  # the whole text again for each piece

    with pytest.raises(AssertionError):
        assert_linear([lines_executed(partial(quadratic, n)) for n in (4, 8, 16, 32)])


def seconds(function, *arguments):
    """The least processor time of three calls, without the garbage collector: it would look at deep values often."""
    best = float("inf")
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(3):
            start = time.process_time()
            function(*arguments)
            best = min(best, time.process_time() - start)
    finally:
        if was_enabled:
            gc.enable()
    return best


def assert_not_quadratic(measure, small):
    """8 times the size may cost 8 times, and some more for caches and noise; 64 times would be quadratic."""
    for _ in range(3):  # a busy machine can spoil a measurement, not make a good one
        times = measure(small), measure(8 * small)
        if times[1] < 28 * times[0] + 0.005:
            return
    pytest.fail(f"{times[0]:.4f} s for {small} characters, {times[1]:.4f} s for {8 * small}")


def read_only(engine, pieces, options, method="append"):
    """All pieces, and one snapshot at the end."""
    parser = engine.StreamingJsonParser(**options)
    take = getattr(parser, method)
    for piece in pieces:
        take(piece)
    return parser.snapshot()


@pytest.mark.parametrize("name", SHAPES)
def test_time(engine, name):
    small = 1 << (11 if engine.__name__.endswith("_py") else 15)

    def measure(n):
        pieces, options = cut(name, n)
        return seconds(read_only, engine, pieces, options)

    assert_not_quadratic(measure, small)


# shapes whose views cost little before they cost all the credit, so that a short text and a long one can be compared
@pytest.mark.parametrize(
    "name",
    ["long string, one by one", "many items, one by one", "many escapes", "records", "flat object, small pieces"],
)
def test_time_with_a_view_of_every_piece(engine, name):
    small = 1 << (13 if engine.__name__.endswith("_py") else 15)

    def measure(n):
        pieces, options = cut(name, n)
        return seconds(read, engine, pieces, options)

    assert_not_quadratic(measure, small)


def test_time_as_bytes(engine):
    def measure(n):
        pieces = [piece.encode() for piece in pieces_of('["' + "é€\U0001f600x" * (n // 4), 3)]
        return seconds(read_only, engine, pieces, {}, "feed")

    assert_not_quadratic(measure, 1 << 12)


def test_time_of_the_tracker(engine):
    def measure(n):
        pieces = pieces_of('[{"a\\n":"x"},' * (n // 13), 4)

        def track():
            tracker = engine.JsonTracker()
            for piece in pieces:
                tracker.feed(piece)

        return seconds(track)

    assert_not_quadratic(measure, 1 << 13)


@pytest.mark.parametrize("name", ["long string, one by one", "records", "many escapes", "flat object", "long word"])
def test_the_arguments_stream(name):
    """The live view, the raw text in pieces, and one `finish` at the end."""

    def read_arguments(pieces):
        stream = ToolCallArgumentsStream()
        for piece in pieces:
            stream.append(piece)
        return stream.finish()

    def measure(n):
        return seconds(read_arguments, cut(name, n)[0])

    assert_not_quadratic(measure, 1 << 12)


def test_cumulative_replacements():
    """Each names the whole text: linear in what is handed over."""

    def measure(n):
        text = '{"a":"' + "x" * n
        texts = [text[:end] for end in range(0, len(text), max(1, n // 64))]

        def replace():
            stream = ToolCallArgumentsStream()
            for text in texts:
                stream.replace(text)

        return seconds(replace)

    assert_not_quadratic(measure, 1 << 15)


def test_finish_of_a_refused_text():
    def measure(n):
        stream = ToolCallArgumentsStream()
        stream.append('{"a":"' + "\\d\n" * (n // 3) + '",}')
        return seconds(stream.finish)

    assert_not_quadratic(measure, 1 << 12)


@pytest.mark.parametrize("name", ["long string, one by one", "many strings", "records", "ends"])
def test_applying_all_changes_at_once(engine, name):
    def measure(n):
        pieces, options = cut(name, n)
        parser = engine.StreamingJsonParser(**options)
        changes = [change for piece in pieces for change in parser.append(piece)]
        return seconds(apply_changes, MISSING, changes)

    assert_not_quadratic(measure, 1 << 12)


# ---------------------------------------------------------------- memory


def peak(function, *arguments):
    """The largest memory in use during a call, above what there was before it."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        function(*arguments)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


# name -> bytes of memory for each character, the value itself included
MEMORY = {
    "long string": 8,
    "long string, one by one": 24,
    "many escapes": 8,
    "many strings": 60,
    "many items": 16,
    "records": 60,
    "deep arrays": 260,
    "flat object": 30,
    "long number": 8,
    "long word": 2,
    "after the root": 2,
    "stray punctuation": 2,
    "many invalid escapes": 12,
    "blanks": 2,
}


@pytest.mark.parametrize("name", MEMORY)
def test_memory(engine, name):
    n = 1 << (14 if name == "deep arrays" else 16)
    pieces, options = cut(name, n)
    assert peak(read, engine, pieces, options) < MEMORY[name] * n + (1 << 15)
