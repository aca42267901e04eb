"""Bedrock ConverseStream: dicts as boto3 yields them, frames as the wire has them, and its exceptions."""

import json
import struct
from base64 import b64encode
from zlib import crc32

import pytest
from protocol_helpers import brief, codes, run, state
from transport_helpers import cuttings

from toolstream import LimitExceededError, Limits, ToolCallStream


def delta(index, **fields):
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": fields, "p": "abc"}}


def fragment(index, text):
    return delta(index, toolUse={"input": text})


def start(index, id="tu_1", name="lookup", **fields):
    return {
        "contentBlockStart": {
            "contentBlockIndex": index,
            "start": {"toolUse": {"toolUseId": id, "name": name, **fields}},
        }
    }


def stop(index):
    return {"contentBlockStop": {"contentBlockIndex": index}}


def finish(word="tool_use"):
    return {"messageStop": {"stopReason": word}}


METADATA = {"metadata": {"usage": {"inputTokens": 3, "outputTokens": 9}, "metrics": {"latencyMs": 5}}}
FIRST = {"messageStart": {"role": "assistant"}}

MESSAGE = [
    FIRST,
    delta(0, reasoningContent={"text": "Look "}),
    delta(0, reasoningContent={"text": "it up."}),
    delta(0, reasoningContent={"signature": "c2ln"}),
    stop(0),
    delta(1, text="I will "),
    delta(1, text="look."),
    stop(1),
    start(2),
    fragment(2, ""),
    fragment(2, '{"q": "té'),
    fragment(2, 'a"}'),
    stop(2),
    start(3, "tu_2", "now"),
    stop(3),
    finish(),
    METADATA,
]


def frame(event):
    ((kind, payload),) = event.items()
    exception = kind.endswith("Exception")
    headers = {
        ":exception-type" if exception else ":event-type": kind,
        ":content-type": "application/json",
        ":message-type": "exception" if exception else "event",
    }
    return raw_frame(headers, json.dumps(payload).encode())


def raw_frame(headers, payload):
    packed = b"".join(
        bytes([len(k)]) + k.encode() + b"\x07" + struct.pack(">H", len(v)) + v.encode() for k, v in headers.items()
    )
    prelude = struct.pack(">II", 16 + len(packed) + len(payload), len(packed))
    body = prelude + struct.pack(">I", crc32(prelude)) + packed + payload
    return body + struct.pack(">I", crc32(body))


WIRE = b"".join(map(frame, MESSAGE))


def test_a_whole_message():
    done = run("bedrock-converse", MESSAGE)
    assert brief(done) == [("lookup", {"q": "téa"}, "complete", True), ("now", {}, "complete", True)]
    assert [(c.id, c.index, c.kind) for c in done.calls] == [("tu_1", 2, "function"), ("tu_2", 3, "function")]
    assert (done.text, done.reasoning) == ("I will look.", "Look it up.")
    assert (done.finish_reason, done.raw_finish_reason) == ("tool_calls", "tool_use")
    assert done.usage == {"inputTokens": 3, "outputTokens": 9}
    assert codes(done) == []


@pytest.mark.parametrize("provider", ["bedrock-converse", None])
def test_the_wire_gives_the_same_in_any_cutting(provider):
    expected = state(run("bedrock-converse", MESSAGE))
    assert state(run(provider, MESSAGE)) == expected
    for size in (1, 2, 7, 64, 10_000):
        pieces = [WIRE[i : i + size] for i in range(0, len(WIRE), size)]
        assert state(run(provider, pieces)) == expected


def test_every_cut_in_two_of_a_small_stream():
    events = [FIRST, start(0), fragment(0, '{"q": 1}'), stop(0), finish()]
    data = b"".join(map(frame, events))
    expected = state(run("bedrock-converse", events))
    for pieces in cuttings(data):
        assert state(run("bedrock-converse", pieces)) == expected


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("tool_use", "stop"),  # the word alone is no call
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("guardrail_intervened", "content_filter"),
        ("content_filtered", "content_filter"),
        ("malformed_tool_use", "error"),
        ("malformed_model_output", "error"),
        ("something_new", "stop"),
    ],
)
def test_finish_words(word, reason):
    done = run("bedrock-converse", [FIRST, delta(0, text="a"), stop(0), finish(word)])
    assert (done.finish_reason, done.raw_finish_reason) == (reason, word)


