"""What comes after the end of a call's value: the same value again, another one, or only noise (rule 5 of
docs/rules.md).

The text is read on for values, in two ways. Where a value may directly follow, any JSON value counts. After noise
(prose, a closing tag) only objects and arrays do: in `see 2 of "them"` nobody sent a second value. A candidate is
held back until it has ended: if it is the finished value again it is a copy, and its text is dropped; else the text
belongs to the call, which now has several values. What turns out to be no JSON is noise, and the search goes on
behind the place where it failed.

Cost: linear in the text. A candidate is read in slices that double, so that one which fails early has not read far.
"""

from __future__ import annotations

import re
from typing import Final

from toolstream._engine import StreamingJsonParser
from toolstream._values import same_value
from toolstream._verdict import is_lossy, new_parser
from toolstream.errors import LimitExceededError
from toolstream.types import JsonValue

__all__ = ["Tail", "begins_value"]

_SLICE: Final = 16

_opener = re.compile(r"[{\[]").search
_blanks = re.compile(r"[ \t\n\r]*").match
_value = re.compile(r"""[{\["'0-9tfnTFN-]""").match


def begins_value(text: str, i: int = 0) -> bool:
    """Whether a JSON value, or what a lenient reader takes for one, may begin at `text[i]`."""
    return _value(text, i) is not None


class Tail:
    """Reads what follows `value`, which has ended.

    >>> tail = Tail({"a": 1}, 512)
    >>> tail.feed(' </call> {"b"'), tail.feed(': 2}'), tail.values
    (' </call> ', '{"b": 2}', [{'b': 2}])
    """

    __slots__ = (
        "_candidate",
        "_held",
        "_matched",
        "_max_depth",
        "_prose",
        "_size",
        "cut",
        "noise",
        "other",
        "repeats",
        "resent",
        "value",
        "values",
    )

    def __init__(self, value: JsonValue, max_depth: int | None) -> None:
        self.value = value
        self.values: list[JsonValue] = []
        """The other values that followed."""
        self.noise = False
        """Something else followed."""
        self.resent = False
        """The value followed again."""
        self.cut = False
        """After `finish`: the text ended inside another object or array."""
        self.other: str | None = None
        """What follows a repeated header, if it is another value: text of a call of its own. Nothing is read after
        it."""
        self.repeats: str | None = None
        """The text of `value`, where a header was repeated that may begin another call with the next value."""
        self._candidate: StreamingJsonParser | None = None
        self._held: list[str] = []
        self._size = 0
        self._matched = 0
        self._prose = False
        self._max_depth = max_depth

    @property
    def idle(self) -> bool:
        """Whether no candidate is under way."""
        return self._candidate is None

    def feed(self, text: str) -> str:
        """Read on: the text that belongs to the call for certain. What is held back comes later, or never."""
        out: list[str] = []
        i, n = 0, len(text)
        while i < n and self.other is None:
            if self._candidate is not None:
                i = self._read(text, i, out)
                continue
            opener = _opener(text, i) if self._prose else _blanks(text, i)
            if opener is None:
                out.append(text[i:])
                break
            begin = opener.start() if self._prose else opener.end()
            out.append(text[i:begin])
            i = begin
            if i < n:
                if self._prose or begins_value(text, i):
                    self._candidate = new_parser(self._max_depth)
                    self._size = _SLICE
                    self._matched = 0
                else:
                    self._fail()
        return "".join(out)

    def finish(self) -> str:
        """The text has ended: the rest of what belongs to the call."""
        out: list[str] = []
        parser = self._candidate
        if parser is None:
            return ""
        parser.feed("\n")  # ends a bare number or word
        if parser.root_end is not None:
            self._end(parser, "", 0, 0, out)
        elif self.repeats is not None:
            self.other = "".join(self._held)
        else:
            self.cut = parser.depth > 0 and not is_lossy(parser)
            self.noise = self.noise or not self.cut
            self._release("", out, 0)
        return "".join(out)

    def take_other(self) -> str:
        """`other`, which goes to another call; reading this call's text may go on."""
        text = self.other or ""
        self.drop()
        return text

    def drop(self) -> None:
        """What is held back belongs to no call, or to another one."""
        self.other = self.repeats = self._candidate = None
        self._held.clear()

    def _read(self, text: str, i: int, out: list[str]) -> int:
        """Read the candidate on from `text[i]`; where it ends, or the end of `text`."""
        parser = self._candidate
        assert parser is not None
        while i < len(text):
            piece = text[i : i + self._size]
            self._size *= 2
            before = parser.position
            try:
                parser.feed(piece)
            except LimitExceededError:  # whatever it is, it is no copy
                self.values.append(parser.snapshot())
                return self._release(text[i:], out, len(text))
            if self.repeats is not None:
                if not self.repeats.startswith(piece, self._matched) and parser.root_end is None:
                    self.other = "".join(self._held) + text[i:]
                    return i
                self._matched += len(piece)
            if parser.root_end is not None:
                length = max(0, len(piece) - (parser.position - parser.root_end))
                return self._end(parser, text, i, length, out)
            if is_lossy(parser):
                self._fail()
                error = parser.error
                assert error is not None
                length = min(max(error.offset - before, 0) + 1, len(piece))
                return self._release(text[i : i + length], out, i + length)
            self._held.append(piece)
            i += len(piece)
        return i

    def _end(self, parser: StreamingJsonParser, text: str, i: int, length: int, out: list[str]) -> int:
        """The candidate has ended with the first `length` characters from `text[i]`."""
        last = text[i : i + length]
        if is_lossy(parser):
            self._fail()
        else:
            value = parser.snapshot()
            if not self.values and same_value(value, self.value):
                self.resent = True
                self._candidate = None
                self._held.clear()
                return i + length
            if self.repeats is not None:
                self.other = "".join(self._held) + text[i:]
                return i
            self.values.append(value)
            self._prose = False
        return self._release(last, out, i + length)

    def _release(self, last: str, out: list[str], i: int) -> int:
        out += self._held
        out.append(last)
        self._held.clear()
        self._candidate = None
        return i

    def _fail(self) -> None:
        self.noise = True
        self._prose = True
        self.repeats = None
