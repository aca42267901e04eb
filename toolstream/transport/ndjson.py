"""Newline-delimited JSON: one message a line, ended by LF (a CR before it is white space).

Only LF ends a line: U+2028, U+0085 and the like may stand raw inside JSON strings. Lines are not parsed here, so that
a bad one is the reader's to report, and costs no other. Bytes up to the last LF of a piece are decoded together, the
rest waits unsearched: linear however the bytes are cut.
"""

from __future__ import annotations

from typing import ClassVar

from toolstream.errors import LimitExceededError
from toolstream.transport._text import NO_ENVELOPE, SHORT, Envelope, TextFraming, whole_characters
from toolstream.transport.sse import MAX_SIZE

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

    __slots__ = ("_error", "_max_size", "_pending", "_short", "envelope", "unterminated")

    gaps: ClassVar[list[int]] = []  # nothing is ever skipped

    def __init__(self, *, max_size: int = MAX_SIZE) -> None:
        TextFraming.__init__(self)
        self._max_size = max_size
        self._short = min(max_size, SHORT)
        self._pending = bytearray()
        self._error: LimitExceededError | None = None
        self.unterminated = False
        self.envelope = NO_ENVELOPE

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
        return self._lines(whole) if whole else []

    def close(self) -> list[str]:
        """The last line, if no LF came after it: `unterminated` is true then."""
        if self._error is not None:
            raise self._error
        rest = whole_characters(bytes(self._pending))
        self._pending.clear()
        lines = self._lines(rest)
        self.unterminated = bool(lines)
        return lines

    def _lines(self, whole: bytes, before: int = 0) -> list[str]:
        """The lines in `whole`; so many were found before in this call."""
        try:
            return _not_blank(self._text(whole).split("\n"))
        except UnicodeDecodeError:
            lines: list[str] = []
            for line in whole.split(b"\n"):  # so that the line that is torn is known
                lines += _not_blank([self._text(line, before + len(lines))])
            return lines

    def _bounded(self, whole: bytes) -> list[str]:
        """The slow way, where something is too long: the lines before it; it raises now or in the next call."""
        lines: list[str] = []
        for line in whole.split(b"\n"):
            if len(line) > self._max_size:
                break
            lines += self._lines(line, len(lines))
        else:
            if len(self._pending) <= self._max_size:
                return lines
        self._pending.clear()
        self._short = -1
        self.envelope = NO_ENVELOPE
        self._error = LimitExceededError(f"a line is longer than {self._max_size} bytes")
        if not lines:
            raise self._error
        return lines


def _not_blank(lines: list[str]) -> list[str]:
    return [line.rstrip("\r") for line in lines if line and not line.isspace()]
