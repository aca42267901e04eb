"""The two engines must not drift apart: the same in everything that can be observed, on generated texts in any cut."""

from __future__ import annotations

import array
import inspect
import json
import random
import sys

import numpy
import pytest
from engines import WANTED
from hypothesis import given, settings
from hypothesis import strategies as st
from random_texts import SNIPPETS, text_of

if "cython" not in WANTED:
    pytest.skip("TOOLSTREAM_BACKEND=python: there is no second engine to compare with", allow_module_level=True)

from toolstream import _engine_c, _engine_py, _rules
from toolstream.errors import LimitExceededError

FACTS = (
    *("complete", "valid", "error", "repairs", "repair_count", "duplicate_keys", "overflow_count", "position"),
    *("root_end", "depth", "in_string", "escape", "open_path"),
)
OPTIONS = [
    {},
    {"lenient": True},
    {"pending_scalars": "withhold"},
    {"lenient": True, "report_ends": True},
    {"report_ends": True, "max_depth": 3},
    {"lenient": True, "pending_scalars": "withhold", "max_depth": 40},
]


def seen(parser):
    """Everything that can be observed of a parser."""
    return [getattr(parser, fact) for fact in FACTS]


def exactly(value):
    """Something equal for values that are equal to the type, and to the order of members."""
    return repr(value)


def call(function, *arguments, **options):
    try:
        return function(*arguments, **options)
    except Exception as error:
        return type(error), str(error)


def compare(pieces, options, how):
    """Feed both engines; `how` says for each piece whether by append or feed, and whether a snapshot follows."""
    plain = _engine_py.StreamingJsonParser(**options)
    compiled = _engine_c.StreamingJsonParser(**options)
    last = None
    for number, piece in enumerate(pieces):
        method, takes_snapshot = how[number % len(how)]
        a, b = (call(getattr(parser, method), piece) for parser in (plain, compiled))
        assert exactly(a) == exactly(b), (number, piece)
        assert seen(plain) == seen(compiled), (number, piece)
        if takes_snapshot:
            a, b = plain.snapshot(), compiled.snapshot()
            assert exactly(a) == exactly(b), (number, piece)
            if last is not None:
                assert (last[0] is a) == (last[1] is b) or not isinstance(a, (dict, list)), (number, piece)
            last = a, b
    for _ in range(3):
        assert exactly(plain.snapshot()) == exactly(compiled.snapshot())
        call(plain.feed, "")
        call(compiled.feed, "")


def cut(data, rng, largest):
    pieces = []
    i = 0
    while i < len(data):
        size = rng.randint(0, largest)
        pieces.append(data[i : i + size])
        i += size
    return pieces


def check_random(seed):
    rng = random.Random(seed)
    text = text_of(rng)
    options = rng.choice(OPTIONS)
    how = [(rng.choice(["append", "append", "feed"]), rng.random() < 0.5) for _ in range(rng.randrange(1, 6))]
    largest = rng.choice([1, 2, 5, 20, 1000])
    kind = rng.randrange(4)
    if kind <= 1:
        pieces = cut(text, rng, largest)
    else:
        data = text.encode("utf-8", "surrogatepass")
        if kind == 3 and data:
            data = bytearray(data)
            for _ in range(rng.randrange(1, 5)):
                data[rng.randrange(len(data))] = rng.choice(
                    [0x80, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0xF5, 0xFF]
                )
            data = bytes(data)
        pieces = cut(data, rng, largest)
        if rng.random() < 0.3:  # now and then a str in between
            pieces = [p.decode("utf-8", "replace") if rng.random() < 0.3 else p for p in pieces]
        if rng.random() < 0.3:
            pieces = [memoryview(p) if isinstance(p, bytes) and rng.random() < 0.5 else p for p in pieces]
    compare(pieces, options, how)


@pytest.mark.parametrize("block", range(20))
def test_generated(block):
    for seed in range(block * 150, block * 150 + 150):
        check_random(seed)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.lists(st.sampled_from(SNIPPETS), max_size=4).map("".join), max_size=12),
    st.sampled_from(OPTIONS),
    st.lists(st.tuples(st.sampled_from(["append", "feed"]), st.booleans()), min_size=1, max_size=3),
)
def test_snippets(pieces, options, how):
    compare(pieces, options, how)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.binary(max_size=6) | st.text(max_size=4), max_size=12), st.sampled_from(OPTIONS))
