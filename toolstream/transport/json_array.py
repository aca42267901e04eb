"""A JSON array that arrives in pieces: each of its objects and arrays as soon as its last bracket is there.

Brackets outside strings are counted, on the bytes: no byte of a longer UTF-8 character looks like one. An element is
parsed once, when its brackets balance; one that is no JSON is skipped and counted in `damaged`, and so is whatever
else stands between elements. Without the array around them, single objects one after the other are read in the same
way. What has been scanned is never scanned again: linear however the bytes are cut.

A piece of nothing but whole elements, as servers mostly write them, is not scanned: parsing an element finds its end.
Where that turns out wrong the piece is scanned as any other.
"""

from __future__ import annotations

import re
from typing import Any

from toolstream.errors import LimitExceededError
from toolstream.transport._text import MAX_SIZE, Utf8Framing, size_limit
from toolstream.transport.json_text import exact_loads, exact_value

__all__ = ["JsonArrayDecoder"]

_between = re.compile(rb"[^\s,\xef\xbb\xbf]").search  # the last three: a byte order mark
_text_between = re.compile(r"[^\s,]", re.ASCII).search
_opening = re.compile(rb"[\[{\]]").search
_quote_or_escape = re.compile(rb'["\\]').search
# Whole strings, and what is between. A limited number: `re` takes memory for each.
_no_brackets = re.compile(rb'(?:[^"{}\[\]]+|"[^"\\]*(?:\\.[^"\\]*){0,64}"){0,64}', re.DOTALL).match


class JsonArrayDecoder(Utf8Framing):
    """`feed` bytes as they come, get the elements that they complete, as `json` values (integers exact).

    `max_size`: the bytes that one element may have (64 MiB); more raise `LimitExceededError`, at the latest in the
    next call, because elements found before are returned first.

    >>> decoder = JsonArrayDecoder()
    >>> decoder.feed(b'[{"a": 1}\\n,\\n{"b": ')
    [{'a': 1}]
    >>> decoder.feed(b'[]}]')
    [{'b': []}]
    """

    __slots__ = (
        "_depth",
        "_error",
        "_escaped",
        "_garbage",
        "_in_array",
        "_in_string",
        "_max_size",
        "_pending",
        "damaged",
        "gaps",
        "unterminated",
    )

    def __init__(self, *, max_size: int = MAX_SIZE) -> None:
        Utf8Framing.__init__(self)
        self._max_size = size_limit(max_size)
        self._pending = bytearray()  # the element under way
        self._depth = 0  # brackets open in it; 0: between elements
        self._in_string = False
        self._escaped = False
        self._in_array = False  # the outermost array is open
        self._garbage = False  # between elements, in something that is none: counted already
        self._error: LimitExceededError | None = None
        self.unterminated = False
        self.damaged = 0
        self.gaps: list[int] = []

    def feed(self, data: bytes) -> list[Any]:
        """The elements that `data` completes. Raises `LimitExceededError` for one that is too long."""
        if self._error is not None:
            raise self._error
        if type(data) is not bytes:
            data = bytes(memoryview(data))
        self.gaps = []
        if not self._depth and not self._garbage and len(data) <= self._max_size:
            whole = self._whole_elements(data)
            if whole is not None:
                return whole
        elements: list[Any] = []
        start = at = 0  # of the element in `data`; how far it is scanned
        while True:
            if not self._depth:
                start = self._next_element(data, at, len(elements))
                if start < 0:
                    return elements
                self._depth = 1
                at = start + 1
            at = self._element_end(data, at)
            self._pending += data[start:at]
            if len(self._pending) > self._max_size:
                self._pending.clear()
                self._error = LimitExceededError(f"an element is longer than {self._max_size} bytes")
                if not elements:
                    raise self._error
                return elements
            if self._depth:
                return elements
            self._take(elements)
            start = at

    def close(self) -> list[Any]:
        """Nothing: an element that the end cut off has no value. `unterminated` is true if there is one."""
        if self._error is not None:
            raise self._error
        self.gaps = []
        self.unterminated = self._depth > 0
        self._pending.clear()
        return []

    def under_way(self) -> str:
        """The beginning of the next element."""
        return self._pending.decode(errors="replace")

    def _whole_elements(self, data: bytes) -> list[Any] | None:
        """The elements of a piece that has nothing else but the array's brackets and commas; `None`: nothing was
        read."""
        if data[data.rfind(b"}") + 1 :].strip(b" \t\r\n,]"):
            return None
        elements: list[Any] = []
        in_array = self._in_array
        at = 0
        try:
            text = data.decode()
            while (found := _text_between(text, at)) is not None:
                at = found.start()
                sign = text[at]
                if sign == "{":
                    value, at = exact_value(text, at)
                    elements.append(value)
                elif sign == ("]" if in_array else "["):
                    in_array = not in_array
                    at += 1
                else:
                    return None
        except (ValueError, RecursionError):
            return None
        self._in_array = in_array
        return elements

    def _next_element(self, data: bytes, at: int, number: int) -> int:
        """Where the next element, of that number in this call, starts in `data`, or -1."""
        while True:
            found = (_opening if self._garbage else _between)(data, at)
            if found is None:
                return -1
            at = found.end()
            byte = data[at - 1]
            if byte == 0x7B or (byte == 0x5B and self._in_array):
                self._garbage = False
                return at - 1
            if byte == 0x5B:
                self._garbage, self._in_array = False, True
            elif byte == 0x5D and self._in_array:
                self._garbage = self._in_array = False
            elif not self._garbage:
                self._garbage = True
                self._gap(number)

    def _element_end(self, data: bytes, at: int) -> int:
        """Scan the element under way from `at`: where it ends, or the end of `data` while `_depth` is not 0."""
        size = len(data)
        if self._in_string:
            at = self._string_end(data, at)
        while at < size:
            end = _no_brackets(data, at).end()  # type: ignore[union-attr]
            if end > at:
                at = end
                continue
            byte = data[at]
            at += 1
            if byte == 0x22:  # a string that does not end here
                self._in_string = True
                at = self._string_end(data, at)
            elif byte in b"{[":
                self._depth += 1
            else:
                self._depth -= 1
                if not self._depth:
                    return at
        return at

    def _string_end(self, data: bytes, at: int) -> int:
        """Where the open string ends, or the end of `data`."""
        while at < len(data):
            if self._escaped:
                self._escaped = False
                at += 1
                continue
            found = _quote_or_escape(data, at)
            if found is None:
                return len(data)
            at = found.end()
            if data[at - 1] == 0x22:
                self._in_string = False
                return at
            self._escaped = True
        return at

    def _take(self, elements: list[Any]) -> None:
        raw = bytes(self._pending)
        self._pending.clear()
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = self._replaced(raw, len(elements))
        try:
            elements.append(exact_loads(text))
        except ValueError:
            self._gap(len(elements))

    def _gap(self, number: int) -> None:
        self.damaged += 1
        self.gaps.append(number)
