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
from typing import Final

from ..types import JsonPath

__all__ = ["PathReader", "PathWriter", "encode_string", "parse_path"]

CREDIT_PER_LEAF: Final = 64
CREDIT_PER_CHARACTER: Final = 8

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
_is_index = re.compile(_INDEX).fullmatch
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

    __slots__ = ("_above", "_head", "_parents", "_top", "path", "steps")

    def __init__(self) -> None:
        self.path = ""  # the last one
        self.steps: JsonPath | None = None  # its steps, as `parse_path` has them
        self._head = "$"  # the last path without its last step
        self._parents: JsonPath | None = ()
        self._top = "$"  # the last head without its last step
        self._above: JsonPath = ()

    def read(self, path: str) -> None:
        """The next path: `path` and `steps` are of it."""
        self.path = path
        head, step = _last_step(path)
        if step is None:
            self.steps = parse_path(path)
            return
        if head != self._head:
            self._head = head
            top, last = _last_step(head)
            if last is not None and top == self._top:
                self._parents = (*self._above, last)
            else:
                self._parents = parse_path(head)
                if last is not None and self._parents is not None:
                    self._top = top
                    self._above = self._parents[:-1]
        # A path may be well without its head being so: there may be blanks between the two.
        self.steps = parse_path(path) if self._parents is None else (*self._parents, step)


def _last_step(path: str) -> tuple[str, str | int | None]:
    """A path without its last step, and that step if it is one that says by itself what it is, else `None`."""
    if path[-1:] == "]":
        head, _, index = path[:-1].rpartition("[")
        return head, int(index) if _is_index(index) else None
    head, _, name = path.rpartition(".")
    return head, name if name.isidentifier() else None


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
    """An object or an array under construction; an array has its elements under their positions."""

    __slots__ = ("is_array", "members")

    def __init__(self, is_array: bool) -> None:
        self.is_array = is_array
        self.members: dict[str | int, _Container | _String | str] = {}


class _String:
    """A string under construction, encoded; `more` while its last piece announced another one."""

    __slots__ = ("more", "pieces")

    def __init__(self, piece: str, more: bool) -> None:
        self.pieces = [piece]
        self.more = more