def test_any_bytes_and_text(pieces, options):
    compare(pieces, options, [("append", True)])


@pytest.mark.parametrize("size", [600, 3000])
@pytest.mark.parametrize("shape", ['{"a":"%s', '["%s', '{"a":[%s', '[{"k":1},{"k":[%s', "[[%s", '"%s'])
def test_credit(shape, size):
    """Wide containers and long strings, where snapshots lag."""
    item = "x\u00e9" if shape.endswith('"%s') else "12,"
    text = shape % (item * size)
    for step in (1, 3, 64):
        compare([text[i : i + step] for i in range(0, len(text), step)], {}, [("append", True)])


def test_numbers():
    rng = random.Random(7)
    for _ in range(4000):
        digits = "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 25))).lstrip("0") or "0"
        text = rng.choice(["", "-"]) + digits
        if rng.random() < 0.7:
            text += "." + "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 25)))
        if rng.random() < 0.4:
            text += rng.choice("eE") + rng.choice(["", "+", "-"]) + str(rng.randrange(rng.choice([4, 30, 400])))
        want = json.loads(text)
        for engine in (_engine_c, _engine_py):
            for pieces in ([f"[{text}]"], [f"[{text}", "]"]):
                parser = engine.StreamingJsonParser()
                for piece in pieces:
                    parser.feed(piece)
                assert exactly(parser.snapshot()) == exactly([want]), text


@pytest.mark.parametrize("digits", [18, 19, 20, 639, 641, 4299, 4300, 4301])
def test_long_integers(digits):
    text = "[-" + "9" * digits + "]"
    compare([text], {}, [("append", True)])
    limit = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(640)
        values = []
        for engine in (_engine_c, _engine_py):
            parser = engine.StreamingJsonParser()
            parser.feed(text)
            values.append(parser.snapshot())
    finally:
        sys.set_int_max_str_digits(limit)
    exact = -(10**digits - 1)
    assert values == [[exact if digits <= _rules.MAX_DIGITS else float("-inf")]] * 2


def test_token_states():
    """Every state of a token, with every character, from both engines' steps."""
    prefixes = {word[:length] for word in _rules.WORDS for length in range(len(word) + 1)}
    prefixes |= {"-", "0", "-0", "1", "12", "1.", "1.5", "1e", "1.5e", "1e+", "1e-", "1e5", "1e+5"}
    for prefix in sorted(prefixes):
        for character in map(chr, range(33, 127)):
            for options in OPTIONS[:2]:
                compare(["[", prefix, character, " ]"], options, [("append", True)])


@pytest.mark.parametrize(
    "piece",
    [
        None,
        1,
        1.5,
        ["a"],
        {"a": 1},
        object(),
        array.array("i", [1]),
        memoryview(b"abcdef")[::2],
        numpy.zeros(3),
        numpy.zeros(6, "u1")[::2],
        numpy.zeros(2, "?"),
    ],
)
def test_wrong_pieces(piece):
    for make in ("StreamingJsonParser", "JsonTracker"):
        for method in ("append", "feed") if make == "StreamingJsonParser" else ("feed",):
            a, b = (call(getattr(getattr(engine, make)(), method), piece) for engine in (_engine_py, _engine_c))
            assert a == b
            assert a[0] is TypeError
            assert type(piece).__name__ in a[1]


@pytest.mark.parametrize(
    "options",
    [
        {"pending_scalars": "hide"},
        {"pending_scalars": None},
        {"lenient": 1},
        {"lenient": None},
        {"report_ends": "yes"},
        {"max_depth": 0},
        {"max_depth": -1},
        {"max_depth": True},
        {"max_depth": 2.0},
        {"max_depth": "3"},
    ],
)
def test_wrong_options(options):
    a, b = (call(engine.StreamingJsonParser, **options) for engine in (_engine_py, _engine_c))
    assert a == b
    assert a[0] in (TypeError, ValueError)
    assert next(iter(options)) in a[1]


