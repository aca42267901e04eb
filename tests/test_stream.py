"""From pieces of any kind to events: framing, recognition, ends, and the helpers that iterate over a source."""

import asyncio
import gc
import json
import sys
from collections import UserDict
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import SimpleNamespace

import pytest
from chat import call, delta, entry, finish, read
from protocol_helpers import as_objects, brief, codes
from test_stream_bytes import frames

import toolstream
from toolstream import (
    DefectFound,
    ReasoningDelta,
    StreamEnd,
    TextDelta,
    ToolCallDelta,
    ToolCallEnd,
    ToolCallStart,
    ToolCallStream,
    UnknownProviderError,
    aassemble,
    aiter_events,
    assemble,
    iter_events,
)
from toolstream.transport import SseEvent, json_text

CHUNKS = [
    delta(content="Hm"),
    call(0, "a", "add", '{"x":'),
    call(0, arguments="1}"),
    call(1, "b", "mul", '{"y":"é'),
    call(1, arguments='🍵"}'),
    finish(),
]
BRIEF = [("add", {"x": 1}, "complete", True), ("mul", {"y": "é🍵"}, "complete", True)]


def sse(*chunks, done=True):
    lines = [chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False) for chunk in chunks]
    return "".join(f"data: {line}\n\n" for line in [*lines, *["[DONE]"] * done]).encode()


