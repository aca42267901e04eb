"""Stands in for a provider: the pieces of a stream that was recorded, so that the examples need no key.

With a provider, the pieces are what your HTTP client or SDK gives: `response.iter_bytes()`, or the SDK's stream.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

HERE = Path(__file__).parent


def pieces(name: str, speed: float | None = None) -> Iterator[bytes]:
    """The pieces of a file beside this one; at `speed` times the recorded pace, or at once."""
    start = time.monotonic()
    for seconds, data in _read(name):
        if speed:
            time.sleep(max(0.0, start + seconds / speed - time.monotonic()))
        yield data


async def apieces(name: str, speed: float | None = None) -> AsyncIterator[bytes]:
    """The same for asyncio."""
    start = time.monotonic()
    for seconds, data in _read(name):
        await asyncio.sleep(max(0.0, start + seconds / speed - time.monotonic()) if speed else 0)
        yield data


def _read(name: str) -> Iterator[tuple[float, bytes]]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines(keepends=True)
    if name.endswith(".jsonl"):  # a recording: a header, then a piece on each line
        for line in lines[1:]:
            piece = json.loads(line)
            yield piece["t"], piece["d"].encode()
    else:  # the saved body of a response: a line at a time
        for number, line in enumerate(lines):
            yield number / 40, line.encode()
