"""toolstream and its alternatives on the same texts in one process and one run, and whether the targets are reached.

    python benchmarks/peers.py                          all modes (some minutes); needs what the extra `bench` installs
    python benchmarks/peers.py --quick                  few rounds, not for numbers
    python benchmarks/peers.py --only live,edit         modes and texts by name
    python benchmarks/peers.py --json FILE --svg FILE   the numbers, and the chart
    python benchmarks/peers.py --js FOLDER              also the JavaScript reference (see peers.mjs)

Modes, in pieces of 1 to 8 characters (4.5 on average) unless said otherwise:

    whole     one text in one piece, its value
    feed      every piece, then the value
    append    the changes that every piece makes
    live      the newest value after every piece
    assemble  decoded provider events in, the call's arguments out, live values read where there are any

The clock is CPU time: it leaves out the time that a shared machine gives to others. In each cell the rounds go over
all peers in turn, and the median counts. So ratios within one run are worth something, one time alone is not. Values
are compared with json.loads first. The garbage collector is on, as in a real program. A peer whose cost would pass
the time budget is run on the beginning of the text only; its figure is then a lower bound, marked with ">".
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.metadata
import json
import math
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import corpora
from common import OPERATIONS, chat_events, peak_memory, seconds

OWN = "toolstream"
REFERENCE = "reference (JavaScript)"
Run = Callable[[Any], Any]

# ---------------------------------------------------------------------------------------------------------- adapters

ADAPTERS: dict[str, dict[str, Run]] = {mode: {} for mode in ("whole", "feed", "append", "live", "assemble")}
EVENTS: dict[str, Callable[[list[str]], list[Any]]] = {}  # how an assembler's input is made
UNCHECKED = {"do-nothing call", "ijson (yajl2_c, paths)"}
MISSING: list[str] = []


def needs(*distributions: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Run the decorated function, which adds adapters; where a package is missing, note that."""

    def decorate(add: Callable[[], None]) -> Callable[[], None]:
        def guarded() -> None:
            try:
                add()
                VERSIONS.update({name: importlib.metadata.version(name) for name in distributions})
            except ImportError as error:
                MISSING.append(f"{', '.join(distributions)}: {error}")

        GROUPS.append(guarded)
        return guarded

    return decorate


GROUPS: list[Callable[[], None]] = []
VERSIONS: dict[str, str] = {}


@needs()
def _toolstream() -> None:
    import toolstream

    StreamingJsonParser = toolstream.StreamingJsonParser
    run = OPERATIONS["append"].run

    def own(operation: str) -> Run:
        return partial(OPERATIONS[operation].run, toolstream)

    def whole(text: str) -> Any:
        parser = StreamingJsonParser()
        parser.feed(text)
        return parser.snapshot()

    def append(pieces: list[str]) -> Any:
        return run(toolstream, pieces).snapshot()

    ADAPTERS["whole"][OWN] = whole
    ADAPTERS["feed"][OWN] = own("feed")
    ADAPTERS["append"][OWN] = append
    ADAPTERS["live"][OWN] = own("live")
    stream = own("stream")
    ADAPTERS["assemble"][OWN] = lambda events: stream(events).calls[0].arguments_text
    EVENTS[OWN] = chat_events


@needs("cython")
def _do_nothing() -> None:
    import pyximport

    hook = pyximport.install(language_level=3, build_dir=tempfile.mkdtemp(), inplace=False)
    try:
        import _floor
    finally:
        pyximport.uninstall(*hook)

    def run(pieces: list[str]) -> None:
        append = _floor.DoNothing().append
        for piece in pieces:
            append(piece)

    ADAPTERS["append"]["do-nothing call"] = run


def _join(loads: Run) -> Run:
    def run(pieces: list[str]) -> Any:
        parts: list[str] = []
        append = parts.append
        for piece in pieces:
            append(piece)
        return loads("".join(parts))

    return run


@needs()
def _json() -> None:
    ADAPTERS["whole"]["json.loads"] = lambda text: json.loads(text)


@needs("orjson")
def _orjson() -> None:
    import orjson

    ADAPTERS["whole"]["orjson"] = lambda text: orjson.loads(text)
    ADAPTERS["feed"]["join + orjson"] = _join(orjson.loads)


