"""From the bytes of whole messages to text: the rules that the text framings share."""

from __future__ import annotations

import re
from codecs import utf_8_decode
from typing import Any, ClassVar, TypeAlias

from toolstream.errors import LimitExceededError

__all__ = [
    "MAX_SIZE",
    "NO_ENVELOPE",
    "SHORT",
    "Envelope",
    "TextFraming",
    "Utf8Framing",
    "is_torn",
    "size_limit",
    "whole_characters",
]

MAX_SIZE = 1 << 26
"""Bytes that one message may have, unless said otherwise."""

SHORT = 4096
"""Pieces up to this length may take a short way: what is longer is looked at once, not twice."""

Envelope: TypeAlias = tuple[int, bytes, int, int, bytes]
"""What stood around the JSON of the last piece that took the short way, mostly the same as with the next one: `(size,
front, start, end, back)`. Where `piece[:size] == front and piece[end:] == back`, and `piece[start:end]` has neither LF
nor CR, that is the JSON of a piece of up to `SHORT` bytes, and a decoder without a `max_size` below that need not be
asked."""

NO_ENVELOPE: Envelope = (0, b"\n", 0, 0, b"")
"""Fits nothing: the last piece was another, or ended inside of something."""

_string = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?(\s*:)?')  # nothing of it is read twice


def size_limit(max_size: int) -> int:
    """The `max_size` that a decoder was given; an error if it is none."""
    if type(max_size) is not int and (not isinstance(max_size, int) or isinstance(max_size, bool)):
        raise TypeError(f"max_size must be an int, not {type(max_size).__name__}")
    if max_size < 0:
        raise ValueError(f"max_size must be at least 0, not {max_size}")
    return max_size


def is_torn(text: str) -> bool:
    """Whether a U+FFFD stands anywhere but in JSON strings that are values: then a field may be lost with its name."""
    return "\ufffd" in _string.sub(lambda found: found[0] if found[1] else "", text)


class Utf8Framing:
    """What a decoder of messages in UTF-8 notes about their bytes."""

    __slots__ = ("torn", "utf8_invalid")

    def __init__(self) -> None:
        self.utf8_invalid = False
        self.torn: list[int] = []

    def _replaced(self, whole: bytes, number: int) -> str:
        """Bytes of the message with that number that are no UTF-8 as text: what is invalid is replaced and noted."""
        text = whole.decode("utf-8", "replace")
        self.utf8_invalid = True
        if is_torn(text):
            self.torn.append(number)
        return text


class TextFraming(Utf8Framing):
    """A decoder of a text framing: what it remembers between messages, and how it reads many that are whole."""

    __slots__ = ("_error", "_max_size", "_pending", "_short", "_started", "envelope", "unterminated")

    gaps: ClassVar[list[int]] = []  # nothing is ever skipped
    _end: ClassVar[bytes]  # of a message
    _message: ClassVar[str]  # what one is called

    def __init__(self, *, max_size: int = MAX_SIZE) -> None:
        Utf8Framing.__init__(self)
        self._max_size = size_limit(max_size)
        self._short = max_size if max_size < SHORT else SHORT
        self._pending = bytearray()  # the message under way
        self._started = False  # something was decoded: no byte order mark can come any more
        self._error: LimitExceededError | None = None
        self.unterminated = False
        self.envelope = NO_ENVELOPE

    def under_way(self) -> str:
        """The JSON of the message under way, as far as it has come; nothing is read by that."""
        raise NotImplementedError

    def one_line(self) -> str:
        """All that has come, if there was no line end in it."""
        return "" if self._started or b"\n" in self._pending else self._waiting()

    def _waiting(self) -> str:
        """What is pending, as text."""
        return whole_characters(bytes(self._pending)).decode(errors="replace").removeprefix("\ufeff")

    def _messages(self, text: str) -> list[Any]:
        """Those in a text that ends where a message does."""
        raise NotImplementedError

    def _decode(self, whole: bytes, before: int = 0) -> list[Any]:
        """The messages in `whole`, which ends where one does; so many were found before in this call."""
        try:
            return self._messages(self._text(whole))
        except UnicodeDecodeError:
            messages: list[Any] = []
            for one in whole.split(self._end):  # so that the message that is torn is known
                messages += self._messages(self._text(one + self._end, before + len(messages)))
            return messages

    def _text(self, whole: bytes, number: int | None = None) -> str:
        """`whole` as text, a byte order mark at the very start skipped. Invalid bytes are replaced and noted if
        `whole` is the message with that number, else a `UnicodeDecodeError`."""
        try:
            text = whole.decode()
        except UnicodeDecodeError:
            if number is None:
                raise
            text = self._replaced(whole, number)
        if not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        return text

    def _bounded(self, whole: bytes) -> list[Any]:
        """The slow way, where something is too long: the messages before it; it raises now or in the next call."""
        messages: list[Any] = []
        for one in whole.split(self._end):
            if len(one) > self._max_size:
                break
            messages += self._decode(one + self._end, len(messages))
        else:
            if len(self._pending) <= self._max_size:
                return messages
        self._pending.clear()
        self._short = -1
        self.envelope = NO_ENVELOPE
        self._error = LimitExceededError(f"{self._message} is longer than {self._max_size} bytes")
        if not messages:
            raise self._error
        return messages


def whole_characters(rest: bytes) -> bytes:
    """`rest`, the end of the input, without half a character that ends it: that is not invalid, only cut."""
    return rest[: utf_8_decode(rest, "replace", False)[1]]
