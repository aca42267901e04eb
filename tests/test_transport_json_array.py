"""A JSON array in pieces, in every cutting."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transport_helpers import cuttings, decode, decode_to_limit, growth

from toolstream.transport import JsonArrayDecoder

ELEMENTS = [
    {"a": 1},
    {},
    {"text": 'quotes " and \\ and [brackets] {braces', "end\\": '\\"'},
    {"deep": [[{"x": [{}, [], "]}"]}]], "tea": "茶🍵"},
    [1, [2], {"b": None}],
]


@pytest.mark.parametrize("indent", [None, 2])
def test_elements_in_every_cutting(indent):
    for text in (json.dumps(ELEMENTS, indent=indent), json.dumps(ELEMENTS, indent=indent, ensure_ascii=False)):
        for pieces in cuttings(text.encode()):
            decoder = JsonArrayDecoder()
            assert decode(decoder, pieces) == ELEMENTS
            assert (decoder.damaged, decoder.unterminated, decoder.utf8_invalid) == (0, False, False)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'[{"a": 1}\r\n,\r\n{"a": 2}\r\n]\r\n', [{"a": 1}, {"a": 2}]),
        (b'\xef\xbb\xbf[{"a": 1}]', [{"a": 1}]),
        (b'{\n  "error": {"code": 503}\n}\n', [{"error": {"code": 503}}]),
        (b'{"a": 1}{"a": 2}\n{"a": 3}', [{"a": 1}, {"a": 2}, {"a": 3}]),
        (b'[{"a": 1}][{"a": 2}]', [{"a": 1}, {"a": 2}]),
        (b"[]", []),
        (b"", []),
        (b'[{"n": 123456789012345678901234567890}]', [{"n": 123456789012345678901234567890}]),
        (b'[{"a": "raw\ttab"}]', [{"a": "raw\ttab"}]),
    ],
)
def test_forms(data, expected):
    for pieces in cuttings(data):
        decoder = JsonArrayDecoder()
        assert decode(decoder, pieces) == expected
        assert (decoder.damaged, decoder.unterminated) == (0, False)


def test_an_element_comes_with_its_last_bracket():
    decoder = JsonArrayDecoder()
    assert decoder.feed(b'[{"a": {"b": 1}') == []
    assert decoder.feed(b"}") == [{"a": {"b": 1}}]
    assert decoder.feed(b',{"c": 1},{"d": 1}, {') == [{"c": 1}, {"d": 1}]


@pytest.mark.parametrize(
    ("data", "expected", "damaged"),
    [
        (b'[{"a": 1}, {"b": x}, {"c": 3}]', [{"a": 1}, {"c": 3}], 1),
        (b'[{"a": 1}, {"b": ]}, {"c": 3}]', [{"a": 1}, {"c": 3}], 2),
        (b'[{"a": 1}, what is "this", {"c": 3}]', [{"a": 1}, {"c": 3}], 1),
        (b'[{"a": 1}, 5, "x", {"c": 3}, 6]', [{"a": 1}, {"c": 3}], 2),
        (b'[{"a": 1}] trailing', [{"a": 1}], 1),
        (b"<html>busy</html>", [], 1),
    ],
)
def test_what_is_no_element_is_skipped_and_counted(data, expected, damaged):
    for pieces in cuttings(data):
        decoder = JsonArrayDecoder()
        assert decode(decoder, pieces) == expected
        assert decoder.damaged == damaged


def test_gaps_say_where_something_was_skipped():
    decoder = JsonArrayDecoder()
    assert decoder.feed(b'[{x}, {"a": 1}, what, {"a": 2}, {y}]') == [{"a": 1}, {"a": 2}]
    assert decoder.gaps == [0, 1, 2]
    assert decoder.feed(b'[{"a": 3}]') == [{"a": 3}]
    assert decoder.gaps == []
    decoder.feed(b"[{x}")
    decoder.close()
    assert (decoder.gaps, decoder.damaged) == ([], 4)


def test_a_cut_element_is_told():
    data = json.dumps(ELEMENTS).encode()
    for end in range(len(data)):
        decoder = JsonArrayDecoder()
        got = decode(decoder, [data[:end]])
        assert got == ELEMENTS[: len(got)]
        prefix = data[:end].rstrip(b" ,")
        assert decoder.unterminated == (json.dumps(got).encode()[:-1] != prefix and prefix != b"")
        assert decoder.damaged == 0


def test_invalid_utf8_is_replaced_and_told():
    for pieces in cuttings(b'[{"a": "\xff\xe4\xb8"}]'):
        decoder = JsonArrayDecoder()
        assert decode(decoder, pieces) == [{"a": "\ufffd\ufffd"}]
        assert (decoder.utf8_invalid, decoder.torn) == (True, [])
    for pieces in cuttings(b'[{"\xff": 1}]'):
        decoder = JsonArrayDecoder()
        decode(decoder, pieces)
        assert (decoder.utf8_invalid, decoder.torn) == (True, [0])


def test_nesting_without_end_is_an_element_that_cannot_be_read():
    decoder = JsonArrayDecoder()
    assert decode(decoder, [b"[" * 200_000, b"]" * 200_000, b'[{"a": 1}]']) == [{"a": 1}]
    assert decoder.damaged == 1


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_element_that_is_too_long_is_refused_whole_or_not(size):
    for data in (b'{"b": "' + b"x" * 200, b'{"b": "' + b"x" * 200 + b'"}, {"c": 1}]'):
        assert decode_to_limit(JsonArrayDecoder(max_size=100), b'[{"a": 1}, ' + data, size) == [{"a": 1}]
        assert decode_to_limit(JsonArrayDecoder(max_size=100), b"[" + data, size) == []


@pytest.mark.parametrize("byte", [b"x", b"\\", b'"', b"{", b" "])
def test_one_element_in_single_bytes_is_linear(byte):
    def work(size):
        decoder = JsonArrayDecoder()
        decoder.feed(b'[{"a": "')
        for _ in range(size):
            decoder.feed(byte)
        decoder.close()

    assert growth(work, 20_000) < 9


@pytest.mark.parametrize("element", [b'{"a": "\xe8\x8c\xb6"}', b"{x}"])
def test_many_elements_in_one_piece_are_linear(element):
    def work(size):
        decoder = JsonArrayDecoder()
        decoder.feed(b"[" + b", ".join([element] * size) + b", {x}]")
        decoder.close()

    assert growth(work, 2000) < 9


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), max_size=4), st.booleans(), st.integers(1, 9))
def test_any_elements_in_any_cutting(elements, ascii_only, size):
    data = json.dumps(elements, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    assert decode(JsonArrayDecoder(), pieces) == elements
