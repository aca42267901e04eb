"""Server-sent events, cut anywhere, to messages.

The rules are those of the WHATWG standard (https://html.spec.whatwg.org/multipage/server-sent-events.html,
"Interpreting an event stream"), with one departure: an event that the end of the input cut off is given as well, and
marked.

- Only LF, CR LF and CR end a line. A blank line ends an event. A byte order mark may stand at the very start.
- A line that starts with a colon is a comment. Of `field: value` one space after the colon goes, no more.
- The `data` lines of an event are joined with LF. An event with no data, or blank data, is no message.

How it works: every line end is made an LF as it comes (a CR at the end of a piece is one at once, and an LF after it
is swallowed), so an event ends at the first LF LF. All bytes up to the last LF LF are decoded together: an LF is
never part of a character, so invalid bytes read alike however they were cut. The rest waits, and is not searched
again but for its last byte. So each byte is copied and looked at a fixed number of times, whatever the sizes of the
pieces.
"""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

from toolstream.transport._text import MAX_SIZE, NO_ENVELOPE, Envelope, TextFraming, whole_characters

__all__ = ["SseDecoder", "SseEvent"]


class SseEvent(NamedTuple):
    """One event: its name and id, `None` if it has none of its own, and its data lines joined with LF."""

    event: str | None
    data: str
    id: str | None


_header = re.compile(  # a name and an id; whatever else is in these may be torn
    rb"(id: [ -~]*\n)?(?:event: (?!error\n)[ -~]*\n)?(id: [ -~]*\n)?"
).fullmatch
_cr_alone = re.compile(rb"\r(?!\n)").search
_envelopes: dict[bytes, Envelope] = {}  # what stands before the data -> envelope; of all streams: most have the same
_MOST, _LONGEST = 256, 128  # of these, and bytes of such a key
_new = tuple.__new__  # a third of the time that calling the class takes


