"""`toolstream repair`: the value of a broken or cut JSON text, and what had to be done to read it."""

from __future__ import annotations

import argparse
from bisect import bisect_right
from typing import Any

from toolstream._engine import StreamingJsonParser
from toolstream.cli.output import clean, path_text, plural, say, write_json
from toolstream.cli.reading import InputError, open_source
from toolstream.types import MISSING

__all__ = ["repair"]


def repair(options: argparse.Namespace) -> int:
    """Print the value; 0 if the text was strict JSON, 1 if anything had to be repaired, 2 if it holds no value."""
    with open_source(options.file) as source:
        name, text = source.name, source.bytes().decode("utf-8", "replace")
    parser = StreamingJsonParser(lenient=True)
    parser.feed(text)
    value = parser.snapshot()
    notes = _notes(parser, text)
    if options.json:
        write_json(
            {
                "file": name,
                "value": None if value is MISSING else value,
                "found": value is not MISSING,
                "valid": parser.valid,
                "complete": parser.complete,
                "repairs": notes,
                "repair_count": parser.repair_count,
            }
        )
    elif value is not MISSING:
        write_json(value, indent=2)
    if value is MISSING:
        raise InputError(f"{name}: holds no JSON value, not even the beginning of one")
    if not options.json:
        for note in notes:
            say(f"{name}:{note['line']}:{note['column']}: {note['message']}")
        if parser.repair_count > len(parser.repairs):
            say(f"{name}: {plural(parser.repair_count - len(parser.repairs), 'more repair')} like these")
    return 1 if notes else 0


def _notes(parser: StreamingJsonParser, text: str) -> list[dict[str, Any]]:
    """Each repair, then what is strictly wrong and no repair, then where the text was cut: with line and column."""
    found = [(offset, code, clean(code.replace("_", " "))) for offset, code in parser.repairs]
    if parser.error is not None and all(offset != parser.error[0] for offset, _, _ in found):
        found.append((parser.error[0], "invalid", f"not JSON: {parser.error[1]}"))
    found.sort(key=lambda note: note[0])
    if not parser.complete:
        where = f" inside {path_text(parser.open_path)}" if parser.depth else ""
        found.append((len(text), "cut", f"the text ends{where} before the value is whole; the rest is left out"))
    starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
    notes = []
    for offset, code, message in found:
        line = bisect_right(starts, offset)
        column = offset - starts[line - 1] + 1
        notes.append({"offset": offset, "line": line, "column": column, "code": code, "message": message})
    return notes
