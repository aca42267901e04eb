"""What a finished argument text is worth: rules 8, 10 and 11 of docs/rules.md, for one text that has ended.

The parser that read the text has the facts, so nobody parses it again. A text is a whole object; or a beginning of
one; or it lacks nothing but what can be repaired without loss; or it is refused. Nothing is guessed: a repair that
drops or adds a value is none. What is valid JSON means what JSON says, even where that is surely not what the model
meant; it is only reported.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from toolstream._engine import StreamingJsonParser
from toolstream._rules import BLANK, LOSSLESS, is_blank
from toolstream.completion import Status
from toolstream.errors import LimitExceededError
from toolstream.types import JsonValue

__all__ = ["Verdict", "is_lossy", "judge", "judge_object", "new_parser", "says_nothing", "suspicions"]

_EXACT = {"fence": "args_fenced", "lone_surrogate": "surrogate_lone"}  # repairs that have a code of their own

_FEW, _SHORT = 64, 512  # so many members, such a text: with more, or shorter, it pays to search the text itself
_new = tuple.__new__  # a third of the time that calling the class takes
_escape = re.compile(r"\\(?:(u0000)|([bf])(?=[A-Za-z])|.)", re.DOTALL).finditer


class Verdict(NamedTuple):
    """`defects`: each a code, an offset in the text or `None`, and particulars for people."""

    status: Status
    arguments: dict[str, JsonValue] | None
    recovered: list[JsonValue]
    defects: list[tuple[str, int | None, str]]


def new_parser(max_depth: int | None, pending_scalars: str = "withhold") -> StreamingJsonParser:
    """A parser for argument text: values that never change their mind, and the repairs that can be read live."""
    return StreamingJsonParser(pending_scalars=pending_scalars, lenient=True, max_depth=max_depth)


def is_lossy(parser: StreamingJsonParser) -> bool:
    """Whether something was read over that loses text, before the end of the value."""
    return parser.repair_count > 0 and any(code not in LOSSLESS and code != "trailing" for _, code in parser.repairs)


def says_nothing(text: str) -> bool:
    """Whether a text brings no arguments: `null` counts as none."""
    return text.strip(BLANK) in ("", "null")


def judge(
    parser: StreamingJsonParser, text: str, max_depth: int | None, regular: bool, followed: bool | None, strict: bool
) -> Verdict:
    """The verdict on `text`, which `parser` has read, up to where something follows the value.

    `regular`: the protocol ended the call, or the stream, in order (rule 8). `followed`: whether noise follows the
    value, `None` if only the parser knows. `strict`: what was repaired or is followed by noise is refused.
    """
    whole = parser._plain_object()
    if whole is not None:  # nothing to decide
        return judge_object(whole, text)
    if says_nothing(text):
        code = "args_empty" if is_blank(text) else "args_null"
        if not regular:
            return Verdict("incomplete", None, [], [("args_truncated", len(text), ""), (code, None, "")])
        return Verdict("complete", {}, [], [(code, None, "")])
    lossy = is_lossy(parser)
    if parser.depth == 0 and not parser.in_string:
        parser.feed("\n")  # ends a bare number or word, and half a sign after the value
    repairs = _first(parser)
    if is_lossy(parser) or parser.overflow_count:
        if not lossy and not parser.overflow_count and "nonfinite" not in repairs:
            return _cut(text)  # only the end makes it so: half a word or number
        return _malformed(parser, repairs)
    if not parser.complete:
        return _cut(text)
    noise = repairs.pop("trailing", None)
    if followed is False:
        noise = None
    defects: list[tuple[str, int | None, str]] = []
    value = parser.snapshot()
    found: dict[str, int | None] = {**repairs}
    encoded = False
    if isinstance(value, str) and noise is None:
        try:
            inner = _read_whole(value, max_depth)
        except LimitExceededError:
            return Verdict("invalid", None, [value], [("depth_exceeded", None, "")])
        if inner is not None:
            encoded = True
            defects.append(("args_double_encoded", None, ""))
            found = {**dict.fromkeys(_first(inner)), **found}  # inside, they have no offset in `text`
            text, value = value, inner.snapshot()
    if not isinstance(value, dict):
        return Verdict("invalid", None, [value], [("args_not_object", None, "")])
    defects += _repaired(found)
    if noise is not None:
        defects.append(("args_trailing", noise, ""))
    defects += [(code, None if encoded else offset, detail) for code, offset, detail in _suspicious(text)]
    if strict and (found or encoded or noise is not None):
        return Verdict("invalid", None, [value], defects)
    return Verdict("complete", value, [], defects)


def judge_object(value: dict[str, JsonValue], text: str) -> Verdict:
    """The verdict on a text that is this object for certain, every member of it."""
    return _new(Verdict, ("complete", value, [], suspicions(value, text)))


def suspicions(value: dict[str, JsonValue], text: str) -> list[tuple[str, int | None, str]]:
    """What is suspicious about the text of an object. In few and long strings, as most calls have, the characters are
    found ten times as fast as their escapes among those of ordinary code."""
    if "\\" not in text and "\0" not in text:
        return []
    if len(text) < _SHORT:
        return _suspicious(text)
    containers: list[Any] = [value]
    for container in containers:
        if len(containers) > _FEW or len(container) > _FEW:
            return _suspicious(text)
        members = container
        if type(container) is dict:
            members = [*container, *container.values()]
        for member in members:
            kind = type(member)
            if kind is dict or kind is list:
                containers.append(member)
            elif kind is str and ("\0" in member or "\b" in member or "\f" in member):
                return _suspicious(text)
    return []


def _cut(text: str) -> Verdict:
    return Verdict("incomplete", None, [], [("args_truncated", len(text), "")])


def _malformed(parser: StreamingJsonParser, repairs: dict[str, int]) -> Verdict:
    if "nonfinite" in repairs or parser.overflow_count:
        return Verdict("invalid", None, [], [("args_nonfinite", repairs.get("nonfinite"), "")])
    offset = min(offset for code, offset in repairs.items() if code not in LOSSLESS)
    code = next(code for code in repairs if repairs[code] == offset and code not in LOSSLESS)
    return Verdict("invalid", None, [], [("args_invalid", offset, f"({_words(code)})")])


def _first(parser: StreamingJsonParser) -> dict[str, int]:
    """Every code of a repair, with the offset of its first one."""
    return {code: offset for offset, code in reversed(parser.repairs)}


def _read_whole(text: str, max_depth: int | None) -> StreamingJsonParser | None:
    """A parser that has read the text, if that is an object and nothing else; else `None`. Raises `LimitExceededError`
    for an object that is nested too deeply."""
    parser = new_parser(max_depth)
    try:
        parser.feed(text)
    except LimitExceededError:
        if is_lossy(parser) or type(parser.snapshot()) is not dict:
            return None
        raise
    good = parser.complete and not is_lossy(parser) and not parser.overflow_count and "trailing" not in _first(parser)
    return parser if good and type(parser.snapshot()) is dict else None


def _repaired(repairs: dict[str, int | None]) -> list[tuple[str, int | None, str]]:
    """The defects for lossless repairs, by the more exact code where there is one."""
    defects: list[tuple[str, int | None, str]] = []
    for code, exact in _EXACT.items():
        if code in repairs:
            defects.append((exact, repairs[code], ""))
    others = sorted((offset is None, offset, code) for code, offset in repairs.items() if code not in _EXACT)
    if others:
        defects.append(("args_repaired", others[0][1], f"({', '.join(_words(code) for _, _, code in others)})"))
    return defects


def _suspicious(text: str) -> list[tuple[str, int | None, str]]:
    """What is valid JSON, and most likely not what was meant, or hard to store."""
    if "\\" not in text and "\0" not in text:
        return []
    found: dict[str, int] = {}
    if "\0" in text:
        found["nul_in_string"] = text.index("\0")
    if "\\u0000" in text or "\\b" in text or "\\f" in text:
        for match in _escape(text):
            if match.lastindex:
                found.setdefault("nul_in_string" if match.lastindex == 1 else "suspicious_escape", match.start())
    return [(code, offset, "") for code, offset in found.items()]


def _words(code: str) -> str:
    return code.replace("_", " ")
