"""Inputs of the command line: a file or standard input, recorded or raw, as a sequence of pieces.

A *recording* is a text file of JSON lines. The first line is a header, `{"record": 1}`, that may also name the
`"provider"`; other members are for people. Each further line is one piece as it came from the network:
`{"t": seconds since the start, "d": text}`, or `{"t": ..., "b": base64}` where the bytes are no UTF-8 text by
themselves (a binary protocol, a character cut in two). The header may be missing.

Anything else is *raw*: the body of a response as it was saved. Where the pieces of a raw file were cut is not
known, so a piece is one message of it: an SSE event, a line, a binary frame. Raw standard input is cut as it arrives.

Everything is read in blocks; what is held at a time is one piece or one message, never the file.
"""

from __future__ import annotations

import base64
import json
import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

from toolstream.transport import recognise_framing

__all__ = ["InputError", "Piece", "Source", "by_message", "cut_anew", "open_source"]

BLOCK = 1 << 16
LONGEST_MESSAGE = 1 << 24  # longer ones are passed on in parts
RANDOM_SIZES = (1, 2, 3, 5, 8, 13, 40, 200, 1460)


class InputError(Exception):
    """An input cannot be used. The text is one line: what happened, where, and what to do."""


class Piece(NamedTuple):
    number: int  # counted from 0, as `Defect.piece` counts
    t: float | None  # seconds since the start, where known
    data: bytes


class Source:
    """One open input. Read it once: `blocks()` for speed, or `pieces()` as they came; of a `text`, `read()`."""

    def __init__(self, name: str, file: BinaryIO, *, live: bool, text: bool) -> None:
        self.name = name
        self.live = live
        self.provider: str | None = None
        self._file = file
        self._start = time.monotonic()
        self._held = self._first_bytes()
        header = None if text else _header(self._held)
        self.recorded = header is not None
        if header is not None:
            self.provider = _provider(header, name)

    def close(self) -> None:
        if not self.live:
            self._file.close()

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def pieces(self) -> Iterator[Piece]:
        """The pieces as they were recorded; of a raw file its messages; of raw standard input what each read gives."""
        if self.recorded or self.live:
            return self.blocks()
        return by_message(self.blocks(), renumber=True)

    def blocks(self) -> Iterator[Piece]:
        """As `pieces`, but a raw file in large blocks."""
        return self._recorded_pieces() if self.recorded else self._raw_blocks()

    def read(self) -> bytes:
        """Everything, as it is in the file."""
        return b"".join(self._raw_bytes())

    def _read(self) -> bytes:
        try:
            return self._file.read1(BLOCK) if hasattr(self._file, "read1") else self._file.read(BLOCK)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read to its end: {error.strerror or error}") from None

    def _first_bytes(self) -> bytes:
        """The first block; a first line that may be the header of a recording is read whole."""
        first = self._read()
        if not first:
            raise InputError(f"{self.name}: is empty, there is nothing to read")
        while first[:1] == b"{" and b"\n" not in first and len(first) < BLOCK:
            more = self._read()
            if not more:
                break
            first += more
        return first

    def _raw_bytes(self) -> Iterator[bytes]:
        block, self._held = self._held, b""
        while block:
            yield block
            block = self._read()

    def _raw_blocks(self) -> Iterator[Piece]:
        for number, block in enumerate(self._raw_bytes()):
            yield Piece(number, time.monotonic() - self._start if self.live else None, block)

    def _recorded_pieces(self) -> Iterator[Piece]:
        number = 0
        for row, line in enumerate(_lines(self._raw_bytes()), 1):
            entry = _entry(line)
            if row == 1 and _is_header(entry):
                continue
            piece = _piece(entry, number)
            if piece is not None:
                yield piece
                number += 1
            elif line.strip():
                raise InputError(
                    f'{self.name}: line {row} is no piece of a recording, {{"t": seconds, "d": text}}: '
                    "the file is cut or damaged there; everything before was read"
                )
        if not number:
            raise InputError(f"{self.name}: is a recording without a single piece")


def open_source(path: str, *, text: bool = False) -> Source:
    """The input that a command line names; `-` is standard input. A `text` is no recording, whatever is in it.

    Raises:
        InputError: it is missing, a folder, empty or not readable.
    """
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file")
        return Source("standard input", sys.stdin.buffer, live=True, text=text)
    try:
        if os.path.isdir(path):
            raise InputError(f"{path}: is a folder; name the files in it, for example {os.path.join(path, '*.sse')}")
        file = open(path, "rb")  # noqa: SIM115 - the source closes it
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; check the path") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    try:
        return Source(path, file, live=False, text=text)
    except InputError:
        file.close()
        raise


