"""`read_object` and `write_object`: objects that are read and written in one call. `json` is the judge."""

from __future__ import annotations

import json
import random
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_texts import text_of

from toolstream import LimitExceededError

CHARACTERS = [{chr(i): chr(i), "n": i} for i in range(0x3000)]
CHARACTERS += [{f"a{chr(i)}b": chr(i) * 3} for i in (*range(0xE000, 0xE010), 0xFFFF, 0x10000, 0x1F600, 0x10FFFF)]
HALVES = [{chr(i): 1} for i in range(0xD800, 0xE000)] + [{"a": ["x", chr(i)]} for i in range(0xD800, 0xE000)]

scalars = st.one_of(
    st.text(max_size=40),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.none(),
    st.floats(1e-4, 1e14) | st.just(-0.0),
)
nested = st.recursive(scalars, lambda v: st.lists(v, max_size=5) | st.dictionaries(st.text(max_size=9), v, max_size=5))


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def containers(value: object) -> list[object]:
    found = [value]
    for one in found:
        if isinstance(one, (dict, list)):
            found += one.values() if isinstance(one, dict) else one
    return [one for one in found if isinstance(one, (dict, list))]


# ---------------------------------------------------------------- write_object


def test_every_character_is_written_as_json_writes_it(engine):
    for value in CHARACTERS:
        assert engine.write_object(value, None) == (dumps(value), value)


def test_half_a_surrogate_pair_is_refused(engine):
    for value in HALVES:
        assert engine.write_object(value, None) is None


@settings(max_examples=300, deadline=None)
@given(value=st.dictionaries(st.text(max_size=9), nested, max_size=6))
def test_the_text_is_what_json_writes_and_the_copy_is_new(engine, value):
    text, copy = engine.write_object(value, None)
    assert text == dumps(value)
    assert repr(copy) == repr(value)
    assert not {id(one) for one in containers(copy)} & {id(one) for one in containers(value)}


@pytest.mark.parametrize("size", [0, 1, 500, 505, 510, 511, 512, 513, 1023, 1024, 5000])
def test_long_texts_are_written_whole(engine, size):
    for value in ({"a": "x" * size}, {"a": '"' * size}, {"a": "\0" * size}, {"a": "\xe9" * size}, {"a": [1] * size}):
        assert engine.write_object(value, None) == (dumps(value), value)


@given(st.floats() | st.floats(1e-5, 1e-3) | st.floats(1e14, 1e17))
def test_floats_with_an_exponent_are_refused(engine, number):
    """Integers of more than 64 bits became such ones, when they were read by others."""
    written = engine.write_object({"a": [number]}, None)
    if number == 0 or 1e-4 <= abs(number) < 1e15:
        assert written[0] == dumps({"a": [number]})
        assert repr(written[1]) == repr({"a": [number]})
    else:
        assert written is None


def test_integers_of_more_than_64_bits_are_refused(engine):
    for number in (2**63 - 1, -(2**63), 10**18, -(10**18), 0, 7):
        assert engine.write_object({"a": number}, None) == (f'{{"a":{number}}}', {"a": number})
    for number in (2**63, -(2**63) - 1, 2**64, 10**5000):
        assert engine.write_object({"a": number}, None) is None
        assert engine.write_object({"a": [{"b": number}]}, None) is None


class Text(str):
    pass


class Number(int):
    pass


@pytest.mark.parametrize(
    "value",
    [
        *(None, "x", 1, [], [{}], ()),
        *({1: 2}, {None: 1}, {"a": {True: 1}}, {Text("a"): 1}),
        *({"a": (1,)}, {"a": {1}}, {"a": b"x"}, {"a": Text("x")}, {"a": Number(1)}, {"a": [object()]}),
        *({"a": float("nan")}, {"a": float("inf")}),
    ],
)
def test_what_json_has_no_type_for_is_refused(engine, value):
    assert engine.write_object(value, None) is None


class Odd:
    """As a key: a comparison of its own, which is called where its hash is that of another key that is looked up."""

    def __init__(self, hash):
        self.hash = hash
        self.counts = False

    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        if self.counts:
            raise AssertionError("compared")
        return self is other


