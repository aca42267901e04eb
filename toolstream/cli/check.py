"""`toolstream check`: what a provider does wrong, grouped by code, with the messages that show it.

The stream is cut at its messages before it is fed, whatever its pieces were, so that a defect belongs to the one
message that brought it. The piece number that is told is the one of the recording; where pieces are not known, it is
the number of the message.
"""

from __future__ import annotations

import argparse
import sys
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from toolstream.cli.advice import ADVICE
from toolstream.cli.output import Colours, clean, plural, say, write_json
from toolstream.cli.reading import InputError, Piece, by_message, open_source
from toolstream.cli.session import Outcome, drive
from toolstream.cli.wire import fragment
from toolstream.completion import Completion
from toolstream.defects import DEFECTS

__all__ = ["check"]

EXAMPLES = 3  # kept of each code
TRAIL_BYTES = 32 << 20
SEVERITIES = ("error", "warning", "info")
SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "info": "cyan"}


class _Group:
    """All defects of one code."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.count = 0
        self.files: set[str] = set()
        self.examples: list[dict[str, Any]] = []

    def add(self, name: str, completion: Completion, defect: Any, piece: Piece, *, at_end: bool, show: bool) -> None:
        self.count += 1
        self.files.add(name)
        if len(self.examples) < EXAMPLES:
            call = None if defect.call is None else completion.calls[defect.call]
            self.examples.append(
                {
                    "file": name,
                    "piece": piece.number,
                    "at_end": at_end,
                    "call": defect.call,
                    "name": call and call.name,
                    "offset": defect.offset,
                    "message": defect.message,
                    "wire": fragment(piece.data, show_values=show),
                }
            )


def check(options: argparse.Namespace) -> int:
    """Check each file and print one report over all of them."""
    groups: dict[str, _Group] = {}
    outcomes: dict[str, Outcome] = {}
    code = 0
    interrupted: BaseException | None = None
    for path in options.files:
        try:
            outcome = _check_one(path, options, groups)
        except InputError as error:
            say(str(error))
            code = 2
            continue
        outcomes[path] = outcome
        code = max(code, outcome.code)
        if isinstance(outcome.trouble, KeyboardInterrupt):
            interrupted = outcome.trouble
            break
        if outcome.trouble is not None:
            say(str(outcome.trouble))
            code = 2
    found = sorted(
        groups.values(), key=lambda group: (SEVERITIES.index(DEFECTS[group.code][0]), -group.count, group.code)
    )
    if options.json:
        write_json(
            {"files": [_facts(*item) for item in outcomes.items()], "defects": [_record(group) for group in found]}
        )
    else:
        _print(outcomes, found)
    if interrupted is not None:
        raise interrupted
    return code


def _check_one(path: str, options: argparse.Namespace, groups: dict[str, _Group]) -> Outcome:
    trail = _Trail()

    def see(completion: Completion, piece: Piece | None, events: Sequence[Any]) -> None:
        trail.follow(piece, events)
        for event in events:
            if event.type == "defect":
                defect = event.defect
                shown = trail.find(defect.call, defect.offset) if piece is None else piece
                group = groups.setdefault(defect.code, _Group(defect.code))
                group.add(path, completion, defect, shown, at_end=piece is None, show=options.show_values)

    with open_source(path) as source:
        return drive(source, by_message(source.pieces()), see, provider=options.provider)


class _Trail:
    """Which message brought which part of a call, for defects that only the end of the stream shows.

    Messages are kept up to `TRAIL_BYTES` in all; of later ones, only the last of each call.
    """

    def __init__(self) -> None:
        self._last = Piece(0, None, b"")
        self._room = TRAIL_BYTES
        self._sizes: dict[int, int] = {}  # length of the argument text so far, by call
        self._parts: dict[int, list[tuple[int, Piece]]] = {}  # length after a message, and the message

    def follow(self, piece: Piece | None, events: Sequence[Any]) -> None:
        if piece is None:
            return
        self._last = piece
        for event in events:
            if event.type not in ("tool_call.start", "tool_call.delta"):
                continue
            at = event.call.position
            parts = self._parts.setdefault(at, [])
            if event.type == "tool_call.delta":
                if event.restart:
                    parts.clear()
                    self._sizes[at] = 0
                self._sizes[at] = self._sizes.get(at, 0) + len(event.text)
            if self._room < 0 and parts:
                parts.pop()
            parts.append((self._sizes.get(at, 0), piece))
            self._room -= len(piece.data)

    def find(self, call: int | None, offset: int | None) -> Piece:
        """The message that holds the character, or the last one of the call, or of the stream."""
        parts = self._parts.get(call, []) if call is not None else []
        if not parts:
            return self._last
        at = len(parts) if offset is None else bisect_right(parts, offset, key=lambda part: part[0])
        return parts[min(at, len(parts) - 1)][1]


def _facts(path: str, outcome: Outcome) -> dict[str, Any]:
    calls = outcome.completion.calls
    return {
        "file": path,
        "provider": outcome.provider,
        "calls": len(calls),
        "executable": sum(call.executable for call in calls),
        "finish_reason": outcome.completion.finish_reason,
        "raw_finish_reason": outcome.completion.raw_finish_reason,
        "defect_count": outcome.completion.defect_count,
    }


def _record(group: _Group) -> dict[str, Any]:
    severity, sentence = DEFECTS[group.code]
    cause, cure = ADVICE[group.code]
    return {
        "code": group.code,
        "severity": severity,
        "count": group.count,
        "files": len(group.files),
        "message": sentence,
        "cause": cause,
        "cure": cure,
        "examples": group.examples,
    }


def _print(outcomes: dict[str, Outcome], found: list[_Group]) -> None:
    paint = Colours(sys.stdout)
    for path, outcome in outcomes.items():
        facts = _facts(path, outcome)
        calls = f"{plural(facts['calls'], 'call')} ({facts['executable']} may be run)" if facts["calls"] else "no calls"
        finish = f"finish reason {facts['finish_reason'] or 'none'}"
        print(f"{paint(clean(path), 'bold')}: {facts['provider']}, {calls}, {finish}")
    if outcomes and not found:
        print(paint("nothing to report", "green"))
    for group in found:
        record = _record(group)
        print()
        count = plural(group.count, "time") + (f" in {plural(len(group.files), 'file')}" if len(outcomes) > 1 else "")
        title = paint(f"{record['severity']}  {group.code}", SEVERITY_COLOURS[record["severity"]], "bold")
        print(f"{title}  {count}")
        print(f"  {record['message']}")
        print(f"  cause: {record['cause']}")
        print(f"  to do: {record['cure']}")
        for example in group.examples:
            print(f"  {paint(_where(example, len(outcomes) > 1), 'dim')}")
            print(f"    {example['wire']}")
        if group.count > len(group.examples):
            print(f"  ... and {group.count - len(group.examples):,} more")


def _where(example: dict[str, Any], with_file: bool) -> str:
    parts = [clean(example["file"])] if with_file else []
    parts.append(f"piece {example['piece']}" + (" (known at the end)" if example["at_end"] else ""))
    if example["call"] is not None:
        parts.append(f"call {example['call']} ({clean(example['name'] or 'no name')})")
    if example["offset"] is not None:
        parts.append(f"at character {example['offset']} of the arguments")
    return ", ".join(parts)