def ndjson(*lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def cut(data, size):
    return [data[i : i + size] for i in range(0, len(data), size)]


def until_error(items):
    """What an iterator gives, and the exception that ends it."""
    out = []
    try:
        for item in items:
            out.append(item)
    except Exception as error:
        return out, error
    return out, None


def stream_of(pieces, provider=None, **options):
    stream = ToolCallStream(provider, **options)
    for piece in pieces:
        stream.feed(piece)
    stream.close()
    return stream


# ---------------------------------------------------------------- pieces


@pytest.mark.parametrize("provider", ["openai-chat", None])
@pytest.mark.parametrize("size", [1, 7, 64, 10**6])
def test_bytes_are_framed_however_they_are_cut(provider, size):
    stream = stream_of(cut(sse(*CHUNKS), size), provider)
    assert (brief(stream.completion), codes(stream.completion)) == (BRIEF, [])
    assert (stream.provider, stream.framing, stream.unread) == ("openai-chat", "sse", [])


@pytest.mark.parametrize("convert", [bytearray, memoryview, bytes.decode], ids=["bytearray", "memoryview", "str"])
def test_bytes_and_text_of_any_type(convert):
    completion = stream_of([convert(sse(*CHUNKS))], "openai-chat").completion
    assert brief(completion) == BRIEF


def test_decoded_events_and_messages_of_a_framing():
    assert brief(stream_of(CHUNKS).completion) == BRIEF
    messages = [SseEvent(None, json.dumps(chunk), None) for chunk in CHUNKS]
    assert brief(stream_of(messages).completion) == BRIEF


@pytest.mark.parametrize(
    "options",
    [{"strict": 1}, {"changes": "yes"}, {"limits": {"max_calls": 1}}, {"limits": 5}, {"new_id": "call_1"}],
    ids=repr,
)
def test_an_option_of_another_type_is_told_as_what_it_is(options):
    [(name, given)] = options.items()
    with pytest.raises(TypeError, match=f"^{name} must be .*, not {type(given).__name__}$"):
        ToolCallStream(**options)


def test_a_piece_of_nothing_known_is_a_type_error():
    for piece in (None, 3, 2.5, [1]):
        with pytest.raises(TypeError, match="a piece must be"):
            ToolCallStream("openai-chat").feed(piece)


def of_class(value):
    """A decoded value with an object for each dict, whose class holds the fields."""
    if isinstance(value, list):
        return [of_class(item) for item in value]
    return type("X", (), {k: of_class(v) for k, v in value.items()})() if isinstance(value, dict) else value


@pytest.mark.parametrize("provider", ["openai-chat", None])
def test_fields_that_stand_in_the_class_are_read(provider):
    assert brief(assemble(map(of_class, CHUNKS), provider)) == BRIEF
    inside = [{"choices": [of_class(choice) for choice in chunk["choices"]]} for chunk in CHUNKS]
    assert brief(assemble(inside, provider)) == BRIEF


class Hidden:
    def __init__(self):
        self._choices = CHUNKS[1]["choices"]

    def choices(self):
        return self._choices


@pytest.mark.parametrize("piece", [Hidden(), of_class({}), of_class, (_ for _ in ())], ids=lambda x: type(x).__name__)
@pytest.mark.parametrize("provider", ["openai-chat", None])
def test_an_object_that_nothing_can_be_read_of_is_a_type_error(piece, provider):
    with pytest.raises(
        TypeError, match=rf"a piece must be .*, not {type(piece).__name__}( \(it has no attribute.*\))?$"
    ):
        ToolCallStream(provider).feed(piece)


@dataclass
class Ping:
    pass


@pytest.mark.parametrize("piece", [{}, SimpleNamespace(), UserDict(), Ping()], ids=lambda x: type(x).__name__)
def test_an_event_without_members_is_one(piece):
    assert ToolCallStream("openai-chat").feed(piece) == []


def test_a_model_of_which_nothing_was_sent_is_an_event():
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Chunk", choices=(list | None, None))
    assert ToolCallStream("openai-chat").feed(model()) == []
    assert ToolCallStream("openai-chat").feed(pydantic.create_model("Nothing")()) == []


def test_a_whole_body_in_place_of_pieces_is_told_as_that():
    with pytest.raises(TypeError, match=r"give \[body\]"):
        assemble(sse(*CHUNKS), "openai-chat")


def test_a_second_stream_knows_nothing_of_the_first():
    one, two = ToolCallStream("openai-chat"), ToolCallStream("openai-chat")
    one.feed(CHUNKS[1])
    two.feed(CHUNKS[2])
    assert (len(one.completion.calls), len(two.completion.calls)) == (1, 0)


# ---------------------------------------------------------------- damage


def test_an_event_that_is_no_json_is_skipped():
    completion = stream_of([sse(CHUNKS[1], "<html>", *CHUNKS[2:])], "openai-chat").completion
    assert (brief(completion), codes(completion)) == (BRIEF, [("sse_bad_json", None)])


def test_a_lost_event_makes_a_call_without_text_incomplete():
    completion = stream_of([sse(call(0, "a", "f", ""), '{"choices":[{', finish())], "openai-chat").completion
    assert brief(completion) == [("f", None, "incomplete", False)]


def test_the_last_line_of_a_merged_event_is_used():
    data = b'data: {"choices":[{"del\ndata: ' + json.dumps(CHUNKS[1]).encode() + b"\n\n" + sse(*CHUNKS[2:])
    completion = stream_of([data], "openai-chat").completion
    assert (brief(completion), codes(completion)) == (BRIEF, [("sse_bad_json", None)])


NAMED_ERRORS = {
    "Internal Server Error": {"message": "Internal Server Error"},
    "<html>\ndata: </html>": {"message": "<html>\n</html>"},
    '"overloaded"': {"message": "overloaded"},
    '{"type": "invalid_request", "message": "no"}': {"type": "invalid_request", "message": "no"},
    '{"error": null, "message": "no"}': {"message": "no"},
    '{"error": {"message": "no"}}': {"message": "no"},
    "{}": {"message": "the provider sent an error event"},
    "null": {"message": "the provider sent an error event"},
}
FIRST_EVENTS = {
    "openai-chat": CHUNKS[0],
    "openai-responses": {"type": "response.created", "response": {"output": []}},
    "anthropic": {"type": "message_start", "message": {"id": "m"}},
    "gemini": {"candidates": [], "modelVersion": "g"},
    "gemini-interactions": {"event_type": "interaction.created", "interaction": {}},
    "bedrock-converse": {"messageStart": {"role": "assistant"}},
    "ollama": {"message": {"content": "a"}, "done": False},
    "mistral": {"data": CHUNKS[0]},
    "cohere": {"type": "message-start", "id": "m"},
}


@pytest.mark.parametrize("provider", FIRST_EVENTS)
@pytest.mark.parametrize("payload", NAMED_ERRORS)
def test_an_event_named_error_is_one_whatever_it_holds(provider, payload):
    data = f"event: error\ndata: {payload}\n\n".encode()
    before = sse(FIRST_EVENTS[provider], done=False)
    for name, pieces in [
        (provider, [before, data]),
        (provider, [before + data]),
        (None, [before, data]),
        (None, [before, data[:-2]]),
    ]:
        completion = stream_of(pieces, name).completion
        assert NAMED_ERRORS[payload].items() <= completion.error.items()
        assert completion.finish_reason == "error"
        assert ("stream_error", None) in codes(completion)


@pytest.mark.parametrize("payload", NAMED_ERRORS)
def test_an_event_named_error_may_be_all_that_comes(payload):
    completion = stream_of([f"event: error\ndata: {payload}\n\n".encode()]).completion
    assert NAMED_ERRORS[payload].items() <= completion.error.items()


@pytest.mark.parametrize("provider", FIRST_EVENTS)
@pytest.mark.parametrize("named", [True, False])
def test_an_exception_of_boto3_ends_any_stream(provider, named):
    pieces = [FIRST_EVENTS[provider], {"modelStreamErrorException": {"message": "no", "originalStatusCode": 424}}]
    completion = stream_of(pieces, provider if named else None).completion
    assert completion.error == {"type": "modelStreamErrorException", "message": "no", "originalStatusCode": 424}
    assert (completion.finish_reason, codes(completion)[-1:]) == ("error", [("stream_error", None)])


def _with_objects(events, wrap):
    """Dicts with everything inside them as objects."""
    return [{key: wrap(value) for key, value in event.items()} for event in events]


OBJECTS = {
    "openai-chat": [call(0, "a", "f", '{"x":'), call(0, arguments="1}"), finish()],
    "anthropic": [
        {"type": "ping"},
        {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 3}}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"x":1}'}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ],
    "gemini": [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {"x": 1}}}]}}]}],
}


