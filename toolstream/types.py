"""Data that crosses the layers: plain types without behaviour."""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, TypeAlias

__all__ = [
    "MISSING",
    "CompletedToolCall",
    "CompletionDefect",
    "FinishedArguments",
    "JsonChange",
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

JsonValue: TypeAlias = Any
"""`None`, `bool`, `int`, `float`, `str`, `list` or `dict`. Values that are handed out are to be read, not changed."""

JsonPath: TypeAlias = tuple[str | int, ...]
"""Steps from the root: a member's key or an element's position."""

JsonChange: TypeAlias = tuple[Literal["set", "append", "end"], JsonPath, JsonValue]
"""`(kind, path, value)`: `"set"` a value at the path, `"append"` text to the string there, or `"end"` either."""


class MissingType:
    """The type of `MISSING`."""

    __slots__ = ()
    _only: MissingType | None = None

    def __new__(cls) -> MissingType:
        if cls._only is None:
            cls._only = super().__new__(cls)
        return cls._only

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"  # pickles and copies are the same object


MISSING: Final = MissingType()
"""There is no value: `None` would be the value of `null`. Falsy, one object, its own type."""


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
    index: int


# ---------------------------------------------------------------- finished messages (defects.py)


class CompletionDefect(NamedTuple):
    """Why a finished message should not be trusted as it is: `call` is the position of the call meant, if it is one."""

    kind: str
    call: int | None
    message: str
