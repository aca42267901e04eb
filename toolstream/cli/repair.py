"""`toolstream repair`: the value of a broken or cut JSON text, and what had to be done to read it."""

from __future__ import annotations

import argparse
from bisect import bisect_right
from typing import Any, Final

from toolstream._engine import StreamingJsonParser
from toolstream.cli.output import path_text, plural, say, write_json
from toolstream.cli.reading import InputError, open_source
from toolstream.types import MISSING

__all__ = ["repair"]

REPAIRED: Final = {
    "control_character": "a raw control character in a string; it was kept",
    "invalid_escape": "a backslash that begins no escape; it was kept as text",
    "escaped_apostrophe": "an escaped apostrophe; it was read as an apostrophe",
    "lone_surrogate": "half of a surrogate pair; U+FFFD stands in its place",
    "space_escape": "an escaped line end or tab between values; it was read as white space",
    "trailing_comma": "a comma before a closing bracket; it was ignored",
    "single_quotes": "a string in single quotes; it was read as a string",
    "python_literal": "a literal in Python's spelling; it was read as JSON's",
    "comment": "a comment; it was ignored",
    "fence": "a Markdown fence around the value; what is inside it was read",
    "tag": "a tag around the value; what is inside it was read",
    "byte_order_mark": "a byte order mark; it was ignored",
    "dropped_word": "a bare word that is no value; it was dropped",
    "dropped_number": "a malformed number; it was dropped",
    "dropped_value": "a value where a name was expected; it was dropped",
    "nonfinite": "NaN or an infinity, which JSON does not have; it was dropped",
    "missing_comma": "a comma is missing; it was supplied",
    "missing_colon": "a colon is missing; it was supplied",
    "missing_value": "a name without a value; it was dropped",
    "extra_comma": "a comma too many; it was ignored",
    "extra_colon": "a colon too many; it was ignored",
    "mismatched_closer": "a closing bracket of the other kind; it closes the innermost container",
    "stray_closer": "a closing bracket, and nothing is open; it was ignored",
    "trailing": "text after the end of the value; it was ignored",
}


def repair(options: argparse.Namespace) -> int:
    """Print the value; 0 if the text was strict JSON, 1 if anything had to be repaired, 2 if it holds no value."""
    with open_source(options.file, text=True) as source:
        name, text = source.name, source.read().decode("utf-8", "replace")
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
    """Each repair (or the first error, should there be none), then where the text was cut: with line and column."""
    found = [(offset, code, REPAIRED[code]) for offset, code in parser.repairs]
    if parser.error is not None and not found:
        found.append((parser.error.offset, "invalid", f"no JSON here: {parser.error.message}"))
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