@pytest.mark.parametrize("provider", OBJECTS)
@pytest.mark.parametrize("plain_before", [0, 1, 2])
def test_a_dict_may_hold_objects(provider, plain_before):
    """As `dict(chunk)` of an SDK's object gives it; also after events in which there was nothing but plain values."""
    plain, others = OBJECTS[provider][:plain_before], OBJECTS[provider][plain_before:]
    for pieces in (
        plain + _with_objects(others, as_objects),
        [{"x": None}, *plain, *_with_objects(others, as_objects)],
    ):
        completion = stream_of(pieces, provider).completion
        assert brief(completion) == [("f", {"x": 1}, "complete", True)]
        assert codes(completion) == ([] if provider != "gemini" else [("stream_ended_early", None)])
    pieces = _with_objects(others, as_objects)
    if provider == "anthropic" and not plain_before:
        assert stream_of(pieces, provider).completion.usage == {"input_tokens": 3}


@pytest.mark.parametrize("level", ["entry", "function"])
@pytest.mark.parametrize("provider", ["openai-chat", "mistral", "ollama", "gemini"])
def test_objects_beside_plain_text_are_read(provider, level):
    """Of a dict built by hand, where text and the finish word stand beside an SDK's objects."""
    if provider == "gemini":
        call_part = {"functionCall": {"name": "f", "args": {"x": 1}}}
        part = as_objects(call_part, python_names=True)
        if level == "function":
            part = {"function_call": part.function_call}

        def event(*parts, **more):
            return {"candidates": [{"content": {"parts": [{"text": "Hm"}, *parts]}, **more}]}

        pieces = [event(), event(part, finishReason="STOP")]
    else:
        arguments = {"x": 1} if provider == "ollama" else '{"x":1}'
        whole = {"index": 0, "id": "a", "function": {"name": "f", "arguments": arguments}}
        part = SimpleNamespace(**whole, type="function") if level == "entry" else whole
        part = {**whole, "function": SimpleNamespace(**whole["function"])} if level == "function" else part
        if provider == "ollama":
            pieces = [
                {"message": {"content": "Hm"}, "done": False},
                {"message": {"content": "Hm", "tool_calls": [part]}, "done": False},
                {"message": {"content": ""}, "done": True, "done_reason": "stop"},
            ]
        else:
            pieces = [delta(content="Hm"), delta(part, finish="tool_calls", content="Hm")]
    completion = stream_of(pieces, provider).completion
    assert completion.text == "HmHm"
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert codes(completion) == []


def test_counts_that_come_as_an_object_beside_text_are_read():
    pieces = [delta(content="Hm"), {**delta(content="Hm"), "usage": SimpleNamespace(total_tokens=3)}, finish("stop")]
    assert stream_of(pieces, "openai-chat").completion.usage == {"total_tokens": 3}


def test_what_is_read_beside_an_object_and_not_shown_yet_is_read_once():
    nameless = {**call(0, "a", arguments='{"x":'), "usage": SimpleNamespace(total_tokens=3)}
    completion = stream_of(
        [delta(content="Hm"), nameless, call(0, None, "f"), call(0, arguments="1}"), finish()], "openai-chat"
    ).completion
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]


def test_words_of_an_enumeration_are_read_once():
    """As `model_dump()` of an SDK's object gives them, here in an event that makes no events of its own."""

    class Reason(str, Enum):
        STOP = "STOP"

    last = {"candidates": [{"content": {"parts": []}, "finishReason": Reason.STOP}], "modelVersion": "m"}
    text = {"candidates": [{"content": {"parts": [{"text": "a"}]}}]}
    completion = stream_of([*OBJECTS["gemini"], text, last], "gemini").completion
    assert codes(completion) == []
    assert "finish_repeated" not in [defect.code for defect in completion.defects]


