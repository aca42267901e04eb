"""The JSON engine in plain Python; `_engine_c.pyx` is the same, compiled.

Theory
------
A piece becomes text (`_text`): bytes are decoded, halves of surrogate pairs joined, and what can only be understood
with the next piece is kept back: the bytes of an unfinished character, a high half. `_read` walks over the text in one
of a few modes (outside strings, inside one, inside a bare token, a comment, ...), by regular expressions over runs,
never character by character where a run will do. Where it cannot decide before it has seen more (an unfinished escape,
a lone `/`), the few characters in question are the *tail*: they are read again in front of the next piece. Everything
else is read once. A piece that only lengthens a string or a number, as most do, takes a short way (`_lengthen`).

Invariants
----------
* A container hangs in its parent from the moment it opens; its last member is the child that is open, if one is. A
  value string has its place, an empty string, from its opening quote on, unless it ends in the piece it began in.
* Closed containers never change again, so snapshots and changes share them. A snapshot copies the open ones. Where
  these are large the copies in the last two snapshots are kept, and what nobody else holds of the older one, so that
  nobody can see it change, is brought up to date instead: only its innermost container can have changed.
* `_hidden` is the level of the outermost open container that stands where a name was expected, 0 without one. It is
  read like any other and shows nowhere.

Cost
----
Each character is looked at a constant number of times. A snapshot pays by the credit rule for what it copies, so all
appends and snapshots together are linear in characters and calls: `_outer` keeps the cost of all open containers but
the innermost, whose size is known, so that asking for it costs nothing either. The pieces of an open string are joined
when it is shown, which is paid for likewise, or once at its end. Paths are built once a value. Nothing recurses.
"""

from __future__ import annotations

import codecs
import re
import sys
from itertools import islice
from typing import Any, NoReturn

from toolstream import _rules as rules
from toolstream._json_types import MISSING, JsonChange, JsonDeviation, JsonPath, JsonValue
from toolstream.errors import LimitExceededError

try:
    from _json import scanstring  # json's own, without the rest of json
except ImportError:
    from json.decoder import scanstring  # type: ignore[attr-defined,no-redef]

__all__ = ["JsonTracker", "StreamingJsonParser", "read_object", "scan_bytes", "write_object"]

# modes: where the reader stands
_OUTSIDE, _STRING, _TOKEN, _LINE_COMMENT, _BLOCK_COMMENT, _FENCE_LINE, _TAG, _IGNORE = range(8)

# by grammar state
_KEY_WANTED = (False, True, True, False, False, True, False, False, False, False)
_IN_ORDER = (True, False, False, False, True, False, True, True, False, False)  # a value may stand here
_AFTER_VALUE = (
    rules.END,
    rules.OBJECT_FIRST,
    rules.OBJECT_KEY,
    rules.OBJECT_COMMA,
    rules.OBJECT_COMMA,
    rules.OBJECT_COMMA,
    rules.ARRAY_COMMA,
    rules.ARRAY_COMMA,
    rules.ARRAY_COMMA,
    rules.END,
)

_CLOSES = {"}": (rules.OBJECT_FIRST, rules.OBJECT_COMMA), "]": (rules.ARRAY_FIRST, rules.ARRAY_COMMA)}
_LITERALS = {"true": True, "false": False, "null": None}

# by token state
_IN_DIGITS = (rules.INTEGER, rules.FRACTION, rules.EXPONENT_DIGIT)  # any digit may follow, and nothing changes
_NUMBERS = {rules.ZERO: int, rules.INTEGER: int, rules.FRACTION: float, rules.EXPONENT_DIGIT: float}
_FOREIGN = rules.WORD * (rules.JSON_WORDS + 1)  # from here on words that JSON does not know
_JSON_STEPS = {
    state: {character: following for character, following in steps.items() if following < _FOREIGN}
    for state, steps in rules.STEPS.items()
}

_blanks = re.compile(r"[ \t\n\r]*").match
_token_run = re.compile(r'[^ \t\n\r,:{}\[\]"]*').match
_lenient_token_run = re.compile(r'[^ \t\n\r,:{}\[\]"\\/]*').match
_whole_token = re.compile(
    r'(?:-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|(true|false|null))(?=[ \t\n\r,:{}\[\]"])'
).match
_surrogate = re.compile("[\ud800-\udfff]").search
_pairs = re.compile("[\ud800-\udbff][\udc00-\udfff]").sub

# by quote: a run in a string that needs no thought; in double quotes with escapes that json's own scanner may decode,
# no more of them than its stack should hold
_plain = r"\\\x00-\x1f\ud800-\udfff]*"
_runs = {
    '"': re.compile(
        rf'[^"{_plain}(?:\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{{4}}'
        r"|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
        rf'[^"{_plain}){{0,250}}'
    ).match,
    "'": re.compile(rf"[^'{_plain}").match,
}
_unit = re.compile("\\\\u([0-9a-fA-F]{4})|([\ud800-\udfff])").match
_low_half = re.compile("\\\\u([dD][c-fC-F][0-9a-fA-F]{2})|([\udc00-\udfff])").match
_escape_begun = re.compile(r"(?:\\(?:u[0-9a-fA-F]{0,3})?)?").fullmatch
_hex_run = re.compile(r"\\u[0-9a-fA-F]{0,3}").match
_simple_escapes = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}

_line_end = re.compile(r"[\n\r]").search
_fence_line_end = re.compile(r'[\n\r{\["]').search
_tag_end = re.compile(r"[<>{}\[\]\n]").search
_tag_begin = re.compile(r"[A-Za-z_!?|]").match

# From these sizes on it pays to look for copies that can be used again. Nobody else holds them if the interpreter
# counts no more references than for a sample; where threads run at the same time its counts are not exact.
_MANY_MEMBERS = 500
_MANY_LEVELS = 8
_references: Any = getattr(sys, "getrefcount", None) if getattr(sys, "_is_gil_enabled", lambda: True)() else None


def _counts(view: list[Any]) -> tuple[int, int]:
    """The references to the outermost of some containers, each in the one before it, and the most to any of them."""
    return _references(view[0]), max(map(_references, view))


def _sample() -> list[Any]:
    view: list[Any] = [[[]]]
    view.append(view[0][0])
    return view


_UNHELD = _counts(_sample()) if _references else (0, 0)


