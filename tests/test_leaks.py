"""A parser that is dropped leaves nothing behind, whatever it has read and however that ended.

With TOOLSTREAM_NIGHTLY=1 each engine reads a million small documents instead of some thousand (`pytest -s` shows the
figures). What traces every allocation is too slow for that many, so those tests stay at some thousand.
"""

import gc
import os
import sys
import tracemalloc
from pathlib import Path

import pytest
from chat import call, finish
from cutting import pieces_of

import toolstream
from toolstream import (
    LimitExceededError,
    Limits,
    ToolCallArgumentsStream,
    ToolCallStream,
    apply_changes,
    parse_tool_call_arguments,
)
from toolstream.types import MISSING

NIGHTLY = os.environ.get("TOOLSTREAM_NIGHTLY") == "1"
DOCUMENTS = 3_000
SMALL_DOCUMENTS = 1_000_000 if NIGHTLY else 20_000
ALLOWED = 40_000  # bytes: caches of the interpreter, not a document's worth for each document

TEXTS = [
    '{"city":"Oslo","days":[1,2.5e3,true,null,-0.5],"note":"\\u00e9\\n\\ud83d\\ude00é€","deep":[[[[{"a":{}}]]]],"city":"Rome"}',
    '{"open":["text that is cut',
    '{"a":1,"b":[1,2,"x',
    '{"key that is cut',
    "[12345678901234567890123456789, 1e400, 123",
    "```json\n{'a': True, /* c */ 'b': [None,],}\n```",
    '{"a":NaN,\'b\':"\n\\q\\u12" 7}} x',
    "[" * 40 + '"x"' + "]" * 40,
    '["\\ud83d',
    "\ufeff",
    "",
]


def all_readings(engine):
    """Each text in each way: (function) that reads it and drops everything."""

    def parse(text, size, options, method, look):
        parser = engine.StreamingJsonParser(**options)
        take = getattr(parser, method)
        try:
            for piece in pieces_of(text, size):
                take(piece)
                if look:
                    parser.snapshot()
        except LimitExceededError:
            pass
        _ = (parser.snapshot(), parser.repairs, parser.error, parser.open_path, parser.complete, parser.valid)

    def wrong(text):
        parser = engine.StreamingJsonParser()
        for piece in (None, 5, memoryview(b"abcd")[::2], object()):
            try:
                parser.append(piece)
            except TypeError:
                parser.feed(text)

    def track(text):
        tracker = engine.JsonTracker()
        tracker.feed(text)
        tracker.feed(text.encode())

    def whole(text):
        engine.read_object(text, None)
        engine.read_object(text, 2)
        value = {"text": text, "all": [text, 1.5, 70_000, {"\u20ac": [text * 9]}]}
        engine.write_object(value, None)
        engine.write_object(value, 2)
        engine.write_object({**value, "z": [object()]}, None)

    readings = [lambda text=text: track(text) for text in TEXTS] + [lambda text=text: wrong(text) for text in TEXTS]
    readings += [lambda text=text: whole(text) for text in TEXTS]
    for text in TEXTS:
        for piece_text in (text, text.encode()):
            for size, options, method, look in (
                (1000, {}, "append", True),
                (3, {"report_ends": True}, "append", True),
                (1, {"lenient": True}, "append", False),
                (2, {"pending_scalars": "withhold"}, "feed", True),
                (4, {"max_depth": 2}, "append", True),
            ):
                readings.append(lambda a=(piece_text, size, options, method, look): parse(*a))
    return readings


def growth(readings, documents):
    """Bytes and objects that remain after many readings, beyond those of the first ones."""

    def some(count):
        for number in range(count):
            readings[number % len(readings)]()
        gc.collect()

    some(2 * len(readings))
    tracemalloc.start()
    try:
        some(len(readings))
        memory, objects = tracemalloc.get_traced_memory()[0], len(gc.get_objects())
        some(documents)
        return tracemalloc.get_traced_memory()[0] - memory, len(gc.get_objects()) - objects
    finally:
        tracemalloc.stop()


def test_nothing_remains(engine):
    memory, objects = growth(all_readings(engine), DOCUMENTS)
    assert memory < ALLOWED
    assert objects < 100


def test_nothing_remains_of_arguments():
    def stream(text):
        arguments = ToolCallArgumentsStream()
        for piece in pieces_of(text, 3):
            arguments.append(piece)
        arguments.replace(text + "}")
        arguments.finish()
        arguments.replace("{}")
        arguments.finish()

    readings = [lambda text=text: stream(text) for text in TEXTS]
    readings += [lambda text=text: parse_tool_call_arguments({"function": {"arguments": text}}) for text in TEXTS]
    memory, objects = growth(readings, DOCUMENTS)
    assert memory < ALLOWED
    assert objects < 100


