"""The binary framing of Amazon's services: `application/vnd.amazon.eventstream`.

    uint32 length of the frame | uint32 length of the headers | uint32 CRC-32 of these 8 bytes
    headers: (uint8 length, name, uint8 type, value)*  | payload | uint32 CRC-32 of all before

Numbers are big-endian. Events, exceptions (`:message-type` is `exception`) and errors all come out as messages: what
they mean is for the layers above.

Damage. A frame whose prelude is sound and whose own checksum or headers are not is skipped: its length can be
trusted. Where the prelude's checksum fails nothing can, and the next sound prelude is searched for, byte by byte.
Both count in `damaged`, once for each gap. A sound prelude that names more than `max_size` bytes, or more than
`MAX_HEADERS` of headers, is no damage but more than we are willing to hold: `LimitExceededError`. Nothing is kept but
the frame under way, and no byte of it is looked at before it is whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from struct import Struct
from struct import error as StructError
from typing import ClassVar, NamedTuple, TypeAlias
from zlib import crc32

from toolstream.errors import LimitExceededError
from toolstream.transport._text import size_limit

__all__ = ["MAX_FRAME", "MAX_HEADERS", "AwsEventStreamDecoder", "AwsMessage", "HeaderValue", "event_type"]

MAX_FRAME = 25 << 20
"""Bytes of a frame, by default. The services send up to 24 MiB of payload."""
MAX_HEADERS = 1 << 17
"""Bytes of the headers of a frame, by the protocol's own definition."""

HeaderValue: TypeAlias = bool | int | str | bytes

_prelude = Struct(">III").unpack_from
_START = 12  # bytes of the prelude
_uint32 = Struct(">I").unpack_from
_UINT16 = Struct(">H")
_NUMBERS = {2: Struct(">b"), 3: Struct(">h"), 4: Struct(">i"), 5: Struct(">q"), 8: Struct(">q")}  # 8: milliseconds
_AROUND = 16  # prelude and checksum
_new = tuple.__new__  # a third of the time that calling the class takes
_frame_start = re.compile(rb"[\x00\x01]").search  # the first byte of any length that is let in


class AwsMessage(NamedTuple):
    """One frame. A timestamp is an `int` of milliseconds since 1970, a UUID its 16 bytes."""

    headers: dict[str, HeaderValue]
    payload: bytes


class AwsEventStreamDecoder:
    """`feed` bytes as they come, get the frames that they complete.

    `max_size`: the bytes that one frame may have, at most 32 MiB. A frame that says it is longer raises
    `LimitExceededError`, at the latest in the next call, because frames found before are returned first.

        >>> decoder = AwsEventStreamDecoder()
        >>> decoder.feed(bytes.fromhex("00000012000000007f021b8b68"))
        []
        >>> decoder.feed(bytes.fromhex("6954a7f415"))
        [AwsMessage(headers={}, payload=b'hi')]
    """

    __slots__ = (
        "_buffer",
        "_error",
        "_lost",
        "_max_size",
        "_needed",
        "_short",
        "damaged",
        "gaps",
        "unterminated",
    )

    utf8_invalid = False  # the framing is binary
    torn: ClassVar[list[int]] = []

    def __init__(self, *, max_size: int = MAX_FRAME) -> None:
        self._max_size = min(size_limit(max_size), 1 << 25)
        self._buffer = bytearray()
        self._needed = _START  # bytes that the buffer must have before more can be said of it
        self._short = self._max_size  # bytes of a frame that may take the short way; 0: something waits or is lost
        self._lost = False  # searching for a sound prelude
        self._error: LimitExceededError | None = None
        self.unterminated = False
        self.damaged = 0
        self.gaps: list[int] = []

    def feed(self, data: bytes) -> list[AwsMessage]:
        """The frames that `data` completes. Raises `LimitExceededError` for one that is too long."""
        if self._error is not None:
            raise self._error
        self.gaps = []
        self._short = 0
        messages: list[AwsMessage] = []
        buffer = self._buffer
        if buffer or type(data) is not bytes:
            buffer += data
            if len(buffer) < self._needed:
                return messages
            data = bytes(buffer)
            buffer.clear()
        at, size = 0, len(data)
        self._needed = _START
        while size - at >= _START:
            length, headers_length, checksum = _prelude(data, at)
            if crc32(data[at : at + 8]) != checksum or headers_length + _AROUND > length:
                at = self._search(data, at, messages)
                continue
            self._lost = False
            if length > self._max_size or headers_length > MAX_HEADERS:
                text = f"a frame of {length} bytes ({headers_length} of headers) is too long"
                self._error = LimitExceededError(text)
                if not messages:
                    raise self._error
                return messages
            end = at + length
            if end > size:
                self._needed = length
                break
            start = at + _START + headers_length
            headers = None
            if crc32(data[at : end - 4]) == _uint32(data, end - 4)[0]:
                block = data[at + _START : start]
                headers = _known.get(block) or _headers_of(block)
            if headers is None:
                self._gap(messages)
            else:
                messages.append(_new(AwsMessage, (headers.copy(), data[start : end - 4])))
            at = end
        if at < size:
            buffer += data[at:]
        elif not self._lost:
            self._short = self._max_size
        return messages

    def event(self, data: bytes) -> tuple[str, bytes] | None:
        """The only frame in `data`, where that is all there is to read and it is an event with headers as before:
        its type and its payload.

        A short cut like that of `SseDecoder`. `None`: nothing was read, `feed` is to be called.
        """
        size = len(data)
        if size <= self._short:
            head = _heads.get(size)
            if head is None or not data.startswith(head[0]):
                head = _head_of_event(data)
                if head is None:
                    return None
            _, start, kind, checksum = head
            payload = data[start:-4]
            if crc32(payload, checksum) == _uint32(data, size - 4)[0]:
                return kind, payload
        return None

    def close(self) -> list[AwsMessage]:
        """Nothing: a frame that the end cut off cannot be read. `unterminated` is true if there is one."""
        if self._error is not None:
            raise self._error
        self.gaps = []
        self.unterminated = bool(self._buffer) and not self._lost
        self._buffer.clear()
        return []

    def under_way(self) -> str:
        """Nothing: before its checksum has come, a frame says nothing for certain."""
        return ""

    def _gap(self, messages: list[AwsMessage]) -> None:
        self.damaged += 1
        self.gaps.append(len(messages))

    def _search(self, data: bytes, at: int, messages: list[AwsMessage]) -> int:
        """No frame starts at that place: where one may start."""
        if not self._lost:
            self._lost = True
            self._gap(messages)
        found = _frame_start(data, at + 1)
        return found.start() if found else len(data)