BIG = 123456789012345678901234567890
LONG = {"n": BIG, "low": [-(2**63) - 1, 2**64], "small": [2**63, 1.5], "deep": {"n": [BIG + 1]}}


def _object_events(arguments):
    """Streams in which a call's arguments come as an object, after a first event that tells the protocol."""
    function = {"name": "f", "arguments": arguments}
    second = {"name": "f", "arguments": {**arguments, "n": BIG + 2}}
    calls = [{"index": 0, "id": "a", "function": function}, {"index": 1, "id": "b", "function": second}]
    chunk = {"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": calls}, "finish_reason": None}]}
    block = {"type": "tool_use", "id": "t", "name": "f", "input": arguments}
    start = {"message": {"tool_calls": {"id": "t", "type": "function", "function": function}}}
    shell = {"type": "shell_call", "id": "i", "call_id": "a", "action": arguments, "status": "completed"}
    return {
        "openai-chat": [chunk, finish()],
        "mistral": [chunk, finish()],
        "anthropic": [
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_stop"},
        ],
        "cohere": [
            {"type": "tool-call-start", "index": 0, "delta": start},
            {"type": "tool-call-end", "index": 0},
            {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
        ],
        "openai-responses": [
            {"type": "response.output_item.done", "output_index": 0, "item": shell},
            {"type": "response.completed", "response": {"status": "completed", "output": []}},
        ],
        "gemini": [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": arguments}}]}}]}],
    }


@pytest.mark.parametrize("provider", _object_events({}))
@pytest.mark.parametrize("size", [1, 50, 10**6])
def test_integers_of_arguments_that_come_as_objects_are_exact(provider, size):
    """Also where the events are read by a faster reader, which has room for 64 bits; wherever the bytes are cut."""
    data = sse(FIRST_EVENTS[provider], *_object_events(LONG)[provider], done=False)
    for pieces in (cut(data, size), [data[:-1], data[-1:]], [event + b"\n\n" for event in data.split(b"\n\n")[:-1]]):
        for name in (provider, None):
            calls = stream_of(pieces, name).completion.calls
            assert repr(calls[0].arguments) == repr(LONG)
            assert [call.arguments["n"] for call in calls] == [BIG, BIG + 2][: len(calls)]


def test_integers_are_exact_before_the_protocol_is_recognised():
    """Of the event that tells it, of one before it, and beside numbers that are no event at all."""
    line = {"message": {"tool_calls": [{"function": {"name": "f", "arguments": LONG}}]}, "done": True}
    status = {"status": "loading"}
    for pieces in ([ndjson(line)], [ndjson(status), ndjson(BIG), ndjson(line)], [ndjson(status, BIG, line)]):
        assert repr(stream_of(pieces).completion.calls[0].arguments) == repr(LONG)
    for pieces in ([sse({"error": {"code": BIG}}, done=False), sse(CHUNKS[0])], [sse({"error": {"code": BIG}})]):
        assert stream_of(pieces).completion.error == {"code": BIG}
    error = {"type": "overloaded", "code": BIG}
    for named in ("event: error\n" + sse(error, done=False).decode(), "event: error\n" + sse({"code": BIG}).decode()):
        assert stream_of([named, sse(CHUNKS[0])]).completion.error["code"] == BIG
    usage = {"usage": {"inputTokens": BIG}}
    exception = {"throttlingException": {"code": BIG}}
    assert stream_of([sse(exception, done=False), sse(CHUNKS[0])]).completion.error["code"] == BIG
    interaction = {"event_type": "interaction.completed", "interaction": {"status": "completed", **usage}}
    assert stream_of([sse(interaction, done=False)]).completion.usage == usage["usage"]
    converse = [frames([{"metadata": usage}]), frames([{"messageStart": BIG}])]
    assert stream_of(converse).completion.usage == usage["usage"]


def test_an_item_goes_back_with_its_integers_exact():
    pieces = [
        sse(event, done=False)
        for event in [FIRST_EVENTS["openai-responses"], *_object_events(LONG)["openai-responses"]]
    ]
    (item,) = stream_of(pieces, "openai-responses").completion.message()
    assert repr(item["action"]) == repr(LONG)


def test_many_objects_of_one_event_are_read_a_second_time_once(monkeypatch):
    reads = []
    exact = json_text.exact_loads
    monkeypatch.setattr(json_text, "exact_loads", lambda text: reads.append(text) or exact(text))
    chunk = delta(*(entry(n, f"i{n}", "f", {"n": BIG + n}) for n in range(50)))
    completion = stream_of(
        [sse(CHUNKS[0], done=False), sse(chunk), sse(delta(entry(50, "j", "f", {})))], "openai-chat"
    ).completion
    assert [call.arguments for call in completion.calls] == [{"n": BIG + n} for n in range(50)] + [{}]
    assert len(reads) <= 1


def test_the_last_event_without_its_blank_line():
    data = sse(*CHUNKS, done=False)
    completion = stream_of([data[:-1]], "openai-chat").completion
    assert (brief(completion), codes(completion)) == (BRIEF, [("sse_unterminated_event", None)])
    completion = stream_of([data[:-20]], "openai-chat").completion
    assert codes(completion) == [("sse_unterminated_event", None), ("stream_ended_early", None)]


NAMED = [
    "event: message_start",
    'data: {"type": "message_start", "message": {"id": "m"}}',
    "",
    "event: message_stop",
    'data: {"type": "message_stop"}',
    "",
]
LINES = [
    ("openai-chat", sse(*CHUNKS).decode().splitlines()),
    ("openai-chat", ["data: {}", "data: [DONE]"]),
    ("anthropic", NAMED),
    ("anthropic", [": hello", *NAMED]),
    ("ollama", ['{"message": {"content": "a"}, "done": false}', '{"message": {}, "done": true}']),
]


@pytest.mark.parametrize(("provider", "lines"), LINES)
@pytest.mark.parametrize("encode", [str, str.encode])
def test_lines_without_their_ends_are_told_as_that(provider, lines, encode):
    stream = stream_of(map(encode, lines), provider)
    (defect,) = [defect for defect in stream.completion.defects if defect.code == "sse_unterminated_event"]
    assert defect.message.endswith("(no line end has come: give the pieces as the network brings them, not lines)")
    assert "stream_ended_early" in [code for code, _ in codes(stream.completion)]
    with pytest.raises(UnknownProviderError, match=r"0 messages.*not lines.*known are"):
        assemble(map(encode, lines))
    _, error = until_error(ToolCallStream().feed(encode("".join(lines) * 4000)) for _ in range(1))
    assert "not lines" in str(error)


@pytest.mark.parametrize(
    ("provider", "text"),
    [
        ("openai-chat", 'data: {"choices": [{"delta": {"content": "}data: {} {}'),
        ("openai-chat", 'data: {"choices": []} or so'),
        ("openai-chat", 'data: {"choices": []}\ndata: {"choices": []}'),
        ("openai-chat", 'data: {"choices": []}\r\n\r\ndata: {"choices": []}data: {}'),
        ("openai-chat", 'data: {"choices": []}'),
        ("ollama", '{"message": {"content": "}{"}'),
        ("ollama", '{"done": false}\n{"done": true}{"message": {"content": "a'),
    ],
)
def test_what_was_only_cut_is_not_told_as_lines(provider, text):
    for pieces in [text], text:
        (defect, *_) = stream_of(pieces, provider).completion.defects
        assert (defect.code, "lines" in defect.message) == ("sse_unterminated_event", False)


def test_the_last_line_of_ndjson_needs_no_line_end():
    lines = [{"message": {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}, "done": False}]
    data = ndjson(*lines, {"message": {}, "done": True, "done_reason": "stop"})
    for provider in ("ollama", None):
        completion = stream_of([data[:-1]], provider).completion
        assert (brief(completion), codes(completion)) == ([("f", {"a": 1}, "complete", True)], [])


def test_bytes_that_are_no_utf_8():
    data = sse(*CHUNKS).replace("é".encode(), b"\xff")
    completion = stream_of([data], "openai-chat").completion
    assert completion.calls[1].arguments == {"y": "\ufffd🍵"}
    assert codes(completion) == [("utf8_invalid", None)]


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        (b'"arguments"', b'"argum\xffnts"', True),
        (b'"function":', b'"\xff\\" " :', True),
        (b"data:", b"da\xff:", True),
        (b"x", b"\xff", False),
        (b"x", b"\\u0022, \xff\\\\: ", False),
    ],
)
def test_bytes_that_are_no_utf_8_may_hide_a_field(old, new, lost):
    """Where they hit the name of a field, what it had is lost: a call without text may have had some."""
    fragment = sse(call(0, arguments='{"x":1}'), done=False)
    damaged = fragment.replace(old, new, 1)
    assert damaged != fragment
    data = sse(call(0, "a", "f", ""), done=False) + damaged + sse(finish())
    for pieces in ([data], cut(data, 1), cut(data, 40)):
        completion = stream_of(pieces, "openai-chat").completion
        assert ("utf8_invalid", None) in codes(completion)
        assert bool(completion.executable_calls) == (not lost)