def by_message(pieces: Iterator[Piece], *, renumber: bool = False) -> Iterator[Piece]:
    """The same bytes, cut after each message of the framing; a message has the number and time of its last piece."""
    held = bytearray()
    ends: Callable[[bytearray, int, int], int] | None = None
    number = 0
    piece = Piece(0, None, b"")

    def message(data: bytes) -> Piece:
        return Piece(number if renumber else piece.number, piece.t, data)

    for piece in pieces:
        looked = max(0, len(held) - 2)  # an end of message may have begun there
        held += piece.data
        ends = ends or _message_ends(held)
        start = 0
        while ends is not None:
            end = ends(held, start, max(start, looked))
            if end < 0:
                if len(held) - start <= LONGEST_MESSAGE:
                    break
                end = len(held)
            yield message(bytes(held[start:end]))
            number += 1
            start = end
        del held[:start]
    if held:
        yield message(bytes(held))


def cut_anew(pieces: Iterator[Piece], splits: str) -> Iterator[Piece]:
    """The bytes of the pieces in other cuts: `every` byte by itself, or `random:SEED`; `as-is` leaves them alone."""
    if splits == "as-is":
        return pieces
    sizes: Callable[[], int] = (lambda: 1) if splits == "every" else _random_sizes(splits.partition(":")[2])
    return _resized(pieces, sizes)


def _random_sizes(seed: str) -> Callable[[], int]:
    dice = random.Random(int(seed))
    return lambda: dice.choice(RANDOM_SIZES)


def _resized(pieces: Iterator[Piece], size: Callable[[], int]) -> Iterator[Piece]:
    held = bytearray()
    number, wanted, last = 0, size(), None
    for piece in pieces:
        last = piece.t
        held += piece.data
        start = 0
        while len(held) - start >= wanted:
            yield Piece(number, last, bytes(held[start : start + wanted]))
            number, start, wanted = number + 1, start + wanted, size()
        del held[:start]
    if held:
        yield Piece(number, last, bytes(held))


def _lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    parts: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        parts.append(first)
        for line in others:
            yield b"".join(parts)
            parts = [line]
    yield b"".join(parts)


def _entry(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_header(entry: Any) -> bool:
    return isinstance(entry, dict) and "record" in entry


def _piece(entry: Any, number: int) -> Piece | None:
    if not isinstance(entry, dict):
        return None
    t, text, encoded = entry.get("t"), entry.get("d"), entry.get("b")
    if t is not None and (isinstance(t, bool) or not isinstance(t, (int, float))):
        return None
    if isinstance(text, str):
        return Piece(number, t, text.encode("utf-8", "surrogatepass"))
    if isinstance(encoded, str):
        try:
            return Piece(number, t, base64.b64decode(encoded, validate=True))
        except ValueError:
            return None
    return None


def _header(first: bytes) -> dict[str, Any] | None:
    """The first line's object if it begins a recording (a piece without a header before it counts as one)."""
    if first[:1] != b"{":
        return None
    entry = _entry(first.partition(b"\n")[0])
    if _is_header(entry):
        return dict(entry)
    return {"record": 1} if _piece(entry, 0) is not None and "t" in entry else None


def _provider(header: dict[str, Any], name: str) -> str | None:
    if header["record"] != 1:
        raise InputError(f"{name}: is a recording of version {header['record']!r}; this toolstream reads version 1")
    provider = header.get("provider")
    return provider if isinstance(provider, str) and provider else None


def _message_ends(held: bytearray) -> Callable[[bytearray, int, int], int] | None:
    """How messages end in a text that begins like this, or None while that cannot be said."""
    framing = recognise_framing(bytes(held[:BLOCK]))
    if framing == "aws-event-stream":
        return _frame_end
    return framing and _pattern_end(rb"\n\r?\n|\r\r" if framing == "sse" else rb"\n")


def _pattern_end(pattern: bytes) -> Callable[[bytearray, int, int], int]:
    search = re.compile(pattern).search

    def end(held: bytearray, start: int, looked: int) -> int:
        match = search(held, looked)
        return match.end() if match else -1

    return end


def _frame_end(held: bytearray, start: int, looked: int) -> int:
    """An AWS event stream frame begins with its own length, four bytes, big-endian."""
    if len(held) - start < 4:
        return -1
    end = start + int.from_bytes(held[start : start + 4], "big")
    return end if start + 16 <= end <= len(held) else -1
