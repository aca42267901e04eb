"""What is measured: the library by back end, texts by shape, and every public operation in one form.

library(backend)       -> the `toolstream` package running on that back end
SHAPES[name](n)        -> a JSON text of about n characters
cut(text, size)        -> its pieces; size 0: the whole text in one piece
OPERATIONS[name]       -> Operation(prepare, run): `run(toolstream, prepare(pieces))` is what is measured
slope(points)          -> the exponent of growth through [(n, cost), ...]
peak_memory(run)       -> bytes of memory that `run()` needs at its highest, above what there was before
"""

from __future__ import annotations

import array
import gc
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple

BACKENDS = ["cython", "python"]


def library(backend: str) -> ModuleType:
    """Import `toolstream` with a back end. `NotImplementedError` (asv: skip) where there is no such back end.

    A process has one back end for good; asv starts a process for each combination of parameters.
    """
    os.environ["TOOLSTREAM_BACKEND"] = backend
    try:
        import toolstream
    except ImportError as error:
        raise NotImplementedError(str(error)) from error
    if backend != toolstream.BACKEND:
        raise NotImplementedError(f"this process runs {toolstream.BACKEND}")
    return toolstream


# ------------------------------------------------------------------------------------------------------------- texts

_PROSE = "def load(path):  # the second request was served from the cache, the others waited for a slow backend "


