"""Turns what a language-model provider streams into tool calls."""

from toolstream._engine import BACKEND, JsonTracker, StreamingJsonParser, scan_bytes
from toolstream.accumulator import ToolCallAccumulator
from toolstream.errors import LimitExceededError, StreamStalledError, ToolStreamError, UnknownProviderError
from toolstream.streaming_json import apply_changes, parse_partial_json
from toolstream.tool_call_parser import StreamingToolCallParser, ToolCallParseResult
from toolstream.types import (
    MISSING,
    CompletedToolCall,
    CompletionDefect,
    JsonChange,
    JsonPath,
    JsonState,
    JsonValue,
    ToolCallMeta,
)
from toolstream.watchdog import StreamWatchdog

__all__ = [
    "BACKEND",
    "MISSING",
    "CompletedToolCall",
    "CompletionDefect",
    "JsonChange",
    "JsonPath",
    "JsonState",
    "JsonTracker",
    "JsonValue",
    "LimitExceededError",
    "StreamStalledError",
    "StreamWatchdog",
    "StreamingJsonParser",
    "StreamingToolCallParser",
    "ToolCallAccumulator",
    "ToolCallMeta",
    "ToolCallParseResult",
    "ToolStreamError",
    "UnknownProviderError",
    "apply_changes",
    "parse_partial_json",
    "scan_bytes",
]
