"""Newline-delimited JSON: one message a line, ended by LF (a CR before it is white space).

Only LF ends a line: U+2028, U+0085 and the like may stand raw inside JSON strings. Lines are not parsed here, so that
a bad one is the reader's to report, and costs no other. Bytes up to the last LF of a piece are decoded together, the
rest waits unsearched: linear however the bytes are cut.
"""

from __future__ import annotations

from typing import ClassVar

from toolstream.transport._text import NO_ENVELOPE, Envelope, TextFraming, whole_characters

__all__ = ["NdjsonDecoder"]


_ENVELOPE: Envelope = (1, b"{", 0, -1, b"\n")


class NdjsonDecoder(TextFraming):
    """`feed` bytes as they come, get the lines that they complete, blank ones left out.

    `max_size`: the bytes that one line may have (64 MiB); more raise `LimitExceededError`, at the latest in the next
    call, because lines found before are returned first.

    >>> decoder = NdjsonDecoder()
    >>> decoder.feed(b'{"done": false}\\n{"do')
    ['{"done": false}']
    >>> decoder.feed(b'ne": true}'), decoder.close()
    ([], ['{"done": true}'])
    """

    __slots__ = ()

    _end: ClassVar[bytes] = b"\n"
    _message: ClassVar[str] = "a line"

    def payload(self, data: bytes) -> bytes | None:
        """The only line in `data`, as bytes that may be no UTF-8, where that is all there is to read and begins like an
        object.

        A short cut like that of `SseDecoder`. `None`: nothing was read, `feed` is to be called.
        """
        if not self._pending and len(data) <= self._short:
            line, end, rest = data.partition(b"\n")
            if end and not rest and line[:1] == b"{":
                self._started = True
                self.envelope = _ENVELOPE
                return line
        return None

    def feed(self, data: bytes) -> list[str]:
        """The lines that `data` completes. Raises `LimitExceededError` for one that is too long."""
        if self._error is not None:
            raise self._error
        if type(data) is not bytes:
            data = bytes(memoryview(data))
        end = data.rfind(b"\n") + 1
        whole = b""
        if end:
            whole, data = bytes(self._pending) + data[:end], data[end:]
            self._pending.clear()
        if data:
            self._pending += data
            self.envelope = NO_ENVELOPE
        if len(whole) > self._max_size or len(self._pending) > self._max_size:
            return self._bounded(whole)
        return self._decode(whole) if whole else []

    def close(self) -> list[str]:
        """The last line, if no LF came after it: `unterminated` is true then."""
        if self._error is not None:
            raise self._error
        rest = whole_characters(bytes(self._pending))
        self._pending.clear()
        lines = self._decode(rest)
        self.unterminated = bool(lines)
        return lines

    def under_way(self) -> str:
        """The beginning of the next line."""
        return self._waiting()

    def _messages(self, text: str) -> list[str]:
        return [line.rstrip("\r") for line in text.split("\n") if line and not line.isspace()]