@needs("msgspec")
def _msgspec() -> None:
    import msgspec

    ADAPTERS["whole"]["msgspec"] = lambda text: msgspec.json.decode(text)


@needs("jiter")
def _jiter() -> None:
    from jiter import from_json

    def live(pieces: list[str]) -> Any:
        data, value = b"", None
        for piece in pieces:
            data += piece.encode()
            value = from_json(data, partial_mode="trailing-strings")
        return value

    ADAPTERS["whole"]["jiter"] = lambda text: from_json(text.encode())
    ADAPTERS["live"]["jiter on the prefix"] = live


@needs("ijson")
def _ijson() -> None:
    import ijson

    backend = ijson.get_backend("yajl2_c")

    def append(pieces: list[str]) -> int:
        out = ijson.sendable_list()
        send = backend.parse_coro(out, use_float=True).send
        count = 0
        for piece in pieces:
            send(piece.encode())
            if out:
                count += len(out)
                del out[:]
        return count

    ADAPTERS["append"]["ijson (yajl2_c, paths)"] = append


@needs("streaming-json-parser", "streaming-json-parser-native")
def _streaming_json_parser() -> None:
    import streaming_json_parser_native  # noqa: F401 - without it the package falls back to Python
    from streaming_json_parser import StreamingJsonParser

    def feed(pieces: list[str]) -> Any:
        parser = StreamingJsonParser()
        consume = parser.consume
        for piece in pieces:
            consume(piece)
        return parser.finish().value

    def live(pieces: list[str]) -> Any:
        take = StreamingJsonParser().feed
        value = None
        for piece in pieces:
            value = take(piece).value
        return value

    ADAPTERS["feed"]["streaming-json-parser (Rust)"] = feed
    ADAPTERS["live"]["streaming-json-parser (Rust)"] = live


@needs("streaming-json-parser")
def _streaming_json_parser_pure() -> None:
    """A second copy of the module, which does not find the native part."""
    from importlib.util import find_spec, module_from_spec, spec_from_file_location

    found = find_spec("streaming_json_parser.high_performance_parser")
    spec = spec_from_file_location("_pure_streaming_json_parser", found.origin)
    module = sys.modules[spec.name] = module_from_spec(spec)
    native = sys.modules.get("streaming_json_parser_native")
    sys.modules["streaming_json_parser_native"] = None  # type: ignore[assignment]
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules["streaming_json_parser_native"]
        if native:
            sys.modules["streaming_json_parser_native"] = native

    def live(pieces: list[str]) -> Any:
        take = module.HighPerformanceStreamingJsonParser().feed
        value = None
        for piece in pieces:
            value = take(piece).value
        return value

    ADAPTERS["live"]["streaming-json-parser (Python)"] = live


@needs("jsonriver")
def _jsonriver() -> None:
    from jsonriver import parse

    async def source(pieces: list[str]) -> Any:
        for piece in pieces:
            yield piece

    async def run(pieces: list[str]) -> Any:
        value = None
        with contextlib.suppress(ValueError):  # the text ends early
            async for value in parse(source(pieces)):  # noqa: B007
                pass
        return value

    def live(pieces: list[str]) -> Any:
        try:
            run(pieces).send(None)  # nothing waits, so no event loop is needed
        except StopIteration as done:
            return done.value
        raise RuntimeError("the parser waited")

    ADAPTERS["live"]["jsonriver (Python)"] = live


@needs()
def _by_hand() -> None:
    def assemble(events: list[dict]) -> str:
        calls: dict[int, dict] = {}
        for event in events:
            for delta in event["choices"][0]["delta"].get("tool_calls", ()):
                function = delta["function"]
                call = calls.get(delta["index"])
                if call is None:
                    calls[delta["index"]] = call = {"id": delta["id"], "name": function["name"], "parts": []}
                arguments = function.get("arguments")
                if arguments:
                    call["parts"].append(arguments)
        return "".join(calls[0]["parts"])

    ADAPTERS["assemble"]["by hand, plain dicts"] = assemble
    EVENTS["by hand, plain dicts"] = chat_events