def test_an_end_mark_without_a_finish_word_is_an_end():
    completion = stream_of([sse(call(0, "a", "f", ""))], "openai-chat").completion
    assert (brief(completion), codes(completion)) == ([("f", {}, "complete", True)], [])
    assert (completion.finish_reason, completion.raw_finish_reason) == ("tool_calls", None)
    completion = stream_of([sse(call(0, "a", "f", ""), done=False)], "openai-chat").completion
    assert codes(completion) == [("args_truncated", 0), ("stream_ended_early", None)]


def test_a_stream_cut_at_any_byte_gives_what_was_whole():
    data = sse(*CHUNKS)
    for n in range(len(data)):
        completion = stream_of([data[:n]], "openai-chat").completion
        for got, (name, arguments, _, _) in zip(completion.calls, BRIEF, strict=False):
            assert not got.executable or (got.name, got.arguments) == (name, arguments)
        ended = b'"finish_reason": "tool_calls"' in data[:n].replace(b"\n", b" ")
        assert any(d.severity == "error" for d in completion.defects) or ended


# ---------------------------------------------------------------- recognition and errors


def test_the_protocol_is_recognised_late_and_nothing_is_lost():
    first = [{"type": "ping"}] * 5
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f"}}
    rest = [{"type": "content_block_stop", "index": 0}, {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}]
    stream = ToolCallStream()
    for event in first:
        assert stream.feed(event) == []
    assert (stream.provider, len(stream.unread)) == (None, 5)
    assert [event.type for event in stream.feed(start)] == ["tool_call.start"]
    assert (stream.provider, stream.unread) == ("anthropic", [])
    for event in [*rest, {"type": "message_stop"}]:
        stream.feed(event)
    stream.close()
    assert brief(stream.completion) == [("f", {}, "complete", True)]


