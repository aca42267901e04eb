"""The arguments of one tool call, as text: shown while they are written, judged strictly when they are finished.

One parser reads each character once and gives both. Its verdict decides: a text that is valid is never read again. A
text that is not is searched once for what models most often write wrong *inside* strings, raw control characters and
backslashes that escape nothing. If it is valid but for those, its value is the one that the parser has shown all along,
because the parser takes both for text. To see that, they are replaced by a letter each, one for one, so that every
offset in an error is an offset of the text as the model wrote it.

Nothing here raises on content, recurses, or turns an unreadable text into `{}`.
"""

from __future__ import annotations

import re
from typing import Any

from toolstream._engine import StreamingJsonParser
from toolstream._rules import DEAD, NO_FIELDS, STEPS, get_field, is_blank, token_value
from toolstream._text import TextBuffer, rest_after
from toolstream.types import (
    MISSING,
    FinishedArguments,
    JsonValue,
    ParsedArguments,
    Replacement,
    UnparseableArguments,
    UnsupportedType,
)

__all__ = ["ToolCallArgumentsStream", "parse_tool_call_arguments", "tool_call_arguments_absent"]

NOT_AN_OBJECT = "Tool arguments must be a JSON object"
JSON_BLANK = " \t\r\n"
SHOWN = 40  # characters of the text before and after the place of an error
SHOWN_STEPS = 8  # steps of the path to an open value

