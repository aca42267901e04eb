"""Gemini generateContent, of the Gemini API and of Vertex AI.

Calls come as objects: `functionCall {name, args, id?}`, whole in one part. There is no delta, so the text of the
arguments is the object written compactly. Vertex can stream the arguments as values with their paths instead
(`partialArgs`); then the text is what `PathWriter` makes of them.

When a call ends: a whole one with its own part, although its end is held back until the next part, since arguments in
a part without a name belong to the call before it; a streamed one by an empty `functionCall`, by a part that says
neither for the call nor for a string that more will come, by the next name, or by the finish reason. Where more had
been announced and the answer was cut, the call is cut too.
"""

from __future__ import annotations

import json
import math
from binascii import b2a_base64
from typing import TYPE_CHECKING, Any, Final

from .._text import whole_text
from ..identity import sent_index
from . import plain
from ._blocks import object_arguments
from ._paths import PathReader, PathWriter

if TYPE_CHECKING:
    from ..assembler import Assembler, Meaning
    from ..completion import ToolCall
    from ._paths import Place

__all__ = ["Gemini"]

_MEANINGS: Final[dict[str, Meaning]] = {
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",  # of one request; clients that go on by themselves take the word out
    **dict.fromkeys(
        (
            "SAFETY",
            "RECITATION",
            "LANGUAGE",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "MODEL_ARMOR",
            "ESCALATION",
            "PUP_LIMITED_DISABLED",
            "IMAGE_SAFETY",
            "IMAGE_PROHIBITED_CONTENT",
            "IMAGE_RECITATION",
        ),
        "content_filter",
    ),
    **dict.fromkeys(
        (
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "MISSING_THOUGHT_SIGNATURE",
            "MALFORMED_RESPONSE",
            "OTHER",
            "IMAGE_OTHER",
            "NO_IMAGE",
        ),
        "error",
    ),
}
_OF_VALUE: Final = frozenset(("jsonPath", "stringValue", "numberValue", "boolValue", "nullValue", "willContinue"))
_OF_TEXT: Final = frozenset(("text", "thought"))


class _Candidate:
    """One candidate: the call that parts without a name go to, and the parts for the next request."""

    __slots__ = ("call", "choice", "parts", "writer")

    def __init__(self, choice: int) -> None:
        self.choice = choice
        self.call: ToolCall | None = None
        self.writer: PathWriter | None = None  # of a call whose arguments are streamed
        self.parts: list[tuple[dict[str, Any], ToolCall | list[str] | None]] = []
        """Each part as it was sent, with the call that stands for its `functionCall`, or the pieces of its text."""


