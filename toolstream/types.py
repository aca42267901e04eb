"""Data that crosses the layers: plain types without behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from toolstream._json_types import MISSING, JsonChange, JsonDeviation, JsonPath, JsonValue, MissingType

if TYPE_CHECKING:
    from toolstream.completion import Completion, ToolCall

__all__ = [
    "MISSING",
    "CompletedToolCall",
    "CompletionDefect",
    "CompletionDefectKind",
    "FinishedArguments",
    "JsonChange",
    "JsonDeviation",
    "JsonPath",
    "JsonState",
    "JsonValue",
    "MissingType",
    "ParsedArguments",
    "Replacement",
    "ToolCallMeta",
    "UnparseableArguments",
    "UnsupportedType",
]

# ---------------------------------------------------------------- arguments (arguments.py)


class FinishedArguments(NamedTuple):
    """What `ToolCallArgumentsStream.finish` found: `arguments` is `{}` and `error` a text where there is no object."""

    arguments: dict[str, JsonValue]
    error: str | None


class Replacement(NamedTuple):
    """What `ToolCallArgumentsStream.replace` did: `delta` is the text that was new, `None` if it started over."""

    delta: str | None
    arguments: dict[str, JsonValue]


class ParsedArguments(NamedTuple):
    """The call can be dispatched with `arguments`; a call without arguments has `{}`."""

    arguments: dict[str, JsonValue]
    kind: Literal["parsed"] = "parsed"


class UnsupportedType(NamedTuple):
    """The call is no function call: `type` is what it says instead. Its arguments were not looked at."""

    type: Any
    kind: Literal["unsupported_type"] = "unsupported_type"


class UnparseableArguments(NamedTuple):
    """The arguments are no JSON object: `detail` says to a person or a model what is wrong and where."""

    detail: str
    kind: Literal["unparseable"] = "unparseable"


# ---------------------------------------------------------------- calls by index (tool_call_parser.py)


class JsonState(NamedTuple):
    """Where the text of a call stands: `depth` may be negative, where closers came that nothing had opened."""

    depth: int
    in_string: bool
    escape: bool


class ToolCallMeta(NamedTuple):
    """What a call is called; `None` as long as nothing was sent."""

    id: str | None
    name: str | None


class CompletedToolCall(NamedTuple):
    """A call of a finished stream: `args` is `{}` where its text holds no object, `index` is where it was kept."""

    id: str | None
    name: str
    args: dict[str, JsonValue]
    index: int  # type: ignore[assignment]  # rather than the method of tuples


# ---------------------------------------------------------------- finished messages (defects.py)


CompletionDefectKind: TypeAlias = Literal[
    "error",
    "name_missing",
    "arguments_truncated",
    "arguments_invalid",
    "deltas_lost",
    "length",
    "content_filter",
    "calls_missing",
    "empty",
    "ended_early",
]
"""Explained in `detect_completion_defect`."""


class CompletionDefect(NamedTuple):
    """Why a finished message should not be taken as it is: `call` is the position of the call meant, if it is one."""

    kind: CompletionDefectKind
    call: int | None
    message: str


# ---------------------------------------------------------------- the stream (assembler.py, stream.py)


class Limits:
    """Bounds for one stream. `None` is no bound. Passing `max_depth` is a defect of the call (`depth_exceeded`);
    passing the others raises `LimitExceededError`, after which all that was read stays readable.

    - `max_depth`: containers inside each other in the arguments of a call;
    - `max_calls`: calls of the stream, all choices together;
    - `max_argument_bytes`: bytes of argument text (as UTF-8) of the stream, all calls together;
    - `max_pieces`: calls of `feed`;
    - `max_defects`: defects kept; `completion.defect_count` counts them all.

    >>> Limits(max_calls=64)
    Limits(max_argument_bytes=None, max_calls=64, max_defects=100, max_depth=512, max_pieces=None)
    """

    __slots__ = ("max_argument_bytes", "max_calls", "max_defects", "max_depth", "max_pieces")

    def __init__(
        self,
        max_depth: int | None = 512,
        max_calls: int | None = None,
        max_argument_bytes: int | None = None,
        max_pieces: int | None = None,
        max_defects: int | None = 100,
    ) -> None:
        for name, limit, least in (
            ("max_depth", max_depth, 1),
            ("max_calls", max_calls, 0),
            ("max_argument_bytes", max_argument_bytes, 0),
            ("max_pieces", max_pieces, 0),
            ("max_defects", max_defects, 0),
        ):
            if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool)):
                raise TypeError(f"{name} must be an int or None, not {type(limit).__name__}")
            if limit is not None and limit < least:
                raise ValueError(f"{name} must be at least {least}, or None, not {limit}")
        self.max_depth = max_depth
        self.max_calls = max_calls
        self.max_argument_bytes = max_argument_bytes
        self.max_pieces = max_pieces
        self.max_defects = max_defects

    def __repr__(self) -> str:
        return f"Limits({', '.join(f'{name}={getattr(self, name)!r}' for name in sorted(self.__slots__))})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not Limits:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]  # mutable


class Defect(NamedTuple):
    """Something that the provider or the model did wrong, noticed on the way.

    `code` and `severity` are those of `defects.DEFECTS`; `call` is the position in `completion.calls`, `None` if it
    is about the stream; `offset` (code points in that call's `arguments_text`) where one place is to blame; `piece`
    is the number of the piece fed when it was noticed, from 0 (at the end: the number of all pieces); `message` is
    for people and holds no argument text.
    """

    code: str
    severity: Literal["error", "warning", "info"]
    call: int | None
    offset: int | None
    piece: int
    message: str

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON: the fields by name."""
        return self._asdict()


class ToolCallStart:
    """A call has begun: name and id are known, or the stream has ended. Sent once for each call."""

    __slots__ = ("call",)
    __match_args__ = ("call",)
    type: Final[Literal["tool_call.start"]] = "tool_call.start"

    def __init__(self, call: ToolCall) -> None:
        self.call = call

    def __repr__(self) -> str:
        return f"ToolCallStart({self.call!r})"

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON: the call's identity."""
        call = self.call
        return {
            "type": self.type,
            "position": call.position,
            "id": call.id,
            "name": call.name,
            "kind": call.kind,
            "index": call.index,
            "choice": call.choice,
        }


class ToolCallDelta:
    """Argument text of a call. `restart`: it replaces what came before, so that the deltas since the last restart,
    joined, are `call.arguments_text`. `changes`: what `StreamingJsonParser.append` gave, `None` unless asked for."""

    __slots__ = ("call", "changes", "restart", "text")
    __match_args__ = ("call", "text", "restart", "changes")
    type: Final[Literal["tool_call.delta"]] = "tool_call.delta"

    def __init__(
        self, call: ToolCall, text: str, restart: bool = False, changes: Sequence[JsonChange] | None = None
    ) -> None:
        self.call = call
        self.text = text
        self.restart = restart
        self.changes = changes

    def __repr__(self) -> str:
        return f"ToolCallDelta({self.call!r}, {self.text!r}, restart={self.restart!r}, changes={self.changes!r})"

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON; `changes` only where asked for, each as a list."""
        out: dict[str, JsonValue] = {
            "type": self.type,
            "position": self.call.position,
            "id": self.call.id,
            "text": self.text,
            "restart": self.restart,
        }
        if self.changes is not None:
            out["changes"] = [[kind, list(path), value] for kind, path, value in self.changes]
        return out


class ToolCallEnd:
    """A call has ended; `call.status` says how. Every start has exactly one end."""

    __slots__ = ("call",)
    __match_args__ = ("call",)
    type: Final[Literal["tool_call.end"]] = "tool_call.end"

    def __init__(self, call: ToolCall) -> None:
        self.call = call

    def __repr__(self) -> str:
        return f"ToolCallEnd({self.call!r})"

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON: the whole call."""
        return {"type": self.type, "position": self.call.position, "call": self.call.to_dict()}


class _Words:
    __slots__ = ("choice", "text")
    __match_args__ = ("text", "choice")
    type: str

    def __init__(self, text: str, choice: int = 0) -> None:
        self.text = text
        self.choice = choice

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r}, {self.choice!r})"

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON: the fields by name."""
        return {"type": self.type, "text": self.text, "choice": self.choice}


class TextDelta(_Words):
    """Text for people, of one choice."""

    __slots__ = ()
    type: Literal["text.delta"] = "text.delta"


class ReasoningDelta(_Words):
    """Reasoning text, of one choice."""

    __slots__ = ()
    type: Literal["reasoning.delta"] = "reasoning.delta"


class DefectFound:
    """A defect was noticed (each code once for a call, as many as are kept)."""

    __slots__ = ("defect",)
    __match_args__ = ("defect",)
    type: Final[Literal["defect"]] = "defect"

    def __init__(self, defect: Defect) -> None:
        self.defect = defect

    def __repr__(self) -> str:
        return f"DefectFound({self.defect!r})"

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON: the defect's fields."""
        return {"type": self.type, **self.defect.to_dict()}


class StreamEnd:
    """The last event: all calls have ended."""

    __slots__ = ("completion",)
    __match_args__ = ("completion",)
    type: Final[Literal["stream.end"]] = "stream.end"

    def __init__(self, completion: Completion) -> None:
        self.completion = completion

    def __repr__(self) -> str:
        return f"StreamEnd({self.completion!r})"

    def to_dict(self) -> dict[str, JsonValue]:
        """Plain JSON: the whole completion."""
        return {"type": self.type, "completion": self.completion.to_dict()}


Event: TypeAlias = ToolCallStart | ToolCallDelta | ToolCallEnd | TextDelta | ReasoningDelta | DefectFound | StreamEnd
