"""The binary framing of AWS: every kind of header, every cutting, and every kind of damage."""

import random
import struct
from zlib import crc32

import pytest
from transport_helpers import cuttings, decode, decode_to_limit, growth

from toolstream.errors import LimitExceededError
from toolstream.transport import AwsEventStreamDecoder, AwsMessage, aws_event_stream
from toolstream.transport.aws_event_stream import event_type


def raw_frame(headers: bytes, payload: bytes) -> bytes:
    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return body + struct.pack(">I", crc32(body))


def text_header(name: str, value: str) -> bytes:
    name_bytes, value_bytes = name.encode(), value.encode()
    return bytes([len(name_bytes)]) + name_bytes + b"\x07" + struct.pack(">H", len(value_bytes)) + value_bytes


def event(kind: str, payload: bytes) -> tuple[bytes, AwsMessage]:
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    data = raw_frame(b"".join(text_header(k, v) for k, v in headers.items()), payload)
    return data, AwsMessage(headers, payload)


FRAMES = [
    event("messageStart", b'{"role":"assistant"}'),
    event("contentBlockDelta", '{"text":"茶"}'.encode()),
    event("x", b""),
]
DATA = b"".join(data for data, _ in FRAMES)
MESSAGES = [message for _, message in FRAMES]


def test_frames_in_every_cutting():
    for pieces in cuttings(DATA):
        decoder = AwsEventStreamDecoder()
        assert decode(decoder, pieces) == MESSAGES
        assert (decoder.damaged, decoder.unterminated) == (0, False)


def test_a_frame_comes_with_its_last_byte():
    decoder = AwsEventStreamDecoder()
    data, message = FRAMES[0]
    assert decoder.feed(data[:-1]) == []
    assert decoder.feed(data[-1:] + FRAMES[1][0][:20]) == [message]


def test_the_only_frame_of_a_piece():
    """The short way reads a whole and sound frame, or nothing at all."""
    data, message = event("metadata", b'{"usage":{}}')
    decoder = AwsEventStreamDecoder()
    assert decoder.feed(data) == [message], "its headers are known from now on"
    assert decoder.event(data) == ("metadata", message.payload)
    others = [
        b"",
        data[:8],
        data[:-1],
        data + b"\0",
        data + data,
        raw_frame(b"\x01a\x00", b""),
        raw_frame(b"\x01", b""),
    ]
    others += [data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :] for at in range(len(data))]
    for other in others:
        assert decoder.event(other) is None
    assert AwsEventStreamDecoder(max_size=len(data) - 1).event(data) is None
    assert decoder.event(data) == ("metadata", message.payload)
    decoder.feed(data[:20])
    assert decoder.event(data[20:]) is None
    assert decoder.feed(data[20:]) == [message]
    decoder.feed(b"\xff" * 40)
    assert decoder.event(data) is None, "it ends the search"
    assert decoder.feed(data) == [message]
    with pytest.raises(LimitExceededError):
        decoder.feed(struct.pack(">II", 1 << 26, 0) + struct.pack(">I", crc32(struct.pack(">II", 1 << 26, 0))))
    assert decoder.event(data) is None


def altered(data):
    """What can be wrong with a frame: bytes, lengths and checksums, one by one and with the others made right."""
    for at in range(len(data)):
        for other in {0, 255, data[at] ^ 1, data[at] ^ 0x80}:
            yield data[:at] + bytes([other]) + data[at + 1 :]
        yield data[:at]
        yield data[:at] + data[at + 1 :]
        yield data[:at] + b"x" + data[at:]
    length, headers_length, _ = struct.unpack_from(">III", data)
    for lengths in [
        *((length, other) for other in range(300)),
        (length, headers_length + (1 << 8)),
        (length, headers_length + (1 << 24)),
        *((other, headers_length) for other in range(length + 20)),
        (length + (1 << 24), headers_length),
    ]:
        prelude = struct.pack(">II", *lengths)
        for checksum in (crc32(prelude), crc32(prelude) ^ 1):
            body = prelude + struct.pack(">I", checksum) + data[12:-4]
            yield body + struct.pack(">I", crc32(body))
            yield body + struct.pack(">I", crc32(body) ^ 1)
            yield body + data[-4:]


def read(pieces, short):
    decoder = AwsEventStreamDecoder()
    found = []
    for piece in pieces:
        one = decoder.event(piece) if short else None
        if one is None:
            try:
                found += [(event_type(headers), payload) for headers, payload in decoder.feed(piece)]
            except LimitExceededError as error:
                found.append(str(error))
                break
            found += [("gap", at) for at in decoder.gaps]
        else:
            found.append(one)
    return found, decoder.damaged