def test_words_at_the_index_of_an_open_call_end_nothing():
    events = [FIRST, start(0), fragment(0, '{"q":'), delta(0, text="a"), fragment(0, "1}"), stop(0), finish()]
    done = run("bedrock-converse", events)
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert (done.text, codes(done)) == ("a", [])
    assert done.message()["content"][1] == {"text": "a"}


def test_what_bedrock_runs_itself_is_not_for_the_client():
    result = {"toolResult": {"toolUseId": "tu_1", "status": "success"}}
    events = [
        FIRST,
        start(0, name="nova_grounding", type="server_tool_use"),
        fragment(0, "{}"),
        stop(0),
        {"contentBlockStart": {"contentBlockIndex": 1, "start": result}},
        delta(1, toolResult=[{"json": {"n": 1}}]),
        delta(1, toolResult=[{"json": {"n": 2}}]),
        stop(1),
        start(2, "tu_2", "final", type="tool_use"),
        fragment(2, '{"n": 3}'),
        stop(2),
        finish(),
    ]
    done = run("bedrock-converse", events)
    assert [(c.name, c.kind, c.executable) for c in done.calls] == [
        ("nova_grounding", "server", False),
        ("final", "function", True),
    ]
    assert codes(done) == []
    assert done.message()["content"][1] == {
        "toolResult": {"toolUseId": "tu_1", "status": "success", "content": [{"json": {"n": 1}}, {"json": {"n": 2}}]}
    }


def test_results_of_tools_come_back_with_their_integers_exact():
    big = 10**30
    events = [
        {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolResult": {"toolUseId": "t", "n": [big]}}}},
        delta(0, toolResult=[{"json": {"n": big}}]),
        delta(1, citation={"place": {"n": big}}, text="so"),
        start(2, input={"n": big}),
    ]
    done = run("bedrock-converse", map(frame, events))
    assert repr(done.message()).count(str(big)) == 4
    assert done.calls[0].arguments == {"n": big}


def test_a_budget_that_ends_inside_a_call():
    done = run("bedrock-converse", [FIRST, start(0), fragment(0, '{"q": "te'), finish("max_tokens"), METADATA])
    assert brief(done) == [("lookup", None, "incomplete", False)]
    assert done.calls[0].partial_arguments == {"q": "te"}
    assert codes(done) == [("args_truncated", 0), ("block_unclosed", 0)]


EXCEPTIONS = [
    "throttlingException",
    "modelStreamErrorException",
    "validationException",
    "internalServerException",
    "serviceUnavailableException",
]


@pytest.mark.parametrize("kind", EXCEPTIONS)
@pytest.mark.parametrize("wire", [False, True])
def test_exceptions_are_errors(kind, wire):
    events = [FIRST, start(0), fragment(0, '{"q": "t'), {kind: {"message": "no", "originalStatusCode": 424}}]
    done = run("bedrock-converse", [b"".join(map(frame, events))] if wire else events)
    assert done.error == {"type": kind, "message": "no", "originalStatusCode": 424}
    assert (done.finish_reason, brief(done)) == ("error", [("lookup", None, "incomplete", False)])
    assert codes(done) == [("args_truncated", 0), ("stream_error", None)]


@pytest.mark.parametrize("provider", ["bedrock-converse", None])
def test_an_error_frame_has_no_payload(provider):
    headers = {":message-type": "error", ":error-code": "InternalError", ":error-message": "broken"}
    done = run(provider, [frame(FIRST) + raw_frame(headers, b"")])
    assert done.error == {"type": "InternalError", "message": "broken"}
    assert codes(done) == [("stream_error", None)]


INVOKED = {
    "anthropic": [
        {"type": "message_start", "message": {"id": "m"}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": "f"}},
    ],
    "openai-chat": [
        {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}}], "id": "c"},
    ],
}


@pytest.mark.parametrize("provider", INVOKED)
@pytest.mark.parametrize("named", [True, False])
def test_an_exception_ends_the_streams_inside_invoke_model(provider, named):
    exception = {"modelStreamErrorException": {"message": "no"}}
    chunks = [{"bytes": b64encode(json.dumps(event).encode()).decode(), "p": "ab"} for event in INVOKED[provider]]
    wire = [frame({"chunk": chunk}) for chunk in chunks] + [frame(exception)]
    boto = [{"chunk": {"bytes": json.dumps(event).encode()}} for event in INVOKED[provider]] + [exception]
    for pieces in (wire, [b"".join(wire)], boto):
        done = run(provider if named else None, pieces)
        assert done.error == {"type": "modelStreamErrorException", "message": "no"}
        assert (done.finish_reason, brief(done)) == ("error", [("f", None, "incomplete", False)])
        assert ("stream_error", None) in codes(done)


