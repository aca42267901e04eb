"""Server-sent events: every rule of the decoder, in every cutting."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transport_helpers import cuttings, decode, decode_to_limit, envelopes_hold, growth

from toolstream.transport import SseDecoder, SseEvent, sse
from toolstream.transport._text import is_torn


def event(data, name=None, identity=None):
    return SseEvent(name, data, identity)


RULES = {
    "data only": (b"data: a\n\n", [event("a")]),
    "name and data": (b"event: ping\ndata: {}\n\n", [event("{}", "ping")]),
    "data before the name": (b"data: {}\nevent: ping\n\n", [event("{}", "ping")]),
    "an empty name is none": (b"event:\ndata: a\n\n", [event("a")]),
    "id": (b"id: 7\nevent: message\ndata: a\n\ndata: b\n\n", [event("a", "message", "7"), event("b")]),
    "an id with NUL is ignored": (b"id: 1\0\ndata: a\n\n", [event("a")]),
    "no space after the colon": (b"data:a\nevent:x\n\n", [event("a", "x")]),
    "one space goes, no more": (b"data:  a \n\n", [event(" a ")]),
    "spaces after the data stay": (b'event: x\ndata: {"a":1}   \n\n', [event('{"a":1}   ', "x")]),
    "several data lines": (b"data: a\ndata:\ndata: b\n\n", [event("a\n\nb")]),
    "several data lines under a name": (b"event: x\ndata: a\ndata: b\n\n", [event("a\nb", "x")]),
    "several names: the last": (b"event: x\nevent: y\ndata: a\n\n", [event("a", "y")]),
    "a colon in the data": (b"data: a: b\n\n", [event("a: b")]),
    "data without a colon is empty": (b"data\n\ndata: a\n\n", [event("a")]),
    "empty data is no event": (b"data:\n\ndata: \n\nevent: x\ndata:\n\ndata: a\n\n", [event("a")]),
    "blank data is no event": (b"data:   \n\nevent: x\ndata:   \n\n", []),
    "no data is no event": (b"event: x\nid: 1\nretry: 10\nunknown\n\ndata: a\n\n", [event("a")]),
    "the name goes with its event": (b"event: x\n\ndata: a\n\n", [event("a")]),
    "comments": (b": hello\n\n:\ndata: a\n: in between\ndata: b\n\n: bye\n\n", [event("a\nb")]),
    "a comment under a name": (b"event: x\n: c\ndata: a\n\n", [event("a", "x")]),
    "fields are exact": (b"Data: a\n data: b\ndata : c\ndatax: d\n\n", []),
    "CR LF": (b"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [event("a", "x"), event("b")]),
    "CR": (b"event: x\rdata: a\r\rdata: b\r\r", [event("a", "x"), event("b")]),
    "all line ends mixed": (b"data: a\r\n\ndata: b\n\r\ndata: c\r\r\ndata: d\n\r", [event(c) for c in "abcd"]),
    "CR LF CR LF is one blank line": (b"data: a\r\n\r\n\r\n\r\ndata: b\r\n\r\n", [event("a"), event("b")]),
    "many blank lines": (b"\n\n\ndata: a\n\n\n\n\ndata: b\n\n\n", [event("a"), event("b")]),
    "blank line first": (b"\ndata: a\n\n", [event("a")]),
    "byte order mark": (b"\xef\xbb\xbfdata: a\n\n", [event("a")]),
    "byte order mark later is content": (b"data: a\n\n\xef\xbb\xbfdata: b\n\n", [event("a")]),
    "other line separators are content": (
        "data: a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n\n".encode(),
        [event("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg")],
    ),
    "characters of every length": ("data: é茶🍵\n\n".encode(), [event("é茶🍵")]),
    "the end marker": (b"data: [DONE]\n\n", [event("[DONE]")]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("name", RULES)
def test_rule_in_every_cutting(name):
    data, expected = RULES[name]
    for pieces in cuttings(data):
        decoder = SseDecoder()
        assert decode(decoder, pieces) == expected
        assert not decoder.unterminated
        assert not decoder.utf8_invalid


def test_an_event_comes_with_its_last_byte():
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n") == []
    assert decoder.feed(b"\n") == [event("a")]
    assert decoder.feed(b"data: b\r") == []
    assert decoder.feed(b"\r") == [event("b")], "a CR ends a line at once"
    assert decoder.feed(b"\n") == []
    assert decoder.feed(b"data: c\n\ndata: d\n\ndata: e") == [event("c"), event("d")]


@pytest.mark.parametrize(
    "tail", [b"data: b", b"data: b\n", b"event: x\ndata: b\n", b": c\ndata: b\r", b"id: 1\ndata:b"]
)
def test_a_last_event_without_a_blank_line_is_given_and_marked(tail):
    for pieces in cuttings(b"data: a\n\n" + tail):
        decoder = SseDecoder()
        assert [e.data for e in decode(decoder, pieces)] == ["a", "b"]
        assert decoder.unterminated


@pytest.mark.parametrize("tail", [b"event: x", b": comment", b"dat", b"data", b"data: ", b"id: 3\n"])
def test_a_cut_event_without_data_is_nothing(tail):
    decoder = SseDecoder()
    assert decode(decoder, [b"data: a\n\n" + tail]) == [event("a")]
    assert not decoder.unterminated


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"data: a\xffb\n\n", "a\ufffdb"),
        (b"data: a\xe4\xb8\n\n", "a\ufffd"),
        (b"data: a\xe4\xb8b\xf0\x9f\x8d\n\n", "a\ufffdb\ufffd"),
        (b"data: \xc0\x80\n\n", "\ufffd\ufffd"),
        (b"data: \xed\xa0\x80\n\n", "\ufffd\ufffd\ufffd"),
    ],
)
def test_invalid_utf8_is_replaced_and_told_in_every_cutting(data, expected):
    for pieces in cuttings(b"data: x\n\n" + data + b"data: y\n\n"):
        decoder = SseDecoder()
        assert decode(decoder, pieces) == [event("x"), event(expected), event("y")]
        assert decoder.utf8_invalid


def test_a_character_cut_by_the_end_is_cut_and_not_invalid():
    whole = "data: a茶".encode()
    decoder = SseDecoder()
    assert decode(decoder, [whole[:-1]]) == [event("a")]
    assert decoder.unterminated
    assert not decoder.utf8_invalid
    decoder = SseDecoder()
    assert decode(decoder, [b"data: \xff" + whole[6:-1]]) == [event("\ufffda")]
    assert decoder.utf8_invalid


def test_the_payload_of_a_single_event():
    decoder = SseDecoder()
    one = b"event: x\ndata: {}\n\n"
    assert decoder.payload(b"\xef\xbb\xbf" + one) is None
    assert decoder.payload(one) == b"{}", "also at the start"
    assert decoder.feed(b"\xef\xbb\xbf" + one) == [event("{}")], "where no byte order mark can come any more"
    assert decoder.payload(b"data: {\xff\n\n") == b"{\xff"
    assert decoder.payload(one.replace(b"\n", b"\r\n")) == b"{}"
    for number in (b"id: 7\n" + one, b"event: x\nid: 7\ndata: {}\n\n", b"id: 7\ndata: {}\n\n"):
        assert decoder.payload(number) == b"{}"
        assert decoder.payload(number.replace(b"\n", b"\r\n")) == b"{}"
    for other in (
        b"id: 7\nevent: error\ndata: {}\n\n",
        b"id: \xff\ndata: {}\n\n",
        b"id: 7\nretry: 1\ndata: {}\n\n",
        one[:-1],
        one + one,
        b"event: error\ndata: {}\n\n",
        b"event: x\xff\ndata: {}\n\n",
        b"data:{}\n\n",
        b"data: {\ndata: }\n\n",
        b"data: {\r}\n\n",
        b"data: {}\n\n\r",
        b": c\ndata: {}\n\n",
        b"data: [DONE]\n\n",
        b"data: {" + b"x" * 5000 + b"\n\n",
        b"",
    ):
        assert decoder.payload(other) is None
    decoder.feed(b"data: under way\n")
    assert decoder.payload(one) is None
    assert decoder.feed(b"\n") == [event("under way")]
    decoder.feed(b"data: a\r\r")
    assert decoder.payload(one) is None, "a line end could be half of this"


def test_few_envelopes_are_kept_for_all_streams(monkeypatch):
    kept = {}
    monkeypatch.setattr(sse, "_envelopes", kept)
    decoder = SseDecoder()
    for number in range(1000):
        assert decoder.payload(b"id: %d\nevent: x\ndata: {}\n\n" % number) == b"{}"
        assert decoder.payload(b"event: %s\ndata: {}\n\n" % (b"x" * (200 + number))) == b"{}"
    assert kept == {}
    for number in range(1000):
        assert decoder.payload(b"event: %d\ndata: {}\n\n" % number) == b"{}"
    assert len(kept) == sse._MOST


def test_what_is_inside_the_envelope_is_the_payload():
    named = b"event: x\ndata: {}\n\n"
    pieces = (
        b"data: {}\n\n",
        b'data: {"a":1}\n\n',
        named,
        named + named,
        named.replace(b"\n", b"\r\n"),
        b"data: {}\r\n\r\n",
        b"event: error\ndata: {}\n\n",
        b"data: {\n}\n\n",
        b"data: {\r}\n\n",
        b"data: {}\n",
        b"\n",
        b"data: {}\r\r",
        b"data: [DONE]\n\n",
        b"\xef\xbb\xbfdata: {}\n\n",
        b"id: 1\n" + named,
        b"id: 1\r\ndata: {}\r\n\r\n",
    )
    assert envelopes_hold(SseDecoder, pieces) == {b"{}", b'{"a":1}'}


def test_any_bytes_like_piece_is_read():
    for kind in (bytes, bytearray, memoryview):
        assert SseDecoder().feed(kind(b"data: a\n\n")) == [event("a")]
    for wrong in ("data: a\n\n", 3, None):
        with pytest.raises(TypeError):
            SseDecoder().feed(wrong)


def test_a_piece_may_be_changed_afterwards():
    decoder = SseDecoder()
    piece = bytearray(b"data: abc")
    decoder.feed(piece)
    piece[:] = b"xxxxxxxxx"
    assert decoder.feed(b"\n\n") == [event("abc")]


@pytest.mark.parametrize("size", [1, 5, 1000])
def test_an_event_that_is_too_long_is_refused_whole_or_not(size):
    before = b"data: a\n\n" + b"data: b\n\n" * 50
    expected = [event("a")] + [event("b")] * 50
    for data in (b"data: " + b"x" * 200, b"data: " + b"x" * 100 + b"\n\ndata: c\n\n", b":" * 101):
        assert decode_to_limit(SseDecoder(max_size=100), before + data, size) == expected
        assert decode_to_limit(SseDecoder(max_size=100), data, size) == []


def test_many_events_in_one_piece_are_not_one_long_event():
    assert len(SseDecoder(max_size=100).feed(b"data: abc\n\n" * 1000)) == 1000


def test_one_long_event_in_single_bytes_is_linear():
    def work(size):
        decoder = SseDecoder()
        for _ in range(size):
            decoder.feed(b"x")
        decoder.close()

    assert growth(work, 50_000) < 9


def test_many_lines_without_an_event_are_linear():
    def work(size):
        decoder = SseDecoder()
        for _ in range(size):
            decoder.feed(b"data:\n")
        assert decoder.feed(b"\n") == []

    assert growth(work, 20_000) < 9


LINES = st.sampled_from(
    [b"data: a", b"data:b", "data: é🍵".encode(), b"data", b": c", b"event: x", b"id: 1", b"", b"data: \xff", b"q"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])), max_size=20), st.data())
def test_any_stream_reads_the_same_in_any_cutting(lines, draw):
    data = b"".join(line + end for line, end in lines)
    whole = SseDecoder()
    expected = decode(whole, [data])
    places = sorted(draw.draw(st.lists(st.integers(0, len(data)), max_size=8)))
    cut = SseDecoder()
    pieces = [data[i:j] for i, j in zip([0, *places], [*places, len(data)], strict=True)]
    assert decode(cut, pieces) == expected
    assert (cut.unterminated, cut.utf8_invalid) == (whole.unterminated, whole.utf8_invalid)


@pytest.mark.parametrize("shape", ['"{}', "{}", '{}"', "\\\\{}", '"a" {}'])
def test_looking_for_torn_names_is_linear(shape):
    for filler in ('\\"', '"', "\\", '"a\n', '"a" ', " ", "\ufffd", '"\ufffd":'):
        start = time.process_time()
        is_torn(shape.format(filler * 200_000))
        assert time.process_time() - start < 5, "a twentieth of it is what it takes"


def test_torn_is_what_is_no_value():
    for text in ('{"a":"\ufffd"}', '["\ufffd","\\"\ufffd","\\\\"]', 'data: {"a": "x", "b": "\ufffd:"}', '{"a":"\ufffd'):
        assert not is_torn(text)
    for text in ('{"\ufffd":1}', '{"a\\"\ufffd" \n: 1}', "\ufffd", '{"a":\ufffd"x"}', "d\ufffdta: {}", '"a\n\ufffd"'):
        assert is_torn(text)