def test_limit():
    for pieces in (["[[", "[", "[", "1"], ["[[[[[", b"", ""], [b"\xc3", "[[[[[1"], ["[[\ud83d", "[[["]):
        compare(pieces, {"max_depth": 2}, [("append", True)])
    for piece in (b'[[["\xc3', b"[[[\xe2\x82", "[[[\ud83d"):  # what follows the bracket is not looked at
        compare([piece, b"\xa9"], {"max_depth": 2}, [("append", True)])
        for engine in (_engine_py, _engine_c):
            parser = engine.StreamingJsonParser(max_depth=2)
            with pytest.raises(LimitExceededError, match="max_depth=2 at offset 2"):
                parser.feed(piece)
            assert (parser.valid, parser.error, parser.position) == (True, None, 2)
    for engine in (_engine_py, _engine_c):
        parser = engine.StreamingJsonParser(max_depth=1)
        with pytest.raises(LimitExceededError, match="max_depth=1 at offset 4"):
            parser.append("[1, [2]")
        assert parser.snapshot() == [1]
        assert parser.position == 4


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["{", "}", "[", "]", '"', "\\", "a", "\u00e9", "\u20ac", "x" * 70, '"\\' * 40, "{" * 65, "\\" * 63]
        )
    )
)
def test_trackers(pieces):
    trackers = _engine_py.JsonTracker(), _engine_c.JsonTracker()
    states = []
    for piece in pieces:
        for tracker in trackers:
            tracker.feed(piece)
        a, b = ((t.depth, t.in_string, t.escape) for t in trackers)
        assert a == b
        states.append(a)
    whole = "".join(pieces)
    for text in (whole, whole.encode()):
        for engine in (_engine_py, _engine_c):
            tracker = engine.JsonTracker()
            tracker.feed(text)
            assert (tracker.depth, tracker.in_string, tracker.escape) == (states or [(0, False, False)])[-1]
            tracker.reset()
            assert (tracker.depth, tracker.in_string, tracker.escape) == (0, False, False)
    texts = [piece.encode() for piece in pieces]
    results = []
    for engine in (_engine_py, _engine_c):
        offsets = array.array("q", [0])
        for text in texts:
            offsets.append(offsets[-1] + len(text))
        depth, flags = array.array("i", [7] * len(texts)), bytearray(len(texts))
        engine.scan_bytes(b"".join(texts), offsets, depth, flags)
        results.append((depth, flags))
    assert results[0] == results[1]
    for text, depth, flag in zip(texts, *results[0], strict=True):
        tracker = _engine_py.JsonTracker()
        tracker.feed(text)
        assert (tracker.depth, tracker.in_string + 2 * tracker.escape) == (depth, flag)


def test_scan_bytes_takes_numpy_arrays():
    data = numpy.frombuffer(b'{"a"[1,"\\', "u1")
    for engine in (_engine_py, _engine_c):
        depth, flags = numpy.zeros(2, "i4"), numpy.zeros(2, "u1")
        engine.scan_bytes(data, numpy.array([0, 4, 9]), depth, flags)
        assert (depth.tolist(), flags.tolist()) == ([1, 1], [0, 3])


@pytest.mark.parametrize(
    "arguments",
    [
        (None, array.array("q", [0]), array.array("i"), b""),
        (b"ab", array.array("q", [0, 2]), array.array("i", [0]), b"\0"),
        (b"ab", array.array("q", [0, 3]), array.array("i", [0]), bytearray(1)),
        (b"ab", array.array("q", [1, 0]), array.array("i", [0]), bytearray(1)),
        (b"ab", array.array("q", [-1, 0]), array.array("i", [0]), bytearray(1)),
        (b"ab", array.array("q", [0, 1]), array.array("i", [0, 0]), bytearray(1)),
        (b"ab", array.array("q"), array.array("i"), bytearray()),
        (b"ab", array.array("i", [0, 1]), array.array("i", [0]), bytearray(1)),
        (b"ab", array.array("q", [0, 1]), array.array("d", [0]), bytearray(1)),
        (memoryview(b"abcd")[::2], array.array("q", [0, 1]), array.array("i", [0]), bytearray(1)),
    ],
)
def test_scan_bytes_refuses(arguments):
    a, b = (call(engine.scan_bytes, *arguments) for engine in (_engine_py, _engine_c))
    assert a == b
    assert a[0] in (TypeError, ValueError)


