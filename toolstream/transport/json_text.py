"""One home for how the JSON of a whole message is read.

`loads` uses `orjson` where it is installed: it is several times faster, and an event's strings, counts and indexes come
out the same. What it refuses and people send all the same is read again by the standard library, tolerantly: raw
control characters in strings, escapes of lone surrogates, numbers beyond a double. A text is read a few times at most.

`exact_loads` is for messages that carry arguments as objects. `orjson` turns integers beyond 64 bits into floats; here
they stay exact up to 4,300 digits (CPython's own limit), and are floats only beyond. Most messages of most protocols
carry arguments as text, and few carry them as an object: so these are read fast, and where an object is found in one
`JsonSource` gives what `exact_loads` makes of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

__all__ = ["JsonSource", "exact_loads", "exact_value", "loads", "strict_loads"]


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # more digits than int() converts
        return float(digits)


_decoder = json.JSONDecoder(strict=False)
_decode = _decoder.decode
_decode_long = json.JSONDecoder(strict=False, parse_int=_integer).decode

exact_value: Callable[[str, int], tuple[Any, int]] = _decoder.raw_decode
"""The JSON value that begins at that place of a text, and where it ends: what `exact_loads` makes of just that, or a
`ValueError` or `RecursionError` where it may still read it."""


def exact_loads(text: str | bytes) -> Any:
    """The value of a JSON text, integers exact. Raises `ValueError` for what is no JSON or UTF-8, or too deep."""
    if not isinstance(text, str):
        text = text.decode()
    try:
        value, end = exact_value(text, 0)
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


_LONG = b"0" * 19  # in 64 bits there is room for all integers that are shorter
_DIGITS = bytes.maketrans(b"123456789", b"000000000")  # eight times as fast as to search with `re`


_NOTHING: Final[dict[int, Any]] = {}  # is never added to


class JsonSource:
    """The message being read, and the text that it was read from; who reads messages sets both."""

    __slots__ = ("_exact", "_of", "text", "value")

    def __init__(self) -> None:
        self.text: str | bytes = ""
        self.value: Any = None
        self._of: Any = None  # the message that `_exact` is about
        self._exact = _NOTHING  # id of an object or list in it -> the same with integers exact

    def exact(self, part: Any) -> Any:
        """An object or list of the message with its integers exact; anything else as it is.

        The message is read a second time if it has integers that are long enough to matter, however many parts are
        asked for.
        """
        if type(part) is not dict and type(part) is not list:
            return part
        if self._of is not self.value:
            self._of = self.value
            self._exact = _NOTHING
            text = self.text.encode(errors="replace") if isinstance(self.text, str) else self.text
            if _LONG in text.translate(_DIGITS):
                with suppress(ValueError):  # some are nested too deeply for one reader and not for the other
                    self._exact = _pairs(self.value, exact_loads(self.text))
        return self._exact.get(id(part), part)

    def clear(self) -> None:
        """Let the message go."""
        self.text, self.value, self._of, self._exact = "", None, None, _NOTHING


def _pairs(value: Any, exact: Any) -> dict[int, Any]:
    """The id of every container in a value, and its like in another reading of the same text."""
    found = {}
    work = [(value, exact)]
    while work:
        one, other = work.pop()
        found[id(one)] = other
        if isinstance(one, dict):
            work += [(one[key], other[key]) for key in one if isinstance(one[key], (dict, list))]
        elif isinstance(one, list):
            work += [(a, b) for a, b in zip(one, other, strict=True) if isinstance(a, (dict, list))]
    return found