class PathWriter:
    """Writes the text of one object from its leaves. Every method costs what it is given; `take` what it returns.

    >>> writer = PathWriter()
    >>> writer.append(("city",), "Bos", more=True)
    >>> writer.take()
    ('{"city":"Bos', False)
    >>> writer.append(("city",), "ton")
    >>> writer.set(("days",), "3")
    >>> writer.finish()
    >>> writer.take()
    ('ton","days":3}', False)
    """

    __slots__ = (
        "_at",
        "_credit",
        "_current",
        "_out",
        "_restart",
        "_root",
        "_stale",
        "_steps",
        "_trail",
        "_unplaced",
        "waiting",
    )

    def __init__(self) -> None:
        self.waiting = 0  # strings that have announced another piece
        self._root = root = _Container(False)
        self._trail = [root]  # the containers that are open in the text
        self._at: JsonPath = ()  # the path of the innermost one, unless the text is stale
        self._current: _String | None = None  # the string that is open in the text
        self._steps: JsonPath | None = None  # its path, the very object that came
        self._out = ["{"]
        self._restart = False  # `_out` starts the text anew
        self._stale = False  # the tree has leaves that the text lacks
        self._credit = -1  # what has been earned, less about the length of the tree's text
        self._unplaced: list[str] = []

    @property
    def names(self) -> list[str]:
        """The names of the object's members so far, in order."""
        return [str(step) for step in self._root.members]

    def set(self, steps: JsonPath | None, value: str, path: str = "") -> None:
        """Put a value, given as JSON text, at the path. `path` stands in for steps that could not be read."""
        self._put(steps, value, None, path)

    def append(self, steps: JsonPath | None, piece: str, more: bool = False, path: str = "") -> None:
        """Add a piece to the string at the path if its last piece announced one, else begin the string there."""
        encoded = encode_string(piece) if piece else ""
        string = self._current
        if string is None or steps is not self._steps or self._stale:
            string = self._put(steps, encoded, _String(encoded, more), path)
            if string is None:
                return
        string.pieces.append(encoded)
        self._credit += CREDIT_PER_LEAF + (CREDIT_PER_CHARACTER - 1) * len(encoded)
        if not more:
            string.more = False
            self.waiting -= 1
        if string is self._current and not self._stale:
            self._out.append(encoded if more else encoded + '"')
            if not more:
                self._current = None
        elif encoded:
            self._stale = True

    def end_string(self, steps: JsonPath, more: bool = False) -> None:
        """A leaf without a value: nothing, or the end of the string at the path."""
        node, depth, _ = self._reach(steps)
        leaf = node.members.get(steps[-1]) if depth == len(steps) - 1 else None
        if isinstance(leaf, _String) and leaf.more:
            self.append(steps, "", more)

    def take(self) -> tuple[str, bool]:
        """The text since the last call, and whether it replaces all text before it instead of going on."""
        if self._stale and self._credit >= 0:
            self._rewrite()
        text, restart = "".join(self._out), self._restart
        self._out.clear()
        self._restart = False
        return text, restart

    def finish(self) -> None:
        """Close the object: `take` gives the rest. Leaves that had no place make the text malformed."""
        if self._stale:
            self._rewrite()
        self._close(0)
        for leaf in self._unplaced:
            self._out.append(leaf)
        self._out.append("}")

    def _reach(self, steps: JsonPath) -> tuple[_Container, int, bool]:
        """The last container that is there on the way to the leaf, its depth, and whether it is open in the text."""
        node, depth, in_order, trail = self._root, 0, not self._stale, self._trail
        for step in steps[:-1]:
            child = node.members.get(step)
            if not isinstance(child, _Container):
                break
            node = child
            depth += 1
            in_order = in_order and depth < len(trail) and trail[depth] is child
        return node, depth, in_order

    def _put(self, steps: JsonPath | None, encoded: str, string: _String | None, path: str) -> _String | None:
        """Put a leaf into the tree, and into the text if the text can go on with it.

        A string does not begin where one has announced another piece: that one is returned then, as it was."""
        if not steps:
            self._misplace(encoded, string, path)
            return None
        way = steps[:-1]
        last = len(way)
        if way == self._at and not self._stale:  # the usual leaf: in the same container as the one before it
            node, depth, in_order = self._trail[-1], last, True
        else:
            node, depth, in_order = self._reach(steps)
        step = steps[depth]
        members = node.members
        is_array = node.is_array
        if is_array != isinstance(step, int):
            self._misplace(encoded, string, path)
            return None
        child = members.get(step)
        if child is not None:
            in_order = False
            if isinstance(child, _String) and child.more:
                if string is not None and depth == last:
                    return child
                self.waiting -= 1
        self._credit += (
            CREDIT_PER_LEAF - 4 + (CREDIT_PER_CHARACTER - 1) * len(encoded) + CREDIT_PER_CHARACTER * len(path)
        )
        out = self._out
        while True:
            if in_order and is_array and step != len(members):
                in_order = False
            if in_order:
                self._close(depth)
                if members:
                    out.append(",")
                if isinstance(step, str):
                    out.append(f'"{encode_string(step)}":')
            if depth == last:
                break
            depth += 1
            self._credit -= len(str(step)) + 6
            following = steps[depth]
            is_array = isinstance(following, int)
            node = members[step] = _Container(is_array)
            if in_order:
                out.append("[" if is_array else "{")
                self._trail.append(node)
            members = node.members
            step = following
        if string is None:
            members[step] = encoded
        else:
            members[step] = string
            self.waiting += string.more
        if not in_order:
            self._stale = True
            return None
        self._at = way
        if string is None:
            out.append(encoded)
        elif string.more:
            out.append('"' + encoded)
            self._current = string
            self._steps = steps
        else:
            out.append(f'"{encoded}"')
        return None

    def _misplace(self, encoded: str, string: _String | None, path: str) -> None:
        """Keep a leaf that has no place for the end of the text."""
        self._credit += CREDIT_PER_LEAF + CREDIT_PER_CHARACTER * (len(encoded) + len(path))
        # A bare `$` is no key: no reader can take this member for one that the model meant.
        value = encoded if string is None else f'"{encoded}"'
        self._unplaced.append(f"${json.dumps(path)}:{value}")

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
                out.append(f'"{"".join(child.pieces)}"' if isinstance(child, _String) else child)
            else:
                stack.pop()
                if stack:
                    out.append("]" if node.is_array else "}")
        self._out = out
        self._restart = True
        self._stale = False
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
