"""The view of `replay` on a terminal, made with rich: calls grow in place, the path that changed last is marked.

A frame costs the same however large the values are: only what fits is walked, from the growing end.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import islice
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.text import Text

from toolstream.cli.output import clean, plural, value_text, verdict
from toolstream.cli.reading import Piece
from toolstream.completion import Completion
from toolstream.types import JsonPath, JsonValue

__all__ = ["LiveView"]

FRAME_SECONDS = 1 / 15
MEMBERS, DEPTH, LINES = 12, 8, 8  # shown of a container, of nesting, of a text
SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "info": "dim"}


class LiveView:
    """A context manager that owns the terminal while a stream is replayed."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._console = Console(highlight=False, markup=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True)
        self._changed: dict[int, JsonPath] = {}
        self._shown_at = 0.0
        self._pieces = 0
        self._bytes = 0

    def __enter__(self) -> LiveView:
        self._live.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self._live.__exit__(*exception)

    def see(self, completion: Completion, piece: Piece | None, events: Sequence[Any]) -> None:
        if piece is not None:
            self._pieces += 1
            self._bytes += len(piece.data)
        for event in events:
            if event.type == "tool_call.delta" and event.changes:
                self._changed[id(event.call)] = event.changes[-1][1]
        now = time.monotonic()
        if piece is None or now - self._shown_at >= FRAME_SECONDS:
            self._shown_at = now
            self._live.update(self._frame(completion, piece), refresh=True)

    def _frame(self, completion: Completion, piece: Piece | None) -> RenderableType:
        clock = "" if piece is None or piece.t is None else f"{piece.t:.1f} s, "
        parts: list[RenderableType] = [
            Text(f"{clean(self._name)}: {clock}{plural(self._pieces, 'piece')}, {plural(self._bytes, 'byte')}", "dim")
        ]
        room = self._console.size.height - 3
        defects = [self._defect(defect) for defect in completion.defects[-4:]]
        room -= len(defects)
        if completion.text:
            lines = completion.text.splitlines()[-LINES:]
            parts.append(Text("\n".join(clean(line) for line in lines)))
            room -= len(lines)
        calls = list(completion.calls)
        growing = [call for call in calls if call.status == "streaming"] or calls[-1:]
        shown = growing[-max(1, room // 6) :]
        hidden = len(calls) - len(shown)
        if hidden:
            parts.append(Text(f"{plural(hidden, 'other call')} ended or waiting", "dim"))
        for call in shown:
            parts.append(self._call(call, max(3, room // len(shown) - 2)))
        return Group(*parts, *defects)

    def _call(self, call: Any, height: int) -> RenderableType:
        if call.input is not None:
            rows = [Text(clean(line)) for line in call.input.splitlines()[-height:]]
        else:
            rows = _rows(call.partial_arguments, self._changed.get(id(call)), height)
        over = call.status != "streaming"
        style = "cyan" if not over else "green" if call.executable else "red"
        return Panel(
            Group(*rows),
            title=Text(clean(call.name or "(no name yet)"), "bold"),
            subtitle=Text(verdict(call) if over else "streaming"),
            border_style=style,
            title_align="left",
            subtitle_align="right",
        )

    @staticmethod
    def _defect(defect: Any) -> RenderableType:
        text = Text(f"{defect.severity}  {clean(defect.code)}: {clean(defect.message)}", no_wrap=True)
        text.stylize(SEVERITY_STYLES[defect.severity])
        return text


def _rows(value: JsonValue, changed: JsonPath | None, height: int) -> list[Text]:
    """The last `height` lines of a value, with the last members of each container only, and the changed path marked.

    The walk goes backwards, so that it ends when the room is full: a container's last member first, its own line last.
    """
    rows: list[Text] = []
    stack: list[Text | tuple[JsonPath, str, JsonValue]] = [((), "", value)]
    while stack and len(rows) < height:
        top = stack.pop()
        if isinstance(top, Text):
            rows.append(top)
            continue
        path, label, item = top
        depth = len(path)
        lead = "  " * max(0, depth - 1) + label
        style = "bold green" if path == changed else ""
        if isinstance(item, (dict, list)) and item and depth < DEPTH:
            if path:
                stack.append(Text(lead))
            if len(item) > MEMBERS:
                stack.append(Text("  " * depth + f"... {len(item) - MEMBERS:,} before", "dim"))
            stack.extend(((*path, step), f"{clean(str(step))}: ", member) for step, member in _last_members(item))
        elif isinstance(item, str) and "\n" in item:
            stack.append(Text(lead, style))
            lines = item[-4096:].split("\n")[-LINES:]
            stack.extend(Text("  " * depth + "| " + clean(line), style) for line in lines)
        else:
            row = Text(lead)
            row.append(value_text(item[-400:] if isinstance(item, str) else item, 400), style)
            rows.append(row)
    return rows[::-1]


def _last_members(item: Any) -> list[tuple[str | int, JsonValue]]:
    if isinstance(item, dict):
        return list(islice(reversed(item.items()), MEMBERS))[::-1]
    first = max(0, len(item) - MEMBERS)
    return [(at, item[at]) for at in range(first, len(item))]