def test_no_code_of_what_is_refused_runs(engine):
    class Members(dict):
        def items(self):
            raise AssertionError("asked for its members")

    assert engine.write_object({"a": [Members(a=1)]}, None) is None
    key = Odd(hash("a"))
    value = {key: 1, "a": {}, "b": 1, "c": 1}
    del value[key]
    value[key] = 1  # behind the others, and where "a" is looked up it is met first
    key.counts = True
    assert engine.write_object(value, None) is None


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="there are no such strings any more")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_string_in_the_form_of_old_extensions(engine):
    ctypes = pytest.importorskip("ctypes")

    def old(text):
        """A `str` that is not ready, as these call it: its length is not known, nor how wide its characters are."""
        made = new(None, len(text))
        ctypes.memmove(characters(made), (ctypes.c_wchar * len(text))(*text), ctypes.sizeof(ctypes.c_wchar) * len(text))
        return made

    try:
        new, characters = ctypes.pythonapi.PyUnicode_FromUnicode, ctypes.pythonapi.PyUnicode_AsUnicode
    except AttributeError:
        pytest.skip("not CPython")
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_ssize_t]
    characters.restype, characters.argtypes = ctypes.c_void_p, [ctypes.py_object]
    for text in ("abc", "a\xe9", "\u20ac\n", "x" * 600):
        assert engine.write_object({"a": old(text)}, None) == (dumps({"a": text}), {"a": text})
        assert engine.read_object(old(dumps({"a": text})), None) == {"a": text}


def test_depth_is_limited(engine):
    deep = {"a": [{"b": [[]]}]}
    assert engine.write_object(deep, 5) == (dumps(deep), deep)
    assert engine.write_object(deep, 4) is None
    assert engine.write_object({}, 1) == ("{}", {})
    for levels, written in ((100, True), (101, False), (100_000, False)):
        value = {}
        for _ in range(levels - 1):
            value = {"a": value}
        assert (engine.write_object(value, None) is not None) is written
        assert (engine.write_object(value, 100) is not None) is written
        assert engine.write_object(value, levels - 1) is None


def test_an_object_that_holds_itself_is_refused(engine):
    loop = {}
    loop["a"] = [loop] * 9
    assert engine.write_object(loop, None) is None


# ---------------------------------------------------------------- read_object


def by_parser(engine, text, max_depth):
    """What a parser says of it."""
    parser = engine.StreamingJsonParser(max_depth=max_depth, lenient=True, pending_scalars="withhold")
    try:
        parser.feed(text)
    except LimitExceededError:
        return None
    plain = parser.complete and parser.valid and not (parser.repair_count or parser.duplicate_keys)
    return parser.snapshot() if plain and not parser.overflow_count and type(parser.snapshot()) is dict else None


@settings(max_examples=300, deadline=None)
@given(value=st.dictionaries(st.text(max_size=9), nested, max_size=6), indent=st.sampled_from((None, 1)))
def test_an_object_is_read_as_json_reads_it(engine, value, indent):
    text = json.dumps(value, indent=indent)
    assert repr(engine.read_object(text, None)) == repr(value)
    for end in range(1, len(text), len(text) // 9 + 1):
        assert engine.read_object(text[:end], None) is None


def test_any_text_is_read_as_a_parser_reads_it(engine):
    rng = random.Random(20261130)
    found = 0
    for _ in range(4000):
        text, max_depth = text_of(rng), rng.choice((None, 1, 2, 30))
        wanted = by_parser(engine, text, max_depth)
        assert repr(engine.read_object(text, max_depth)) == repr(wanted), text
        found += wanted is not None
    assert found > 20


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "{", "[]", "1", '"x"', "null", '{"a":1', '{"a":1}{', '{"a":1} x', '{"a":1,}', "{'a':1}"),
        *('{"a":NaN}', '{"a":1,"a":2}', '{"a":1e999}', '{"a":"\ud800"}', '{"a":"\\ud800"}', '{"a":"\n"}'),
        *("\ufeff{}", '{"a":1}\ud800'),
    ],
)
def test_a_text_with_more_to_say_is_not_read(engine, text):
    assert engine.read_object(text, None) is None


def test_depth_of_a_text_is_limited(engine):
    assert engine.read_object('{"a":[{}]}', 3) == {"a": [{}]}
    assert engine.read_object('{"a":[{}]}', 2) is None
    assert engine.read_object(' {"a":1}\n', 1) == {"a": 1}
