"""Picks the JSON engine: compiled or plain Python, the same in all that can be observed.

`TOOLSTREAM_BACKEND` unset: the compiled one if it was built, else the plain one; `cython` or `python`: that one.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Literal

__all__ = ["BACKEND", "REASON", "JsonTracker", "StreamingJsonParser", "read_object", "scan_bytes", "write_object"]

BACKEND: Literal["cython", "python"]
"""Which engine runs."""
REASON: str
"""Why this one."""

_asked: Final = os.environ.get("TOOLSTREAM_BACKEND", "")
if _asked not in ("", "cython", "python"):
    raise ImportError(f"TOOLSTREAM_BACKEND={_asked!r}: expected 'cython', 'python' or nothing")

if TYPE_CHECKING:
    from toolstream._engine_py import JsonTracker, StreamingJsonParser, read_object, scan_bytes, write_object
elif _asked == "python":
    from toolstream._engine_py import JsonTracker, StreamingJsonParser, read_object, scan_bytes, write_object

    BACKEND, REASON = "python", "TOOLSTREAM_BACKEND asks for it"
else:
    try:
        from toolstream._engine_c import JsonTracker, StreamingJsonParser, read_object, scan_bytes, write_object
    except ImportError as error:
        if _asked:
            raise ImportError(f"TOOLSTREAM_BACKEND='cython', but the compiled engine is missing: {error}") from error
        from toolstream._engine_py import JsonTracker, StreamingJsonParser, read_object, scan_bytes, write_object

        BACKEND, REASON = "python", f"the compiled engine is missing: {error}"
    else:
        BACKEND, REASON = "cython", "TOOLSTREAM_BACKEND asks for it" if _asked else "it was built"
