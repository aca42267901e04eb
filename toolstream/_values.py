"""Comparing and writing JSON values without recursing: they may be nested deeper than the interpreter's own stack.

Comparing costs the size of the smaller value, writing that of the value.
"""

from __future__ import annotations

import json
import re
from typing import Any

from toolstream.types import JsonValue

__all__ = ["begins", "dump", "extends", "same_value"]


def same_value(one: JsonValue, other: JsonValue) -> bool:
    """Whether two JSON values are equal. `true` is not 1, `1` is `1.0`, the order of members does not matter."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if type(a) is dict and type(b) is dict:
            if len(a) != len(b) or a.keys() != b.keys():
                return False
            pairs += [(a[key], b[key]) for key in a]
        elif type(a) is list and type(b) is list:
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif isinstance(a, (dict, list, bool)) or isinstance(b, (dict, list, bool)):
            if a is not b:
                return False
        elif a != b:
            return False
    return True


def extends(old: JsonValue, new: JsonValue) -> bool:
    """Whether `new` is what `old` becomes when more of it has come: equal, or grown at its end.

    A string grows by text, a list by elements (its last element may grow too), an object by members (and its members
    may grow).
    """
    pairs = [(old, new)]
    while pairs:
        a, b = pairs.pop()
        if type(a) is dict and type(b) is dict:
            if not a.keys() <= b.keys():
                return False
            pairs += [(a[key], b[key]) for key in a]
        elif type(a) is list and type(b) is list:
            if len(a) > len(b):
                return False
            if a:
                if not same_value(a[:-1], b[: len(a) - 1]):
                    return False
                pairs.append((a[-1], b[len(a) - 1]))
        elif isinstance(a, str) and isinstance(b, str):
            if not b.startswith(a):
                return False
        elif not same_value(a, b):
            return False
    return True


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def dump(value: object) -> str:
    """The JSON text of a value, without blanks. What JSON has no text for stands in it as a bare word: nobody reads
    that.

    >>> dump({"city": "Oslo", "days": [1, 2]})
    '{"city":"Oslo","days":[1,2]}'
    """
    try:
        return _encode(value)
    except (RecursionError, TypeError):
        pass
    except ValueError:  # it contains itself
        return _leaf(value)
    out: list[str] = []
    work: list[Any] = [("", value, "")]  # what is to be written, last first: text before, value, text after
    while work:
        before, value, after = work.pop()
        out.append(before)
        if isinstance(value, dict):
            work.append(("}", _NOTHING, after))
            members = [(_leaf(str(key)) + ":", member, ",") for key, member in value.items()]
            if members:
                members[-1] = (*members[-1][:2], "")
            out.append("{")
            work += reversed(members)
        elif isinstance(value, (list, tuple)):
            work.append(("]", _NOTHING, after))
            elements = [("", element, ",") for element in value]
            if elements:
                elements[-1] = ("", value[-1], "")
            out.append("[")
            work += reversed(elements)
        else:
            out.append("" if value is _NOTHING else _leaf(value))
            out.append(after)
    return "".join(out)


_string_or_blank = re.compile(r'"((?:[^"\\]|\\.)*)("?)|[ \t\n\r]+', re.DOTALL).sub


def begins(text: str, whole: str) -> bool:
    """Whether `text` is the beginning of a JSON text that `dump` wrote. Blanks between its tokens and the way in which
    its strings are escaped do not matter.

    >>> begins('{ "city": "\\u00c5l', '{"city":"Ålesund","days":2}')
    True
    """
    return whole.startswith(_string_or_blank(_as_dump_has_it, text))


def _as_dump_has_it(token: re.Match[str]) -> str:
    inside, end = token.groups()
    if inside is None:
        return ""
    try:
        string = _encode(json.loads(f'"{inside}"', strict=False))
    except ValueError:
        return token[0]
    return string if end else string[:-1]


_NOTHING = object()


def _leaf(value: object) -> str:
    try:
        return _encode(value)
    except (TypeError, ValueError):
        return type(value).__name__