@needs("openai")
def _openai() -> None:
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    def assemble(events: list[Any]) -> str:
        state = ChatCompletionStreamState()
        handle = state.handle_chunk
        for event in events:
            handle(event)
        return state.current_completion_snapshot.choices[0].message.tool_calls[0].function.arguments

    ADAPTERS["assemble"]["openai SDK"] = assemble
    EVENTS["openai SDK"] = lambda pieces: [ChatCompletionChunk.model_validate(event) for event in chat_events(pieces)]


@needs("anthropic")
def _anthropic() -> None:
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import RawContentBlockDeltaEvent, RawContentBlockStartEvent, RawMessageStartEvent

    def events(pieces: list[str]) -> list[Any]:
        message = {"id": "m1", "type": "message", "role": "assistant", "content": [], "model": "m"}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
        block = {"type": "tool_use", "id": "t1", "name": "write_file", "input": {}}
        start = {"type": "content_block_start", "index": 0, "content_block": block}
        out: list[Any] = [
            RawMessageStartEvent.model_validate({"type": "message_start", "message": message}),
            RawContentBlockStartEvent.model_validate(start),
        ]
        for piece in pieces:
            delta = {"type": "input_json_delta", "partial_json": piece}
            event = {"type": "content_block_delta", "index": 0, "delta": delta}
            out.append(RawContentBlockDeltaEvent.model_validate(event))
        return out

    def assemble(events: list[Any]) -> Any:
        snapshot, buffers = None, {}
        for event in events:
            snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
        return snapshot.content[0].input

    ADAPTERS["assemble"]["anthropic SDK"] = assemble
    EVENTS["anthropic SDK"] = events


# ----------------------------------------------------------------------------------------------------------- measure


def beginning(run: Run, data: Any, budget: float) -> tuple[float, float] | None:
    """Run longer and longer beginnings. None: all of it fits the budget; else the last share that did, and its cost."""
    if not isinstance(data, list) or len(data) < 2000:
        return None
    size, before = len(data) // 256, 0.0
    while size < len(data):
        cost = 0.0
        with contextlib.suppress(Exception):  # some peers refuse a text that is not whole
            cost = seconds(run, data[:size])
        steepness = cost / before if before else 2.0
        if cost * max(2.0, steepness) ** math.log2(len(data) / size) > budget:
            return size / len(data), cost
        size, before = size * 2, cost
    return None


def cell(mode: str, text: str, pieces: list[str], rounds: int, budget: float) -> dict[str, dict[str, Any]]:
    """{peer: {"ns": CPU nanoseconds a character, "bound": whether that is only a lower bound}}"""
    expected = json.loads(text)
    results: dict[str, dict[str, Any]] = {}
    plan: list[tuple[str, Run, Any, int, int]] = []
    for peer, run in ADAPTERS[mode].items():
        data = text if mode == "whole" else EVENTS[peer](pieces) if mode == "assemble" else pieces
        part = beginning(run, data, budget)
        if part:
            results[peer] = {"ns": part[1] / (len(text) * part[0]) * 1e9, "bound": True}
            continue
        try:
            start = time.process_time()
            value = run(data)
            cost = time.process_time() - start
        except Exception as error:
            results[peer] = {"failed": f"{type(error).__name__}: {error}"[:100]}
            continue
        if peer not in UNCHECKED and value != expected and value != text:
            results[peer] = {"failed": "wrong value"}
            continue
        samples = [cost / len(text) * 1e9] if cost > 0.2 else []  # long enough to stand
        cost = cost if samples else seconds(run, data)
        loops = math.ceil(0.005 / cost)
        plan.append((peer, run, data, loops, max(1 - len(samples), min(rounds, int(budget / 4 / (cost * loops))))))
        results[peer] = {"samples": samples, "bound": False}
    gc.collect()
    gc.freeze()  # or the collector would look at the input of all peers while it runs one
    for number in range(rounds):
        for peer, run, data, loops, wanted in plan:
            if number < wanted:
                gc.collect()
                results[peer]["samples"].append(seconds(run, data, loops) / len(text) * 1e9)
    for result in results.values():
        if "samples" in result:
            result["ns"] = statistics.median(result.pop("samples"))
    return results


def reference(folder: str, pieces: dict[str, list[str]], budget: float) -> dict[str, dict[str, float]]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"pieces": pieces, "budget": budget}, file)
        file.flush()
        command = ["node", str(Path(__file__).with_name("peers.mjs").resolve()), file.name]
        return json.loads(subprocess.run(command, check=True, cwd=folder, capture_output=True).stdout)


