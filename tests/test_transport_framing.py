"""Which framing a stream has, from its first bytes; how its JSON is read."""

import pytest

from toolstream.transport import (
    AwsEventStreamDecoder,
    JsonArrayDecoder,
    NdjsonDecoder,
    SseDecoder,
    decoder_for,
    recognise_framing,
)
from toolstream.transport.json_text import exact_loads, loads

HEADS = {
    b"data: {}\n\n": "sse",
    b"event: x\n": "sse",
    b": OPENROUTER PROCESSING\n\n": "sse",
    b"\r\n\r\ndata: {}": "sse",
    b"\xef\xbb\xbfdata: {}": "sse",
    b"<html>": "sse",
    b'{"model":"m"}\n': "ndjson",
    b' \n{ "model":"m"}\n': "ndjson",
    b"\xef\xbb\xbf{}": "ndjson",
    b'[{"candidates"': "json-array",
    b'\n [\n{"candidates"': "json-array",
    b'{\n  "error": {}': "json-array",
    b'{ \r\n  "error": {}': "json-array",
    b"\x00\x00\x00\x62\x00\x00": "aws-event-stream",
    b"\x01\x00\x00\x62\x00\x00": "aws-event-stream",
}


DECODERS = [SseDecoder, NdjsonDecoder, JsonArrayDecoder, AwsEventStreamDecoder]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("max_size", ["5", None, 1.5, True])
def test_a_size_that_is_none_is_told_as_what_it_is(decoder, max_size):
    with pytest.raises(TypeError, match=f"^max_size must be an int, not {type(max_size).__name__}$"):
        decoder(max_size=max_size)
    with pytest.raises(ValueError, match=r"^max_size must be at least 0, not -1$"):
        decoder(max_size=-1)


@pytest.mark.parametrize("head", HEADS)
def test_framing_is_known_from_any_longer_head_and_never_wrong_before(head):
    answers = [recognise_framing(head[:end]) for end in range(len(head) + 1)]
    known = [answer for answer in answers if answer]
    assert set(known) == {HEADS[head]}
    assert answers == [None] * (len(answers) - len(known)) + known
    assert recognise_framing(head, final=True) == HEADS[head]


@pytest.mark.parametrize(
    ("head", "framing"), [(b"", "sse"), (b"\xef", "sse"), (b"{", "ndjson"), (b"\n", "sse"), (b"[", "json-array")]
)
def test_at_the_end_there_is_always_an_answer(head, framing):
    assert recognise_framing(head, final=True) == framing


def test_each_framing_has_its_decoder():
    kinds = {
        "sse": SseDecoder,
        "ndjson": NdjsonDecoder,
        "json-array": JsonArrayDecoder,
        "aws-event-stream": AwsEventStreamDecoder,
    }
    for framing, kind in kinds.items():
        assert type(decoder_for(framing)) is kind


@pytest.mark.parametrize("read", [loads, exact_loads])
def test_json_is_read_tolerantly_where_nothing_is_lost(read):
    assert read('{"a": [1, 2.5, "x", null, true]}  ') == {"a": [1, 2.5, "x", None, True]}
    assert read('{"a": "raw\ttab\x0b"}') == {"a": "raw\ttab\x0b"}
    assert read('["\\ud800"]') == ["\ud800"]
    assert read("[1e999]") == [float("inf")]
    assert read("[" + "1" * 5000 + "]") == [float("inf")]
    for bad in ("", "{", "{'a': 1}", "[1,]", "[DONE]", "<html>", "{} {}", "[" * 100_000, '{"a":' * 100_000):
        with pytest.raises(ValueError, match=r"."):
            read(bad)


def test_integers_are_exact_where_it_matters():
    assert exact_loads("123456789012345678901234567890") == 123456789012345678901234567890
    assert exact_loads("[" + "9" * 4300 + "]") == [int("9" * 4300)]
