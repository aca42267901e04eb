"""`toolstream inspect`: a stream as one HTML file, to be looked at piece by piece.

The page holds the pieces, the events that each gave and the path changes of each. It replays them from states that it
keeps now and then, so its size is that of the stream, and a step costs the same everywhere.

It is safe to open: all content is one JSON text inside a data block, in which no character can end the block; the
script makes text nodes of it and nothing else; and the policy of the page allows no script or style but its own two,
by hash, and no request at all.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from toolstream.cli.output import clean, json_parts, plural, say, write_json
from toolstream.cli.reading import InputError, Piece, Source, cut_anew, open_source
from toolstream.cli.session import Outcome, drive
from toolstream.cli.version import own_version
from toolstream.completion import Completion
from toolstream.types import JsonPath

__all__ = ["inspect"]

TEMPLATE = os.path.join(os.path.dirname(__file__), "inspector.html")
MANY_PIECES = 100_000
_SAFE = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def inspect(options: argparse.Namespace) -> int:
    """Write the page."""
    if options.json and options.output == "-":
        raise InputError("--json and -o - both want standard output; leave one of them out")
    with open_source(options.file) as source:
        if not source.live and os.path.exists(options.output) and os.path.samefile(options.file, options.output):
            raise InputError(f"{options.output}: is the stream itself, which the page would replace; name another file")
        recorder = _Recorder()
        pieces = cut_anew(source.pieces(), options.splits)
        outcome = drive(source, pieces, recorder.see, provider=options.provider, changes=True)
        document = recorder.document(source, outcome)
    if options.output == "-":
        _write(sys.stdout, document)
    else:
        try:
            with open(options.output, "w", encoding="utf-8") as page:
                _write(page, document)
        except OSError as error:
            raise InputError(f"{options.output}: the page cannot be written: {error.strerror or error}") from None
        count = len(document["pieces"]) - 1
        if options.json:
            write_json(
                {"page": options.output, "pieces": count, "calls": len(document["calls"]), "bytes": document["bytes"]}
            )
        else:
            print(f"{clean(options.output)}: {plural(count, 'piece')}, {plural(len(document['calls']), 'call')}")
        if count > MANY_PIECES:
            say(f"{options.output}: a browser may be slow with so many pieces; inspect a part of the stream instead")
    if outcome.trouble is not None:
        raise outcome.trouble
    return outcome.code


class _Recorder:
    """Gathers what the page shows: for each piece its time, bytes, events and size."""

    def __init__(self) -> None:
        self._pieces: list[list[Any]] = []
        self._paths: dict[JsonPath, int] = {}
        self._defects: list[dict[str, Any]] = []
        self._bytes = 0

    def see(self, completion: Completion, piece: Piece | None, events: Sequence[Any]) -> None:
        shown = [plain for plain in map(self._event, events) if plain is not None]
        if piece is None:
            self._pieces.append([None, "", shown, 0])
        else:
            t = None if piece.t is None else round(piece.t * 1e6)
            self._pieces.append([t, _text(piece.data), shown, len(piece.data)])
            self._bytes += len(piece.data)

    def document(self, source: Source, outcome: Outcome) -> dict[str, Any]:
        completion = outcome.completion
        return {
            "name": source.name,
            "version": own_version(),
            "provider": outcome.provider,
            "finish_reason": completion.finish_reason,
            "bytes": self._bytes,
            "calls": [
                {
                    "id": call.id,
                    "name": call.name,
                    "kind": call.kind,
                    "status": call.status,
                    "executable": call.executable,
                    "free": call.input is not None,
                }
                for call in completion.calls
            ],
            "defects": self._defects,
            "paths": [list(path) for path in self._paths],
            "pieces": self._pieces,
        }

    def _event(self, event: Any) -> list[Any] | None:
        """An event in short form: its letter, the call's position or the text, and what else it has."""
        if event.type == "tool_call.delta":
            changes = [
                ["=" if kind == "set" else "+", self._paths.setdefault(path, len(self._paths)), value]
                for kind, path, value in event.changes or ()
            ]
            return ["d", event.call.position, event.text, int(event.restart), changes]
        if event.type == "tool_call.start":
            return ["s", event.call.position]
        if event.type == "tool_call.end":
            return ["e", event.call.position]
        if event.type == "text.delta":
            return ["t", event.text]
        if event.type == "reasoning.delta":
            return ["r", event.text]
        if event.type == "defect":
            defect = event.defect
            fields = {"code": defect.code, "severity": defect.severity, "message": defect.message}
            self._defects.append({**fields, "at": len(self._pieces)})
            return ["x", len(self._defects) - 1]
        return None


def _text(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"b": base64.b64encode(data).decode("ascii")}


def _write(page: TextIO, document: dict[str, Any]) -> None:
    with open(TEMPLATE, encoding="utf-8") as template:
        before, _, after = template.read().partition("@DATA@")
    policy = (
        f"default-src 'none'; base-uri 'none'; form-action 'none'; "
        f"style-src '{_hash(before, '<style>', '</style>')}'; script-src '{_hash(after, '<script>', '</script>')}'"
    )
    page.write(before.replace("@POLICY@", policy))
    for part in json_parts(document):
        page.write(part.translate(_SAFE))
    page.write(after)


def _hash(text: str, begin: str, end: str) -> str:
    """The source expression that allows this one element, as the content security policy has it."""
    content = text.partition(begin)[2].partition(end)[0]
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
