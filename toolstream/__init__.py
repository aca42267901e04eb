"""Turns what a language-model provider streams into tool calls."""

from toolstream._engine import BACKEND, JsonTracker, StreamingJsonParser, scan_bytes
from toolstream.accumulator import ToolCallAccumulator
from toolstream.arguments import ToolCallArgumentsStream, parse_tool_call_arguments, tool_call_arguments_absent
from toolstream.defects import detect_completion_defect
from toolstream.errors import LimitExceededError, StreamStalledError, ToolStreamError, UnknownProviderError
from toolstream.streaming_json import apply_changes, parse_partial_json
from toolstream.tool_call_parser import StreamingToolCallParser, ToolCallParseResult
from toolstream.types import (
    MISSING,
    CompletedToolCall,
    CompletionDefect,
    FinishedArguments,
    JsonChange,
    JsonPath,
    JsonState,
    JsonValue,
    ParsedArguments,
    Replacement,
    ToolCallMeta,
    UnparseableArguments,
    UnsupportedType,
)
from toolstream.watchdog import StreamWatchdog

__all__ = [
    "BACKEND",
    "MISSING",
    "CompletedToolCall",
    "CompletionDefect",
    "FinishedArguments",
    "JsonChange",
    "JsonPath",
    "JsonState",
    "JsonTracker",
    "JsonValue",
    "LimitExceededError",
    "ParsedArguments",
    "Replacement",
    "StreamStalledError",
    "StreamWatchdog",
    "StreamingJsonParser",
    "StreamingToolCallParser",
    "ToolCallAccumulator",
    "ToolCallArgumentsStream",
    "ToolCallMeta",
    "ToolCallParseResult",
    "ToolStreamError",
    "UnknownProviderError",
    "UnparseableArguments",
    "UnsupportedType",
    "apply_changes",
    "detect_completion_defect",
    "parse_partial_json",
    "parse_tool_call_arguments",
    "scan_bytes",
    "tool_call_arguments_absent",
]