class Gemini:
    """Reads events of generateContent, under their names on the wire or in Python's spelling (`function_call`)."""

    name = "gemini"
    exact_numbers = False
    has_done = False

    def __init__(self, assembler: Assembler) -> None:
        self._assembler = assembler
        assembler.call_word = False
        assembler.pending_scalars = "show"  # a number is never cut
        self._candidates: dict[int, _Candidate] = {}
        self._usage: object = None  # as sent last: it comes with every event
        self._paths = PathReader()

    def feed(self, event: dict[str, Any]) -> None:
        """One response; unknown fields and parts are ignored."""
        if event.get("error"):
            self._assembler.error(event["error"])
        candidates = event.get("candidates")
        for fields in candidates if isinstance(candidates, list) else ():
            if not isinstance(fields, dict):
                continue
            choice = fields.get("index", 0)
            try:
                parts = fields["content"]["parts"]
            except (KeyError, TypeError):
                parts = None
            if type(choice) is not int:
                choice = sent_index(choice) or 0
            candidate = self._candidates.get(choice)
            if candidate is None:
                candidate = self._candidates[choice] = _Candidate(choice)
            for part in parts if type(parts) is list else ():
                if type(part) is dict and type(call := part.get("functionCall")) is dict:
                    self._function_call(candidate, call, part)
                else:
                    self._part(candidate, part)
            if "finishReason" in fields or "finish_reason" in fields:
                self._finish(candidate, fields)
        if "promptFeedback" in event or "prompt_feedback" in event:
            feedback = _field(event, "promptFeedback", "prompt_feedback")
            if isinstance(feedback, dict) and (word := _field(feedback, "blockReason", "block_reason")):
                self._assembler.finish(word, "content_filter")
        usage = event.get("usageMetadata") or event.get("usage_metadata")
        if usage != self._usage:
            self._usage = usage
            self._assembler.usage(usage)

    def close(self) -> None:
        """A whole call is whole even if the stream broke after it."""
        for candidate in self._candidates.values():
            self._settle(candidate, cut=True)

    # ------------------------------------------------------------ parts

    def _finish(self, candidate: _Candidate, fields: dict[str, Any]) -> None:
        word = fields.get("finishReason") or fields.get("finish_reason")
        if isinstance(word, str) and word:
            meaning = _MEANINGS.get(word)
            self._settle(candidate, cut=meaning is not None)
            if meaning == "error" and (why := _field(fields, "finishMessage", "finish_message")):
                self._assembler.error(why)
            self._assembler.finish(word, meaning, candidate.choice)

    def _part(self, candidate: _Candidate, part: Any) -> None:
        if not isinstance(part, dict):
            part = plain(part)  # an SDK's object inside of dicts
            if not isinstance(part, dict):
                return
        function_call = part.get("functionCall")
        if function_call is None and not _WIRE_NAMES.keys().isdisjoint(part):
            part = _on_the_wire(self._assembler.exact(part))
            function_call = part.get("functionCall")
        if function_call is not None and not isinstance(function_call, dict):
            part = _on_the_wire(plain(part))
            function_call = part.get("functionCall")
        if isinstance(function_call, dict):
            self._function_call(candidate, function_call, part)
            return
        if candidate.writer is None:
            self._settle(candidate)
        text = part.get("text")
        if isinstance(text, str):
            self._text(candidate, text, part)
            return
        tool_call = part.get("toolCall")
        if isinstance(tool_call, dict):
            name = tool_call.get("toolType") or "toolCall"
            call = self._assembler.open(None, id=tool_call.get("id"), name=name, kind="server", choice=candidate.choice)
            if tool_call.get("args") is not None:
                self._assembler.whole(call, tool_call["args"])
            self._assembler.end(call)
        candidate.parts.append((self._assembler.exact(part), None))

    def _text(self, candidate: _Candidate, text: str, part: dict[str, Any]) -> None:
        thought = part.get("thought") is True
        if thought:
            self._assembler.reasoning(text, candidate.choice)
        else:
            self._assembler.text(text, candidate.choice)
        last, pieces = candidate.parts[-1] if candidate.parts else ({}, None)
        apart = _stays_apart(part)
        if type(pieces) is list and not apart and not _stays_apart(last) and (last.get("thought") is True) == thought:
            pieces.append(text)
        elif text or apart:
            candidate.parts.append((self._assembler.exact(part) if apart else part, [text]))

    def _function_call(self, candidate: _Candidate, fields: dict[str, Any], part: dict[str, Any]) -> None:
        """A call begins where there is a name; else there is more of the one under way."""
        name = fields.get("name")
        if not name:
            if candidate.call is not None and "thoughtSignature" in part:
                self._sign(candidate.call, part)
            self._more(candidate, fields)
            return
        self._settle(candidate)
        is_streamed = "willContinue" in fields or "partialArgs" in fields
        id, choice = fields.get("id"), candidate.choice
        whole = None if is_streamed else self._assembler.whole_call(fields.get("args"), id, name, None, choice)
        call = candidate.call = whole or self._assembler.open(None, id=id, name=name, choice=choice)
        candidate.parts.append((part, call))
        if "thoughtSignature" in part:
            self._sign(call, part)
        if whole is None:
            if fields.get("willContinue") is True:
                candidate.writer = PathWriter()
            self._more(candidate, fields, True)

    def _sign(self, call: ToolCall, part: dict[str, Any]) -> None:
        self._assembler.extras(call, {"thoughtSignature": _without_bytes(part["thoughtSignature"])})

    def _more(self, candidate: _Candidate, fields: dict[str, Any], named: bool = False) -> None:
        """Arguments of the call under way. `named`: in the part that it began with."""
        args, partial = fields.get("args"), fields.get("partialArgs")
        call = candidate.call
        if call is None:
            if args or partial:
                self._assembler.defect("orphan_delta")
            return
        if partial and isinstance(partial, list):
            self._partial(candidate, call, partial)
        if args is not None:
            self._args(candidate, call, args, named=named)
        if fields.get("willContinue") is True:
            return
        writer = candidate.writer
        if writer is not None:
            if writer.waiting == 0 or not (args or partial):
                self._finish_streamed(candidate, call, writer)
        elif not named and not args:
            self._settle(candidate)

    def _args(self, candidate: _Candidate, call: ToolCall, args: object, *, named: bool) -> None:
        """Arguments as an object; members of a call that is streamed otherwise."""
        if candidate.writer is not None:
            if isinstance(args, dict):
                for key, value in self._assembler.exact(args).items():
                    candidate.writer.set(((), str(key)), _dump(value))
                candidate.writer.pass_on(self._assembler, call)
            else:
                candidate.writer = None
                self._assembler.whole(call, args)
            return
        if not named:
            self._assembler.defect("name_missing_in_part", call)
        if isinstance(args, str):
            self._assembler.append(call, args)
        else:
            self._assembler.whole(call, args)

    # ------------------------------------------------------------ streamed arguments

    def _partial(self, candidate: _Candidate, call: ToolCall, partial: list[Any]) -> None:
        """Values with their paths."""
        writer = candidate.writer
        if writer is None:
            if call.arguments_text:  # the call had its arguments already
                self._assembler.defect("orphan_delta")
                return
            writer = candidate.writer = PathWriter()
        paths = self._paths
        for one in partial:
            if isinstance(one, dict):
                path = one.get("jsonPath")
                if path != paths.path:  # it mostly comes again
                    paths.read(path if isinstance(path, str) else "")
                string = one.get("stringValue")
                if isinstance(string, str):
                    writer.append(paths.place, string, one.get("willContinue") is True, paths.path)
                else:
                    self._value(writer, one, paths.place, paths.path)
        writer.pass_on(self._assembler, call)

    def _value(self, writer: PathWriter, fields: dict[str, Any], place: Place | None, path: str) -> None:
        """A value that is no string."""
        if fields.get("numberValue") is not None:
            writer.set(place, _number(self._assembler.exact(fields)["numberValue"]), path)
        elif isinstance(fields.get("boolValue"), bool):
            writer.set(place, "true" if fields["boolValue"] else "false", path)
        elif "nullValue" in fields:
            writer.set(place, "null", path)
        elif not _OF_VALUE.issuperset(fields):  # a kind of value that is not known: without it they are others
            writer.set(None, _dump(fields), path)
        elif place is not None:
            writer.end_string(place, fields.get("willContinue") is True)

    def _finish_streamed(self, candidate: _Candidate, call: ToolCall, writer: PathWriter) -> None:
        writer.finish()
        writer.pass_on(self._assembler, call)
        self._assembler.end(call)
        candidate.call = candidate.writer = None

    def _settle(self, candidate: _Candidate, cut: bool = False) -> None:
        """No more parts can come for the call under way. `cut`: nor for what it had announced."""
        call, writer = candidate.call, candidate.writer
        if call is None:
            return
        if writer is None:
            self._assembler.end(call)
        elif not cut and writer.waiting == 0:
            self._finish_streamed(candidate, call, writer)
        else:
            self._assembler.end(call, regular=False)
        candidate.call = candidate.writer = None

    # ------------------------------------------------------------ the next request

    def message(self, choice: int = 0) -> dict[str, Any]:
        """The candidate's content, part by part as sent, with all signatures, and ids where calls came with them."""
        candidate = self._candidates.get(choice)
        parts = candidate.parts if candidate is not None else []
        return {"role": "model", "parts": [out for part in parts if (out := _request_part(*part)) is not None]}