def _catch_up(copy: Any, container: Any) -> None:
    """Make an earlier copy, not empty, of an open container equal to it: only the last of its members may be another
    one, and there may be more.
    """
    size = len(copy)
    if type(copy) is list:
        copy[size - 1 :] = container[size - 1 :]
    elif size > len(container):
        copy.popitem()  # a scalar that had not ended
    elif size == len(container):
        key = next(reversed(container))
        copy[key] = container[key]
    else:
        for key in reversed([*islice(reversed(container), len(container) - size + 1)]):
            copy[key] = container[key]


def _join(pair: re.Match[str]) -> str:
    return chr(0x10000 + ((ord(pair[0][0]) & 0x3FF) << 10) + (ord(pair[0][1]) & 0x3FF))


def _value_of(whole: re.Match[str]) -> JsonValue:
    """The value of a token of JSON."""
    kind = whole.lastindex
    if kind is None:
        return rules.parse_integer(whole[0])
    return float(whole[0]) if kind < 3 else _LITERALS[whole[0]]


def _plain_text(piece: str) -> str:
    """The piece as nothing but a `str`: a subclass can have methods of its own, which add markup or count otherwise."""
    return piece if type(piece) is str else str.__str__(piece)


def _buffer(piece: object) -> bytes | bytearray | memoryview:
    """The piece as something that a decoder takes; TypeError if it is no contiguous buffer of bytes."""
    if type(piece) is bytes or type(piece) is bytearray:  # a subclass can count otherwise than its buffer
        return piece
    try:
        view = memoryview(piece)  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        raise rules.wrong_piece(piece) from None
    if not view.c_contiguous or view.format.lstrip("<>=@!") not in ("B", "b", "c"):  # an order says nothing of bytes
        raise rules.wrong_piece(piece)
    return view


class JsonTracker:
    """Depth and string state of a JSON text that comes in pieces: no values, no checks.

    Brackets count outside strings, of either kind and whether they match or not, so the depth may go below zero. A
    quote opens or closes a string unless a backslash stands before it, outside strings too.

        >>> tracker = JsonTracker()
        >>> tracker.feed('{"a": ["x')
        >>> tracker.depth, tracker.in_string, tracker.escape
        (2, True, False)
    """

    __slots__ = ("_depth", "_escape", "_in_string")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escape = False

    def feed(self, piece: str | bytes | bytearray | memoryview, /) -> None:
        """Read on. `piece` is `str`, or a buffer of UTF-8 bytes, cut anywhere; anything else is a `TypeError`."""
        text = _plain_text(piece) if isinstance(piece, str) else str(_buffer(piece), "latin-1")
        if text:
            self._depth, self._in_string, self._escape = _track(text, self._depth, self._in_string, self._escape)

    @property
    def depth(self) -> int:
        """Opening brackets less closing ones, outside strings."""
        return self._depth

    @property
    def in_string(self) -> bool:
        """Whether a string is open."""
        return self._in_string

    @property
    def escape(self) -> bool:
        """Whether the last character was a backslash that escapes the next one."""
        return self._escape

    def reset(self) -> None:
        """Start over, as new."""
        self._depth = 0
        self._in_string = False
        self._escape = False

    def __reduce__(self) -> NoReturn:
        raise rules.copy_error(self)


_tracked_string = re.compile(r'[^"\\]*').match
_tracked_outside = re.compile(r'[^"\\{}\[\]]*').match


def _track(text: str, depth: int, in_string: bool, escape: bool) -> tuple[int, bool, bool]:
    n = len(text)
    i = int(escape and (in_string or text[0] not in "{}[]"))  # outside strings brackets count after a backslash too
    while i < n:
        run = _tracked_string if in_string else _tracked_outside
        i = run(text, i).end()  # type: ignore[union-attr]
        if i >= n:
            break
        character = text[i]
        i += 1
        if character == '"':
            in_string = not in_string
        elif character == "\\":
            if i == n or in_string or text[i] not in "{}[]":
                i += 1
        elif character in "{[":
            depth += 1
        else:
            depth -= 1
    return depth, in_string, i > n


def scan_bytes(data: Any, offsets: Any, depth: Any, flags: Any) -> None:
    """What `JsonTracker` says at the end of each of many texts, in one call.

    `data` holds the texts one after the other (bytes); text `i` is `data[offsets[i]:offsets[i + 1]]`, so `offsets`
    (signed 64-bit) has one entry more than there are texts. `depth` (signed 32-bit) and `flags` (bytes) are written,
    an entry for each text: bit 0 of the flags is `in_string`, bit 1 is `escape`. All are C-contiguous buffers
    such as `array.array` or numpy arrays; ones of another type or number of entries are a `ValueError`.

        >>> depth, flags = array("i", bytes(8)), bytearray(2)
        >>> scan_bytes(b'{"a":[1]{"b', array("q", [0, 8, 11]), depth, flags)
        >>> depth, flags
        (array('i', [1, 1]), bytearray(b'\\x00\\x01'))
    """
    texts = rules.typed_view("data", data, "B")
    borders = rules.typed_view("offsets", offsets, "q")
    depths = rules.typed_view("depth", depth, "i")
    marks = rules.typed_view("flags", flags, "B")
    if depths.readonly or marks.readonly:
        raise ValueError("depth and flags must be writable")
    count = len(borders) - 1
    if count < 0 or len(depths) != count or len(marks) != count:
        raise ValueError(
            f"offsets must have one entry more than depth and flags, not {len(borders)}, {len(depths)} and {len(marks)}"
        )
    start = 0
    for end in borders:
        if not start <= end <= len(texts):
            raise ValueError(f"offsets must rise from 0 to at most {len(texts)}, the length of data")
        start = end
    for i in range(count):
        text = str(texts[borders[i] : borders[i + 1]], "latin-1")
        depths[i], in_string, escape = _track(text, 0, False, False)
        marks[i] = in_string + 2 * escape


