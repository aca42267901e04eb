"""A progress bar on standard error, where that is a terminal and the work is long enough to wonder."""

from __future__ import annotations

import os
import sys
import time

from toolstream.cli.output import is_terminal

__all__ = ["Progress"]

MANY_FILES, MANY_BYTES = 8, 8 << 20
WIDTH, EVERY = 30, 0.1  # characters, seconds


class Progress:
    """Counts bytes read of all files together."""

    def __init__(self, paths: list[str]) -> None:
        self._total = sum(os.path.getsize(path) for path in paths if os.path.isfile(path))
        self._on = is_terminal(sys.stderr) and (len(paths) >= MANY_FILES or self._total >= MANY_BYTES)
        self._done = 0
        self._shown_at = 0.0

    def add(self, size: int) -> None:
        self._done += size
        now = time.monotonic()
        if self._on and now - self._shown_at >= EVERY:
            self._shown_at = now
            share = min(1.0, self._done / self._total) if self._total else 0.0
            bar = ("#" * int(share * WIDTH)).ljust(WIDTH, "-")
            sys.stderr.write(f"\r[{bar}] {share:4.0%} of {self._total / 1e6:,.1f} MB")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the bar off its line, before something else is written there."""
        if self._on and self._shown_at:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown_at = 0.0