def tracker_speed(text: str) -> float:
    """Bytes a second of a tracker that gets the text in one piece."""
    import toolstream

    run = OPERATIONS["tracker"].run
    return len(text) / statistics.median(seconds(lambda pieces: run(toolstream, pieces), [text], 20) for _ in range(7))


def memory(text: str, size: int) -> float:
    """Peak memory of a live run, as a multiple of the text, without the newest value (which is as long as the text)."""
    import toolstream

    def pieces() -> Iterator[str]:
        for start in range(0, len(text), size):
            yield text[start : start + size]

    return peak_memory(lambda: OPERATIONS["live"].run(toolstream, pieces())) / len(text) - 1


# ----------------------------------------------------------------------------------------------------------- targets

Table = dict[str, dict[str, dict[str, dict[str, Any]]]]  # mode, text, peer


def targets(table: Table, facts: dict[str, float], backend: str) -> Iterator[tuple[str, float, float, bool]]:
    """(what, measured, aim, whether the measured must be at least the aim; otherwise at most)"""

    def ratios(mode: str, peers: list[str], only: Callable[[str], bool] = lambda text: True) -> dict[str, float]:
        """Our cost as a multiple of the cheapest of the peers, by text."""
        out = {}
        for text, row in table.get(mode, {}).items():
            costs = [row[peer]["ns"] for peer in peers if "ns" in row.get(peer, ())]
            if only(text) and costs and "ns" in row.get(OWN, ()):
                out[text] = row[OWN]["ns"] / min(costs)
        return out

    def mean(values: dict[str, float]) -> float:
        return statistics.geometric_mean(values.values()) if values else math.nan

    def worst(values: dict[str, float]) -> float:
        return max(values.values(), default=math.nan)

    def ahead(values: dict[str, float]) -> float:
        return 1 / worst(values)

    small = {"weather", "search"}
    big = ["edit", "records_100k"]
    pure = ["jsonriver (Python)", "streaming-json-parser (Python)"]
    if backend == "python":
        yield "live: ahead of the fastest pure-Python peer, every text", ahead(ratios("live", pure)), 3, True
        return
    fast = ratios("whole", ["orjson", "msgspec"])
    yield "whole: geometric mean, to the faster of orjson and msgspec", mean(fast), 1.25, False
    yield "whole: worst text, to jiter", worst(ratios("whole", ["jiter"])), 1, False
    yield "feed: geometric mean, to join + orjson", mean(ratios("feed", ["join + orjson"])), 1.3, False
    yield "feed: worst text, to join + orjson", worst(ratios("feed", ["join + orjson"])), 2, False
    strings = ratios("append", ["do-nothing call"], lambda text: text in ("edit", "file_256k", "file_1m"))
    yield "append: worst of edit and files, to the do-nothing call", worst(strings), 3, False
    yield "append: worst text, to the JavaScript reference", worst(ratios("append", [REFERENCE])), 1, False
    peers = [peer for peer in ADAPTERS["live"] if peer != OWN]
    yield (
        "live: ahead of the best Python peer, texts > 1,000",
        ahead(ratios("live", peers, lambda t: t not in small)),
        3,
        True,
    )
    yield (
        "live: ahead of the best Python peer, small texts",
        ahead(ratios("live", peers, lambda t: t in small)),
        1,
        True,
    )
    yield "live: worst text, to the JavaScript reference", worst(ratios("live", [REFERENCE])), 1, False
    yield "tracker: file_1m in one piece, GB/s", facts.get("tracker", math.nan) / 1e9, 1, True
    hand = ["by hand, plain dicts"]
    yield "assemble: edit and records, to by hand", worst(ratios("assemble", hand, lambda t: t in big)), 4, False
    yield "assemble: small texts, to by hand", worst(ratios("assemble", hand, lambda t: t in small)), 6, False
    yield "assemble: ahead of openai's", ahead(ratios("assemble", ["openai SDK"])), 20, True
    yield "assemble: ahead of anthropic's", ahead(ratios("assemble", ["anthropic SDK"])), 3, True
    yield "memory: live, 1 MB in pieces of 4, to the text", facts.get("memory 1 MB", math.nan), 3, False
    yield "memory: live, 8 MB in pieces of 64, to the text", facts.get("memory 8 MB", math.nan), 3, False


