"""Hostile input ends in bounded time, with a defect or a `LimitExceededError`, and what was read before stays readable.

What is merely malformed is in `test_linear.py`, `test_assembler_linear.py` and `test_stream_bytes.py`; here is what
somebody would send on purpose. Bounds on time are wide: what is quadratic misses them by orders of magnitude.
"""

import json
import struct
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from chat import call, delta, entry, finish
from protocol_helpers import as_objects, check_events, run
from test_transport_aws_event_stream import raw_frame, text_header

from toolstream import LimitExceededError, Limits, NdjsonDecoder, SseDecoder, ToolCallStream
from toolstream.transport import AwsEventStreamDecoder, decoder_for, recognise_framing

STREAMS = sorted((Path(__file__).parent / "data" / "streams").iterdir())
PROVIDERS = (
    *("openai-chat", "openai-responses", "anthropic", "gemini-interactions", "gemini"),
    *("bedrock-converse", "ollama", "mistral", "cohere"),
)


@contextmanager
def within(seconds):
    start = time.process_time()
    yield
    assert time.process_time() - start < seconds


def good_call():
    return [call(0, "good", "f", '{"a":1}'), call(1, "other", "g", '{"b":')]


def good_is_there(completion):
    assert completion.calls[0].arguments_text == '{"a":1}'
    assert completion.calls[0].arguments in ({"a": 1}, None)


# ---------------------------------------------------------------- text


@pytest.mark.parametrize("opener", ["[", '{"a":', '[{"a":[', "{'a':", "(["])
def test_nesting_bombs(engine, opener):
    with within(6):
        parser = engine.StreamingJsonParser()
        parser.feed(opener * 60_000)
        parser.snapshot()
        assert parser.depth > 30_000
        parser.feed("]" * 200_000)
        del parser
        limited = engine.StreamingJsonParser(max_depth=512)
        with pytest.raises(LimitExceededError):
            limited.feed("[1," + opener * 10_000)
        assert limited.snapshot()[0] == 1
        with pytest.raises(LimitExceededError):
            limited.feed("x")


def test_a_nesting_bomb_in_one_call_leaves_the_others():
    with within(4):
        done = run("openai-chat", [*good_call(), call(1, arguments='{"x":' * 100_000), finish()])
    assert done.calls[0].executable
    assert done.calls[1].status == "invalid"
    assert ("depth_exceeded", 1) in [(d.code, d.call) for d in done.defects]


def test_keys_with_colliding_hashes(engine):
    """Numbers collide by design, strings do not: their hashes are keyed. So a flood of keys costs what it weighs."""
    modulus = (1 << 61) - 1
    texts = [
        "{" + ",".join(f'"{i * modulus}":{i}' for i in range(30_000)) + "}",
        "{" + ",".join(f'"k{i & 7}":{i}' for i in range(60_000)) + "}",
        "{" + ",".join(f'"{"x" * (i % 300)}":{i}' for i in range(5_000)) + "}",
        "[" + ",".join(str(i * modulus) for i in range(30_000)) + "]",
    ]
    with within(8):
        for text in texts:
            parser = engine.StreamingJsonParser()
            for at in range(0, len(text), 512):
                parser.append(text[at : at + 512])
                parser.snapshot()
            assert parser.snapshot() == json.loads(text)


ENDLESS = {
    "number": ("[", "1"),
    "fraction": ("[0.", "7"),
    "exponent": ("[1e", "9"),
    "word": ("[", "w"),
    "escape": ('["', "\\u00"),
    "backslashes": ('["', "\\"),
    "halves": ('["', "\\ud83d"),
    "string": ('"', "\u00e9"),
    "key": ('{"', "k"),
    "comment": ("/*", "*"),
    "fence": ("", "`"),
    "tag": ("<", "a"),
    "commas": ("[", ","),
    "closers": ("", "}"),
    "nul": ('["', "\0"),
    "byte order marks": ("", "\ufeff"),
    "blanks": ("", " "),
}


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("name", ENDLESS)
def test_one_thing_that_never_ends(engine, name, lenient):
    head, unit = ENDLESS[name]
    parser = engine.StreamingJsonParser(lenient=lenient)
    with within(5):
        parser.append(head)
        for _ in range(2000):
            parser.append(unit * 40)
            parser.snapshot()
    assert parser.position == len(head) + 80_000 * len(unit)
    assert len(parser.repairs) <= 200


# ---------------------------------------------------------------- bytes