def test_limits_are_kept_also_in_frames_that_are_no_utf_8():
    payload = b'{"contentBlockIndex":0,"p":"\xff","start":{"toolUse":{"toolUseId":"t","name":"f"}}}'
    piece = raw_frame({":event-type": "contentBlockStart"}, payload)
    with pytest.raises(LimitExceededError, match="max_calls"):
        ToolCallStream("bedrock-converse", limits=Limits(max_calls=0)).feed(piece)


def test_bytes_of_a_frame_that_are_no_utf_8_are_told():
    inner = b'{"choices":[{"delta":{"content":"\xff"}}],"id":"c"}'
    for piece in (
        raw_frame({":event-type": "chunk"}, json.dumps({"bytes": b64encode(inner).decode()}).encode()),
        raw_frame(
            {":event-type": "chunk"},
            json.dumps({"bytes": b64encode(inner).decode(), "p": "?"}).encode().replace(b"?", b"\xff"),
        ),
        {"chunk": {"bytes": inner}},
    ):
        done = run("openai-chat", [piece])
        assert (done.text, ("utf8_invalid", None) in codes(done)) == ("\ufffd", True)


def test_an_exception_may_be_all_that_comes():
    done = run(None, [frame({"throttlingException": {"message": "slow"}})])
    assert done.error == {"type": "throttlingException", "message": "slow"}


def test_a_damaged_frame_is_reported_and_costs_itself_alone():
    frames = [frame(event) for event in MESSAGE]
    broken = bytearray(frames[10])
    broken[-6] ^= 1
    done = run("bedrock-converse", [b"".join([*frames[:10], bytes(broken), *frames[11:]])])
    assert ("sse_bad_json", None) in codes(done)
    assert brief(done)[1] == ("now", None, "incomplete", False), "the lost frame may have held its arguments"
    assert done.text == "I will look."


def test_a_frame_whose_payload_is_no_json_is_reported():
    bad = raw_frame({":event-type": "contentBlockDelta", ":message-type": "event"}, b"{")
    done = run("bedrock-converse", [bad + WIRE])
    assert ("sse_bad_json", None) in codes(done)
    assert brief(done)[0] == ("lookup", {"q": "téa"}, "complete", True)


def test_a_limit_that_is_passed_inside_a_frame_comes_out():
    from toolstream import Limits

    stream = ToolCallStream("bedrock-converse", limits=Limits(max_calls=1))
    with pytest.raises(LimitExceededError, match="max_calls"):
        stream.feed(WIRE)
    stream.close()
    assert [call.name for call in stream.completion.calls] == ["lookup"]


def test_a_frame_that_claims_to_be_huge_is_refused_and_what_came_stays():
    prelude = struct.pack(">II", 1 << 30, 1 << 29)
    stream = ToolCallStream("bedrock-converse")
    stream.feed(b"".join(map(frame, MESSAGE[:10])))
    with pytest.raises(LimitExceededError):
        stream.feed(prelude + struct.pack(">I", crc32(prelude)))
    events = stream.close()
    assert events[-1].type == "stream.end"
    assert [call.name for call in stream.completion.calls] == ["lookup"]


def test_what_is_unknown_or_of_a_wrong_type_is_ignored():
    unknown = [
        {},
        {"newEvent": {"x": 1}},
        {"contentBlockDelta": 3},
        {"contentBlockDelta": {"contentBlockIndex": 0}},
        {"contentBlockDelta": {"contentBlockIndex": [0], "delta": {"toolUse": {"input": ""}}}},
        delta(9, text=3),
        delta(9, reasoningContent=3),
        delta(9, reasoningContent={"text": 3}),
        delta(9, somethingNew={"x": 1}),
        {"contentBlockStart": {"contentBlockIndex": 8, "start": 3}},
        {"contentBlockStart": {"contentBlockIndex": 8, "start": {"newKind": 3}}},
        {"contentBlockStop": {}},
        {"metadata": {"usage": 3}},
        {"messageStop": None},
    ]
    events = [FIRST, start(0), fragment(0, '{"q":'), *unknown, fragment(0, "1}"), stop(0), finish()]
    done = run("bedrock-converse", events)
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert codes(done) == []