def show(table: Table, verdicts: list[tuple[str, float, float, bool]]) -> str:
    lines = []
    for mode, texts in table.items():
        lines.append(f"{mode + ', ns a character':32}" + "".join(f"{text[:12]:>13}" for text in texts))
        for peer in dict.fromkeys(peer for row in texts.values() for peer in row):
            cells = []
            for row in texts.values():
                result = row.get(peer, {})
                figure = result.get("ns")
                mark = ">" if result.get("bound") else ""
                digits = 1 if figure and figure < 100 else 0
                cells.append(f"{mark}{figure:,.{digits}f}" if figure else "fails" if "failed" in result else "-")
            lines.append(f"  {peer:30}" + "".join(f"{cell:>13}" for cell in cells))
        lines.append("")
    lines.append(f"{'target':64}{'measured':>10}{'aim':>12}")
    for what, measured, aim, at_least in verdicts:
        aimed = f"{'>=' if at_least else '<='} {aim:g}"
        if math.isnan(measured):
            word = "not measured"
        elif measured >= aim if at_least else measured <= aim:
            word = "reached"
        else:
            word = f"missed by {abs(measured / aim - 1) * 100:.0f} %"
        lines.append(f"{what:64}{measured:>10.2f}{aimed:>12}  {word}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="modes and texts, separated by commas")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--js", metavar="FOLDER")
    options = parser.parse_args()
    rounds, budget = (1, 0.5) if options.quick else (9, 6.0)
    import toolstream

    for group in GROUPS:
        group()
    for missing in MISSING:
        print("missing", missing, file=sys.stderr)
    texts = corpora.corpora()
    wanted = {word for word in options.only.split(",") if word}
    modes = [mode for mode in ADAPTERS if not wanted & set(ADAPTERS) or mode in wanted]
    names = [name for name in texts if not wanted & set(texts) or name in wanted]
    pieces = {name: corpora.token_chunks(texts[name], 1) for name in names}
    facts = {}
    if not wanted:
        facts["memory 1 MB"] = memory(texts["file_1m"], 4)
        facts["memory 8 MB"] = memory(corpora.string_doc(8 << 20), 64)
        facts["tracker"] = tracker_speed(texts["file_1m"])
    gc.collect()
    gc.freeze()
    table: Table = {}
    for mode in modes:
        table[mode] = {}
        for name in names:
            if mode == "assemble" and name not in ("weather", "search", "edit", "records_100k"):
                continue
            table[mode][name] = cell(mode, texts[name], pieces[name], rounds, budget)
            print(mode, name, file=sys.stderr)
    if options.js:
        for mode, row in reference(options.js, pieces, budget).items():
            for name, cost in row.items():
                if mode in table:
                    table[mode][name][REFERENCE] = {"ns": cost / len(texts[name]) * 1e9, "bound": False}
    versions = {
        "python": platform.python_version(),
        OWN: f"{toolstream.__version__} ({toolstream.BACKEND})",
        **VERSIONS,
    }
    verdicts = list(targets(table, facts, toolstream.BACKEND))
    print(", ".join(f"{name} {version}" for name, version in versions.items()) + "\n")
    print(show(table, verdicts))
    if options.json:
        data = {"versions": versions, "facts": facts, "table": table, "targets": verdicts}
        options.json.write_text(json.dumps(data, indent=1))
    if options.svg:
        from charts import bars

        panels = {
            "the value after every piece, a file of 8 KB": table["live"]["edit"],
            "the value after every piece, records of 100 KB": table["live"]["records_100k"],
            "the value after every piece, a file of 1 MB": table["live"]["file_1m"],
            "a tool call from decoded events, a file of 8 KB": table["assemble"]["edit"],
        }
        costs = {
            panel: {peer: (cost["ns"], cost["bound"]) for peer, cost in row.items() if "ns" in cost}
            for panel, row in panels.items()
        }
        title = "CPU time a character, in pieces of 4.5 characters on average (logarithmic)"
        options.svg.write_text(bars(title, costs, OWN))


if __name__ == "__main__":
    main()