# What a scan inside a string stops at: a whole escape, the string's end, a lone backslash, a raw control character.
IN_STRING = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|["\\\x00-\x1f]')


class ToolCallArgumentsStream:
    """The arguments of one call while they arrive.

        >>> stream = ToolCallArgumentsStream()
        >>> stream.append('{"path": "no')
        {'path': 'no'}
        >>> stream.append('tes.txt"}')
        {'path': 'notes.txt'}
        >>> stream.finish()
        FinishedArguments(arguments={'path': 'notes.txt'}, error=None)

    The arguments returned are to be read, not changed: two answers share what is the same in both. As long as nothing
    changed it is the very same object. Cost: all of `append` together is linear in the text and the number of calls;
    the view of a huge value may lag by less than a percent until it is closed (see `StreamingJsonParser`).
    """

    __slots__ = ("_arguments", "_parser", "_shown", "_text")

    def __init__(self) -> None:
        self._parser = StreamingJsonParser()
        self._text = TextBuffer()
        self._shown: JsonValue = MISSING  # the snapshot that `_arguments` stands for
        self._arguments: dict[str, JsonValue] = {}

    @property
    def text(self) -> str:
        """All text since the start, or since `replace` last started over. Costs its length when it has grown."""
        return self._text.read()

    def append(self, delta: str) -> dict[str, JsonValue]:
        """Add text, and return the arguments as far as they can be seen: `{}` where that is no object (yet)."""
        if not isinstance(delta, str):
            raise TypeError(f"delta must be str, not {type(delta).__name__}")
        self._text.append(delta)  # first: where memory ends in the parser, the text must not pass for none
        self._parser.feed(delta)
        value = self._parser.snapshot()
        if value is not self._shown:
            if type(value) is dict:
                self._shown = self._arguments = value
            elif not _equal_scalars(value, self._shown):
                self._shown = value
                self._arguments = {}
        return self._arguments

    def replace(self, text: str) -> Replacement:
        """Take `text` as the whole text so far, as some protocols send it.

        Where it continues the text so far, `delta` is what is new, possibly nothing; else everything starts over with
        it, and `delta` is `None`.
        """
        if not isinstance(text, str):
            raise TypeError(f"text must be str, not {type(text).__name__}")
        so_far = self.text
        if text == so_far:
            return Replacement("", self._arguments)
        delta = rest_after(so_far, text)
        if delta is not None:
            return Replacement(delta, self.append(delta))
        self._parser = StreamingJsonParser()
        self._text = TextBuffer()
        return Replacement(None, self.append(text))

    def finish(self) -> FinishedArguments:
        """Judge the text as a whole. This changes nothing: more text may follow, and another `finish`.

        A blank text is a call without arguments: `{}`. Else it must be one JSON object, as `json.loads` reads it, NaN
        and infinities refused; inside strings raw control characters and invalid escapes are taken as they stand. If it
        is not, `arguments` is `{}` and `error` says why, fit to be sent back to the model: the reason, a blank line,
        `Received arguments:`, and the text on lines of its own.
        """
        parser = self._parser
        value = parser.snapshot() if parser.complete and parser.valid else MISSING
        if type(value) is dict:
            return FinishedArguments(value, None)
        text = self.text
        if value is MISSING:
            if is_blank(text):
                return FinishedArguments({}, None)
            value = _bare_scalar(parser, text)
            if not parser.valid and (mended := _with_strings_mended(text)) is not None:
                parser = StreamingJsonParser()
                parser.feed(mended)
                if parser.complete and parser.valid:
                    value = self._parser.snapshot()
            if type(value) is dict:
                return FinishedArguments(value, None)
        reason = _what_is_wrong(parser, text) if value is MISSING else NOT_AN_OBJECT
        return FinishedArguments({}, f"{reason}\n\nReceived arguments:\n{text}")


def _equal_scalars(a: JsonValue, b: JsonValue) -> bool:
    """Whether both are scalars, and equal ones; `True` is not 1."""
    if isinstance(a, (dict, list)) or isinstance(b, (dict, list)):
        return False
    return isinstance(a, bool) is isinstance(b, bool) and bool(a == b)


# ---------------------------------------------------------------- the verdict on a text that the parser did not accept


def _bare_scalar(parser: StreamingJsonParser, text: str) -> JsonValue:
    """The value of a text that is one number or literal, which only a delimiter would have completed; else MISSING."""
    if parser.complete or parser.depth or parser.in_string or not parser.valid:
        return MISSING
    token = text.strip(JSON_BLANK)
    state = DEAD
    for character in token:
        state = STEPS[state].get(character, DEAD)
        if state == DEAD:
            return MISSING
    return token_value(token, state, lenient=False)


def _with_strings_mended(text: str) -> str | None:
    """`text` with a letter for each raw control character and lone backslash in its strings; None if it has none."""
    parts: list[str] = []
    copied = 0
    at = text.find('"') + 1
    while at:  # just after a quote that opens a string
        end = 0
        for token in IN_STRING.finditer(text, at):
            if token[0] == '"':
                end = token.end()
                break
            if len(token[0]) == 1:
                parts += (text[copied : token.start()], "x")
                copied = token.end()
        at = end and text.find('"', end) + 1
    return "".join(parts) + text[copied:] if parts else None


def _what_is_wrong(parser: StreamingJsonParser, text: str) -> str:
    """Why `text` is no JSON object, and where: for a reader, often a model, who is to write it again."""
    if parser.error is not None:
        offset, what = parser.error
    else:
        offset = len(text)
        what = f"the text ends {'inside a string' if parser.in_string else 'too early'}{_still_open(parser)}"
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    before = ("..." if offset > SHOWN else "") + _printable(text[max(0, offset - SHOWN) : offset])
    after = _printable(text[offset : offset + SHOWN]) + ("..." if offset + SHOWN < len(text) else "")
    place = f"after `{before}`" if before else "at the start"
    place += f", before `{after}`" if after else ", at the end of the text"
    return f"Tool arguments are not valid JSON: {what} (line {line}, column {column}, offset {offset}), {place}"


def _still_open(parser: StreamingJsonParser) -> str:
    """Which value is open: `` at `items[0].name` ``."""
    if parser.depth > SHOWN_STEPS:
        return f", {parser.depth} levels deep"
    path = "".join(
        f"[{step}]" if isinstance(step, int) else f".{_printable(step[:SHOWN])}" for step in parser.open_path
    )
    return f" at `{path.lstrip('.')}`" if path else ""


def _printable(text: str) -> str:
    """`text` on one line: what is not visible has its number, which cannot be taken for an escape of JSON."""
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)


# ---------------------------------------------------------------- a finished call


def tool_call_arguments_absent(raw_arguments: Any) -> bool:
    """Whether a call carries no arguments at all: `None`, or a text (`str`, bytes) of nothing but blanks.

    The text `{}`, and an empty dict, are arguments. `parse_tool_call_arguments` and `ToolCallArgumentsStream.finish`
    go by the same definition of blank: the white space of JavaScript's `trim`, which is not that of `str.strip`.

        >>> tool_call_arguments_absent(" "), tool_call_arguments_absent("{}")
        (True, False)
    """
    if isinstance(raw_arguments, (bytes, bytearray, memoryview)):
        raw_arguments = bytes(raw_arguments).decode("utf-8", "replace")
    return raw_arguments is None or (isinstance(raw_arguments, str) and is_blank(raw_arguments))