@pytest.mark.parametrize("payload", [b'{"text":"a"}', b""])
def test_the_short_way_finds_what_the_long_way_finds(payload):
    known, _ = event("contentBlockDelta", payload)
    longer, _ = event("contentBlockDelta", payload + b" " * 200)
    for piece in altered(known):
        for pieces in ([known, known, piece, known, longer], [longer, piece[:20], piece[20:], known]):
            assert read(pieces, True) == read(pieces, False), piece


def test_headers_that_reach_into_the_checksum_are_damage():
    """The number is chosen so that the last bytes of the headers are also the right checksum."""
    headers = text_header(":event-type", "b") + text_header(":message-type", "event") + b"\x01n\x04\x0e\xcd\x80\x3f"
    prelude = struct.pack(">II", 12 + len(headers), len(headers))
    frame = prelude + struct.pack(">I", crc32(prelude)) + headers
    assert crc32(frame[:-4]) != crc32(frame) == int.from_bytes(frame[-4:], "big")
    known, found = raw_frame(headers, b"{}"), ("b", b"{}")
    for short in (True, False):
        assert read([known, frame, known], short) == ([found, ("gap", 0), found], 1)


def test_headers_of_other_orders_and_types_take_the_short_way_as_what_they_are():
    kind, message = text_header(":event-type", "a"), text_header(":message-type", "event")
    exception = text_header(":exception-type", "b")
    flag, number = b"\x01f\x00", b"\x01n\x04\x00\x00\x00\x07"
    long = text_header("x", "y" * 251)  # with it the last byte of the headers' length stays the same
    decoder = AwsEventStreamDecoder()
    events = [kind + message, message + kind, flag + kind + message, kind + number + message]
    no_events = [kind, message, kind + message + exception, kind + text_header(":message-type", "error"), b"", number]
    no_events += [kind + message + long, b"\x0b:event-type\x04\x00\x00\x00\x07" + message]
    for headers in events + no_events:
        data = raw_frame(headers, b"{}")
        (message_found,) = decoder.feed(data)
        assert message_found.payload == b"{}"
        for _ in range(2):
            assert decoder.event(data) == (("a", b"{}") if headers in events else None)


def test_heads_of_frames_are_kept_in_bounds():
    decoder = AwsEventStreamDecoder()
    decoder.feed(FRAMES[0][0])
    for size in range(2 * aws_event_stream._MAX_HEADS + 1):
        data, message = event("messageStart", b" " * size)
        assert decoder.event(data) == ("messageStart", message.payload)
        assert len(aws_event_stream._heads) <= aws_event_stream._MAX_HEADS


def test_every_type_of_header():
    kinds = [
        (b"\x00", b"", True),
        (b"\x01", b"", False),
        (b"\x02", struct.pack(">b", -3), -3),
        (b"\x03", struct.pack(">h", -300), -300),
        (b"\x04", struct.pack(">i", -70_000), -70_000),
        (b"\x05", struct.pack(">q", -(1 << 40)), -(1 << 40)),
        (b"\x06", struct.pack(">H", 3) + b"\x00\xff\x01", b"\x00\xff\x01"),
        (b"\x07", struct.pack(">H", 5) + "té!x".encode(), "té!x"),
        (b"\x08", struct.pack(">q", 1_700_000_000_000), 1_700_000_000_000),
        (b"\x09", bytes(range(16)), bytes(range(16))),
    ]
    headers = b"".join(b"\x02" + f"h{i}".encode() + kind + value for i, (kind, value, _) in enumerate(kinds))
    (message,) = AwsEventStreamDecoder().feed(raw_frame(headers, b"p"))
    assert message == AwsMessage({f"h{i}": value for i, (_, _, value) in enumerate(kinds)}, b"p")
    assert [type(message.headers[f"h{i}"]) for i in range(3)] == [bool, bool, int]


def test_exceptions_and_errors_are_messages():
    exception = raw_frame(
        text_header(":message-type", "exception") + text_header(":exception-type", "throttlingException"),
        b'{"message":"slow"}',
    )
    error = raw_frame(text_header(":message-type", "error") + text_header(":error-code", "500"), b"")
    assert decode(AwsEventStreamDecoder(), [exception + error]) == [
        AwsMessage({":message-type": "exception", ":exception-type": "throttlingException"}, b'{"message":"slow"}'),
        AwsMessage({":message-type": "error", ":error-code": "500"}, b""),
    ]


def test_a_cut_frame_is_told():
    for end in range(len(DATA)):
        decoder = AwsEventStreamDecoder()
        messages = decode(decoder, [DATA[:end]])
        assert messages == MESSAGES[: len(messages)]
        assert decoder.unterminated == (end != sum(len(data) for data, _ in FRAMES[: len(messages)]))
        assert decoder.damaged == 0


