"""`toolstream assemble`: one JSON line per stream, in memory that follows the calls and not the wire."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from toolstream.cli.output import completion_record, json_parts, say, write_json
from toolstream.cli.progress import Progress
from toolstream.cli.reading import InputError, Piece, cut_anew, open_source
from toolstream.cli.session import Outcome, drive, summary

__all__ = ["assemble"]


class _Line(NamedTuple):
    """What a worker process sends back for one file."""

    text: str | None
    code: int
    message: str


def assemble(options: argparse.Namespace) -> int:
    """Assemble each file; a file that cannot be used is reported, and the others go on."""
    progress = Progress(options.files)
    if options.jobs > 1 and len(options.files) > 1:
        return _in_processes(options, progress)
    code = 0
    for path in options.files:
        try:
            record, outcome = _read(path, options.provider, options.splits, progress)
        except InputError as error:
            progress.clear()
            say(str(error))
            code = 2
            continue
        progress.clear()
        write_json(record)
        sys.stdout.flush()
        if isinstance(outcome.trouble, KeyboardInterrupt):
            raise outcome.trouble
        code = max(code, 2 if outcome.trouble else outcome.code)
        message = _message(path, outcome)
        if message:
            say(message)
    return code


def _read(path: str, provider: str | None, splits: str, progress: Progress | None) -> tuple[dict[str, Any], Outcome]:
    with open_source(path) as source:
        pieces = cut_anew(source.blocks(), splits)
        if progress is not None:
            pieces = _counted(pieces, progress)
        outcome = drive(source, pieces, provider=provider)
        return completion_record(outcome.completion, source.name, outcome.provider), outcome


def _counted(pieces: Iterator[Piece], progress: Progress) -> Iterator[Piece]:
    for piece in pieces:
        yield piece
        progress.add(len(piece.data))


def _message(path: str, outcome: Outcome) -> str:
    if outcome.trouble:
        return str(outcome.trouble)
    wrong = summary(outcome)
    return f"{path}: {wrong}" if wrong else ""


def _work(path: str, provider: str | None, splits: str) -> _Line:
    try:
        record, outcome = _read(path, provider, splits, None)
    except InputError as error:
        return _Line(None, 2, str(error))
    return _Line("".join(json_parts(record)), 2 if outcome.trouble else outcome.code, _message(path, outcome))


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _in_processes(options: argparse.Namespace, progress: Progress) -> int:
    import os
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import active_children

    if "-" in options.files:
        raise InputError("standard input cannot be shared between processes; leave out --jobs or -")
    work = partial(_work, provider=options.provider, splits=options.splits)
    code = 0
    pool = ProcessPoolExecutor(options.jobs, initializer=_leave_interrupts_to_the_parent)
    try:
        for path, line in zip(options.files, pool.map(work, options.files), strict=True):
            progress.clear()
            if line.text is not None:
                print(line.text, flush=True)
            if line.message:
                say(line.message)
            code = max(code, line.code)
            progress.add(os.path.getsize(path) if os.path.isfile(path) else 0)
    except BrokenProcessPool:
        raise InputError("a worker process died (out of memory?); run again with fewer --jobs") from None
    except KeyboardInterrupt:
        for worker in active_children():  # else the files under way would be read to their end
            worker.terminate()
        raise
    finally:
        progress.clear()
        pool.shutdown(cancel_futures=True)
    return code
