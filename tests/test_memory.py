"""Nothing remains of streams and decoders, and an allocation that fails is a MemoryError that corrupts nothing.

Of the parsers alone `test_leaks.py` says so.
"""

import gc
import subprocess
import sys
import tracemalloc
import weakref
from pathlib import Path

import pytest
from chat import call, finish
from cutting import pieces_of
from test_leaks import ALLOWED, TEXTS, growth

from toolstream import (
    AwsEventStreamDecoder,
    JsonArrayDecoder,
    LimitExceededError,
    Limits,
    NdjsonDecoder,
    SseDecoder,
    StreamingToolCallParser,
    ToolCallAccumulator,
    ToolCallStream,
    UnknownProviderError,
    iter_events,
)

STREAMS = sorted((Path(__file__).parent / "data" / "streams").iterdir())


def all_readings():
    def stream(data, size, close, **options):
        reader = ToolCallStream(**options)
        try:
            for piece in pieces_of(data, size):
                reader.feed(piece)
            if close:
                reader.close()
                reader.completion.message()
        except (LimitExceededError, UnknownProviderError):
            pass

    def decode(make, data):
        decoder = make()
        for piece in pieces_of(data, 11):
            decoder.feed(piece)

    def half_read(data):
        events = iter_events(pieces_of(data, 100))
        next(events)

    def raising(data):
        def source():
            yield data[:500]
            raise OSError("the line is dead")

        with pytest.raises(OSError, match="dead"):
            list(iter_events(source()))

    def primitives(text):
        parser, accumulator = StreamingToolCallParser(), ToolCallAccumulator()
        for piece in pieces_of(text, 5):
            parser.add_chunk(0, piece, "id", "name")
            accumulator.observe([{"index": 0, "function": {"arguments": piece}}])
        parser.get_completed_tool_calls()

    readings = [lambda text=text: primitives(text) for text in TEXTS]
    for path in STREAMS:
        data = path.read_bytes()
        for size, close in ((1 << 20, True), (50, True), (50, False), (333, True)):
            readings.append(lambda d=data, s=size, c=close: stream(d, s, c))
            readings.append(lambda d=data[:900], s=size, c=close: stream(d, s, c, changes=True))
        readings.append(lambda d=data: stream(d, 60, True, limits=Limits(max_pieces=9)))
        readings.append(lambda d=data: half_read(d))
        readings.append(lambda d=data: raising(d))
        for make in (SseDecoder, NdjsonDecoder, JsonArrayDecoder, AwsEventStreamDecoder):
            readings.append(lambda m=make, d=data: decode(m, d))
    return readings


def test_nothing_remains_of_streams():
    readings = all_readings()
    memory, objects = growth(readings, 2 * len(readings))
    assert memory < ALLOWED
    assert objects < 100


def test_a_stream_is_freed_without_the_collector():
    """No cycle: what is dropped is gone at once, whole or half read."""
    for path in STREAMS:
        for end in (None, 700):
            stream = ToolCallStream()
            stream.feed(path.read_bytes()[:end])
            gc.collect()
            gc.disable()
            try:
                watched = [weakref.ref(block) for block in () if block]
                before = len(gc.get_objects())
                completion = stream.completion
                del stream
                _ = completion.calls
                del completion
                freed = before - len(gc.get_objects())
            finally:
                gc.enable()
            assert watched == []
            assert gc.collect() < 400, path.name
            assert freed > 0, path.name


def test_reference_cycles_through_a_parser_are_collected(engine):
    """What a parser holds of its caller is only text; a cycle around it is found by the collector."""

    class Holder:
        pass

    gone = []
    for text in TEXTS:
        holder = Holder()
        holder.parser = engine.StreamingJsonParser(lenient=True)
        holder.parser.append(text)
        holder.parser.snapshot()
        holder.self = holder
        gone.append(weakref.ref(holder))
        del holder
    gc.collect()
    assert [ref() for ref in gone] == [None] * len(TEXTS)


def test_peak_memory_of_a_long_call_is_a_few_times_its_text():
    text = '{"a":"' + "x" * 2_000_000 + '"}'
    pieces = [call(0, "a", "f", ""), *[call(0, arguments=piece) for piece in pieces_of(text, 1000)], finish()]
    tracemalloc.start()
    try:
        stream = ToolCallStream("openai-chat")
        for piece in pieces:
            stream.feed(piece)
        stream.close()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert stream.completion.calls[0].executable
    assert peak < 6 * len(text)


NO_MEMORY = """
import sys
import faulthandler
faulthandler.enable()
sys.path.insert(0, {tests!r})
import _testcapi
from toolstream import {engine} as engine
from test_leaks import TEXTS

def read(texts, options, size):
    parser = engine.StreamingJsonParser(**options)
    tracker = engine.JsonTracker()
    for text in texts:
        for at in range(0, len(text), size):
            parser.append(text[at : at + size])
            tracker.feed(text[at : at + size])
        parser.snapshot()
    return parser

def facts(parser):
    return (parser.snapshot(), parser.repairs, parser.error, parser.open_path, parser.position, parser.valid,
            parser.depth, parser.complete, parser.escape, parser.in_string)

texts = [text for text in TEXTS if text] + ['{{"a":["' + "x" * 5000 + '\\\\n' * 200, "[" * 300, '["' + "\\u20ac" * 90 + '"]']
failed = 0
for text in texts:
    for options in ({{}}, {{"lenient": True, "report_ends": True}}):
        for size in (7, 10000):
            want = repr(facts(read([text], options, size)))
            count = 0
            while True:
                parser = engine.StreamingJsonParser(**options)
                pieces = [text[at : at + size] for at in range(0, len(text), size)]
                done = False
                _testcapi.set_nomemory(count, count + 1)
                try:
                    for piece in pieces:
                        parser.append(piece)
                        parser.snapshot()
                    done = True
                except MemoryError:
                    pass
                finally:
                    _testcapi.remove_mem_hooks()
                if done:
                    facts(parser)
                    if count > 60:
                        break
                else:
                    failed += 1
                    facts(parser)  # still answers
                    try:
                        parser.append(' "more" ]}}')  # goes on, or says why not
                        parser.snapshot()
                    except (MemoryError, RuntimeError):
                        pass
                    facts(parser)
                count += 1 if count < 60 else 7
                if count > 1500:
                    break
            assert repr(facts(read([text], options, size))) == want  # nothing that is shared was damaged
assert failed > 100, failed
print("failed allocations:", failed)
"""


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="the failing allocator is CPython's")
def test_allocations_that_fail(engine):
    pytest.importorskip("_testcapi")
    if not engine.__name__.endswith("_c"):
        pytest.skip("of the compiled engine only: the plain one has the interpreter's own care")
    code = NO_MEMORY.format(tests=str(Path(__file__).parent), engine=engine.__name__.rpartition(".")[2])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("failed allocations")
