"""Hostile texts and streams next to ordinary ones, by the clock, in the same run: below 20 times as much.

    python benchmarks/hostile.py           the tables for the back end of TOOLSTREAM_BACKEND; fails above the limit
    python benchmarks/hostile.py --only WORD

Texts: append and snapshot for every piece, time per character, against `records_100k` in the same pieces. Streams: time
per event or character against a stream of one ordinary call; and a million calls, with the memory of each. CPU time,
taken in turn, the least of the rounds: noise only adds. A row above the limit gets more rounds before it fails.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from common import chat_events, chat_sse, cut, peak_memory, seconds
from corpora import corpora

LIMIT = 20
ROUNDS = 3
SIZE = 100_000
PIECES = (4, 64)
CALLS = 1_000_000
CALL_BYTES = 4_000  # of memory for each of the calls of a stream, at most; of time it may cost what LIMIT says
HEADS_AND_UNITS = {
    "nested arrays": ("", "["),
    "nested objects": ("", '{"a":'),
    "nested, too deep to report": ("[" * 40, "[],"),
    "keys whose numbers collide": ("{", None),
    "other keys": ("{", None),
    "number": ("[", "1"),
    "fraction": ("[0.", "3"),
    "large numbers": ("[", "9" * 400 + ","),
    "exponents": ("[", "1e-300,"),
    "floats that are hard to round": ("[", "2.2250738585072011e-308,"),
    "word": ("[", "w"),
    "words": ("[", "w "),
    "escapes": ('["', "\\u00e9"),
    "invalid escapes": ('["', "\\x"),
    "unfinished escapes": ('["', "\\u00"),
    "high halves": ('["', "\\ud83d"),
    "control characters": ('["', "\n"),
    "NUL": ('["', "\0"),
    "long name": ('{"', "k"),
    "strings": ("[", '"",'),
    "commas": ("[", ","),
    "colons": ("{", ":"),
    "closers": ("", "]"),
    "open and close": ("[", "[]"),
    "mismatched": ("[", "[}"),
    "no commas": ("[", "1 "),
    "byte order marks": ("[", "\ufeff"),
    "beyond ASCII": ('["', "\u4e2d\U0001f600"),
    "single quotes": ("[", "'a',"),
    "comments": ("[", "/**/"),
    "fences": ("", "```\n"),
    "tags": ("", "<a>"),
    "one member again": ("{", '"a":[],'),
}


def text_of(name: str) -> str:
    head, unit = HEADS_AND_UNITS[name]
    if name == "keys whose numbers collide":
        return head + ",".join(f'"{number * ((1 << 61) - 1)}":1' for number in range(SIZE // 24))
    if name == "other keys":
        return head + ",".join(f'"{number:x}":1' for number in range(SIZE // 8))
    return head + unit * ((SIZE - len(head)) // len(unit))


def event(entry: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": None}]}


def call(index: int, id: str, name: str = "f", arguments: str = "{}") -> dict[str, Any]:
    return event({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}})


def calls(count: int) -> Iterator[dict[str, Any]]:
    return (call(number, f"call_{number}") for number in range(count))


LONG = "x" * (1 << 20)
STREAMS: dict[
    str, Callable[[], list[Any]]
] = {  # the same number of events as the ordinary stream, if it is about events
    "huge indexes": lambda: [call(number * 10**15, f"call_{number}") for number in range(5_000)],
    "negative and huge indexes": lambda: [call((-1) ** number * 10**30, f"call_{number}") for number in range(5_000)],
    "one index, other ids": lambda: [call(0, f"call_{number}") for number in range(5_000)],
    "one id, other indexes": lambda: [call(number, "call") for number in range(5_000)],
    "no header ever": lambda: [event({"index": number, "function": {"arguments": "x"}}) for number in range(5_000)],
    "entries of one event": lambda: [
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": n, "id": f"c{n}"} for n in range(5_000)]}}]}
    ],
    "choices": lambda: [{"choices": [{"index": n, "delta": {"content": "x"}}]} for n in range(5_000)],
    "empty events": lambda: [{}] * 5_000,
    "events after the end": lambda: [
        *[{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}],
        *[event({"index": 0, "function": {"arguments": "x"}})] * 5_000,
    ],
    "ids of a megabyte": lambda: [call(number, LONG + str(number)) for number in range(20)],
    "names of a megabyte": lambda: [call(number, f"call_{number}", LONG) for number in range(20)],
    "one name of a megabyte, again": lambda: [call(0, "call", LONG)] * 20,
    "bytes: comments without end": lambda: [b": x\n"] * 5_000,
    "bytes: one event without end": lambda: [b"data: ", *[b"x" * 64] * 5_000],
    "bytes: lines of one event": lambda: [b"data: x\n"] * 5_000,
    "bytes: blank lines": lambda: [b"\n" * 64] * 5_000,
    "bytes: events that are no JSON": lambda: [b"data: {\n\n"] * 5_000,
}


def events(pieces: list[Any]) -> int:
    """Events, one of several calls counted as many."""
    return sum(max(1, json.dumps(piece).count('"index"') - 1) if isinstance(piece, dict) else 1 for piece in pieces)


def weight(pieces: list[Any]) -> int:
    """Characters of what is fed, about."""
    return sum(len(piece) if isinstance(piece, bytes) else len(json.dumps(piece)) for piece in pieces)


def ratios(run: Callable[[Any], Any], hostile: list[Any], ordinary: list[Any], scales: list[float]) -> list[float]:
    """The least cost of each hostile input by that of the ordinary one beside it, times its scale."""
    least = [[float("inf"), float("inf")] for _ in hostile]
    out: list[float] = []
    for number in range(3 * ROUNDS):
        if number >= ROUNDS and max(out) < LIMIT:
            break
        for costs, pair in zip(least, zip(hostile, ordinary, strict=True), strict=True):
            costs[:] = (min(cost, seconds(run, pieces)) for cost, pieces in zip(costs, pair, strict=True))
        out = [scale * bad / usual for scale, (bad, usual) in zip(scales, least, strict=True)]
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    import toolstream

    def read(pieces: list[str]) -> None:
        parser = toolstream.StreamingJsonParser(lenient=True, report_ends=True)
        for piece in pieces:
            parser.append(piece)
            parser.snapshot()

    def stream(pieces: Iterable[Any]) -> Any:
        reader = toolstream.ToolCallStream("openai-chat")
        for piece in pieces:
            reader.feed(piece)
        reader.close()
        return reader.completion

    worst = 0.0
    usual = corpora()["records_100k"]
    ordinary = [cut(usual, size) for size in PIECES]
    print(f"{'text (' + toolstream.BACKEND + ')':34}" + "".join(f"{'pieces of ' + str(size):>16}" for size in PIECES))
    for name in HEADS_AND_UNITS:
        if options.only not in name:
            continue
        text = text_of(name)
        row = ratios(read, [cut(text, size) for size in PIECES], ordinary, [len(usual) / len(text)] * len(PIECES))
        worst = max(worst, *row)
        print(f"{name:34}" + "".join(f"{ratio:16.2f}" for ratio in row), flush=True)

    plain, framed = (make(cut(usual[:20_000], 4)) for make in (chat_events, chat_sse))
    print(f"{'stream':34}{'an event or character':>32}")
    for name, make in STREAMS.items():
        if options.only not in name:
            continue
        pieces, other = make(), framed if name.startswith("bytes") else plain
        # a small event costs what an event costs, one of many calls as many, a large one what its characters do
        scale = min(len(other) / events(pieces), weight(other) / weight(pieces))
        (ratio,) = ratios(stream, [pieces], [other], [scale])
        worst = max(worst, ratio)
        print(f"{name:34}{ratio:32.2f}", flush=True)

    if options.only in "a million calls":
        gc.collect()
        few = min(seconds(lambda _: stream(calls(1_000)), None) for _ in range(5)) / 1_000
        costs: list[float] = []
        memory = peak_memory(lambda: costs.append(seconds(lambda _: stream(calls(CALLS)), None))) / CALLS
        worst = max(worst, costs[0] / CALLS / few, LIMIT * memory / CALL_BYTES)
        print(
            f"{CALLS:,} calls in one stream: {costs[0]:.1f} s, {costs[0] / CALLS / few:.2f} times as much each as of a"
        )
        print(f"thousand, at most {LIMIT}; {memory:,.0f} bytes each, at most {CALL_BYTES:,}")
    print(f"worst: {worst:.1f} of the {LIMIT} allowed")
    return 0 if worst < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
