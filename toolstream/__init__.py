"""Turns what a language-model provider streams into tool calls.

Begin with `iter_events`, which gives a stream's events as they come, or `assemble`, which gives the finished message;
`aiter_events` and `aassemble` are for asyncio. Below them is `ToolCallStream`, which is fed piece by piece, and below
that `StreamingJsonParser`, which reads one JSON text. `BACKEND` is the engine that runs: `cython` or `python`.
"""

from typing import TYPE_CHECKING

from toolstream._engine import BACKEND, JsonTracker, StreamingJsonParser, scan_bytes
from toolstream._json_types import MISSING, JsonChange, JsonPath, JsonValue
from toolstream.errors import LimitExceededError, StreamStalledError, ToolStreamError, UnknownProviderError

if TYPE_CHECKING:
    from toolstream.accumulator import ToolCallAccumulator
    from toolstream.arguments import ToolCallArgumentsStream, parse_tool_call_arguments, tool_call_arguments_absent
    from toolstream.completion import Completion, ToolCall
    from toolstream.defects import detect_completion_defect
    from toolstream.stream import ToolCallStream, aassemble, aiter_events, assemble, iter_events
    from toolstream.streaming_json import apply_changes, parse_partial_json
    from toolstream.tool_call_parser import StreamingToolCallParser, ToolCallParseResult
    from toolstream.transport import (
        AwsEventStreamDecoder,
        AwsMessage,
        JsonArrayDecoder,
        NdjsonDecoder,
        SseDecoder,
        SseEvent,
    )
    from toolstream.types import (
        CompletedToolCall,
        CompletionDefect,
        Defect,
        DefectFound,
        Event,
        FinishedArguments,
        JsonState,
        Limits,
        ParsedArguments,
        ReasoningDelta,
        Replacement,
        StreamEnd,
        TextDelta,
        ToolCallDelta,
        ToolCallEnd,
        ToolCallMeta,
        ToolCallStart,
        UnparseableArguments,
        UnsupportedType,
    )
    from toolstream.watchdog import StreamWatchdog

__version__ = "0.1.0"

__all__ = [
    "BACKEND",
    "MISSING",
    "AwsEventStreamDecoder",
    "AwsMessage",
    "CompletedToolCall",
    "Completion",
    "CompletionDefect",
    "Defect",
    "DefectFound",
    "Event",
    "FinishedArguments",
    "JsonArrayDecoder",
    "JsonChange",
    "JsonPath",
    "JsonState",
    "JsonTracker",
    "JsonValue",
    "LimitExceededError",
    "Limits",
    "NdjsonDecoder",
    "ParsedArguments",
    "ReasoningDelta",
    "Replacement",
    "SseDecoder",
    "SseEvent",
    "StreamEnd",
    "StreamStalledError",
    "StreamWatchdog",
    "StreamingJsonParser",
    "StreamingToolCallParser",
    "TextDelta",
    "ToolCall",
    "ToolCallAccumulator",
    "ToolCallArgumentsStream",
    "ToolCallDelta",
    "ToolCallEnd",
    "ToolCallMeta",
    "ToolCallParseResult",
    "ToolCallStart",
    "ToolCallStream",
    "ToolStreamError",
    "UnknownProviderError",
    "UnparseableArguments",
    "UnsupportedType",
    "__version__",
    "aassemble",
    "aiter_events",
    "apply_changes",
    "assemble",
    "detect_completion_defect",
    "iter_events",
    "parse_partial_json",
    "parse_tool_call_arguments",
    "scan_bytes",
    "tool_call_arguments_absent",
]

_PARTS = {  # module: the public names that it gives, imported when one of them is first asked for
    "accumulator": ("ToolCallAccumulator",),
    "arguments": ("ToolCallArgumentsStream", "parse_tool_call_arguments", "tool_call_arguments_absent"),
    "assembler": (),
    "completion": ("Completion", "ToolCall"),
    "defects": ("detect_completion_defect",),
    "identity": (),
    "providers": (),
    "stream": ("ToolCallStream", "aassemble", "aiter_events", "assemble", "iter_events"),
    "streaming_json": ("apply_changes", "parse_partial_json"),
    "tool_call_parser": ("StreamingToolCallParser", "ToolCallParseResult"),
    "transport": ("AwsEventStreamDecoder", "AwsMessage", "JsonArrayDecoder", "NdjsonDecoder", "SseDecoder", "SseEvent"),
    "types": (
        "CompletedToolCall",
        "CompletionDefect",
        "Defect",
        "DefectFound",
        "Event",
        "FinishedArguments",
        "JsonState",
        "Limits",
        "ParsedArguments",
        "ReasoningDelta",
        "Replacement",
        "StreamEnd",
        "TextDelta",
        "ToolCallDelta",
        "ToolCallEnd",
        "ToolCallMeta",
        "ToolCallStart",
        "UnparseableArguments",
        "UnsupportedType",
    ),
    "watchdog": ("StreamWatchdog",),
}

if not TYPE_CHECKING:  # which would take every name for one of ours

    def __getattr__(name: str) -> object:
        from importlib import import_module

        for part, names in _PARTS.items():
            if name == part or name in names:
                module = import_module(f"toolstream.{part}")
                found = globals()[name] = module if name == part else getattr(module, name)
                return found
        raise AttributeError(f"module 'toolstream' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PARTS, *__all__})
