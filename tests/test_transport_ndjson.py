"""Newline-delimited JSON in every cutting."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transport_helpers import cuttings, decode, decode_to_limit, envelopes_hold, growth, inside_envelope

from toolstream.transport import NdjsonDecoder


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']),
        (b'{"a":1}\r\n\r\n\n{"b":2}\r\n', ['{"a":1}', '{"b":2}']),
        (b'\n \n{"a":1}\n', ['{"a":1}']),
        (b'\xef\xbb\xbf{"a":1}\n', ['{"a":1}']),
        ('{"a":"茶\u2028\x85 b"}\n'.encode(), ['{"a":"茶\u2028\x85 b"}']),
        (b'{"a"\nbad\n{"b":2}\n', ['{"a"', "bad", '{"b":2}']),
        (b"", []),
    ],
)
def test_lines_in_every_cutting(data, expected):
    for pieces in cuttings(data):
        decoder = NdjsonDecoder()
        assert decode(decoder, pieces) == expected
        assert not decoder.unterminated
        assert not decoder.utf8_invalid


def test_the_payload_of_a_single_line():
    decoder = NdjsonDecoder()
    assert decoder.payload(b"\xef\xbb\xbf{}\n") is None
    assert decoder.payload(b"{}\n") == b"{}", "also at the start"
    assert decoder.feed(b"\xef\xbb\xbf{}\n") == ["\ufeff{}"], "where no byte order mark can come any more"
    assert decoder.payload(b'{"a": "\xff"}\n') == b'{"a": "\xff"}'
    for other in (b"[]\n", b"{}", b"{}\n{}\n", b"{}\n{", b"\n\n", b'"' + b"x" * 5000 + b'"\n', b""):
        assert decoder.payload(other) is None
    decoder.feed(b'{"under": ')
    assert decoder.payload(b"1}\n") is None
    assert decoder.feed(b"1}\n") == ['{"under": 1}']


def test_a_last_line_without_line_end_is_given_and_marked():
    for pieces in cuttings(b'{"a":1}\n{"b":2}'):
        decoder = NdjsonDecoder()
        assert decode(decoder, pieces) == ['{"a":1}', '{"b":2}']
        assert decoder.unterminated


def test_invalid_utf8_is_replaced_and_told():
    for pieces in cuttings(b'{"a":"\xff"}\n{"b":"\xe4\xb8"}\n'):
        decoder = NdjsonDecoder()
        assert decode(decoder, pieces) == ['{"a":"\ufffd"}', '{"b":"\ufffd"}']
        assert (decoder.utf8_invalid, decoder.torn) == (True, [])
    for pieces in cuttings(b'{"\xff":1}\n'):
        decoder = NdjsonDecoder()
        decode(decoder, pieces)
        assert (decoder.utf8_invalid, decoder.torn) == (True, [0])


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_line_that_is_too_long_is_refused_whole_or_not(size):
    for data in (b"x" * 200, b"x" * 200 + b"\n{}\n"):
        assert decode_to_limit(NdjsonDecoder(max_size=100), b"{}\n[]\n" + data, size) == ["{}", "[]"]
        assert decode_to_limit(NdjsonDecoder(max_size=100), data, size) == []


def test_after_a_line_that_is_too_long_there_is_no_short_way():
    decoder = NdjsonDecoder(max_size=100)
    assert decoder.feed(b"{}\n" + b"x" * 200) == ["{}"]
    assert decoder.payload(b"{}\n") is None
    assert not inside_envelope(decoder, b"{}\n")


def test_what_is_inside_the_envelope_is_the_payload():
    lines = (b"{}\n", b'{"a":1}\n', b"{}\n{}\n", b"{}\r\n", b"[]\n", b"{\n}\n", b"\xef\xbb\xbf{}\n")
    assert envelopes_hold(NdjsonDecoder, (*lines, b"{", b"\n", b"1}\n")) == {b"{}", b'{"a":1}'}


def test_one_long_line_in_single_bytes_is_linear():
    def work(size):
        decoder = NdjsonDecoder()
        for _ in range(size):
            decoder.feed(b"x")
        decoder.close()

    assert growth(work, 50_000) < 9


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=60), st.integers(1, 9))
def test_any_bytes_read_the_same_in_any_cutting(data, size):
    whole, cut = NdjsonDecoder(), NdjsonDecoder()
    expected = decode(whole, [data])
    assert decode(cut, [data[i : i + size] for i in range(0, len(data), size)]) == expected
    assert (cut.unterminated, cut.utf8_invalid) == (whole.unterminated, whole.utf8_invalid)
