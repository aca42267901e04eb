"""JSON text for arguments that come as leaves, each with its path.

Some protocols never send the text of the arguments. Gemini streams `{"jsonPath": "$.a.b[0]", "stringValue": "x"}`,
OpenAI streams the commands of a shell call one by one. `PathWriter` turns such leaves into the text that a model would
have written, so that everything above it reads one kind of stream.

Leaves come in document order nearly always: then each one only adds text, and what is open stays open. A leaf that
goes back (into a container that was left, to a string that was interrupted, or to a path that had a value) cannot be
added at the end of the text. Then the text is written anew from the tree of everything that came. Writing costs the
size of the tree, so it is paid from a credit that every leaf adds to: all texts together stay linear in what came,
small documents are always fresh, and a big one may lag while leaves jump about in it. `finish()` is always exact.

Nothing is guessed. A leaf that no JSON object can hold (a path that cannot be read, a member of an array, an array with
a gap) makes a text that is no JSON, so that nobody runs it.
"""

from __future__ import annotations

import json
import re
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from ..assembler import Assembler
    from ..completion import ToolCall
    from ..types import JsonPath

__all__ = ["PathReader", "PathWriter", "encode_string", "parse_path"]

CREDIT_PER_LEAF: Final = 64
CREDIT_PER_CHARACTER: Final = 8
CREDIT_LESS_TEXT: Final = CREDIT_PER_CHARACTER - 1  # of a character that makes the text longer by one

Place: TypeAlias = "tuple[JsonPath, str | int]"
"""Where a leaf is: the way to its container, and its step there."""

_INDEX: Final = r"(?:0|[1-9][0-9]{0,8})"
_SEGMENT: Final = re.compile(
    rf"""[ \t\n\r]*(?:
        \.(?P<name>[^.\[\]*'"]+)
      | \[[ \t\n\r]*(?:
            (?P<index>{_INDEX})
          | '(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'
          | "(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"
        )[ \t\n\r]*\]
    )""",
    re.VERBOSE | re.DOTALL,
)
_end_of_index = re.compile(_INDEX + r"\]").fullmatch
_ENDS_OF_INDEX: Final = {f"{index}]": index for index in range(100)}  # the usual ones: found faster than read
_QUOTED: Final = re.compile(r"\\(.)|\"", re.DOTALL)


def parse_path(path: str) -> JsonPath | None:
    r"""The steps of a singular JSONPath query (RFC 9535, section 2.3.5.1), or `None` if it is no such path.

    Names after a dot may hold any character but `.`, brackets, quotes and `*`, which is wider than the RFC. An index
    counts from the beginning, in at most nine digits.

    >>> parse_path("$.ops[0]['unit price']")
    ('ops', 0, 'unit price')
    """
    if not path.startswith("$"):
        return None
    steps: list[str | int] = []
    at, end = 1, len(path)
    while at < end:
        segment = _SEGMENT.match(path, at)
        if segment is None:
            return None
        at = segment.end()
        kind = segment.lastgroup
        text = segment[kind or 0]
        if kind == "index":
            steps.append(int(text))
        elif kind == "name":
            steps.append(text.strip(" \t\n\r"))
        else:
            if kind == "single":
                text = _QUOTED.sub(_requote, text)
            try:
                steps.append(json.loads(f'"{text}"', strict=False))
            except ValueError:
                return None
    return tuple(steps)


def _requote(match: re.Match[str]) -> str:
    """An escape or a bare double quote of a single-quoted name, as JSON writes it."""
    if match[0] == '"':
        return '\\"'
    return "'" if match[1] == "'" else match[0]


class PathReader:
    """Reads one path after another. Neighbours have the way to their container in common: it is read once."""

    __slots__ = ("_above", "_head", "_top", "_way", "path", "place")

    def __init__(self) -> None:
        self.path = ""  # the last one
        self.place: Place | None = None  # the leaf that it leads to, if it can be read and does
        self._head = "$"  # the last path without its last step
        self._way: JsonPath | None = ()
        self._top = "$"  # the last head without its last step
        self._above: JsonPath = ()

    def read(self, path: str) -> None:
        """The next path: `path` and `place` are of it."""
        self.path = path
        head, step = _last_step(path)
        if step is not None:
            if head != self._head:
                self._head = head
                top, last = _last_step(head)
                if last is not None and top == self._top:
                    self._way = (*self._above, last)
                else:
                    self._way = parse_path(head)
                    if last is not None and self._way is not None:
                        self._top = top
                        self._above = self._way[:-1]
            if self._way is not None:
                self.place = (self._way, step)
                return
        # Written otherwise; or there are blanks before the last step, so that the head alone is no path.
        steps = parse_path(path)
        self.place = (steps[:-1], steps[-1]) if steps else None


