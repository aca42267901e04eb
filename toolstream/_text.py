"""Raw text that arrives in pieces: kept as sent, read when somebody asks.

Python does not join the two UTF-16 halves of a character that meet between two pieces, as other languages do when they
add strings. Here they are joined whenever text is read; a half that stays alone stays in raw text. Appending costs the
piece, reading costs the text once after it has grown.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO

__all__ = ["TextBuffer", "join_halves", "rest_after", "whole_text"]


def join_halves(text: str) -> str:
    """`text` with every high half that a low half follows made one character; other halves stay."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def whole_text(text: str) -> str:
    """`text` as a request can carry it: halves joined, and U+FFFD for those that stay alone."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def rest_after(so_far: str, text: str) -> str | None:
    """What `text` has after `so_far`, which may end in half a character; `None` if it does not go on from it."""
    if text.startswith(so_far):
        return text[len(so_far) :]
    at = len(so_far) - 1
    if text[at : at + 1] > "\uffff" and text.startswith(so_far[:-1]):
        high, low = divmod(ord(text[at]) - 0x10000, 0x400)
        if so_far[at] == chr(0xD800 + high):
            return chr(0xDC00 + low) + text[at + 1 :]
    return None


class TextBuffer:
    """Text that grows by pieces."""

    __slots__ = ("_pieces", "_read", "_text", "append")

    def __init__(self) -> None:
        self._pieces = StringIO()  # gathers pieces without an object for each
        self._text = ""  # the first `_read` characters, joined
        self._read = 0
        self.append: Callable[[str], int] = self._pieces.write
        """Add a piece."""

    @property
    def length(self) -> int:
        """Of all pieces, in code points, halves counted one by one."""
        return self._pieces.tell()

    def read(self) -> str:
        """All text so far."""
        length = self._pieces.tell()
        if length != self._read:
            self._text = join_halves(self._pieces.getvalue())
            self._read = length
        return self._text

    def read_until(self, length: int) -> str:
        """The text as it was when it had `length`. Costs the whole text, every time."""
        return join_halves(self._pieces.getvalue()[:length])