def parse_tool_call_arguments(tool_call: Any) -> ParsedArguments | UnsupportedType | UnparseableArguments:
    """The arguments of a finished call in the shape of Chat Completions, `{type, function: {name, arguments}}`.

    The call is a dict or an object of any SDK. In this order:

    - a `type` that is there and not `"function"`: `UnsupportedType`; the arguments are not looked at;
    - no arguments (see `tool_call_arguments_absent`), or no `function`: `ParsedArguments({})`;
    - arguments that are no strict JSON, or not an object: `UnparseableArguments`. Nothing is repaired;
    - else `ParsedArguments`. Arguments that come as a dict, as from some SDKs, are taken as they are.

    A `ToolCall` (or its `to_dict()`) has its verdict already: `ParsedArguments` if it is complete, `UnsupportedType` of
    its `kind` if that is no function, else `UnparseableArguments` with what is wrong with it.

        >>> parse_tool_call_arguments({"type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}})
        ParsedArguments(arguments={'a': 1}, kind='parsed')

    Never raises: whatever cannot be read is `UnparseableArguments` with a `detail`.
    """
    try:
        return _parsed(tool_call)
    except Exception as error:  # an attribute of a foreign object can raise anything
        return UnparseableArguments(f"The tool call cannot be read: {type(error).__name__}")


def _parsed(tool_call: Any) -> ParsedArguments | UnsupportedType | UnparseableArguments:
    if isinstance(tool_call, NO_FIELDS):
        return UnparseableArguments(f"A tool call has fields; this is of type {type(tool_call).__name__}")
    kind = get_field(tool_call, "type")
    if kind is not None and kind != "function":
        return UnsupportedType(kind)
    function = get_field(tool_call, "function")
    if function is None:
        own = get_field(tool_call, "arguments_text")
        return _judged(tool_call, own) if isinstance(own, str) else ParsedArguments({})
    if isinstance(function, NO_FIELDS):
        return UnparseableArguments(
            f"The function of a tool call has fields; this is of type {type(function).__name__}"
        )
    raw = get_field(function, "arguments")
    if isinstance(raw, dict):
        return ParsedArguments(raw)
    if tool_call_arguments_absent(raw):
        return ParsedArguments({})
    if not isinstance(raw, (str, bytes, bytearray, memoryview)):
        what = "an array" if isinstance(raw, (list, tuple)) else f"of type {type(raw).__name__}"
        return UnparseableArguments(f"{NOT_AN_OBJECT}, and this is {what}")
    return _strict(raw if isinstance(raw, str) else bytes(raw).decode())


def _judged(tool_call: Any, text: str) -> ParsedArguments | UnsupportedType | UnparseableArguments:
    """Of a call that a stream has judged: text that is missing, or whole, says nothing against that verdict."""
    kind, status = get_field(tool_call, "kind"), get_field(tool_call, "status")
    if kind not in ("function", "legacy_function"):
        return UnsupportedType(kind)
    arguments = get_field(tool_call, "arguments")
    if status == "complete" and isinstance(arguments, dict):
        return ParsedArguments(arguments)
    if status == "streaming":
        return UnparseableArguments("The tool call has not ended")
    if not get_field(tool_call, "name"):
        return UnparseableArguments("The tool call has no name")
    if is_blank(text):
        return UnparseableArguments("The tool call was cut off before its arguments came")
    found = _strict(text)
    return UnparseableArguments(f"The tool call is {status}") if isinstance(found, ParsedArguments) else found


def _strict(text: str) -> ParsedArguments | UnparseableArguments:
    parser = StreamingJsonParser()
    parser.feed(text)
    value = parser.snapshot() if parser.complete and parser.valid else _bare_scalar(parser, text)
    if type(value) is dict:
        return ParsedArguments(value)
    if value is MISSING:
        return UnparseableArguments(_what_is_wrong(parser, text))
    return UnparseableArguments(f"{NOT_AN_OBJECT}, and this is {_kind(value)}")


def _kind(value: JsonValue) -> str:
    """What JSON calls the value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, (int, float)):
        return "a number"
    return "a string" if isinstance(value, str) else "an array"