class StreamingJsonParser:
    """Reads one JSON text in pieces: a live value of what is there so far, and a strict verdict on it.

    The live view is tolerant and never raises on text: see `snapshot` and `append`. The verdict is strict: `valid`, and
    at the end `complete and valid`, is what `json.loads` accepts (NaN and infinities refused).

        >>> parser = StreamingJsonParser()
        >>> parser.append('{"city": "Os')
        [('set', (), {}), ('set', ('city',), 'Os')]
        >>> parser.append('lo", "days": 3}')
        [('append', ('city',), 'lo'), ('set', ('days',), 3)]
        >>> parser.snapshot(), parser.complete, parser.valid
        ({'city': 'Oslo', 'days': 3}, True, True)

    `pending_scalars="show"` lets a number or literal that has not ended show in snapshots, `"withhold"` does not.
    `lenient=True` also reads single-quoted strings, `True`, `False` and `None`, comments, `\\n`, `\\r` and `\\t`
    between tokens, a Markdown fence or a tag around the value, and `\\'`. `report_ends=True` adds changes of the kind
    `"end"`. Nesting deeper than `max_depth` is a `LimitExceededError`; what was read before it stays readable.

    Everything together costs time and memory linear in the text and the number of calls, whatever the pieces.
    """

    __slots__ = (
        "_changes",
        "_credit",
        "_decoder",
        "_dirty",
        "_duplicate_keys",
        "_error",
        "_half",
        "_hidden",
        "_is_fresh",
        "_is_key",
        "_is_reported",
        "_is_simple",
        "_joined",
        "_key",
        "_length",
        "_lenient",
        "_limit",
        "_low",
        "_low_before",
        "_mark",
        "_max_depth",
        "_mode",
        "_mode_start",
        "_newer",
        "_older",
        "_open_fences",
        "_open_tags",
        "_outer",
        "_overflow_count",
        "_parts",
        "_paths",
        "_position",
        "_prose",
        "_quote",
        "_repair_count",
        "_repairs",
        "_report_ends",
        "_resume",
        "_root",
        "_root_end",
        "_seen",
        "_shown",
        "_shows_pending",
        "_stack",
        "_state",
        "_steps",
        "_string_path",
        "_tail",
        "_takes",
        "_token",
        "_token_is_number",
        "_token_length",
        "_token_state",
    )

    def __init__(
        self,
        *,
        pending_scalars: str = "show",
        lenient: bool = False,
        report_ends: bool = False,
        max_depth: int | None = None,
    ) -> None:
        rules.check_options(pending_scalars, lenient, report_ends, max_depth)
        self._shows_pending = pending_scalars == "show"
        self._lenient = lenient
        self._report_ends = report_ends
        self._max_depth = max_depth
        self._limit: int | None = None  # the offset at which max_depth was passed

        # the text: what of it waits for the next piece
        self._position = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self._half = ""
        self._tail = ""

        # where the reader stands
        self._mode = _OUTSIDE
        self._mode_start = 0  # offset at which a token, comment, fence or tag begins
        self._state = rules.ROOT

        # the open containers, and for each its step in its parent and the parent's state after it
        self._root: JsonValue = MISSING
        self._root_end: int | None = None
        self._stack: list[Any] = []
        self._steps: list[Any] = []
        self._resume: list[int] = []
        self._paths: list[JsonPath] = []  # of the first of them, as far as they have been asked for
        self._hidden = 0
        self._outer = 0
        self._key = ""

        # the open string
        self._quote = '"'
        self._is_key = False
        self._is_reported = False
        self._is_simple = False  # the string or number that is open may be lengthened by plain text
        self._is_fresh = False  # begun in the piece that is being read
        self._parts: list[str] = []
        self._mark = 0  # the parts from here on came with the piece that is being read
        self._length = 0
        self._joined = 0  # its length when it was joined last
        self._string_path: JsonPath | None = None

        # the open token
        self._token: list[str] = []
        self._token_length = 0
        self._token_state = rules.DEAD
        self._token_is_number = False
        self._takes = False  # its position takes a value

        # the lenient surroundings of the root
        self._prose = False
        self._open_fences = 0
        self._open_tags = 0

        # what is handed out, and the facts
        self._changes: list[JsonChange] | None = None
        self._shown: JsonValue = MISSING
        self._older: list[Any] = []  # the copies of open containers in the last but one of the large snapshots
        self._newer: list[Any] = []  # and in the last one
        self._low = 0  # levels that have been open since the last one
        self._low_before = 0  # and from the last but one to the last one
        self._dirty = False
        self._credit = 0
        self._error: tuple[int, int] | None = None
        self._repairs: list[tuple[int, str]] = []
        self._repair_count = 0
        self._seen: set[int] = set()
        self._duplicate_keys = 0
        self._overflow_count = 0

    def __reduce__(self) -> NoReturn:
        raise rules.copy_error(self)

    def append(self, piece: str | bytes | bytearray | memoryview, /) -> list[JsonChange]:
        """Read on, and return what has changed: plain tuples `(kind, path, value)`, in order.

        `piece` is `str`, or a C-contiguous buffer of UTF-8 bytes, cut anywhere; anything else is a `TypeError`.
        `("set", path, value)`: a value stands at the path now. A container is set empty when it opens. A string
        is set when it begins, with as much of it as this piece brings. Scalars are set when they have ended.
        `("append", path, text)`: the string there, begun in an earlier piece, has grown by `text`.
        `("end", path, None)`: the string or container is final (only with `report_ends=True`).
        Values whose path has more than 32 steps are not reported; a container at the limit is set a second time, with
        all of its content, when it closes. No value in a change is changed later.
        """
        if self._is_simple and (text := self._lengthen(piece)):
            if not self._is_reported:
                return []
            if self._string_path is None:
                self._string_path = self._value_path()
            return [("append", self._string_path, text)]  # type: ignore[list-item]
        changes: list[JsonChange] = []
        self._changes = changes
        try:
            self._take(piece)
        finally:
            self._changes = None
        return changes

    def feed(self, piece: str | bytes | bytearray | memoryview, /) -> None:
        """Read on like `append`, without the changes: faster where only snapshots or the end are of interest."""
        if not (self._is_simple and self._lengthen(piece)):
            self._take(piece)

    def snapshot(self) -> JsonValue:
        """The value as far as it is known; `MISSING` before there is one. It never changes after it was returned.

        The same object as the last time while nothing has changed. Copying what is open is paid for by credit that
        pieces earn, so the view of a very wide container or a very long string may lag, by a bounded part of it,
        until it ends: once the root has ended the answer is exact.
        """
        if not self._dirty:
            return self._shown
        stack = self._stack
        hidden = self._hidden
        levels = hidden - 1 if hidden else len(stack)
        size = cost = self._outer + len(stack[-1]) + 1 if stack else 0
        mode = self._mode
        is_open_string = mode == _STRING and not self._is_key and not hidden
        if is_open_string and self._length != self._joined:
            cost += self._length // rules.STRING_DIVISOR
        if cost > self._credit:
            return self._shown
        value: JsonValue = MISSING
        if is_open_string:
            if len(self._parts) != 1:
                self._parts = ["".join(self._parts)]
            self._joined = self._length
            value = self._parts[0]
        elif mode == _TOKEN and self._shows_pending and self._takes and self._token_state and not hidden:
            value = self._pending()
            if value is not MISSING:
                cost += 1
                if cost > self._credit:
                    return self._shown
        self._credit -= cost
        self._dirty = False
        if not levels:
            self._shown = self._root if value is MISSING else value
            return self._shown
        if (size > _MANY_MEMBERS or levels > _MANY_LEVELS) and _references and not self._duplicate_keys:
            view = self._renew(levels)
            shown = view[0]
            copy = view[-1]
        else:
            shown = copy = stack[levels - 1].copy()
            if levels > 1:
                for level in range(levels - 1, 0, -1):
                    inner = shown
                    shown = stack[level - 1].copy()
                    shown[self._steps[level]] = inner
        self._shown = shown
        if value is MISSING:
            return shown
        if is_open_string:
            copy[self._key if type(copy) is dict else -1] = value
        elif type(copy) is list:
            copy.append(value)
        else:
            if self._key in copy:
                self._newer = []  # the member that this scalar hides would have to come back
            copy[self._key] = value
        return shown

    def _renew(self, levels: int) -> list[Any]:
        """Copies of the open containers, each in the one before it, made of the older view if nobody else holds it."""
        stack = self._stack
        view = self._older
        open_since = min(self._low, self._low_before)
        del view[open_since:]
        if view and _counts(view) <= _UNHELD:
            if view[-1]:
                _catch_up(view[-1], stack[open_since - 1])
            else:
                view.pop()
        else:
            view = []
        for level in range(len(view), levels):
            copy = stack[level].copy()
            if level:
                view[-1][self._steps[level]] = copy
            view.append(copy)
        self._older = self._newer
        self._newer = view
        self._low_before = self._low
        self._low = levels
        return view

    def _plain_object(self) -> dict[str, JsonValue] | None:
        """For the rest of the package: the value, if it is an object that has ended and there is nothing to say of its
        text. It is valid, no name comes twice, no number is too large for a float. Else `None`."""
        if not (self.complete and self.valid) or self._repair_count or self._duplicate_keys or self._overflow_count:
            return None
        value = self.snapshot()
        return value if type(value) is dict else None

    @property
    def complete(self) -> bool:
        """Whether the root value has ended (a bare scalar ends at a delimiter)."""
        return self._root_end is not None

    @property
    def valid(self) -> bool:
        """Whether the text so far is valid JSON by RFC 8259, or a beginning of it. Text after the root counts."""
        return self._error is None and not self._hangs()

    @property
    def error(self) -> JsonDeviation | None:
        """The first deviation from JSON: `offset` and `message`; `None` while `valid`."""
        if self._error is not None:
            return rules.deviation(*self._error)
        if not self._hangs():
            return None
        expected = self._state
        if self._mode == _TOKEN:
            expected = rules.expected_in_token(self._token_state)
        elif self._mode == _STRING:
            expected = rules.ESCAPED if self._tail[-1] == "\\" else rules.HEX_DIGITS
        return rules.deviation(self._position, expected)

    def _hangs(self) -> bool:
        """Whether a part of a character that no JSON text has where it stands was kept back: outside of a string, or
        inside of an escape."""
        if self._limit is not None or (self._mode == _STRING and not self.escape):
            return False
        return bool(self._half or (self._decoder is not None and self._decoder.getstate()[0]))

    @property
    def repairs(self) -> tuple[tuple[int, str], ...]:
        """The deviations that were read over, `(offset, code)`: the first 100, and the first of each code."""
        return tuple(self._repairs)

    @property
    def repair_count(self) -> int:
        """The number of all deviations that were read over."""
        return self._repair_count

    @property
    def duplicate_keys(self) -> int:
        """How often a member replaced one of the same name in its object."""
        return self._duplicate_keys

    @property
    def overflow_count(self) -> int:
        """The number of numbers beyond the range of a float, such as 1e400, that became an infinity."""
        return self._overflow_count

    @property
    def position(self) -> int:
        """The number of characters (code points) read."""
        return self._position

    @property
    def root_end(self) -> int | None:
        """The offset just after the root value; `None` until it has ended."""
        return self._root_end

    @property
    def depth(self) -> int:
        """The number of open containers."""
        return len(self._stack)

    @property
    def in_string(self) -> bool:
        """Whether a string is open: a value or a member's name."""
        return self._mode == _STRING

    @property
    def escape(self) -> bool:
        """Whether the text ends inside an escape sequence."""
        if self._mode != _STRING or not self._tail:
            return False
        first = _unit(self._tail)
        return first is None or first.end() < len(self._tail)

    @property
    def open_path(self) -> JsonPath:
        """The path of the innermost value that is open; of a deep one the first 32 steps. `()` if it is the root."""
        levels = self._hidden - 1 if self._hidden else len(self._stack)
        path = tuple(self._steps[1 : min(levels, rules.REPORT_DEPTH + 1)])
        if len(path) < rules.REPORT_DEPTH and levels and not self._hidden:
            container = self._stack[-1]
            if self._mode == _STRING and not self._is_key:
                return (*path, self._key if type(container) is dict else len(container) - 1)
            if self._mode == _TOKEN and self._takes:
                return (*path, self._key if type(container) is dict else len(container))
        return path

    # ------------------------------------------------------------ pieces

    def _lengthen(self, piece: Any) -> str:
        """Take a piece that only makes the open string or number longer: the text that it adds; "" for other pieces."""
        if type(piece) is not str or not piece:
            return ""
        text = piece
        length = len(piece)
        if self._mode == _STRING:
            if not piece.isprintable():
                return ""
            if "\\" in piece:
                if _runs[self._quote](piece).end() != length:  # type: ignore[union-attr]
                    return ""
                text = scanstring(piece + '"', 0)[0]
                self._length += len(text)
            elif self._quote in piece:
                return ""
            else:
                self._length += length
            self._parts.append(text)
            if not self._is_key:
                self._dirty = True
        else:
            if not piece.isdigit() or not piece.isascii():
                return ""
            self._token.append(piece)
            self._token_length += length
            if self._shows_pending:
                self._dirty = True
        self._position += length
        self._credit += rules.APPEND_CREDIT + rules.CHARACTER_CREDIT * length
        return text

    def _take(self, piece: object) -> None:
        self._is_simple = False
        if self._limit is not None:
            self._refuse()
        if type(piece) is str and piece.isascii() and self._decoder is None and not self._half:
            text = piece
        else:
            text = self._text(piece)
        self._credit += rules.APPEND_CREDIT + rules.CHARACTER_CREDIT * len(text)
        if not text and not (self._half and self._tail and self._mode == _STRING):  # else the half settles the rest
            return
        self._is_fresh = False
        self._mark = len(self._parts)
        self._read(text)
        mode = self._mode
        if mode == _STRING:
            if self._is_reported and self._changes is not None:
                self._report_string(self._changes)
            self._is_simple = self._decoder is None and not self._tail and not self._half
        elif mode == _TOKEN:
            if self._takes and self._token_state in _IN_DIGITS:
                self._is_simple = self._decoder is None and not self._tail and not self._half
        elif self._limit is not None:
            self._refuse()

    def _refuse(self) -> None:
        assert self._limit is not None
        assert self._max_depth is not None
        raise rules.limit_error(self._max_depth, self._limit)

    def _text(self, piece: object) -> str:
        """The piece as text, together with what was kept back of the last one; what is unfinished is kept back."""
        if isinstance(piece, str):
            text = _plain_text(piece)
            if self._decoder is not None and text:
                text = self._decoder.decode(b"", True) + text
            if not text.isascii() or self._half:
                text = self._join_halves(text)
            return text
        data = _buffer(piece)
        if not (data.nbytes if type(data) is memoryview else len(data)):  # a view without dimensions has no length
            return ""
        if self._decoder is None:
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = self._half + self._decoder.decode(data)
        self._half = ""
        return text

    def _join_halves(self, text: str) -> str:
        if not text:
            return text
        text = self._half + text
        self._half = ""
        if _surrogate(text):
            text = _pairs(_join, text)
            if "\ud800" <= text[-1] <= "\udbff":
                self._half = text[-1]
                text = text[:-1]
        return text

    def _read(self, text: str) -> None:
        base = self._position - len(self._tail)  # the offset of text[0]
        self._position += len(text)
        if self._tail:
            text = self._tail + text
            self._tail = ""
        i, n = 0, len(text)
        if base == 0 and text[0] == "\ufeff":
            self._deviate(0, rules.NO_MARK)
            self._repair(0, rules.BYTE_ORDER_MARK)
            i = 1
        while i < n:
            mode = self._mode
            if mode == _OUTSIDE:
                character = text[i]
                state = self._state
                if character in " \t\n\r":
                    i += 1
                    if i < n and text[i] in " \t\n\r":
                        i = _blanks(text, i).end()  # type: ignore[union-attr]
                elif state == rules.END:
                    i = self._after_root(text, i, base)
                elif character == '"':
                    i = self._begin_string(text, i, base)
                elif character == ",":
                    if state == rules.OBJECT_COMMA:
                        self._state = rules.OBJECT_KEY
                    elif state == rules.ARRAY_COMMA:
                        self._state = rules.ARRAY_VALUE
                    else:
                        self._extra_comma(base + i)
                    i += 1
                elif character == ":":
                    if state == rules.OBJECT_COLON:
                        self._state = rules.OBJECT_VALUE
                    else:
                        self._deviate(base + i, state)
                        self._repair(base + i, rules.EXTRA_COLON)
                    i += 1
                elif character == "{":
                    if not self._open({}, rules.OBJECT_FIRST, base + i):
                        return
                    i += 1
                elif character == "[":
                    if not self._open([], rules.ARRAY_FIRST, base + i):
                        return
                    i += 1
                elif character == "}" or character == "]":
                    self._close(character, base + i)
                    i += 1
                elif self._lenient and character in "'\\/#`<":
                    i = self._lenient_begin(text, i, base)
                else:
                    i = self._begin_token(text, i, base)
            elif mode == _STRING:
                i = self._read_string(text, i, base)
            elif mode == _TOKEN:
                i = self._read_token(text, i, base)
            elif mode == _IGNORE:
                return
            else:
                i = self._read_aside(text, i, base)
            if i < 0:  # the rest has to wait
                self._tail = text[~i:]
                return

    # ------------------------------------------------------------ structure

    def _begin_value(self, offset: int) -> bool:
        """A value begins; say whether its position takes it, and note what should have come before it."""
        state = self._state
        if _IN_ORDER[state]:
            return True
        self._deviate(offset, state)
        if _KEY_WANTED[state]:
            return False
        self._repair(offset, rules.MISSING_COLON if state == rules.OBJECT_COLON else rules.MISSING_COMMA)
        return True

    def _place(self, value: JsonValue, shown: JsonValue) -> None:
        """Put a value where it belongs, and report it as `shown` unless that is MISSING; the state is that after it."""
        state = self._state
        self._state = _AFTER_VALUE[state]
        self._dirty = True
        if state == rules.ROOT:
            self._root = value
            self._prose = False  # it was in front of the value
        else:
            container = self._stack[-1]
            if type(container) is list:
                container.append(value)
            else:
                size = len(container)
                container[self._key] = value
                if len(container) == size:
                    self._duplicate_keys += 1
        if self._changes is not None and shown is not MISSING and (path := self._value_path()) is not None:
            self._changes.append(("set", path, shown))

    def _path(self) -> JsonPath:
        """The path of the innermost container, built once."""
        paths = self._paths
        if len(paths) < len(self._stack):
            if not paths:
                paths.append(())
            while len(paths) < len(self._stack):
                paths.append((*paths[-1], self._steps[len(paths)]))
        return paths[-1]

    def _value_path(self) -> JsonPath | None:
        """The path of the value placed last, None if it is not reported."""
        stack = self._stack
        if self._hidden or len(stack) > rules.REPORT_DEPTH:
            return None
        if not stack:
            return ()
        container = stack[-1]
        path = self._paths[-1] if len(self._paths) == len(stack) else self._path()
        return (*path, self._key if type(container) is dict else len(container) - 1)

    def _open(self, container: Any, state: int, offset: int) -> bool:
        """Open a container, or return False if that passes the limit."""
        stack = self._stack
        if self._max_depth is not None and len(stack) >= self._max_depth:
            self._limit = self._position = offset
            return False
        if self._begin_value(offset):
            self._place(container, type(container)())
        else:
            self._repair(offset, rules.DROPPED_VALUE)
            self._dirty = True
            if not self._hidden:
                self._hidden = len(stack) + 1
        step: Any = None
        if stack:
            parent = stack[-1]
            step = self._key if type(parent) is dict else len(parent) - 1
            self._outer += len(parent) + 1
        self._steps.append(step)
        self._resume.append(self._state)
        stack.append(container)
        self._state = state
        return True

    def _close(self, character: str, offset: int) -> None:
        state = self._state
        stack = self._stack
        if state not in _CLOSES[character]:
            self._deviate(offset, state)
            if not stack:
                self._repair(offset, rules.STRAY_CLOSER)
                return
            if (type(stack[-1]) is dict) != (character == "}"):
                self._repair(offset, rules.MISMATCHED_CLOSER)
            elif state == rules.OBJECT_KEY or state == rules.ARRAY_VALUE:
                self._repair(offset, rules.TRAILING_COMMA)
            else:
                self._repair(offset, rules.MISSING_VALUE)
        level = len(stack)
        if self._changes is not None and not self._hidden and level <= rules.REPORT_DEPTH + 1:
            if level == rules.REPORT_DEPTH + 1:
                self._changes.append(("set", self._path(), stack[-1]))
            if self._report_ends:
                self._changes.append(("end", self._path(), None))
        stack.pop()
        if level <= self._low:
            self._low = level - 1
        if len(self._paths) == level:
            self._paths.pop()
        self._steps.pop()
        self._state = self._resume.pop()
        if self._hidden == level:
            self._hidden = 0
        if stack:
            self._outer -= len(stack[-1]) + 1
        else:
            self._root_end = offset + 1
            self._older = self._newer = []
        self._dirty = True

    def _extra_comma(self, offset: int) -> None:
        state = self._state
        self._deviate(offset, state)
        if state == rules.OBJECT_COLON or state == rules.OBJECT_VALUE:
            self._repair(offset, rules.MISSING_VALUE)
            self._state = rules.OBJECT_KEY
        else:
            self._repair(offset, rules.EXTRA_COMMA)

    # ------------------------------------------------------------ strings

    def _begin_string(self, text: str, i: int, base: int) -> int:
        """Read what begins with a quote at `i`."""
        state = self._state
        quote = text[i]
        is_key = _KEY_WANTED[state]
        if is_key:
            if state == rules.OBJECT_COMMA:
                self._deviate(base + i, state)
                self._repair(base + i, rules.MISSING_COMMA)
        elif not _IN_ORDER[state]:
            self._begin_value(base + i)
        end = text.find(quote, i + 1)
        part = text[i + 1 :] if end < 0 else text[i + 1 : end]
        is_plain = part.isprintable() and "\\" not in part
        if is_plain and end > 0:
            if is_key:
                self._key = part
                self._state = rules.OBJECT_COLON
                return end + 1
            self._place(part, part)
            if not self._stack:
                self._root_end = base + end + 1
            if self._report_ends and self._changes is not None and (path := self._value_path()) is not None:
                self._changes.append(("end", path, None))
            return end + 1
        self._mode = _STRING
        self._quote = quote
        self._is_key = is_key
        self._is_fresh = True
        self._string_path = None
        self._mark = self._length = self._joined = 0
        if is_key:
            self._is_reported = False
        else:
            self._place("", MISSING)
            self._is_reported = not self._hidden and len(self._stack) <= rules.REPORT_DEPTH
        if not is_plain:
            return i + 1
        if part:
            self._parts.append(part)
            self._length = len(part)
        return len(text)

    def _read_string(self, text: str, i: int, base: int) -> int:
        n = len(text)
        quote = self._quote
        parts = self._parts
        end = text.find(quote, i)
        part = text[i:] if end < 0 else text[i:end]
        if part.isprintable() and "\\" not in part:
            if part:
                parts.append(part)
                self._grow(len(part))
            if end < 0:
                return n
            self._end_string(base + end + 1)
            return end + 1
        run = _runs[quote]
        grown = 0
        while True:
            end = run(text, i).end()  # type: ignore[union-attr]
            if end > i:
                part = text[i:end]
                if "\\" in part:
                    part = scanstring(part + '"', 0)[0]
                parts.append(part)
                grown += len(part)
                i = end
            if i == n:
                break
            character = text[i]
            if character == quote:
                self._grow(grown)
                self._end_string(base + i + 1)
                return i + 1
            if character == "\\" or character >= "\ud800":
                end, part = self._read_escape(text, i, base)
                if end < 0:
                    i = end
                    break
            else:
                self._deviate(base + i, rules.NO_CONTROL)
                self._repair(base + i, rules.CONTROL_CHARACTER)
                end, part = i + 1, character
            parts.append(part)
            grown += len(part)
            i = end
        self._grow(grown)
        return i

    def _grow(self, characters: int) -> None:
        if characters:
            self._length += characters
            if not self._is_key:
                self._dirty = True

    def _read_escape(self, text: str, i: int, base: int) -> tuple[int, str]:
        """Read the escape, or raw surrogate half, at `i`: its end and its text; `~i` if it has to wait."""
        unit = _unit(text, i)
        if unit:
            code = int(unit[1], 16) if unit[1] else ord(unit[2])
            end = unit.end()
            if not 0xD800 <= code <= 0xDFFF:
                return end, chr(code)
            if code < 0xDC00:
                low = _low_half(text, end)
                if low:
                    second = int(low[1], 16) if low[1] else ord(low[2])
                    return low.end(), chr(0x10000 + ((code & 0x3FF) << 10) + (second & 0x3FF))
                if _escape_begun(text, end) and not self._half:
                    return ~i, ""
            self._repair(base + i, rules.LONE_SURROGATE)
            return end, "\ufffd"
        character = text[i + 1 : i + 2]
        if character in _simple_escapes:
            return i + 2, _simple_escapes[character]
        if _escape_begun(text, i) and not self._half:
            return ~i, ""
        if character == "u":
            end = _hex_run(text, i).end()  # type: ignore[union-attr]
            self._deviate(base + end, rules.HEX_DIGITS)
            self._repair(base + i, rules.INVALID_ESCAPE)
            return end, text[i:end]
        self._deviate(base + i + 1, rules.ESCAPED)
        if character == "'" and self._lenient:
            self._repair(base + i, rules.ESCAPED_APOSTROPHE)
            return i + 2, "'"
        self._repair(base + i, rules.INVALID_ESCAPE)
        return i + 1, "\\"

    def _end_string(self, end: int) -> None:
        parts = self._parts
        value = parts[0] if len(parts) == 1 else "".join(parts)
        self._mode = _OUTSIDE
        if self._is_key:
            self._key = value
            self._state = rules.OBJECT_COLON
        else:
            if not self._stack:
                self._root = value
                self._root_end = end
            else:
                container = self._stack[-1]
                container[self._key if type(container) is dict else -1] = value
            if self._is_reported and self._changes is not None:
                path = self._report_string(self._changes)
                if self._report_ends:
                    self._changes.append(("end", path, None))
        self._parts = []

    def _report_string(self, changes: list[JsonChange]) -> JsonPath:
        """Report what this piece has brought of a value string, and return its path."""
        path = self._string_path
        if path is None:
            path = self._string_path = self._value_path()
            assert path is not None
        parts = self._parts
        text = parts[-1] if len(parts) == self._mark + 1 else "".join(parts[self._mark :])
        if self._is_fresh:
            changes.append(("set", path, text))
        elif text:
            changes.append(("append", path, text))
        return path

    # ------------------------------------------------------------ tokens

    def _begin_token(self, text: str, i: int, base: int) -> int:
        state = self._state
        in_order = _IN_ORDER[state]
        if in_order and (whole := _whole_token(text, i)):
            end = whole.end()
            self._scalar(_value_of(whole), base + end)
            return end
        character = text[i]
        first = rules.STEPS[rules.DEAD].get(character, rules.DEAD)
        if not rules.DEAD < first < _FOREIGN:
            self._deviate(base + i, state)
        self._takes = in_order or self._begin_value(base + i)
        self._mode = _TOKEN
        self._mode_start = base + i
        self._is_reported = False
        self._token_state = rules.DEAD
        self._token_is_number = character in "-0123456789"
        self._token_length = 0
        self._token.clear()
        if not first:
            self._drop()
        return self._read_token(text, i, base)

    def _read_token(self, text: str, i: int, base: int) -> int:
        n = len(text)
        if self._lenient:
            end = i
            while True:
                end = _lenient_token_run(text, end).end()  # type: ignore[union-attr]
                if end == n or text[end] not in "\\/":
                    break
                self._grow_token(text, i, end, base)  # it may be dropped, and prose
                i = end
                if text[end] == "/" and self._prose:
                    end += 1
                    continue
                if end + 1 < n and text[end + 1] not in ("nrt" if text[end] == "\\" else "/*"):
                    end += 1
                    continue
                if self._token_state:
                    self._deviate(base + end, rules.expected_in_token(self._token_state))
                if end + 1 == n:
                    return ~end
                self._end_token(base + end)
                return end
        else:
            end = _token_run(text, i).end()  # type: ignore[union-attr]
        if end == n:
            self._grow_token(text, i, end, base)
        elif self._takes and self._token_state and (whole := _whole_token("".join(self._token) + text[i : end + 1])):
            self._mode = _OUTSIDE
            self._scalar(_value_of(whole), base + end)
        else:
            self._grow_token(text, i, end, base)
            self._end_token(base + end)
        return end

    def _grow_token(self, text: str, i: int, end: int, base: int) -> None:
        if i == end:
            return
        if self._takes and self._shows_pending:
            self._dirty = True
        is_first = self._token_length == 0
        self._token_length += end - i
        state = self._token_state
        if not state and not is_first:
            return  # dead
        part = text[i:end]
        if state in _IN_DIGITS and part.isdigit() and part.isascii():
            self._token.append(part)
            return
        following = state
        for character in part:
            following = _JSON_STEPS[following].get(character, rules.DEAD)
            if not following:
                break
        else:
            self._token_state = following
            self._token.append(part)
            return
        for at, character in enumerate(part, i):
            following = rules.STEPS[state].get(character, rules.DEAD)
            if not rules.DEAD < following < _FOREIGN:
                if at > i or not is_first:
                    self._deviate(base + at, rules.expected_in_token(state))
                if not following:
                    if at > i or not is_first:
                        self._drop()
                    self._token_state = rules.DEAD
                    self._token.clear()
                    return
            state = following
        self._token_state = state
        self._token.append(part)

    def _drop(self) -> None:
        """The open token can be no value: note it at once."""
        self._repair(self._mode_start, rules.DROPPED_NUMBER if self._token_is_number else rules.DROPPED_WORD)
        if self._state == rules.ROOT:
            self._prose = True

    def _pending(self) -> JsonValue:
        """What shows of the open token."""
        if self._token_length > rules.PENDING_LIMIT:
            return MISSING
        text = "".join(self._token)
        make = _NUMBERS.get(self._token_state)
        return make(text) if make else rules.pending_value(text, self._token_state, self._lenient and not self._prose)

    def _end_token(self, end: int) -> None:
        self._mode = _OUTSIDE
        state = self._token_state
        start = self._mode_start
        value: JsonValue = MISSING
        if state:
            value = rules.token_value("".join(self._token), state, self._lenient and not self._prose)
            if value is MISSING:
                if rules.is_json_token(state):
                    self._deviate(end, rules.expected_in_token(state))
                self._repair(start, rules.dropped_token(state, self._token_is_number))
                if self._state == rules.ROOT:
                    self._prose = True
            elif not rules.is_json_token(state):
                self._repair(start, rules.PYTHON_LITERAL)
        self._token.clear()
        if not self._takes:
            if value is not MISSING:
                self._repair(start, rules.DROPPED_VALUE)
            return
        self._dirty = True
        if value is MISSING:
            self._older = self._newer = []  # it may have shown in them
            if self._state != rules.ROOT:
                self._state = _AFTER_VALUE[self._state]
            return
        self._scalar(value, end)

    def _scalar(self, value: JsonValue, end: int) -> None:
        """A number or literal has ended."""
        if type(value) is float and value in (rules.INFINITY, -rules.INFINITY):
            self._overflow_count += 1
        self._place(value, value)
        if not self._stack:
            self._root_end = end

    # ------------------------------------------------------------ what lenient reading adds

    def _lenient_begin(self, text: str, i: int, base: int) -> int:
        """Read what begins with a character that means something only to a lenient reader."""
        character = text[i]
        following = text[i + 1 : i + 2]
        offset = base + i
        if character == "'":
            if not self._prose:
                self._deviate(offset, self._state)
                end = self._begin_string(text, i, base)
                self._repair(offset, rules.SINGLE_QUOTES)
                return end
        elif character == "\\":
            self._deviate(offset, self._state)
            if not following:
                return ~i
            if following in "nrt":
                self._repair(offset, rules.SPACE_ESCAPE)
                return i + 2
        elif character in "/#":
            if not self._prose:
                return self._begin_comment(text, i, base)
        elif self._state == rules.ROOT and character == "`":
            self._deviate(offset, self._state)
            if text.startswith("```", i):
                self._repair(offset, rules.FENCE)
                self._open_fences += 1
                self._mode = _FENCE_LINE
                return i + 3
            if "```".startswith(text[i:]):
                return ~i
        elif self._state == rules.ROOT:
            self._deviate(offset, self._state)
            if not following:
                return ~i
            if _tag_begin(following):
                self._mode = _TAG
                self._mode_start = offset
                return i + 2
        return self._begin_token(text, i, base)

    def _begin_comment(self, text: str, i: int, base: int) -> int:
        offset = base + i
        self._deviate(offset, self._state)
        following = text[i + 1 : i + 2]
        if text[i] == "#" or following == "/":
            self._mode = _LINE_COMMENT
        elif following == "*":
            self._mode = _BLOCK_COMMENT
        elif not following:
            return ~i
        elif self._state == rules.END:
            self._repair(offset, rules.TRAILING)
            self._mode = _IGNORE
            return i
        else:
            return self._begin_token(text, i, base)
        self._repair(offset, rules.COMMENT)
        return i + (1 if text[i] == "#" else 2)

    def _read_aside(self, text: str, i: int, base: int) -> int:
        """Read on in a comment, the first line of a fence, or a tag."""
        n = len(text)
        mode = self._mode
        if mode == _BLOCK_COMMENT:
            end = text.find("*/", i)
            if end < 0:
                return ~(n - 1) if text[-1] == "*" else n
            self._mode = _OUTSIDE
            return end + 2
        search = _line_end if mode == _LINE_COMMENT else _fence_line_end if mode == _FENCE_LINE else _tag_end
        found = search(text, i)
        if not found:
            return n
        self._mode = _OUTSIDE
        if mode != _TAG:
            return found.start()
        if found[0] == ">":
            if self._state == rules.END:
                return found.end()
            self._repair(self._mode_start, rules.TAG)
            self._open_tags += 1
            return found.end()
        if self._state == rules.END:
            self._repair(base + found.start(), rules.TRAILING)
            self._mode = _IGNORE
        else:
            self._repair(self._mode_start, rules.DROPPED_WORD)
            self._prose = True
        return found.start()

    def _after_root(self, text: str, i: int, base: int) -> int:
        """Read what follows the root."""
        offset = base + i
        self._deviate(offset, rules.END)
        character = text[i]
        if self._lenient:
            if character == "\\":
                following = text[i + 1 : i + 2]
                if not following:
                    return ~i
                if following in "nrt":
                    self._repair(offset, rules.SPACE_ESCAPE)
                    return i + 2
            elif character in "/#":
                return self._begin_comment(text, i, base)
            elif character == "`" and offset == self._mode_start:
                self._mode_start += 1  # a fence of more than three
                return i + 1
            elif character == "`" and self._open_fences:
                if text.startswith("```", i):
                    self._repair(offset, rules.FENCE)
                    self._open_fences -= 1
                    self._mode_start = offset + 3
                    return i + 3
                if "```".startswith(text[i:]):
                    return ~i
            elif character == "<" and self._open_tags:
                following = text[i + 1 : i + 2]
                if not following:
                    return ~i
                if following == "/":
                    self._repair(offset, rules.TAG)
                    self._open_tags -= 1
                    self._mode = _TAG
                    return i + 2
        self._repair(offset, rules.TRAILING)
        self._mode = _IGNORE
        return i

    # ------------------------------------------------------------ the verdict

    def _deviate(self, offset: int, expected: int) -> None:
        if self._error is None:
            self._error = (offset, expected)

    def _repair(self, offset: int, code: int) -> None:
        self._repair_count += 1
        if len(self._repairs) < rules.MAX_REPAIRS or code not in self._seen:
            self._repairs.append((offset, rules.REPAIRS[code]))
            self._seen.add(code)