ODD_DELTAS = [
    *({"contentBlockIndex": index, "delta": {"toolUse": {"input": " "}}} for index in (0, 1, 2, 7, -1, True, 0.0, "0")),
    *({"contentBlockIndex": index, "delta": {"toolUse": {"input": " "}}} for index in (None, [0], {"0": 0}, 10**30)),
    *({"contentBlockIndex": 0, "delta": {"toolUse": {"input": text}}} for text in ("", None, 3, {}, {"q": 2}, ["{"])),
    *({"contentBlockIndex": 0, "delta": {"toolUse": use}} for use in ({}, None, "input", ["input"], 3)),
    *({"contentBlockIndex": 0, "delta": delta} for delta in (None, "toolUse", ["toolUse"], 3, {}, {"text": "x"})),
    {"contentBlockIndex": 0, "delta": {"toolUse": {"input": " "}, "text": "more"}},
    {"contentBlockIndex": 0, "delta": {"toolUse": {"input": " "}, "reasoningContent": None}},
    *({"contentBlockIndex": index, "delta": {"text": "more"}} for index in (0, 1, 2, 7, True, 1.0, None, [1])),
    *({"contentBlockIndex": 1, "delta": {"text": text}} for text in ("", None, 3, ["x"], "\ud83d", "\udf75")),
    {"contentBlockIndex": 1, "delta": {"text": "more", "citation": {"title": "Book"}}},
    {"contentBlockIndex": 1, "delta": {"reasoningContent": {"text": "hm"}}},
    {"contentBlockIndex": 0},
    {"delta": {"toolUse": {"input": " "}}},
    *(None, "delta", ["delta"], 3, {}, {"delta": {"toolUse": {"input": "\ud83d"}}, "contentBlockIndex": 0}),
]


def shown(events):
    return [
        (event.type, getattr(event, "text", None), event.call.position if hasattr(event, "call") else event.to_dict())
        for event in events
    ]


@pytest.mark.parametrize("odd", ODD_DELTAS, ids=repr)
def test_frames_of_deltas_say_what_dicts_of_them_say(odd):
    """Frames have a short way of their own for fragments of calls and text."""
    odd = {"contentBlockDelta": odd}
    begun = [FIRST, start(0), fragment(0, '{"q":'), delta(1, text="hm"), start(2, "tu_2", input={"n": 1})]
    rest = [fragment(0, "1}"), stop(0), odd, fragment(2, '{"m":2}'), odd, stop(2), finish(), odd, METADATA]
    for events in ([*begun, odd, *rest], [*begun[:3], odd, odd, stop(0), odd, start(0, "tu_3"), odd, finish()]):
        of_frames, of_dicts = ToolCallStream("bedrock-converse"), ToolCallStream("bedrock-converse")
        for event in events:
            assert shown(of_frames.feed(frame(event))) == shown(of_dicts.feed(event))
        assert shown(of_frames.close()) == shown(of_dicts.close())
        assert of_frames.completion.message() == of_dicts.completion.message()


def test_reasoning_citations_and_redacted_content_go_back():
    events = [
        *MESSAGE[:5],
        delta(1, reasoningContent={"redactedContent": "b3Bx"}),
        stop(1),
        delta(2, text="From a book."),
        delta(2, citation={"title": "Book"}),
        stop(2),
        finish("end_turn"),
    ]
    assert run("bedrock-converse", events).message() == {
        "role": "assistant",
        "content": [
            {"reasoningContent": {"reasoningText": {"text": "Look it up.", "signature": "c2ln"}}},
            {"reasoningContent": {"redactedContent": "b3Bx"}},
            {"citationsContent": {"content": [{"text": "From a book."}], "citations": [{"title": "Book"}]}},
        ],
    }


def test_null_members_were_not_sent():
    nulls = {"text": None, "toolResult": None, "citation": None, "reasoningContent": None}
    begin = start(0)
    begin["contentBlockStart"]["start"]["toolResult"] = None
    done = run("bedrock-converse", [FIRST, begin, delta(0, toolUse={"input": "{}"}, **nulls), stop(0), finish()])
    assert brief(done) == [("lookup", {}, "complete", True)]
    assert codes(done) == []
    assert len(done.message()["content"]) == 1


def test_a_fragment_that_is_no_object_is_lost():
    done = run("bedrock-converse", [FIRST, start(0), delta(0, toolUse=3), stop(0), finish()])
    assert brief(done) == [("lookup", None, "incomplete", False)]
    assert ("orphan_delta", None) in codes(done)
