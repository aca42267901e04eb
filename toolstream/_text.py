"""Raw text that arrives in pieces: kept as sent, read when somebody asks.

Python does not join the two UTF-16 halves of a character that meet between two pieces, as other languages do when they
add strings. Here they are joined whenever text is read; a half that stays alone stays in raw text. Appending costs the
piece, reading costs the text once after it has grown.
"""

from __future__ import annotations

from io import StringIO

__all__ = ["TextBuffer", "join_halves"]


def join_halves(text: str) -> str:
    """`text` with every high half that a low half follows made one character; other halves stay."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


class TextBuffer:
    """Text that grows by pieces."""

    __slots__ = ("_pieces", "_text", "length")

    def __init__(self) -> None:
        self._pieces = StringIO()  # gathers pieces without an object for each
        self._text: str | None = ""  # all pieces joined, if that was asked for since the last one
        self.length = 0
        """Of all pieces, in code points, halves counted one by one."""

    def append(self, piece: str) -> None:
        """Add a piece."""
        self._pieces.write(piece)
        self.length += len(piece)
        self._text = None

    def read(self) -> str:
        """All text so far."""
        if self._text is None:
            self._text = join_halves(self._pieces.getvalue())
        return self._text

    def read_until(self, length: int) -> str:
        """The text as it was when it had `length`. Costs the whole text, every time."""
        return join_halves(self._pieces.getvalue()[:length])
