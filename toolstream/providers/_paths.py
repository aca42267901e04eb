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

__all__ = ["PathWriter", "encode_string", "parse_path"]

CREDIT_PER_LEAF: Final = 64
CREDIT_PER_CHARACTER: Final = 8

_SEGMENT: Final = re.compile(
    r"""[ \t\n\r]*(?:
        \.(?P<name>[^.\[\]*'"]+)
      | \[[ \t\n\r]*(?:
            (?P<index>0|[1-9][0-9]{0,8})
          | '(?P<single>[^'\\]*(?:\\.[^'\\]*)*)'
          | "(?P<double>[^"\\]*(?:\\.[^"\\]*)*)"
        )[ \t\n\r]*\]
    )""",
    re.VERBOSE | re.DOTALL,
)
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

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.more = False


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
        "_credit",
        "_current",
        "_out",
        "_restart",
        "_root",
        "_size",
        "_stale",
        "_steps",
        "_trail",
        "_unplaced",
        "waiting",
    )

    def __init__(self) -> None:
        self.waiting = 0  # strings that have announced another piece
        self._root = _Container(False)
        self._trail = [self._root]  # the containers that are open in the text
        self._current: _String | None = None  # the string that is open in the text
        self._steps: JsonPath | None = None  # its path, the very object that came
        self._out = ["{"]
        self._restart = False  # `_out` starts the text anew
        self._stale = False  # the tree has leaves that the text lacks
        self._size = 1  # about the length of the tree's text
        self._credit = 0
        self._unplaced: list[str] = []

    @property
    def names(self) -> list[str]:
        """The names of the object's members so far, in order."""
        return [str(step) for step in self._root.members]

    def set(self, steps: JsonPath | None, value: str, path: str = "") -> None:
        """Put a value, given as JSON text, at the path. `path` stands in for steps that could not be read."""
        self._put(steps, value, None, path)

    def append(self, steps: JsonPath | None, piece: str, *, more: bool = False, path: str = "") -> None:
        """Add a piece to the string at the path if its last piece announced one, else begin the string there."""
        encoded = encode_string(piece)
        current = self._current
        if current is not None and steps is self._steps and not self._stale:
            leaf: _Container | _String | str | None = current  # the string that is open in the text
        else:
            leaf = self._find(steps) if steps else None
        if isinstance(leaf, _String) and leaf.more:
            leaf.pieces.append(encoded)
            self._size += len(encoded)
            self._credit += CREDIT_PER_LEAF + CREDIT_PER_CHARACTER * len(encoded)
            if not more:
                leaf.more = False
                self.waiting -= 1
            if leaf is current and not self._stale:
                self._out.append(encoded if more else encoded + '"')
                if not more:
                    self._current = None
            elif encoded:
                self._stale = True
        else:
            leaf = _String()
            leaf.more = more
            leaf.pieces.append(encoded)
            self._put(steps, encoded, leaf, path)

    def end_string(self, steps: JsonPath, *, more: bool = False) -> None:
        """A leaf without a value: nothing, or the end of the string at the path."""
        leaf = self._find(steps)
        if isinstance(leaf, _String) and leaf.more:
            self.append(steps, "", more=more)

    def take(self) -> tuple[str, bool]:
        """The text since the last call, and whether it replaces all text before it instead of going on."""
        if self._stale and self._credit >= self._size:
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

    def _find(self, steps: JsonPath) -> _Container | _String | str | None:
        node: _Container | _String | str | None = self._root
        for step in steps:
            if not isinstance(node, _Container):
                return None
            node = node.members.get(step)
        return node

    def _put(self, steps: JsonPath | None, encoded: str, string: _String | None, path: str) -> None:
        """Put a leaf into the tree, and into the text if the text can go on with it."""
        self._credit += CREDIT_PER_LEAF + CREDIT_PER_CHARACTER * (len(encoded) + len(path))
        if not steps or not self._fits(steps):
            # A bare `$` is no key: no reader can take this member for one that the model meant.
            value = f'"{encoded}"' if string is not None else encoded
            self._unplaced.append(f"${json.dumps(path)}:{value}")
            return
        depth, last = 0, len(steps) - 1
        node = self._root
        in_order = not self._stale
        for position, step in enumerate(steps):
            child = node.members.get(step)
            if position < last and isinstance(child, _Container):
                node = child
                depth += 1
                in_order = in_order and depth < len(self._trail) and self._trail[depth] is node
                continue
            in_order = in_order and child is None and (not node.is_array or step == len(node.members))
            self.waiting -= isinstance(child, _String) and child.more
            if in_order:
                self._close(depth)
                self._open_member(node, step)
            if position == last:
                node.members[step] = encoded if string is None else string
                self.waiting += string is not None and string.more
                self._size += len(encoded) + 4
            else:
                inner = node.members[step] = _Container(isinstance(steps[position + 1], int))
                self._size += len(str(step)) + 6
                if in_order:
                    self._out.append("[" if inner.is_array else "{")
                    self._trail.append(inner)
                node = inner
                depth += 1
        if not in_order:
            self._stale = True
        elif string is None:
            self._out.append(encoded)
        else:
            self._out.append(f'"{encoded}' if string.more else f'"{encoded}"')
            self._current = string if string.more else None
            self._steps = steps

    def _fits(self, steps: JsonPath) -> bool:
        """Whether every container on the way has the kind that the path asks for."""
        node: _Container | _String | str | None = self._root
        for step in steps:
            if not isinstance(node, _Container):
                return True  # what is there is replaced
            if node.is_array != isinstance(step, int):
                return False
            node = node.members.get(step)
        return True

    def _close(self, depth: int) -> None:
        """Close the open string, and the open containers below the one at the depth."""
        if self._current is not None:
            self._out.append('"')
            self._current = None
        while len(self._trail) > depth + 1:
            self._out.append("]" if self._trail.pop().is_array else "}")

    def _open_member(self, node: _Container, step: str | int) -> None:
        if node.members:
            self._out.append(",")
        if isinstance(step, str):
            self._out.append(f'"{encode_string(step)}":')

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
        self._current = None
        self._credit = 0
        self._size = sum(map(len, out))

    @staticmethod
    def _in_order(node: _Container) -> list[tuple[str | int, str]]:
        """The steps below a container, each with what stands before it. A gap in an array is no JSON, on purpose."""
        steps = sorted(node.members, key=int) if node.is_array else list(node.members)
        separators = ["" if position == 0 else "," for position in range(len(steps))]
        if node.is_array and steps and steps[-1] != len(steps) - 1:
            separators[0] = "$,"
        return list(zip(steps, separators, strict=True))