def _last_step(path: str) -> tuple[str, str | int | None]:
    """A path without its last step, and that step if it is one that says by itself what it is, else `None`."""
    head, _, name = path.rpartition(".")
    if name.isidentifier():
        return head, name
    head, _, end = path.rpartition("[")
    index = _ENDS_OF_INDEX.get(end)
    return head, int(end[:-1]) if index is None and _end_of_index(end) else index


def encode_string(text: str) -> str:
    """The characters of a JSON string, without its quotes. Lone surrogates are escaped, so that halves can meet."""
    encoded: str = encode_basestring(text)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            encoded = encode_basestring_ascii(text)
    return encoded[1:-1]


class _Container:
    """An object or an array under construction; an array has its elements under their positions.

    A member is a container, the JSON text of a value, or a list: the text of a string that will go on, in pieces and
    without the quote at its end."""

    __slots__ = ("is_array", "members")

    def __init__(self, is_array: bool) -> None:
        self.is_array = is_array
        self.members: dict[str | int, _Container | list[str] | str] = {}


class PathWriter:
    """Writes the text of one object from its leaves. Every method costs what it is given; `pass_on` what it gives.

    >>> from types import SimpleNamespace
    >>> assembler = SimpleNamespace(append=print, replace=print)
    >>> writer = PathWriter()
    >>> writer.append(((), "city"), "Bos", more=True)
    >>> writer.pass_on(assembler, "call:")
    call: {"city":"Bos
    >>> writer.append(((), "city"), "ton")
    >>> writer.set(((), "days"), "3")
    >>> writer.finish()
    >>> writer.pass_on(assembler, "call:")
    call: ton","days":3}
    """

    __slots__ = (
        "_at",
        "_credit",
        "_current",
        "_out",
        "_place",
        "_restart",
        "_root",
        "_trail",
        "_unplaced",
        "waiting",
    )

    def __init__(self) -> None:
        self.waiting = 0  # strings that have announced another piece
        self._root = root = _Container(False)
        self._trail = [root]  # the containers that are open in the text
        self._at: JsonPath | None = ()  # the way to the innermost one; `None`: the tree has leaves that the text lacks
        self._current: list[str] | None = None  # the string that is open in the text, unless that lacks something
        self._place: Place = ((), 0)  # its place, the very object that came
        self._out = ["{"]
        self._restart = False  # `_out` starts the text anew
        self._credit = -1  # what has been earned, less about the length of the tree's text
        self._unplaced: list[str] = []

    @property
    def names(self) -> list[str]:
        """The names of the object's members so far, in order."""
        return [str(step) for step in self._root.members]

    def set(self, place: Place | None, value: str, path: str = "") -> None:
        """Put a value, given as JSON text, at its place. `path` stands in for one that could not be read."""
        self._credit += CREDIT_PER_LEAF + CREDIT_LESS_TEXT * len(value)
        self._put(place, value, path, None)

    def append(self, place: Place | None, piece: str, more: bool = False, path: str = "") -> None:
        """Add a piece to the string there if its last piece announced one, else begin the string."""
        encoded = encode_string(piece) if piece else ""
        self._credit += CREDIT_PER_LEAF + CREDIT_LESS_TEXT * len(encoded)
        pieces = self._current
        if pieces is None or place is not self._place:
            pieces = self._put(place, encoded, path, more)
            if pieces is None:
                return
        if more:
            pieces.append(encoded)
            self._out.append(encoded)
            return
        encoded += '"'
        pieces.append(encoded)
        self._out.append(encoded)
        self._trail[-1].members[self._place[1]] = "".join(pieces)
        self._current = None
        self.waiting -= 1

    def end_string(self, place: Place, more: bool = False) -> None:
        """A leaf without a value: nothing, or the end of the string that is there."""
        way, step = place
        node, depth, _ = self._reach(way)
        if depth == len(way) and isinstance(node.members.get(step), list):
            self.append(place, "", more)

    def pass_on(self, assembler: Assembler, call: ToolCall) -> None:
        """Give the assembler the text since the last time, or all of it anew."""
        if self._at is None and self._credit >= 0:
            self._rewrite()
        text = "".join(self._out)
        self._out.clear()
        if self._restart:
            self._restart = False
            assembler.replace(call, text)
        elif text:
            assembler.append(call, text)

    def finish(self) -> None:
        """Close the object: `pass_on` gives the rest. Leaves that had no place make the text malformed."""
        if self._at is None:
            self._rewrite()
        self._close(0)
        self._at = ()
        for leaf in self._unplaced:
            self._out.append(leaf)
        self._out.append("}")

    def _reach(self, way: JsonPath) -> tuple[_Container, int, bool]:
        """The last container on the way that is there, its depth, and whether it is open in the text."""
        node, depth = self._root, 0
        for step in way:
            child = node.members.get(step)
            if not isinstance(child, _Container):
                break
            node = child
            depth += 1
        trail = self._trail
        return node, depth, self._at is not None and depth < len(trail) and trail[depth] is node

    def _put(self, place: Place | None, value: str, path: str, more: bool | None) -> list[str] | None:
        """Put a leaf into the tree, and into the text if the text can go on with it.

        `value`: JSON text, or where `more` is not `None` the characters of a string, which will go on or not. A string
        does not begin where one is to go on. Where that one is open in the text it is returned, as it was."""
        if place is None:
            self._misplace(value, path, more)
            return None
        way, step = place
        depth = last = len(way)
        trail = self._trail
        if way == self._at:  # the usual leaf: in the same container as the one before it
            node, in_order = trail[-1], True
        else:
            node, depth, in_order = self._reach(way)
            if depth < last:
                step = way[depth]
        members = node.members
        is_array = node.is_array
        if is_array is not isinstance(step, int):
            self._misplace(value, path, more)
            return None
        child = members.get(step)
        if child is not None:
            in_order = False
            if isinstance(child, list):
                if more is None or depth < last:
                    self.waiting -= 1  # there is no place for it any more
                elif child is self._current:
                    return child
                else:
                    if value:
                        self._at = self._current = None
                    child.append(value)
                    if not more:
                        members[step] = "".join(child) + '"'
                        self.waiting -= 1
                    return None
        self._credit += CREDIT_PER_CHARACTER * len(path) - 4  # about what stands around it in the text
        out = self._out
        while True:
            if is_array and step != len(members):
                in_order = False
            if in_order:
                if self._current is not None or depth + 1 < len(trail):
                    self._close(depth)
                if members:
                    out.append(",")
                if isinstance(step, str):
                    out.append(f'"{step if step.isidentifier() else encode_string(step)}":')  # mostly nothing to escape
            if depth == last:
                break
            depth += 1
            self._credit -= len(str(step)) + 6
            following = way[depth] if depth < last else place[1]
            is_array = isinstance(following, int)
            node = members[step] = _Container(is_array)
            if in_order:
                out.append("[" if is_array else "{")
                trail.append(node)
            members = node.members
            step = following
        if more is not None:
            value = '"' + value if more else f'"{value}"'
        if in_order:
            out.append(value)
            self._at = way
        else:
            self._at = self._current = None
        if more:
            pieces = members[step] = [value]
            self.waiting += 1
            if in_order:
                self._current = pieces
                self._place = place
        else:
            members[step] = value
        return None

    def _misplace(self, value: str, path: str, more: bool | None) -> None:
        """Keep a leaf that has no place for the end of the text."""
        self._credit += CREDIT_PER_CHARACTER * len(path) + len(value)
        # A bare `$` is no key: no reader can take this member for one that the model meant.
        self._unplaced.append(f"${json.dumps(path)}:{value}" if more is None else f'${json.dumps(path)}:"{value}"')

    def _close(self, depth: int) -> None:
        """Close the open string, and the open containers below the one at the depth."""
        if self._current is not None:
            self._out.append('"')
            self._current = None
        while len(self._trail) > depth + 1:
            self._out.append("]" if self._trail.pop().is_array else "}")

    def _rewrite(self) -> None:
        """Write the tree anew, all but the closing brace; strings that may go on are closed in it."""
        out = ["{"]
        stack = [(self._root, iter(self._in_order(self._root)))]
        while stack:
            node, rest = stack[-1]
            for step, separator in rest:
                child = node.members[step]
                out.append(separator)
                if isinstance(step, str):
                    out.append(f'"{encode_string(step)}":')
                if isinstance(child, _Container):
                    out.append("[" if child.is_array else "{")
                    stack.append((child, iter(self._in_order(child))))
                    break
                out.append("".join(child) + '"' if isinstance(child, list) else child)
            else:
                stack.pop()
                if stack:
                    out.append("]" if node.is_array else "}")
        self._out = out
        self._restart = True
        self._trail = [self._root]
        self._at = ()
        self._current = None
        self._credit = -sum(map(len, out))

    @staticmethod
    def _in_order(node: _Container) -> list[tuple[str | int, str]]:
        """The steps below a container, each with what stands before it. A gap in an array is no JSON, on purpose."""
        steps = sorted(node.members, key=int) if node.is_array else list(node.members)
        separators = ["" if position == 0 else "," for position in range(len(steps))]
        if node.is_array and steps and steps[-1] != len(steps) - 1:
            separators[0] = "$,"
        return list(zip(steps, separators, strict=True))