def test_an_end_mark_before_the_protocol_is_known_is_kept():
    stream = stream_of([b'data: [DONE]\n\ndata: {"choices":[]}\n\n'])
    assert codes(stream.completion) == []


@pytest.mark.parametrize("pieces", [[], [b""], [b"data: {}\n\n"], [{"x": 1}, {"y": 2}], ["\n\n"]])
def test_a_stream_of_no_known_protocol(pieces):
    stream = ToolCallStream()
    for piece in pieces:
        assert stream.feed(piece) == []
    with pytest.raises(UnknownProviderError, match="openai-chat"):
        stream.close()
    assert [p if isinstance(p, dict) else bytes(p) for p in stream.unread] == [
        piece.encode() if isinstance(piece, str) else piece for piece in pieces
    ]
    assert stream.close() == []


def test_after_64_kb_of_nothing_known_the_stream_gives_up():
    stream = ToolCallStream()
    piece = b'data: {"x": "' + b"y" * 1000 + b'"}\n\n'
    answers, error = until_error(stream.feed(piece) for _ in range(1000))
    assert isinstance(error, UnknownProviderError)
    assert 64_000 < len(answers) * len(piece) <= 65_536
    assert b"".join(stream.unread) == piece * (len(answers) + 1)
    with pytest.raises(UnknownProviderError):
        stream.feed(piece)


def test_many_unknown_events_are_not_kept_for_ever():
    stream = ToolCallStream()
    _, error = until_error(stream.feed({"x": 1}) for _ in range(5000))
    assert isinstance(error, UnknownProviderError)


def test_an_unknown_name():
    with pytest.raises(UnknownProviderError, match=r"'chat'.*openai-chat"):
        ToolCallStream("chat")


def test_a_closed_stream_takes_nothing():
    stream = stream_of(CHUNKS)
    with pytest.raises(toolstream.ToolStreamError, match="closed"):
        stream.feed(CHUNKS[0])
    with pytest.raises(toolstream.ToolStreamError, match="closed"):
        stream.feed(b"data: {}\n\n")
    assert stream.close() == []


def test_a_message_that_is_too_long_is_a_limit(monkeypatch):
    monkeypatch.setattr("toolstream.stream.decoder_for", lambda framing: toolstream.transport.SseDecoder(max_size=500))
    stream = ToolCallStream("openai-chat")
    stream.feed(sse(CHUNKS[1], done=False))
    with pytest.raises(toolstream.LimitExceededError):
        stream.feed(b"data: " + b"x" * 600)
    assert [event.type for event in stream.close()][-2:] == ["tool_call.end", "stream.end"]
    assert stream.completion.calls[0].status == "incomplete"


def test_message_needs_a_protocol():
    stream = ToolCallStream()
    with pytest.raises(ValueError, match="not known yet"):
        stream.completion.message()
    stream.feed(CHUNKS[1])
    assert stream.completion.message()["tool_calls"][0]["id"] == "a"


# ---------------------------------------------------------------- events