BAD = (
    *(b"\x80", b"\xbf", b"\xc0\xaf", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xf0\x9f", b"\xf4\x90\x80\x80"),
    *(b"\xf5", b"\xff", b"\x00", b"\xef\xbb\xbf"),
)


@pytest.mark.parametrize("bad", BAD)
def test_bad_bytes_at_every_place_of_a_text(engine, bad):
    text = '{"k\u00e9":["v\\u00e9\\n",1.5,true,{}],"b":"\U0001f600"}'.encode()
    for at in range(len(text) + 1):
        data = text[:at] + bad + text[at:] + b" "  # the blank ends a character that was cut
        parser, want = engine.StreamingJsonParser(), engine.StreamingJsonParser()
        for i in range(len(data)):
            parser.feed(data[i : i + 1])
        want.feed(data.decode("utf-8", "replace"))
        assert repr(parser.snapshot()) == repr(want.snapshot())
        assert (parser.valid, parser.error, parser.position) == (want.valid, want.error, want.position)


@pytest.mark.parametrize("bad", [b"\x00", b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
def test_bad_bytes_in_a_stream(path, bad):
    data = path.read_bytes()
    for at in range(0, len(data) + 1, 61):
        stream = ToolCallStream(provider_of(path))
        events = stream.feed(data[:at] + bad + data[at:]) + stream.close()
        check_events(stream.completion, events)


def provider_of(path):
    return next(name for name in sorted(PROVIDERS, key=len, reverse=True) if path.name.startswith(name))


@pytest.mark.parametrize(
    "frame",
    [
        struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFFF) + bytes(20),
        struct.pack(">II", 16, 0) + bytes(8),
        struct.pack(">II", 0, 0) + bytes(100),
        bytes(1000),
        raw_frame(b"\x01a\x00" * 30_000, b""),
        raw_frame(b"".join(text_header(f"h{i}", "v" * 20) for i in range(3_000)), b"{}"),
        raw_frame(b"\xff" + b"n" * 255 + b"\x07\xff\xff", b""),
        raw_frame(b"\x01a\x63", b""),
        raw_frame(b"\x00\x07\x00\x00", b""),
        raw_frame(b"\x01a\x06\xff\xff" + b"x" * 10, b""),
        raw_frame(text_header(":event-type", "chunk"), b'{"bytes":"' + b"A" * 5 + b'"}'),
        raw_frame(text_header(":event-type", "chunk"), b"[" * 100_000),
        raw_frame(text_header(":event-type", "\x00"), b"\xff"),
    ],
)
def test_header_bombs_in_frames(frame):
    good = raw_frame(text_header(":event-type", "messageStop"), b'{"stopReason":"end_turn"}')
    with within(3):
        for size in (1 << 30, 97):
            decoder = AwsEventStreamDecoder()
            data = good + frame * 20 + good
            messages = []
            try:
                for at in range(0, len(data), size):
                    messages += decoder.feed(data[at : at + size])
                messages += decoder.close()
            except LimitExceededError:
                pass
            assert messages[0].headers == {":event-type": "messageStop"}
        stream = ToolCallStream("bedrock-converse")
        try:
            events = stream.feed(good + frame)
        except LimitExceededError:
            events = []
        events += stream.close()
        assert events[-1].type == "stream.end"


@pytest.mark.parametrize("unit", [b"data: x\n", b"event: e\n", b"id: 1\n", b"x", b": c\n", b"\r", b"data\n", b"\xff"])
def test_events_without_end(unit):
    decoder = SseDecoder(max_size=100_000)
    with within(4):
        try:
            for _ in range(200_000 // len(unit)):
                decoder.feed(unit)
        except LimitExceededError:
            with pytest.raises(LimitExceededError):
                decoder.feed(b"data: 1\n\n")


def test_a_line_without_end():
    decoder = NdjsonDecoder(max_size=100_000)
    with within(2), pytest.raises(LimitExceededError):
        for _ in range(200_000):
            decoder.feed(b"[")


def test_json_bombs_in_events():
    """An event nested deeper than the interpreter recurses, or with a number of more digits than it reads."""
    for bomb in ("[" * 100_000, '{"a":' * 100_000, "9" * 10_000, "[" * 3000 + "]" * 3000, '"\\ud83d"', "NaN", "1e999"):
        for provider in PROVIDERS:
            for text in (f'data: {{"x":{bomb}\n\n', f'data: {{"type":"ping","x":{bomb}}}\n\n', f"data: {bomb}\n\n"):
                stream = ToolCallStream(provider)
                assert (stream.feed(text) + stream.close())[-1].type == "stream.end"


# ---------------------------------------------------------------- calls


def test_very_many_calls():
    with within(40):
        stream = ToolCallStream("openai-chat")
        for first in range(0, 30_000, 100):
            stream.feed(delta(*[entry(i, f"id{i}", "f", "{}") for i in range(first, first + 100)]))
        stream.close()
    assert len(stream.completion.calls) == 30_000
    assert len(stream.completion.defects) <= 100
    stream = ToolCallStream("openai-chat", limits=Limits(max_calls=2))
    stream.feed(good_call()[0])
    stream.feed(good_call()[1])
    with pytest.raises(LimitExceededError):
        stream.feed(call(2, "third", "f", "{}"))
    good_is_there(stream.completion)
    assert stream.close()[-1].type == "stream.end"
    assert stream.completion.calls[0].executable is False or stream.completion.calls[0].arguments == {"a": 1}


@pytest.mark.parametrize(
    "index", [-1, -(10**30), 10**30, 2**63, 1e300, 1.5, float("nan"), "9" * 5000, "-1", "", [], {}, True, "\u0661"]
)
def test_indexes(index):
    done = run("openai-chat", [*good_call(), call(index, "odd", "f", "{}"), call(index, arguments="}"), finish()])
    good_is_there(done)
    json.dumps(done.to_dict())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_ids_and_names_of_a_megabyte(provider):
    long = "n" * (1 << 20)
    with within(5):
        for path in [path for path in STREAMS if provider_of(path) == provider]:
            text = path.read_bytes()
            for field in ("id", "name", "call_id", "item_id", "toolUseId"):
                for event in messages_of(text):
                    changed = replaced(event, lambda name, value, field=field: long if name == field else value)
                    if changed != event:
                        stream = ToolCallStream(provider)
                        stream.feed(changed)
                        stream.close()


def messages_of(data):
    """The decoded events of a recorded stream."""
    framing = recognise_framing(data, True)
    decoder = decoder_for(framing)
    out = []
    for message in decoder.feed(data) + decoder.close():
        if framing == "aws-event-stream":
            out.append({message.headers[":event-type"]: json.loads(message.payload)})
        else:
            value = message if isinstance(message, dict) else getattr(message, "data", message)
            try:
                value = json.loads(value) if isinstance(value, str) else value
            except ValueError:  # the end mark
                continue
            out.append(value)
    return out


def replaced(value, change):
    if isinstance(value, dict):
        return {name: replaced(change(name, inner), change) for name, inner in value.items()}
    return [replaced(inner, change) for inner in value] if isinstance(value, list) else value


def places(value, path=()):
    """The path of every field and element, containers too."""
    yield path
    if isinstance(value, (dict, list)):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def put(value, path, new):
    """A copy of `value` with `new` at `path`."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = put(copy[path[0]], path[1:], new)
    return copy


WRONG = (None, True, -7, 1 << 70, 2.5, float("nan"), "", "null", "x", [], [None], [[1]], {}, {"a": None}, {"type": 5})


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
def test_every_field_of_every_event_of_a_wrong_type(path):
    events, provider = messages_of(path.read_bytes()), provider_of(path)
    seen = set()
    for number, event in enumerate(events):
        for place in places(event):
            shape = tuple(step if isinstance(step, str) else 0 for step in place), event.get("type")
            if not place or shape in seen:
                continue
            seen.add(shape)
            for wrong in WRONG:
                changed = [*events[:number], put(event, place, wrong), *events[number + 1 :]]
                stream = ToolCallStream(provider)
                out = [one for piece in changed for one in stream.feed(piece)] + stream.close()
                check_events(stream.completion, out)
                stream.completion.message()
                for one in out:
                    one.to_dict()


@pytest.mark.parametrize("wrong", [[1], {"a": 1}, "tool_calls"])
def test_words_that_are_something_else(wrong):
    """Where a field's value is looked up in a table, or a field is looked for in it."""
    fragment = {"type": "input_json_delta", "partial_json": "{}"}
    tool = {"type": "custom_tool_call", "id": "c", "call_id": "c", "name": wrong, "input": ""}
    for provider, events in {
        "openai-chat": [good_call()[0], {"id": "c", "choices": [{"index": 0, "delta": wrong}]}],
        "openai-responses": [{"type": "response.output_item.added", "output_index": 0, "item": tool}],
        "anthropic": [
            {"type": "content_block_start", "index": 0, "content_block": {"type": wrong}},
            {"type": "content_block_delta", "index": 0, "delta": fragment},
        ],
        "gemini-interactions": [
            {"event_type": "step.start", "index": 0, "step": {"type": wrong}},
            {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": "{}"}},
        ],
    }.items():
        run(provider, events).message()


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.name)
def test_events_in_any_order_and_without_some(path):
    events, provider = messages_of(path.read_bytes()), provider_of(path)
    orders = [events[::-1], events + events, events[1:], events[::2], events[1::2], [e for e in events for _ in "ab"]]
    orders += [events[:i] + events[i + 1 :] for i in range(len(events))]
    for order in orders:
        run(provider, order).message()


def test_objects_whose_attributes_raise():
    """An attribute that raises is the object's own fault: its exception comes out, and the stream goes on."""

    class Trap:
        __slots__ = ("choices",)

        def __getattribute__(self, name):
            if name == "choices":
                raise RuntimeError("trap")
            return object.__getattribute__(self, name)

    stream = ToolCallStream("openai-chat")
    stream.feed(as_objects(good_call()[0]))
    with pytest.raises(RuntimeError, match="trap"):
        stream.feed(Trap())
    stream.feed(as_objects(finish()))
    stream.close()
    good_is_there(stream.completion)
    assert stream.completion.calls[0].executable


def test_what_is_read_before_a_limit_stays():
    for limits in (Limits(max_argument_bytes=20), Limits(max_pieces=3)):
        stream = ToolCallStream("openai-chat", limits=limits)
        stream.feed(good_call()[0])
        stream.feed(good_call()[1])
        with pytest.raises(LimitExceededError):
            for _ in range(50):
                stream.feed(call(1, arguments="1"))
        good_is_there(stream.completion)
        with pytest.raises(LimitExceededError):
            stream.feed(call(1, arguments="1"))
        stream.close()
        assert [one.status == "streaming" for one in stream.completion.calls] == [False, False]