class SseDecoder(TextFraming):
    """`feed` bytes as they come, get the events that they complete; `close` gives the one that was cut off.

    `max_size`: the bytes that one event may have (64 MiB); more raise `LimitExceededError`, at the latest in the next
    call, because events found before are returned first.

    >>> decoder = SseDecoder()
    >>> decoder.feed(b'event: ping\\ndata: {}\\n')
    []
    >>> decoder.feed(b'\\n')
    [SseEvent(event='ping', data='{}', id=None)]
    """

    __slots__ = ("_after_cr", "_calm")

    _end: ClassVar[bytes] = b"\n\n"
    _message: ClassVar[str] = "an event"

    def __init__(self, *, max_size: int = MAX_SIZE) -> None:
        TextFraming.__init__(self, max_size=max_size)
        self._after_cr = False  # the last byte was a CR: an LF now belongs to it; what is pending has LF alone
        self._calm = True  # nothing is pending, and the above does not matter: a short way may be taken

    def feed(self, data: bytes) -> list[SseEvent]:
        """The events that `data` completes. Raises `LimitExceededError` for one that is too long."""
        calm = self._calm and self._started
        if calm and type(data) is bytes and data[-2:] == b"\n\n" and len(data) <= self._max_size:
            try:
                text = data.decode()
            except UnicodeDecodeError:
                return self._feed(data)
            if "\r" not in text:  # whole events, as a server's writes mostly arrive
                lines = text.split("\n")
                count, line = len(lines), lines[-3]
                if line[:6] == "data: " and (count == 3 or (count == 4 and lines[0][:7] == "event: ")):
                    payload = line[6:]
                    if payload and not payload.isspace():
                        name = lines[0][7:] if count == 4 else None
                        return [_new(SseEvent, (name or None, payload, None))]
                return _events(lines)
        return self._feed(data)

    def payload(self, data: bytes) -> bytes | None:
        """The data of the only event in `data`, as bytes that may be no UTF-8, where that is all there is to read and
        begins like an object.

        A short cut for who wants just that, and has no use for the name unless it is `error`. `None`: nothing was
        read, `feed` is to be called.
        """
        if self._calm and len(data) <= self._short:
            if 13 in data:
                return self._payload_crlf(data)
            head, _, rest = data.partition(b"data: ")
            payload, _, end = rest.partition(b"\n")
            if end == b"\n" and payload[:1] == b"{":
                envelope = _envelopes.get(head)
                if envelope is None:
                    header = _header(head)
                    if header is None:
                        return None
                    if header.lastindex:  # with an id it is another one each time
                        envelope = NO_ENVELOPE
                    else:
                        envelope = _envelope(head + b"data: {", b"\n\n")
                        if len(head) <= _LONGEST and len(_envelopes) < _MOST:
                            _envelopes[head] = envelope
                self._started = True
                self.envelope = envelope
                return payload
        return None

    def _payload_crlf(self, data: bytes) -> bytes | None:
        """The same for `data` with CR LF as line ends."""
        head, mark, rest = data.partition(b"data: ")  # replacing in all of it takes five times as long
        if rest[-4:] != b"\r\n\r\n":
            return None
        data = head.replace(b"\r\n", b"\n") + mark + rest[:-4] + b"\n\n"
        payload = None if 13 in data else self.payload(data)
        if payload is not None and self.envelope is not NO_ENVELOPE:
            self.envelope = _envelope(self.envelope[1].replace(b"\n", b"\r\n"), b"\r\n\r\n")
        return payload

    def _feed(self, data: bytes) -> list[SseEvent]:
        if self._error is not None:
            raise self._error
        if type(data) is not bytes:
            data = bytes(memoryview(data))
        whole = self._whole_events(data)
        if len(whole) > self._max_size or len(self._pending) > self._max_size:
            self._calm = False
            self.envelope = NO_ENVELOPE
            return self._bounded(whole)
        events = self._decode(whole) if whole else []
        self._calm = not self._pending and not self._after_cr
        if not self._calm:
            self.envelope = NO_ENVELOPE
        return events

    def _whole_events(self, data: bytes) -> bytes:
        """All that is complete now, with LF as line ends; the rest of `data` is kept in `_pending`."""
        if self._after_cr and data:
            self._after_cr = False
            if data[0] == 10:
                data = data[1:]
        if b"\r" in data:
            self._after_cr = data[-1] == 13
            if _cr_alone(data):
                data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            data = data.replace(b"\r", b"")  # before an LF: this takes a third of the time
        pending = self._pending
        end = data.rfind(b"\n\n") + 2
        if end == 1 and (data[:1] != b"\n" or pending[-1:] != b"\n"):
            pending += data
            return b""
        whole = bytes(pending) + data[:end]
        pending[:] = data[end:]
        return whole

    def close(self) -> list[SseEvent]:
        """The event that the end of the input cut off, if it has data: `unterminated` is true then."""
        if self._error is not None:
            raise self._error
        events: list[SseEvent] = []
        if self._pending:
            rest = whole_characters(bytes(self._pending))
            self._pending.clear()
            events = self._decode(rest + b"\n\n")
        self.unterminated = bool(events)
        return events

    def under_way(self) -> str:
        """The beginning of the data of the next event, "" of one that is named `error`: its data may be anything."""
        events = self._messages(self._waiting() + "\n\n")
        return events[0].data if events and events[0].event != "error" else ""

    def _messages(self, text: str) -> list[SseEvent]:
        return _events(text.split("\n"))


def _envelope(front: bytes, back: bytes) -> Envelope:
    return len(front), front, len(front) - 1, -len(back), back


def _events(lines: list[str]) -> list[SseEvent]:
    """The events of lines of which the last two are empty."""
    events = []
    name = identity = None
    data: list[str] = []
    for line in lines:
        if line[:6] == "data: ":
            data.append(line[6:])
        elif line[:7] == "event: ":
            name = line[7:] or None
        elif line:
            field, _, value = line.partition(":")
            if value[:1] == " ":
                value = value[1:]
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value or None
            elif field == "id" and "\0" not in value:
                identity = value
        else:
            if data:
                joined = data[0] if len(data) == 1 else "\n".join(data)
                if joined and not joined.isspace():
                    events.append(_new(SseEvent, (name, joined, identity)))
                data = []
            name = identity = None
    return events