def compare_objects(text, max_depth):
    """`read_object` of a text, and `write_object` of what a parser makes of it, as it is and where it is not JSON."""
    a, b = (call(engine.read_object, text, max_depth) for engine in (_engine_py, _engine_c))
    assert exactly(a) == exactly(b), text
    parser = _engine_py.StreamingJsonParser(lenient=True)
    parser.feed(text)
    value = parser.snapshot()
    for whole in (value, {"a": value, text[:9]: [value, text]}, {"a": [value, {1: value}]}):
        a, b = (call(engine.write_object, whole, max_depth) for engine in (_engine_py, _engine_c))
        assert exactly(a) == exactly(b), text


@pytest.mark.parametrize("block", range(4))
def test_whole_objects(block):
    for seed in range(block * 500, block * 500 + 500):
        rng = random.Random(seed)
        compare_objects(text_of(rng), rng.choice([None, 1, 2, 3, 40]))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(SNIPPETS), max_size=12).map("".join), st.sampled_from([None, 1, 3, 40]))
def test_whole_objects_of_snippets(text, max_depth):
    for some in (text, "{" + text, '{"a":' + text + "}"):
        compare_objects(some, max_depth)


@pytest.mark.parametrize("piece", [None, 1, object(), ["a"], memoryview(b"abcdef")[::2], b'{"a":1}', bytearray(b"{}")])
def test_what_is_no_text_of_an_object(piece):
    for name in ("read_object", "write_object"):
        a, b = (call(getattr(engine, name), piece, None) for engine in (_engine_py, _engine_c))
        assert exactly(a) == exactly(b)


def members(module):
    for name in module.__all__:
        public = getattr(module, name)
        yield name, public
        if isinstance(public, type):
            for attribute in vars(public):
                if not attribute.startswith("_"):
                    yield f"{name}.{attribute}", getattr(public, attribute)


def test_names_signatures_and_docstrings():
    plain, compiled = (list(members(engine)) for engine in (_engine_py, _engine_c))
    assert sorted(name for name, _ in plain) == sorted(name for name, _ in compiled)
    for (name, a), (_, b) in zip(sorted(plain), sorted(compiled), strict=True):
        doc = inspect.cleandoc(b.__doc__)
        assert doc.endswith(inspect.cleandoc(a.__doc__)), name
        if callable(a) and not isinstance(a, type):
            bare = [p.replace(annotation=inspect.Parameter.empty) for p in inspect.signature(a).parameters.values()]
            if bare[0].name == "self":  # of a C method: by position only
                bare[0] = bare[0].replace(kind=inspect.Parameter.POSITIONAL_ONLY)
            assert list(inspect.signature(b).parameters.values()) == bare, name
    options = inspect.signature(_engine_py.StreamingJsonParser).parameters
    assert {name: option.default for name, option in options.items()} == {
        "pending_scalars": "show",
        "lenient": False,
        "report_ends": False,
        "max_depth": None,
    }


HALVES = [
    *(
        '"',
        "[",
        "\\",
        "u",
        "0",
        "d",
        "8",
        "3",
        "\\ud83d",
        "\\ude00",
        "\ud83d",
        "\ude00",
        "\u00e9",
        "n",
        "x",
        '",',
        "]",
        '{"a',
    ),
    *('":', "\U0001f600", "'", "\u20ac"),
]


@pytest.mark.parametrize("block", range(4))
def test_characters_in_parts(block):
    """Escapes, halves and bytes of a character, each in a piece of its own."""
    parts = [unit.encode("utf-8", "surrogatepass") for unit in HALVES]
    parts += [
        whole[i:j] for whole in parts if whole[0] > 127 for i in range(len(whole)) for j in range(i + 1, len(whole))
    ]
    for seed in range(block * 500, block * 500 + 500):
        rng = random.Random(seed)
        pieces = ['["', *rng.choices([HALVES, parts, HALVES + parts][seed % 3], k=rng.randint(2, 9))]
        compare(pieces, OPTIONS[seed % 2], [("append", True)])
