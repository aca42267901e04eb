"""What the commands write: text that is safe on a terminal, JSON in bounded memory, a completion as plain data.

Text from a stream may hold anything, escape sequences of a terminal too. `clean` is the one way to a terminal for it.
JSON is written with ASCII escapes alone, in parts, without recursion: a value may be as deep and as large as it likes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any, TextIO

from toolstream.completion import CLIENT_KINDS, Completion, ToolCall
from toolstream.types import JsonPath, JsonValue

__all__ = [
    "Colours",
    "clean",
    "completion_record",
    "is_terminal",
    "json_parts",
    "needs_answer",
    "path_text",
    "plural",
    "refused",
    "say",
    "shorten",
    "value_text",
    "verdict",
    "write_json",
]

SLICE = 1 << 16


def clean(text: str) -> str:
    """`text` with everything that is not printable as a visible escape: control characters, direction marks, line ends.

    >>> clean("red \\x1b[31m and \\u202e reversed")
    'red \\\\x1b[31m and \\\\u202e reversed'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shorten(text: str, longest: int) -> str:
    """`text`, or its beginning and end around a mark that says how much is missing."""
    if len(text) <= longest:
        return text
    mark = f" [... {len(text) - longest:,} more ...] "
    return text[: longest - longest // 4] + mark + text[len(text) - longest // 4 :]


def plural(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def path_text(path: JsonPath) -> str:
    """A path as people write it: `legs[0].from`, `["a b"]`, and `(all)` for the root."""
    parts: list[str] = []
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step.isidentifier():
            parts.append(f".{step}" if parts else step)
        else:
            parts.append(f"[{json.dumps(step, ensure_ascii=False)}]")
    return clean("".join(parts)) or "(all)"


def value_text(value: JsonValue, longest: int) -> str:
    """One line of JSON for people, at most about `longest` characters."""
    parts: list[str] = []
    size = 0
    for part in json_parts(value, ascii_only=False):
        parts.append(part)
        size += len(part)
        if size > longest:
            return clean("".join(parts)[:longest]) + " ..."
    return clean("".join(parts))


def json_parts(value: JsonValue, *, indent: int = 0, ascii_only: bool = True) -> Iterator[str]:
    """The JSON text of a value in parts; `indent` spreads it over lines. An infinity is a number that reads as one."""
    quote = encode_basestring_ascii if ascii_only else encode_basestring
    if not _is_open(value):
        yield from _scalar(value, quote)
        return
    stack: list[Iterator[str]] = []
    stack.append(_container(value, stack, indent, quote))
    while stack:
        part = next(stack[-1], None)
        if part is None:
            stack.pop()
        else:
            yield part


def _is_open(value: JsonValue) -> bool:
    return isinstance(value, (dict, list, tuple)) and bool(value)


def _container(value: Any, stack: list[Iterator[str]], indent: int, quote: Callable[[str], str]) -> Iterator[str]:
    """The parts of one container; a container in it is put on the stack, and this one goes on when that is done."""
    depth = len(stack)
    line = "\n" if indent else ""
    inner, outer = line + " " * (indent * depth), line + " " * (indent * (depth - 1))
    comma = ("," if indent else ", ") + inner
    members = isinstance(value, dict)
    lead = ("{" if members else "[") + inner
    for item in value.items() if members else value:
        if members:
            lead += quote(item[0]) + ": "
            item = item[1]
        if _is_open(item):
            stack.append(_container(item, stack, indent, quote))
            yield lead
        else:
            yield lead
            yield from _scalar(item, quote)
        lead = comma
    yield outer + ("}" if members else "]")


def _scalar(value: JsonValue, quote: Callable[[str], str]) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) <= SLICE:
            yield quote(value)
            return
        yield '"'
        for at in range(0, len(value), SLICE):
            yield quote(value[at : at + SLICE])[1:-1]
        yield '"'
    elif isinstance(value, float) and value in (float("inf"), float("-inf")):
        yield "1e999" if value > 0 else "-1e999"
    else:
        yield json.dumps(value)


def write_json(value: JsonValue, *, indent: int = 0, file: TextIO | None = None) -> None:
    """Write a value and a line end to standard output, never holding its whole text."""
    write = (file or sys.stdout).write
    held: list[str] = []
    size = 0
    for part in json_parts(value, indent=indent):
        held.append(part)
        size += len(part)
        if size > SLICE:
            write("".join(held))
            held, size = [], 0
    write("".join(held) + "\n")


def say(message: str) -> None:
    """One line on standard error, under the program's name."""
    print(f"toolstream: {clean(message)}", file=sys.stderr, flush=True)


def is_terminal(stream: TextIO) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}


class Colours:
    """Terminal colours for one output stream: none where it is no terminal, or where NO_COLOR is set."""

    def __init__(self, stream: TextIO) -> None:
        self.on = is_terminal(stream) and not os.environ.get("NO_COLOR")

    def __call__(self, text: str, *styles: str) -> str:
        if not self.on or not styles:
            return text
        return f"\x1b[{';'.join(_STYLES[style] for style in styles)}m{text}\x1b[0m"


def needs_answer(call: ToolCall) -> bool:
    """Whether the client, not the provider, has to run the call."""
    return call.kind in CLIENT_KINDS


def refused(calls: Iterable[ToolCall]) -> list[ToolCall]:
    """The calls that the client should run and must not."""
    return [call for call in calls if needs_answer(call) and not call.executable]


def verdict(call: ToolCall) -> str:
    """The end of a call in words."""
    if call.executable:
        return f"{call.status}, may be run"
    if call.kind == "mcp_approval":
        return f"{call.status}, waits for approval"
    if not needs_answer(call):
        return f"{call.status}, run by the provider"
    return f"{call.status}, must not be run"


def completion_record(completion: Completion, name: str, provider: str | None) -> dict[str, Any]:
    """A completion as plain data, as `assemble` writes it; a call that is not whole shows its live value."""
    record = {"file": name, "provider": provider, **completion.to_dict()}
    for call, plain in zip(completion.calls, record["calls"], strict=True):
        if call.status != "complete" and call.input is None:
            plain["partial_arguments"] = call.partial_arguments
    return record
