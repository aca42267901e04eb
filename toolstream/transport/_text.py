"""From the bytes of whole messages to text: the rules that the text framings share."""

from __future__ import annotations

import re
from codecs import utf_8_decode
from typing import TypeAlias

__all__ = ["NO_ENVELOPE", "SHORT", "Envelope", "TextFraming", "Utf8Framing", "is_torn", "whole_characters"]

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
    """What a decoder of a text framing remembers between its messages."""

    __slots__ = ("_started",)

    def __init__(self) -> None:
        Utf8Framing.__init__(self)
        self._started = False  # something was decoded: no byte order mark can come any more

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


def whole_characters(rest: bytes) -> bytes:
    """`rest`, the end of the input, without half a character that ends it: that is not invalid, only cut."""
    return rest[: utf_8_decode(rest, "replace", False)[1]]