def _fill(head: str, unit: str, tail: str, n: int) -> str:
    return head + unit * max(1, (n - len(head) - len(tail)) // len(unit)) + tail


def _wide(n: int) -> str:
    return "{" + ", ".join(f'"key{i:06}": {i % 100:2}' for i in range(max(1, n // 17))) + "}"


def _deep(n: int) -> str:
    levels = max(1, n // 8)
    return '[{"a":' * levels + "1" + "}]" * levels


SHAPES: dict[str, Callable[[int], str]] = {
    "string": lambda n: _fill('{"path": "a.py", "content": "', _PROSE, '"}', n),
    "escapes": lambda n: _fill('{"content": "', '\\n\\"\\u00e9 \\\\', '"}', n),
    "unicode": lambda n: _fill('{"content": "', "数据结构 é 🚀 ", '"}', n),
    "items": lambda n: _fill("[0", ", 12345, true", "]", n),
    "records": lambda n: _fill("[0", ', {"id": 100001, "name": "Osaka", "score": 4.25, "tags": ["a", null]}', "]", n),
    "deep": _deep,
    "wide": _wide,
    "duplicates": lambda n: _fill('{"a": 0', ', "a": [1]', "}", n),
    "number": lambda n: _fill("[1", "2345678901", "]", n),
    "word": lambda n: _fill("[", "nonsense", "]", n),
    "key": lambda n: _fill('{"k', "eyeyeyey", '": 1}', n),
    "comments": lambda n: _fill("[1", " /* a comment */ // and\n ", "]", n),
}
"""The shapes that are known to turn careless parsers quadratic."""


def cut(text: str, size: int) -> list[str]:
    """Pieces of `size` characters; 0: the whole text in one piece."""
    return [text[i : i + size] for i in range(0, len(text), size)] if size else [text]


# -------------------------------------------------------------------------------------------------------- operations


class Operation(NamedTuple):
    """`run(toolstream, prepare(pieces))` is measured, `prepare` is not."""

    run: Callable[[ModuleType, Any], Any]
    prepare: Callable[[list[str]], Any] = lambda pieces: pieces


def _feed(ts: ModuleType, pieces: Iterable[str]) -> Any:
    parser = ts.StreamingJsonParser()
    feed = parser.feed
    for piece in pieces:
        feed(piece)
    return parser.snapshot()


def _append(ts: ModuleType, pieces: Iterable[str]) -> Any:
    parser = ts.StreamingJsonParser()
    append = parser.append
    for piece in pieces:
        append(piece)
    return parser


def _live(ts: ModuleType, pieces: Iterable[str]) -> Any:
    parser = ts.StreamingJsonParser()
    append, snapshot = parser.append, parser.snapshot
    value = None
    for piece in pieces:
        append(piece)
        value = snapshot()
    return value


def _tracker(ts: ModuleType, pieces: Iterable[str]) -> int:
    tracker = ts.JsonTracker()
    feed = tracker.feed
    for piece in pieces:
        feed(piece)
    return tracker.depth


def _bulk(pieces: list[str]) -> tuple[bytes, array.array, array.array, bytearray]:
    offsets, data = array.array("q", [0]), bytearray()
    for piece in pieces:
        data += piece.encode()
        offsets.append(len(data))
    return bytes(data), offsets, array.array("i", bytes(4 * len(pieces))), bytearray(len(pieces))


def _changes(pieces: list[str]) -> list[tuple]:
    return [("set", (), {}), ("set", ("text",), ""), *(("append", ("text",), piece) for piece in pieces)]


def _object_text(pieces: list[str]) -> str:
    return '{"a": ' + "".join(pieces) + "}"


def _object(pieces: list[str]) -> dict[str, Any]:
    return json.loads(_object_text(pieces))


def _arguments(ts: ModuleType, pieces: Iterable[str]) -> Any:
    stream = ts.ToolCallArgumentsStream()
    append = stream.append
    for piece in pieces:
        append(piece)
    return stream.finish()


def _accumulator(ts: ModuleType, deltas: Iterable[dict]) -> Any:
    accumulator = ts.ToolCallAccumulator()
    observe = accumulator.observe
    for delta in deltas:
        observe([delta])
    return accumulator.assembled()


def _call_parser(ts: ModuleType, pieces: Iterable[str]) -> Any:
    parser = ts.StreamingToolCallParser()
    add_chunk = parser.add_chunk
    add_chunk(0, "", "call_1", "write_file")
    for piece in pieces:
        add_chunk(0, piece)
    return parser.get_completed_tool_calls()


def _stream(ts: ModuleType, pieces: Iterable[Any]) -> Any:
    """A `ToolCallStream`, the live arguments of every delta read."""
    stream = ts.ToolCallStream("openai-chat")
    feed = stream.feed
    for piece in pieces:
        for event in feed(piece):
            if event.type == "tool_call.delta":
                event.call.partial_arguments  # noqa: B018 - reading it is what is measured
    stream.close()
    return stream.completion


def _decoder(name: str) -> Callable[[ModuleType, Iterable[bytes]], int]:
    def run(ts: ModuleType, pieces: Iterable[bytes]) -> int:
        decoder = getattr(ts, name)()
        feed = decoder.feed
        count = 0
        for piece in pieces:
            count += len(feed(piece))
        return count + len(decoder.close())

    return run


def chat_events(pieces: Iterable[str], calls: int = 1) -> list[dict]:
    """The decoded events of an OpenAI Chat Completions stream whose calls take the pieces in turn."""

    def event(delta: dict, finish: str | None = None) -> dict:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}

    def start(index: int) -> dict:
        function = {"name": "write_file", "arguments": ""}
        return {"index": index, "id": f"call_{index}", "type": "function", "function": function}

    events = [event({"role": "assistant", "content": None})]
    events += (event({"tool_calls": [start(index)]}) for index in range(calls))
    for number, piece in enumerate(pieces):
        events.append(event({"tool_calls": [{"index": number % calls, "function": {"arguments": piece}}]}))
    return [*events, event({}, "tool_calls")]


def chat_sse(pieces: Iterable[str]) -> list[bytes]:
    """The same stream as bytes, one server-sent event a piece."""
    lines = [b"data: " + json.dumps(event).encode() + b"\n\n" for event in chat_events(pieces)]
    return [*lines, b"data: [DONE]\n\n"]


def _many_calls(pieces: list[str]) -> list[dict]:
    """A call of its own, opened and complete, for every piece (whatever it says)."""
    events = []
    for index, _ in enumerate(pieces):
        function = {"name": "ping", "arguments": '{"a": 1}'}
        delta = {"tool_calls": [{"index": index, "id": f"call_{index}", "type": "function", "function": function}]}
        events.append({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
    return [*events, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


def _lines(pieces: list[str]) -> list[bytes]:
    return [json.dumps({"message": piece}).encode() + b"\n" for piece in pieces]


def _array(pieces: list[str]) -> list[bytes]:
    return [b"[", *(json.dumps({"message": piece}).encode() + b",\n" for piece in pieces), b"null]"]


def _one_event(pieces: list[str]) -> list[bytes]:
    """One event of many lines and pieces: what makes careless line buffers quadratic."""
    return [b"data: ", *(piece.encode() for piece in pieces), b"\n\n"]


OPERATIONS: dict[str, Operation] = {
    "feed": Operation(_feed),
    "append": Operation(_append),
    "live": Operation(_live),
    "tracker": Operation(_tracker),
    "scan_bytes": Operation(lambda ts, bulk: ts.scan_bytes(*bulk), _bulk),
    "read_object": Operation(lambda ts, text: ts._engine.read_object(text, None), _object_text),
    "write_object": Operation(lambda ts, value: ts._engine.write_object(value, None), _object),
    "apply_changes": Operation(lambda ts, changes: ts.apply_changes(ts.MISSING, changes), _changes),
    "arguments": Operation(_arguments),
    "accumulator": Operation(_accumulator, lambda pieces: [{"index": 0, "function": {"arguments": p}} for p in pieces]),
    "call_parser": Operation(_call_parser),
    "stream": Operation(_stream, chat_events),
    "stream_parallel": Operation(_stream, lambda pieces: chat_events(pieces, calls=8)),
    "stream_calls": Operation(_stream, _many_calls),
    "stream_sse": Operation(_stream, chat_sse),
    "sse": Operation(_decoder("SseDecoder"), chat_sse),
    "sse_one_event": Operation(_decoder("SseDecoder"), _one_event),
    "ndjson": Operation(_decoder("NdjsonDecoder"), _lines),
    "json_array": Operation(_decoder("JsonArrayDecoder"), _array),
}


# ---------------------------------------------------------------------------------------------------------- measures


def slope(points: Iterable[tuple[float, float]]) -> float:
    """The exponent of growth: the slope of the line through the logarithms (least squares)."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def seconds(run: Callable[[Any], Any], data: Any, loops: int = 1) -> float:
    """CPU time of `run(data)`: unlike the clock on the wall it leaves out what a shared machine does for others."""
    start = time.process_time()
    for _ in range(loops):
        run(data)
    return max((time.process_time() - start) / loops, 1e-7)


def least_seconds(run: Callable[[Any], Any], data: Any, rounds: int = 3) -> float:
    """The least of some rounds: of more where one is over before the clock has moved, of fewer where it is long."""
    costs: list[float] = []
    gc.collect()
    while (len(costs) < rounds and sum(costs) < 2.0) or (sum(costs) < 0.02 * rounds and len(costs) < 100 * rounds):
        costs.append(seconds(run, data))
    return min(costs)


def growth_exponent(toolstream: ModuleType, operation: str, shape: str = "string", piece: int = 16) -> float:
    """The exponent by the clock, from 16 to 256 thousand characters. Noisy: look for 1.4 and more, not for 1.1."""
    run = partial(OPERATIONS[operation].run, toolstream)
    points = []
    for size in (1 << 14, 1 << 16, 1 << 18):
        data = OPERATIONS[operation].prepare(cut(SHAPES[shape](size), piece))
        points.append((size, least_seconds(run, data)))
    return slope(points)


def _status(field: str) -> int:
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))


def peak_memory(run: Callable[[], Any]) -> int:
    """Bytes of memory that `run()` needs at its highest, above what there was before (Linux)."""
    if not sys.platform.startswith("linux"):
        raise NotImplementedError("needs /proc")
    gc.collect()
    before = _status("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forget the highest so far
    run()
    return max(0, _status("VmHWM") - before)
