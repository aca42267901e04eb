"""From the bytes of whole lines to text: the rule that SSE and NDJSON share."""

from __future__ import annotations

from codecs import utf_8_decode

__all__ = ["TextFraming", "whole_characters"]


class TextFraming:
    """What a decoder of a text framing remembers between its messages."""

    __slots__ = ("_started", "utf8_invalid")

    def __init__(self) -> None:
        self._started = False  # something was decoded: no byte order mark can come any more
        self.utf8_invalid = False

    def _text(self, whole: bytes) -> str:
        """`whole` as text: invalid bytes are replaced and noted, a byte order mark at the very start is skipped."""
        try:
            text = whole.decode()
        except UnicodeDecodeError:
            text = whole.decode("utf-8", "replace")
            self.utf8_invalid = True
        if not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        return text


def whole_characters(rest: bytes) -> bytes:
    """`rest`, the end of the input, without half a character that ends it: that is not invalid, only cut."""
    return rest[: utf_8_decode(rest, "replace", False)[1]]
