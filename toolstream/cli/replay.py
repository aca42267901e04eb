"""`toolstream replay` and `toolstream demo`: a stream shown while it comes, then its finished calls.

On a terminal with rich the calls grow in place (`live.py`); anywhere else each change is a line of a log. What is
shown while the stream runs is the live view; the verdicts come with the ends.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from toolstream.cli.output import (
    Colours,
    clean,
    completion_record,
    is_terminal,
    path_text,
    plural,
    shorten,
    value_text,
    verdict,
    write_json,
)
from toolstream.cli.reading import Piece, Source, cut_anew, open_source
from toolstream.cli.session import Outcome, drive
from toolstream.completion import Completion

__all__ = ["demo", "replay"]

DEMO = os.path.join(os.path.dirname(__file__), "demo.jsonl")
PIECE_SECONDS = 0.05  # between pieces whose times are not known
LONGEST_LINE, LONGEST_VALUE = 100, 1000  # characters of a value in the log, and of finished arguments
MOST_DEFECTS = 20  # listed at the end
SEVERITY_COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}


def demo(options: argparse.Namespace) -> int:
    """Replay the bundled stream."""
    with open_source(DEMO) as source:
        source.name = "demo"
        return _replay(source, options, provider=None)


def replay(options: argparse.Namespace) -> int:
    """Replay a file or standard input."""
    with open_source(options.file) as source:
        return _replay(source, options, options.provider)


def _replay(source: Source, options: argparse.Namespace, provider: str | None) -> int:
    speed = options.speed
    if speed is None and is_terminal(sys.stdout) and not options.json and not (source.live and not source.recorded):
        speed = 1.0
    pieces = cut_anew(source.pieces(), options.splits)
    if speed is not None:
        pieces = _paced(pieces, speed)
    if options.json:
        outcome = drive(source, pieces, provider=provider)
        write_json(completion_record(outcome.completion, source.name, outcome.provider), indent=2)
    elif is_terminal(sys.stdout) and _rich_is_installed():
        from toolstream.cli.live import LiveView

        with LiveView(source.name) as view:
            outcome = drive(source, pieces, view.see, provider=provider, changes=True)
        _print_end(outcome, shown_before=False)
    else:
        log = Log(at_once=source.live or is_terminal(sys.stdout))
        outcome = drive(source, pieces, log.see, provider=provider, changes=True)
        print()
        _print_end(outcome, shown_before=True)
    if outcome.trouble is not None:
        raise outcome.trouble
    return outcome.code


def _rich_is_installed() -> bool:
    from importlib.util import find_spec

    return find_spec("rich") is not None


def _paced(pieces: Iterator[Piece], speed: float) -> Iterator[Piece]:
    """Hold each piece back until its time has come."""
    start = time.monotonic()
    untimed = 0
    for piece in pieces:
        if piece.t is None:
            untimed += 1
        due = start + (piece.t if piece.t is not None else untimed * PIECE_SECONDS) / speed
        wait = due - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        yield piece


class Log:
    """The plain view: a line for each call that starts or ends, each change of its arguments, text and defect."""

    def __init__(self, *, at_once: bool) -> None:
        self._at_once = at_once
        self._colours = Colours(sys.stdout)
        self._prefix = ""

    def see(self, completion: Completion, piece: Piece | None, events: Sequence[Any]) -> None:
        if piece is not None:
            self._prefix = "" if piece.t is None else f"{piece.t:8.3f}  "
        for event in events:
            self._show(event)
        if self._at_once:
            sys.stdout.flush()

    def _show(self, event: Any) -> None:
        paint = self._colours
        if event.type in ("text.delta", "reasoning.delta"):
            self._line(event.type.partition(".")[0], value_text(event.text, LONGEST_LINE))
        elif event.type == "defect":
            severity = event.defect.severity
            self._line(severity, paint(defect_text(event.defect), SEVERITY_COLOURS[severity]))
        elif event.type.startswith("tool_call."):
            call = event.call
            label = f"call {call.position}"
            if event.type == "tool_call.delta":
                self._show_delta(label, event)
            elif event.type == "tool_call.start":
                name = paint(clean(call.name or "(no name)"), "bold")
                self._line(label, f"{name}  {paint('id ' + clean(call.id), 'dim')}")
            else:
                self._line(label, paint(verdict(call), "green" if call.executable else "red"))

    def _show_delta(self, label: str, event: Any) -> None:
        if event.restart:
            self._line(label, "  " + self._colours("begins anew: this replaces what came before", "yellow"))
        if event.changes:
            for change, path, value in event.changes:
                if path or change == "append":
                    sign = "=" if change == "set" else "+="
                    place = self._colours(path_text(path), "cyan")
                    self._line(label, f"  {place} {sign} {value_text(value, LONGEST_LINE)}")
        elif event.call.input is not None and event.text:
            self._line(label, f"  += {value_text(event.text, LONGEST_LINE)}")

    def _line(self, label: str, text: str) -> None:
        print(f"{self._colours(self._prefix, 'dim')}{label:<9} {text}")


def defect_text(defect: Any) -> str:
    return clean(f"{defect.code}: {defect.message}")


def _print_end(outcome: Outcome, *, shown_before: bool) -> None:
    """The finished calls, what the provider said went wrong, and what else is to be known unless a log has it."""
    colours = Colours(sys.stdout)
    completion = outcome.completion
    facts = [
        plural(len(completion.calls), "call"),
        f"finish reason {completion.finish_reason or 'none'}",
        plural(completion.defect_count, "defect") if completion.defect_count else "no defects",
    ]
    print(colours(", ".join(facts), "bold"))
    for call in completion.calls:
        colour = "green" if call.executable else "red"
        print(f"{call.position}  {colours(clean(call.name or '(no name)'), 'bold')}  {colours(verdict(call), colour)}")
        if call.input is not None:
            print(f"   {value_text(call.input, LONGEST_VALUE)}")
        elif call.arguments is not None:
            print(f"   {value_text(call.arguments, LONGEST_VALUE)}")
        else:
            print(f"   text so far: {clean(shorten(call.arguments_text, LONGEST_VALUE)) or '(none)'}")
    if completion.error is not None:
        print(f"error  {value_text(completion.error, LONGEST_VALUE)}")
    if shown_before:
        return
    if completion.text:
        print(f"text  {value_text(completion.text, LONGEST_VALUE)}")
    for defect in completion.defects[:MOST_DEFECTS]:
        print(colours(f"{defect.severity}  {defect_text(defect)}", SEVERITY_COLOURS[defect.severity]))
    if completion.defect_count > MOST_DEFECTS:
        print(
            f"... and {plural(completion.defect_count - MOST_DEFECTS, 'more defect')}; `toolstream check` groups them"
        )
