"""What surrounds the streaming parser: a writer that applies its changes, and a reader for half a text.

Cost: `apply_changes` does work proportional to the changes it is given (their paths and values) and to each string that
they grow, once a call. A string that grows is a list of its pieces, standing in its place, until the call ends; so it
does not matter how many appends there are, or how the strings that they go to take turns. Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from toolstream._engine import StreamingJsonParser
from toolstream.types import MISSING, JsonChange, JsonValue

__all__ = ["apply_changes", "parse_partial_json"]


SHOWN = 200  # characters of a change, or of a step of its path, in an error


class _Growing(list[str]):
    """The pieces of a string, in the place of that string."""

    __slots__ = ()


def apply_changes(target: JsonValue, changes: Iterable[JsonChange]) -> JsonValue:
    """Apply the changes that `StreamingJsonParser.append` returned, in order, and return the root.

    `target` is what the previous call returned, `MISSING` at the start. It is changed in place; the root is a new
    object only where a change sets it, or where it is a string that grows. The changes stay as they are: containers
    in them are copied. An `"end"` changes no value.

        >>> value, parser = MISSING, StreamingJsonParser()
        >>> for piece in ('{"city": "Os', 'lo", "days": 3}'):
        ...     value = apply_changes(value, parser.append(piece))
        >>> value
        {'city': 'Oslo', 'days': 3}

    A change that does not fit is a `ValueError` that says which and why; those before it have been applied.
    """
    root = [] if target is MISSING else [target]
    growing: list[tuple[Any, str | int]] = []
    try:
        for number, change in enumerate(changes):
            try:
                _apply(root, change, growing)
            except (TypeError, ValueError) as error:
                raise ValueError(f"change {number}, {_short(change)}, cannot be applied: {error}") from None
    finally:
        for container, step in growing:
            if type(pieces := container[step]) is _Growing:  # else it has been set to something else since
                container[step] = "".join(pieces)
    return root[0] if root else MISSING


def _apply(root: list[Any], change: JsonChange, growing: list[tuple[Any, str | int]]) -> None:
    """Apply one change to the value that is the only element of `root`; note in `growing` where a string begins."""
    kind, path, value = change
    if not root and (path or kind == "append"):
        raise ValueError("there is no value yet")
    container: Any = root
    step: str | int = 0
    for next_step in path:
        container = _at(container, step)
        step = next_step
    if kind == "set":
        _place(container, step, _copy(value))
    elif kind == "append":
        if not isinstance(value, str):
            raise ValueError(f"{_name(value)} cannot be added to a string")
        pieces = _at(container, step)
        if isinstance(pieces, str):
            pieces = container[step] = _Growing((pieces,))
            growing.append((container, step))
        elif type(pieces) is not _Growing:
            raise ValueError(f"there is {_name(pieces)}, and only a string grows")
        pieces.append(value)
    elif kind != "end":
        raise ValueError("the kinds are set, append and end")


def _at(container: Any, step: str | int) -> Any:
    """What is at `step` of `container`; ValueError where there is nothing, or no container."""
    if type(container) is dict:
        if isinstance(step, str) and step in container:
            return container[step]
    elif type(container) is list:
        if type(step) is int and 0 <= step < len(container):
            return container[step]
    else:
        raise ValueError(f"step {_short(step)} leads into {_name(container)}")
    raise ValueError(f"{_name(container)} has nothing at {_short(step)}")


def _place(container: Any, step: str | int, value: JsonValue) -> None:
    """Set the member or the element at `step`, or add it; ValueError where there is no place for it."""
    if type(container) is dict and isinstance(step, str):
        container[step] = value
    elif type(container) is list and type(step) is int and 0 <= step <= len(container):
        container[step : step + 1] = [value]
    else:
        raise ValueError(f"{_name(container)} has no place {_short(step)}")


def _short(value: object) -> str:
    return repr(value)[:SHOWN]


def _name(value: Any) -> str:
    if type(value) is dict:
        return f"an object of {len(value)} members"
    if type(value) is list:
        return f"an array of {len(value)} elements"
    return "a string" if isinstance(value, (str, _Growing)) else f"a value of type {type(value).__name__}"


def _copy(value: JsonValue) -> JsonValue:
    """`value`, its containers copied at any depth."""
    if type(value) is not dict and type(value) is not list:
        return value
    copied = value.copy()
    todo = [copied]
    while todo:
        container = todo.pop()
        for step, inner in container.items() if type(container) is dict else enumerate(container):
            if type(inner) is dict or type(inner) is list:
                container[step] = inner.copy()
                todo.append(container[step])
    return copied


def parse_partial_json(
    text: str | bytes | bytearray | memoryview, *, lenient: bool = True, default: JsonValue = MISSING
) -> JsonValue:
    """Read as much as there is of a JSON text that may be cut anywhere, in one call.

        >>> parse_partial_json('```json\\n{"city": "Oslo", "days": [1, 2')
        {'city': 'Oslo', 'days': [1, 2]}

    The rules are those of `StreamingJsonParser`; `lenient` also reads what models write by habit of other languages.
    `default` is returned where there is no value (yet). Text never raises; a wrong type is a `TypeError`.
    """
    parser = StreamingJsonParser(lenient=lenient)
    parser.feed(text)
    value = parser.snapshot()
    return default if value is MISSING else value