def test_any_single_wrong_byte_costs_its_frame_alone():
    (first, _), (second, _), (third, _) = FRAMES
    for at in range(len(second)):
        broken = bytearray(second)
        broken[at] ^= 0x5A
        for pieces in ([first + broken + third], [bytes([b]) for b in first + broken + third]):
            decoder = AwsEventStreamDecoder()
            assert decode(decoder, pieces) == [MESSAGES[0], MESSAGES[2]]
            assert decoder.damaged == 1


def test_bytes_between_frames_are_skipped_and_counted_once():
    dice = random.Random(1)
    for size in (1, 3, 11, 12, 13, 500):
        garbage = bytes(dice.randrange(256) for _ in range(size))
        for pieces in (
            [FRAMES[0][0] + garbage + FRAMES[1][0]],
            [bytes([b]) for b in FRAMES[0][0] + garbage + FRAMES[1][0]],
        ):
            decoder = AwsEventStreamDecoder()
            assert decode(decoder, pieces) == MESSAGES[:2]
            assert decoder.damaged == 1


def test_gaps_say_where_something_was_skipped():
    bad = raw_frame(b"\x05ab", b"x")
    first, second, third = (data for data, _ in FRAMES)
    decoder = AwsEventStreamDecoder()
    assert decoder.feed(bad + first + second + b"garbage" + third + bad + bad) == MESSAGES
    assert decoder.gaps == [0, 2, 3, 3]
    assert decoder.feed(first) == MESSAGES[:1]
    assert decoder.gaps == []
    decoder.feed(bad)
    decoder.close()
    assert (decoder.gaps, decoder.damaged) == ([], 5)


@pytest.mark.parametrize(
    "headers",
    [
        b"\x05ab",  # the name is cut
        b"\x01a",  # no type
        b"\x01a\x0a",  # an unknown type
        b"\x01a\x07\x00",  # the length is cut
        b"\x01a\x07\xff\xff",  # the value is cut
        b"\x01a\x05\x00\x00",  # the number is cut
        b"\x01a\x09\x00",  # the identifier is cut
    ],
)
def test_malformed_headers_cost_their_frame_alone(headers):
    decoder = AwsEventStreamDecoder()
    assert decode(decoder, [FRAMES[0][0] + raw_frame(headers, b"x") + FRAMES[1][0]]) == MESSAGES[:2]
    assert decoder.damaged == 1


def test_headers_longer_than_their_frame_are_damage():
    prelude = struct.pack(">II", 20, 5)
    decoder = AwsEventStreamDecoder()
    frame = prelude + struct.pack(">I", crc32(prelude)) + b"12345678"
    assert decode(decoder, [frame + FRAMES[0][0]]) == MESSAGES[:1]
    assert decoder.damaged == 1


@pytest.mark.parametrize(("length", "headers"), [(1 << 31, 0), ((25 << 20) + 1, 0), (1 << 20, (1 << 17) + 1)])
def test_a_frame_that_says_it_is_huge_is_refused_before_it_comes(length, headers):
    prelude = struct.pack(">II", length, headers)
    data = prelude + struct.pack(">I", crc32(prelude))
    for size in (1, 5, 1000):
        assert decode_to_limit(AwsEventStreamDecoder(), FRAMES[0][0] + data, size) == MESSAGES[:1]
        assert decode_to_limit(AwsEventStreamDecoder(), data, size) == []


def test_a_flood_of_headers_is_one_small_mapping():
    (message,) = AwsEventStreamDecoder().feed(raw_frame(b"\x00\x00" * (1 << 16), b""))
    assert message.headers == {"": True}


def test_a_configured_size_is_kept():
    data, message = FRAMES[0]
    assert AwsEventStreamDecoder(max_size=len(data)).feed(data) == [message]
    with pytest.raises(LimitExceededError):
        AwsEventStreamDecoder(max_size=len(data) - 1).feed(data)


@pytest.mark.parametrize("byte", [b"x", b"\x00"])
def test_garbage_in_single_bytes_is_linear_and_not_kept(byte):
    def work(size):
        decoder = AwsEventStreamDecoder()
        for _ in range(size):
            decoder.feed(byte)
        assert decoder.damaged == 1

    assert growth(work, 10_000) < 9


def test_one_large_frame_in_single_bytes_is_linear():
    def work(size):
        decoder = AwsEventStreamDecoder()
        data = raw_frame(b"", b"x" * size)
        messages = [m for i in range(len(data)) for m in decoder.feed(data[i : i + 1])]
        assert len(messages[0].payload) == size

    assert growth(work, 25_000) < 9