def resident():
    """Bytes of memory that the process has now; where the system does not tell, the most that it has had."""
    status = Path("/proc/self/statm")
    if status.exists():
        return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    resource = pytest.importorskip("resource")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def remains(what, readings, documents):
    """Nothing is left of many documents: no block of Python's memory, no object, no memory of the process."""

    def some(count):
        for _ in range(count // len(readings)):
            for read in readings:
                read()
        gc.collect()

    some(max(2_000, documents // 20))
    blocks, objects, memory = sys.getallocatedblocks(), len(gc.get_objects()), resident()
    some(documents)
    blocks = sys.getallocatedblocks() - blocks
    objects = len(gc.get_objects()) - objects
    memory = resident() - memory
    print(f"{what}: {documents:,} documents, {blocks:+} blocks, {objects:+} objects, {memory:+,} bytes resident")
    assert blocks < 100
    assert objects < 100
    assert memory < 2_000_000


SMALL = [
    *(
        ['{"a":1}'],
        ['{"a":"x\\n', 'y"}'],
        ['[1,2,{"b":', "tru"],
        ['{"k": "v', "\\ud8", '3d\\ude00é"'],
        ["[[[{", '"a":[2.5e'],
    ),
    *([b'{"a":"\xc3', b'\xa9","a":2}'], ["```{'a':", "None}"], ['{"a":[1}', "x"], ['"\\ud83d'], ["1" * 20, "0,"]),
]
OPTIONS = [{}, {"report_ends": True}, {"lenient": True, "pending_scalars": "withhold"}, {"max_depth": 2}]


def test_nothing_remains_of_small_documents(engine):
    """Parsers dropped in any state: half read, ended, refused by a limit, after an exception about a wrong type."""

    def parse(pieces, options):
        parser = engine.StreamingJsonParser(**options)
        try:
            for piece in pieces:
                parser.append(piece)
                parser.snapshot()
        except LimitExceededError:
            return
        _ = parser.repairs, parser.error, parser.open_path

    def fail(pieces):
        parser = engine.StreamingJsonParser()
        parser.feed(pieces[0])
        try:
            parser.append(None)
        except TypeError:
            parser.feed(pieces[-1])

    def track(pieces):
        tracker = engine.JsonTracker()
        for piece in pieces:
            tracker.feed(piece)

    def whole(pieces):
        value = engine.read_object('{"a":["x",1.5,{}]}', None)
        engine.read_object(pieces[0], 2)
        engine.write_object({"pieces": pieces, **value}, None)

    readings = [lambda p=pieces, o=options: parse(p, o) for pieces in SMALL for options in OPTIONS]
    readings += [lambda p=pieces: fail(p) for pieces in SMALL] + [lambda p=pieces: track(p) for pieces in SMALL]
    readings += [lambda p=pieces: whole(p) for pieces in SMALL]
    remains(engine.__name__, readings, SMALL_DOCUMENTS)


def test_nothing_remains_of_small_streams():
    """Streams dropped half way, closed, cut by a limit, and left by an exception of their source."""
    chunks = [call(0, "a", "f", '{"a":'), call(1, "b", "g", "[1"), call(0, arguments="1}"), finish()]

    def read(count, close):
        stream = ToolCallStream("openai-chat", changes=True, limits=Limits(max_argument_bytes=7))
        try:
            for chunk in chunks[:count]:
                stream.feed(chunk)
        except LimitExceededError:
            pass
        if close:
            stream.close()
            stream.completion.message()

    def source():
        yield from chunks[:2]
        raise OSError("the line is dead")

    def fail():
        try:
            for _ in toolstream.iter_events(source(), "openai-chat"):
                pass
        except OSError:
            pass

    def leave():
        next(toolstream.iter_events(iter(chunks), "openai-chat"))

    readings = [lambda c=count, e=end: read(c, e) for count in range(1, 5) for end in (True, False)]
    remains("streams", [*readings, fail, leave], SMALL_DOCUMENTS // 10)


def test_resident_memory_does_not_grow(engine):
    """What no tracer of Python's memory sees: buffers of the compiled engine. The plain one has none, and is slow."""
    text = '{"a":"' + "x\\n" * 20_000 + '","b":[' + "1," * 20_000

    def some(count):
        for _ in range(count):
            parser = engine.StreamingJsonParser()
            for piece in pieces_of(text, 4096):
                parser.append(piece)
            parser.snapshot()

    compiled = engine.__name__.endswith("_c")
    some(5 if compiled else 1)
    before = resident()
    some((2000 if NIGHTLY else 25) if compiled else 3)
    assert resident() - before < 2_000_000


def test_references_to_what_was_fed_and_returned(engine):
    """Reference counts of the pieces, the keys of the options and the shared objects are as before."""
    piece, shared = '{"a":["' + "x" * 50, [None, True, False, MISSING, (), "set", "append", "end"]
    data = piece.encode()

    def some():
        for _ in range(50):
            parser = engine.StreamingJsonParser(report_ends=True, pending_scalars="withhold")
            changes = [*parser.append(piece), *parser.append(data), *parser.append('"],"b":[true,null,false]}')]
            apply_changes(MISSING, changes)
            parser.snapshot()
            held = engine.read_object('{"a":[null,true,{}]}', None)
            engine.write_object({piece: [piece, *held.values(), None, True], "b": 1.5}, None)
            engine.write_object({piece: [piece, None, data]}, None)

    some()
    before = [sys.getrefcount(thing) for thing in (piece, data, *shared)]
    some()
    after = [sys.getrefcount(thing) for thing in (piece, data, *shared)]
    assert all(abs(a - b) < 20 for a, b in zip(after, before, strict=True)), (before, after)