def _request_part(fields: dict[str, Any], content: ToolCall | list[str] | None) -> dict[str, Any] | None:
    if content is None or isinstance(content, list):
        out = {name: _without_bytes(value) for name, value in fields.items()}
        if content:
            out["text"] = whole_text("".join(content))
        return out
    call = content
    if call.name is None:
        return None  # no request may hold a call without one
    function_call: dict[str, Any] = {"name": call.name, "args": object_arguments(call)}
    if fields["functionCall"].get("id"):
        function_call["id"] = call.id
    return {**fields, "functionCall": function_call, **call.extras}


def _stays_apart(part: dict[str, Any]) -> bool:
    """Whether a part of text has more, a signature or metadata, which belongs to it alone."""
    return not _OF_TEXT.issuperset(part) and any(part[name] is not None for name in part if name not in _OF_TEXT)


def _without_bytes(value: Any) -> Any:
    """Data of an SDK's object as the wire has it: base64 text, as standard base64."""
    if isinstance(value, bytes):
        return b2a_base64(value, newline=False).decode()
    if isinstance(value, dict) and any(isinstance(inner, bytes) for inner in value.values()):
        return {name: _without_bytes(inner) for name, inner in value.items()}
    return value


_WIRE_NAMES: Final = {
    "function_call": "functionCall",
    "thought_signature": "thoughtSignature",
    "tool_call": "toolCall",
    "tool_response": "toolResponse",
    "executable_code": "executableCode",
    "code_execution_result": "codeExecutionResult",
    "inline_data": "inlineData",
    "file_data": "fileData",
}
_WIRE_NAMES_INSIDE: Final = {
    "partial_args": "partialArgs",
    "will_continue": "willContinue",
    "json_path": "jsonPath",
    "string_value": "stringValue",
    "number_value": "numberValue",
    "bool_value": "boolValue",
    "null_value": "nullValue",
    "tool_type": "toolType",
    "mime_type": "mimeType",
    "file_uri": "fileUri",
}


def _on_the_wire(part: dict[str, Any]) -> dict[str, Any]:
    """A part in Python's spelling, where fields that were not sent are there as `None`."""
    out = {}
    for name, value in part.items():
        if value is None:
            continue
        if name in _WIRE_NAMES and isinstance(value, dict):
            value = _renamed(value)
            if isinstance(value.get("partialArgs"), list):
                value["partialArgs"] = [_renamed(one) for one in value["partialArgs"] if isinstance(one, dict)]
        out[_WIRE_NAMES.get(name, name)] = value
    return out


def _renamed(fields: dict[str, Any]) -> dict[str, Any]:
    return {_WIRE_NAMES_INSIDE.get(name, name): value for name, value in fields.items() if value is not None}


def _field(fields: dict[str, Any], name: str, python_name: str) -> Any:
    value = fields.get(name)
    return fields.get(python_name) if value is None else value


_dump: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _number(value: object) -> str:
    """A double as JSON text. A whole number is written without a point: the wire has no integers, the schema may."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return "NaN"  # no number: refused like one that JSON has no text for
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if number.is_integer() and abs(number) < 2**53:
        return str(int(number))
    return repr(number) if math.isfinite(number) else _dump(number)