def test_events_in_order_match_and_become_plain_json():
    _, events = read([delta(reasoning_content="hm"), delta(content="Hi"), call(0, "a", "f", {"x": 1}), finish()])
    seen = []
    for event in events:
        match event:
            case ReasoningDelta(text, choice) | TextDelta(text, choice):
                seen.append((text, choice))
            case ToolCallStart(call=started):
                seen.append(started.id)
            case ToolCallDelta(_, text, restart, changes):
                seen.append((text, restart, changes))
            case DefectFound(defect):
                seen.append(defect.code)
            case ToolCallEnd(ended):
                seen.append(ended.status)
            case StreamEnd(completion):
                seen.append(completion.finish_reason)
    assert seen == [
        ("hm", 0), ("Hi", 0), "a", "args_object", ('{"x":1}', False, None), "complete", "tool_calls"
    ]  # fmt: skip
    plain = [json.loads(json.dumps(event.to_dict())) for event in events]
    assert [event["type"] for event in plain] == [
        "reasoning.delta", "text.delta", "tool_call.start", "defect", "tool_call.delta", "tool_call.end", "stream.end"
    ]  # fmt: skip
    assert plain[-1]["completion"]["calls"] == [plain[-2]["call"]]
    assert all(repr(event).startswith(type(event).__name__) for event in events)


def test_changes_make_the_live_value_also_of_parallel_calls():
    text = '{"a":[1,{"b":"xyz"}],"c":"\\n"}'
    stream = ToolCallStream("openai-chat", changes=True)
    live = {}
    chunks = [delta(entry(n, f"i{n}", "f", "")) for n in range(3)]
    chunks += [delta(*[entry(n, arguments=text[i : i + 2]) for n in range(3)]) for i in range(0, len(text), 2)]
    for chunk in chunks:
        for event in stream.feed(chunk):
            if event.type == "tool_call.delta":
                key = event.call.position
                live[key] = toolstream.apply_changes(live.get(key, toolstream.MISSING), event.changes)
                assert live[key] == event.call.partial_arguments
    stream.close()
    assert live == dict.fromkeys(range(3), json.loads(text))


def test_no_changes_unless_asked_for():
    _, events = read([call(0, "a", "f", "{}"), finish()])
    assert [event.changes for event in events if event.type == "tool_call.delta"] == [None]


def test_a_live_value_is_there_before_the_piece_is_whole():
    stream = ToolCallStream("openai-chat")
    stream.feed(call(0, "a", "f", '{"a":"x'))
    live = stream.completion.calls[0]
    assert (live.partial_arguments, live.arguments, live.status, live.executable) == (
        {"a": "x"},
        None,
        "streaming",
        False,
    )
    assert stream.completion.finish_reason is None
    before = live.partial_arguments
    stream.feed(call(0, arguments="y"))
    assert (before, live.partial_arguments) == ({"a": "x"}, {"a": "xy"})


def test_executable_calls():
    chunks = [call(0, "a", "f", "{}"), call(1, "b", "g", "["), call(2, "c", "h", '{"x":1}'), finish()]
    completion = assemble(chunks, "openai-chat")
    assert [c.name for c in completion.executable_calls] == ["f", "h"]


# ---------------------------------------------------------------- sources


class Source:
    """A source of pieces that may fail, and knows whether it was closed."""

    def __init__(self, pieces, error=None):
        self.pieces, self.error, self.closed = iter(pieces), error, 0

    def __iter__(self):
        yield from self.pieces
        if self.error:
            raise self.error

    async def __aiter__(self):
        for piece in self.pieces:
            yield piece
        if self.error:
            raise self.error

    def close(self):
        self.closed += 1


class AsyncSource(Source):
    close = None

    async def aclose(self):
        self.closed += 1


async def collect(events):
    return [event async for event in events]


def all_ways(source_of, provider="openai-chat", **options):
    """The types of events of each way of iterating."""
    yield [event.type for event in iter_events(source_of(Source), provider, **options)]
    for kind in (Source, AsyncSource):
        yield [event.type for event in asyncio.run(collect(aiter_events(source_of(kind), provider, **options)))]


def test_iteration_gives_all_events_and_leaves_an_exhausted_source_alone():
    sources = []

    def source_of(kind):
        sources.append(kind(CHUNKS))
        return sources[-1]

    for types in all_ways(source_of):
        assert types[-1] == "stream.end"
        assert types.count("tool_call.end") == 2
    assert [source.closed for source in sources] == [0, 0, 0]


def test_assemble():
    assert brief(assemble(CHUNKS)) == BRIEF
    assert brief(assemble(iter([sse(*CHUNKS)]), "openai-chat", strict=True)) == BRIEF
    assert brief(asyncio.run(aassemble(AsyncSource(CHUNKS)))) == BRIEF


