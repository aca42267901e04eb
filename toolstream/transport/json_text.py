"""One home for how the JSON of a whole message is read.

`loads` uses `orjson` where it is installed: it is several times faster, and an event's strings, counts and indexes come
out the same. What it refuses and people send all the same is read again by the standard library, tolerantly: raw
control characters in strings, escapes of lone surrogates, numbers beyond a double. A text is read a few times at most.

`exact_loads` is for messages that carry arguments as objects. `orjson` turns integers beyond 64 bits into floats; here
they stay exact up to 4,300 digits (CPython's own limit), and are floats only beyond.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

__all__ = ["exact_loads", "loads", "strict_loads"]


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # more digits than int() converts
        return float(digits)


_decoder = json.JSONDecoder(strict=False)
_decode, _decode_from = _decoder.decode, _decoder.raw_decode
_decode_long = json.JSONDecoder(strict=False, parse_int=_integer).decode


def exact_loads(text: str | bytes) -> Any:
    """The value of a JSON text, integers exact. Raises `ValueError` for what is no JSON or UTF-8, or too deep."""
    if not isinstance(text, str):
        text = text.decode()
    try:
        value, end = _decode_from(text)
        if end == len(text):
            return value
    except (ValueError, RecursionError):
        pass
    try:
        return _decode(text)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        pass
    try:
        return _decode_long(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


_fast: Callable[[str | bytes], Any] | None = None  # found when it is first needed: importing orjson loads much


def _find_fast() -> Callable[[str | bytes], Any]:
    try:
        import orjson
    except ImportError:
        return exact_loads
    return orjson.loads


def strict_loads() -> Callable[[str | bytes], Any]:
    """The fastest function that reads valid JSON. What it refuses with a `ValueError` may still be read by `loads`."""
    global _fast
    if _fast is None:
        _fast = _find_fast()
    return _fast


def loads(text: str) -> Any:
    """The value of a JSON text. Raises `ValueError` for what is no JSON, or nested too deeply."""
    try:
        return strict_loads()(text)
    except ValueError:
        return exact_loads(text)
