"""Closing a source of pieces that nobody reads to its end.

It is closed because an exception is on its way: the source's own, the consumer's, or the one that says that the
consumer gives up. What goes wrong while closing matters less than that, and must not hide it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

__all__ = ["aclose", "close"]


def close(*sources: Any) -> None:
    """Close each source, an iterator and what it comes from, that can be closed."""
    for source in sources:
        method = getattr(source, "close", None)
        if method is not None:
            with suppress(Exception):
                method()


async def aclose(*sources: Any) -> None:
    """`close`, for sources whose `aclose` or `close` may have to be awaited."""
    for source in sources:
        method = getattr(source, "aclose", None) or getattr(source, "close", None)
        if method is not None:
            with suppress(Exception):
                closing = method()
                if hasattr(closing, "__await__"):
                    await closing