# Whole objects, in one call


def read_object(text: str, max_depth: int | None) -> dict[str, JsonValue] | None:
    """The object that a `str` is, if there is nothing to say of it (`_plain_object`), and it is no deeper than
    `max_depth`; else `None`."""
    parser = StreamingJsonParser(lenient=True, max_depth=max_depth)  # lenient: which tells of half a character as well
    try:
        parser.feed(text)
    except LimitExceededError:
        return None
    return parser._plain_object()


_WRITTEN_LEVELS = 100
_encode: Any = None  # found when it is first needed: importing `json` loads much


def write_object(value: object, max_depth: int | None) -> tuple[str, dict[str, JsonValue]] | None:
    """The JSON text of an object, without blanks, and a copy of it, where the text is sure to be read as the same
    object, no deeper than `max_depth`. `None`: it is nested very deeply, or something in it is not of JSON's types, as
    Python has them, or is no ordinary number: an integer of 64 bits, or a float that is written without an exponent."""
    global _encode
    if type(value) is not dict:
        return None
    copy = _plain_copy(value, _WRITTEN_LEVELS if max_depth is None else min(max_depth, _WRITTEN_LEVELS))
    if copy is None:
        return None
    if _encode is None:
        from json import JSONEncoder

        _encode = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    try:
        text: str = _encode(copy)  # of the copy, which holds no code of anybody
    except RecursionError:
        return None
    return None if _surrogate(text) else (text, copy)


def _plain_copy(value: dict[str, Any], levels: int) -> dict[str, JsonValue] | None:
    copy = value.copy()
    containers: list[tuple[Any, int]] = [(copy, levels)]
    while containers:
        container, levels = containers.pop()  # the innermost first: what holds itself is soon too deep
        if levels == 0:
            return None
        if type(container) is dict:
            members: Any = container.items()
            if not all(type(name) is str for name in container):
                return None
        else:
            members = enumerate(container)
        for place, member in members:
            kind = type(member)
            if kind is dict or kind is list:
                container[place] = member.copy()
                containers.append((container[place], levels - 1))
            elif kind is int:
                if not -(1 << 63) <= member < 1 << 63:
                    return None
            elif kind is float:
                if member and not 1e-4 <= abs(member) < 1e15:  # an integer that is too long became one of these
                    return None
            elif not (kind is str or kind is bool or member is None):
                return None
    return copy
