"""Nothing remains of streams and decoders. Of the parsers alone `test_leaks.py` says so."""

import gc
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
                before = len(gc.get_objects())
                completion = stream.completion
                del stream
                _ = completion.calls
                del completion
                freed = before - len(gc.get_objects())
            finally:
                gc.enable()
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