def test_an_exception_of_the_source_comes_after_what_there_was():
    source = Source(CHUNKS[:2], OSError("gone"))
    events, error = until_error(iter_events(source, "openai-chat"))
    assert str(error) == "gone"
    assert [event.type for event in events][-2:] == ["tool_call.end", "stream.end"]
    assert events[-1].completion.calls[0].status == "incomplete"
    assert ("stream_ended_early", None) in codes(events[-1].completion)
    assert source.closed == 1
    for kind in (Source, AsyncSource):
        source, events = kind(CHUNKS[:2], OSError("gone")), []

        async def run(source=source, events=events):
            async for event in aiter_events(source, "openai-chat"):
                events.append(event)

        with pytest.raises(OSError, match="gone"):
            asyncio.run(run())
        assert [event.type for event in events][-2:] == ["tool_call.end", "stream.end"]
        assert source.closed == 1


def test_an_exception_comes_through_assemble():
    source = Source(CHUNKS[:2], OSError("gone"))
    with pytest.raises(OSError, match="gone"):
        assemble(source, "openai-chat")
    assert source.closed == 1
    source = AsyncSource(CHUNKS[:2], OSError("gone"))
    with pytest.raises(OSError, match="gone"):
        asyncio.run(aassemble(source, "openai-chat"))
    assert source.closed == 1


def test_a_source_of_nothing_known_that_fails_fails_with_its_own_exception():
    with pytest.raises(OSError, match="gone"):
        list(iter_events(Source([{"x": 1}], OSError("gone"))))


def test_a_limit_closes_the_source():
    source = Source(CHUNKS)
    events, error = until_error(iter_events(source, "openai-chat", limits=toolstream.Limits(max_calls=1)))
    assert isinstance(error, toolstream.LimitExceededError)
    assert events[-1].type == "stream.end"
    assert source.closed == 1


def test_giving_up_early_closes_the_source():
    source = Source(CHUNKS)
    events = iter_events(source, "openai-chat")
    next(events)
    events.close()
    assert source.closed == 1
    for kind in (Source, AsyncSource):
        source = kind(CHUNKS)

        async def run(source=source):
            events = aiter_events(source, "openai-chat")
            await anext(events)
            await events.aclose()

        asyncio.run(run())
        assert source.closed == 1


def test_a_source_without_close_can_be_given_up():
    events = iter_events(CHUNKS, "openai-chat")
    next(events)
    events.close()


@pytest.mark.parametrize("error", [OSError("gone"), None])
def test_a_source_that_cannot_be_closed_hides_no_exception(error):
    class Stuck(Source):
        def close(self):
            self.closed += 1
            raise ValueError("cannot be closed")

    class AsyncStuck(Stuck):
        close = None
        aclose = Stuck.close

    def read(source):
        events = iter_events(source, "openai-chat")
        next(events)
        if error is None:
            events.close()
        else:
            list(events)

    async def aread(source):
        events = aiter_events(source, "openai-chat")
        await anext(events)
        if error is None:
            await events.aclose()
        else:
            await collect(events)

    readings = [read, lambda source: asyncio.run(aread(source))]
    if error is not None:
        readings += [assemble, lambda source: asyncio.run(aassemble(source))]
    for kind in (Stuck, AsyncStuck):
        for reading in readings if kind is Stuck else readings[1::2]:
            source = kind(CHUNKS, error)
            _, seen = until_error(reading(source) for _ in range(1))
            assert (seen, source.closed) == (error, 1)


def test_a_cancelled_task_closes_the_source_and_says_no_more():
    class Silent(AsyncSource):
        async def __aiter__(self):
            yield CHUNKS[1]
            await asyncio.sleep(60)

    source, events = Silent([]), []

    async def run():
        async def reader():
            async for event in aiter_events(source, "openai-chat"):
                events.append(event.type)

        task = asyncio.create_task(reader())
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    asyncio.run(run())
    assert (source.closed, events) == (1, ["tool_call.start", "tool_call.delta"])


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="counted references are CPython's")
@pytest.mark.parametrize("path", sorted((Path(__file__).parent / "data/streams").iterdir()), ids=lambda path: path.name)
def test_a_stream_that_has_ended_is_freed_at_once(path):
    """Nothing of it refers to itself, so nothing waits for the garbage collector."""
    assemble([path.read_bytes()])  # whatever is made once
    gc.collect()
    gc.disable()
    try:
        done = assemble([path.read_bytes()])
        assert done.calls
        done.message()
        del done
        assert gc.collect() == 0
    finally:
        gc.enable()