# The headers of a stream's frames are a few blocks, again and again.
_known: dict[bytes, dict[str, HeaderValue]] = {}
_known_types: dict[bytes, str] = {}  # of events


# So is all that stands before the payload, with the lengths that text and padding make. By the length of a frame, what
# the last event of that length had there: the bytes, how many, the event's type, and their checksum, which the frame's
# goes on from.
_Head: TypeAlias = tuple[bytes, int, str, int]
_heads: dict[int, _Head] = {}
_MAX_HEADS = 512


def _head_of_event(data: bytes) -> _Head | None:
    if len(data) < _AROUND:
        return None
    length, headers_length, checksum = _prelude(data)
    start = _START + headers_length
    kind = _known_types.get(data[_START:start])
    if kind is None or length != len(data) or start + 4 > length or crc32(data[:8]) != checksum:
        return None
    if len(_heads) >= _MAX_HEADS:
        _heads.clear()
    before = data[:start]
    _heads[length] = head = before, start, kind, crc32(before)
    return head


def event_type(headers: Mapping[str, HeaderValue]) -> str | None:
    """What kind of event a frame is; `None` of an exception, an error, or anything else."""
    kind = headers.get(":event-type")
    is_event = headers.get(":message-type") == "event" and ":exception-type" not in headers
    return kind if is_event and isinstance(kind, str) else None


def _headers_of(block: bytes) -> dict[str, HeaderValue] | None:
    """The headers in a block that is not known yet; `None` if they are malformed."""
    headers = _headers(block)
    if headers is not None and len(_known) < 64 and len(block) <= 256:
        _known[block] = headers
        kind = event_type(headers)
        if kind is not None:
            _known_types[block] = kind
    return headers


def _headers(data: bytes) -> dict[str, HeaderValue] | None:
    headers: dict[str, HeaderValue] = {}
    at = 0
    try:
        while at < len(data):
            start = at + 1
            at = start + data[at]
            name, kind = data[start:at].decode("utf-8", "replace"), data[at]
            at += 1
            value: HeaderValue
            if kind in (0, 1):
                value = kind == 0
            elif kind in _NUMBERS:
                value = _NUMBERS[kind].unpack_from(data, at)[0]
                at += _NUMBERS[kind].size
            elif kind in (6, 7, 9):
                size = 16
                if kind != 9:
                    size = _UINT16.unpack_from(data, at)[0]
                    at += 2
                raw = data[at : at + size]
                at += size
                value = raw.decode("utf-8", "replace") if kind == 7 else raw
            else:
                return None
            headers[name] = value
    except (IndexError, StructError):
        return None
    return headers if at == len(data) else None
