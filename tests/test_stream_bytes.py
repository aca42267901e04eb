"""Streams of bytes, whole, cut, dead and hostile: what every protocol and framing has in common."""

import json
from base64 import b64encode

import pytest
from protocol_helpers import state
from test_transport_aws_event_stream import raw_frame, text_header
from transport_helpers import cuttings, growth

from toolstream import LimitExceededError, NdjsonDecoder, SseDecoder, ToolCallStream, UnknownProviderError


def sse(events, ends="\n", names=True):
    out = ""
    for event in events:
        name = event.get("type") or event.get("event_type")
        out += (f"event: {name}{ends}" if names and name else "") + f"data: {json.dumps(event)}{ends}{ends}"
    return out.encode()


def frames(events):
    out = b""
    for event in events:
        ((kind, payload),) = event.items()
        headers = text_header(":event-type", kind) + text_header(":message-type", "event")
        out += raw_frame(headers, json.dumps(payload).encode())
    return out


def anthropic_block(index, id, fragments):
    block = {"type": "tool_use", "id": id, "name": "f", "input": {}}
    yield {"type": "content_block_start", "index": index, "content_block": block}
    for text in fragments:
        yield {
            "type": "content_block_delta",
            "index": index,
            "delta": {"type": "input_json_delta", "partial_json": text},
        }
    yield {"type": "content_block_stop", "index": index}


ANTHROPIC = [
    {"type": "message_start", "message": {"id": "m"}},
    *anthropic_block(0, "a", ['{"q": "', 'té"}']),
    *anthropic_block(1, "b", [""]),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]

BEDROCK = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "a", "name": "f"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"q": "té"}'}}}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "b", "name": "f"}}}},
    {"contentBlockStop": {"contentBlockIndex": 1}},
    {"messageStop": {"stopReason": "tool_use"}},
]

COHERE = [
    {"type": "message-start"},
    {
        "type": "tool-call-start",
        "index": 0,
        "delta": {"message": {"tool_calls": {"id": "a", "function": {"name": "f"}}}},
    },
    {
        "type": "tool-call-delta",
        "index": 0,
        "delta": {"message": {"tool_calls": {"function": {"arguments": '{"q": "té"}'}}}},
    },
    {"type": "tool-call-end", "index": 0},
    {
        "type": "tool-call-start",
        "index": 1,
        "delta": {"message": {"tool_calls": {"id": "b", "function": {"name": "f"}}}},
    },
    {"type": "tool-call-end", "index": 1},
    {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
]

INTERACTIONS = [
    {"event_type": "interaction.created"},
    {"event_type": "step.start", "index": 0, "step": {"type": "function_call", "id": "a", "name": "f"}},
    {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": '{"q": "té"}'}},
    {"event_type": "step.stop", "index": 0},
    {"event_type": "step.start", "index": 1, "step": {"type": "function_call", "id": "b", "name": "f"}},
    {"event_type": "step.stop", "index": 1},
    {"event_type": "interaction.completed", "interaction": {"status": "requires_action"}},
]

OLLAMA = [
    {"message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"q": "té"}}}]}, "done": False},
    {"message": {"tool_calls": [{"id": "b", "function": {"name": "f", "arguments": {}}}]}, "done": False},
    {"message": {"content": ""}, "done": True, "done_reason": "stop"},
]

GEMINI = [
    {"candidates": [{"content": {"parts": [{"functionCall": {"id": "a", "name": "f", "args": {"q": "té"}}}]}}]},
    {"candidates": [{"content": {"parts": [{"functionCall": {"id": "b", "name": "f"}}]}}]},
    {"candidates": [{"content": {"parts": []}, "finishReason": "STOP"}]},
]


RESPONSES = [
    {"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}},
    {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {"type": "function_call", "id": "i", "call_id": "a", "name": "f"},
    },
    {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "i", "delta": '{"q":"t'},
    {"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "i", "delta": '"}'},
    {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}},
]


def invoke_model(events):
    chunks = [{"chunk": {"bytes": b64encode(json.dumps(event).encode()).decode(), "p": "ab"}} for event in events]
    return frames(chunks)


STREAMS = {
    "anthropic": ("anthropic", sse(ANTHROPIC)),
    "anthropic, CR LF, no names": ("anthropic", sse(ANTHROPIC, "\r\n", names=False)),
    "anthropic, CR": ("anthropic", sse(ANTHROPIC, "\r")),
    "anthropic in InvokeModel": ("anthropic", invoke_model(ANTHROPIC)),
    "bedrock-converse": ("bedrock-converse", frames(BEDROCK)),
    "cohere": ("cohere", sse(COHERE) + b"data: [DONE]\n\n"),
    "gemini-interactions": ("gemini-interactions", sse(INTERACTIONS) + b"data: [DONE]\n\n"),
    "ollama": ("ollama", "".join(json.dumps(e, ensure_ascii=False) + "\n" for e in OLLAMA).encode()),
    "gemini array": ("gemini", json.dumps(GEMINI, indent=1, ensure_ascii=False).encode()),
}

CALLS = [("a", {"q": "té"}), ("b", {})]


def read(provider, pieces):
    """The completion, and how many calls had ended before the input did."""
    stream = ToolCallStream(provider)
    ended = sum(event.type == "tool_call.end" for piece in pieces for event in stream.feed(piece))
    stream.close()
    return stream.completion, ended


@pytest.mark.parametrize("name", STREAMS)
def test_any_cutting_gives_the_same(name):
    provider, data = STREAMS[name]
    done, _ = read(provider, [data])
    assert [(c.id, c.arguments, c.executable) for c in done.calls] == [(*call, True) for call in CALLS]
    assert [d for d in done.defects if d.severity != "info"] == []
    expected = state(done)
    for pieces in cuttings(data):
        assert state(read(provider, pieces)[0]) == expected
    for pieces in ([data], [data[i : i + 1] for i in range(len(data))], [data[:30], data[30:]]):
        assert state(read(None, pieces)[0]) == expected


@pytest.mark.parametrize("name", ["anthropic", "cohere", "gemini-interactions", "gemini", "openai-responses"])
def test_the_end_mark_of_a_proxy_does_not_end_a_stream_that_died(name):
    """`[DONE]` is no end, or not the only one, of these protocols: it makes nothing whole."""
    events = {"anthropic": ANTHROPIC, "cohere": COHERE, "gemini-interactions": INTERACTIONS, "gemini": GEMINI}
    events = events.get(name) or RESPONSES
    for count in range(1, len(events)):
        data = sse(events[:count])
        for provider in (name, None):
            dead = read(provider, [data])[0]
            ended = read(provider, [data, b"data: [DONE]\n\n"])[0]
            assert [(c.status, c.arguments) for c in ended.calls] == [(c.status, c.arguments) for c in dead.calls]
            assert [d.code for d in ended.defects] == [d.code for d in dead.defects]
            assert ended.finish_reason == dead.finish_reason


def test_the_end_mark_does_not_hide_that_a_stream_is_of_another_protocol():
    chat = b'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
    for name in ("anthropic", "cohere", "gemini", "gemini-interactions", "openai-responses"):
        assert [d.code for d in read(name, [chat])[0].defects] == ["stream_ended_early"]


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_that_dies_at_any_byte_gives_the_whole_calls_and_tells(name):
    provider, data = STREAMS[name]
    whole = state(read(provider, [data])[0])
    for end in range(len(data)):
        done, ended = read(provider, [data[:end]])
        executable = [(call.id, call.arguments) for call in done.executable_calls]
        assert executable == CALLS[: len(executable)]
        assert len(executable) >= ended, "a call that had ended is whole"
        for call, (id, _) in zip(done.calls, CALLS, strict=False):
            assert call.id == id
            assert call.executable or call.status == "incomplete"
        errors = [d.code for d in done.defects if d.severity == "error"]
        assert errors or state(done)[:1] == whole[:1], "a cut that lost something is told"
        if done.finish_reason is None:
            assert "stream_ended_early" in errors


@pytest.mark.parametrize("name", STREAMS)
def test_a_wrong_byte_anywhere_is_told_and_makes_up_no_arguments(name):
    provider, data = STREAMS[name]
    binary = "InvokeModel" in name or provider == "bedrock-converse"
    for at in range(len(data)):
        done, _ = read(provider, [data[:at] + b"\xff" + data[at + 1 :]])
        assert done.defects, "it is told"
        for call in done.executable_calls:
            known = dict(CALLS).get(call.id)
            if binary or known == {}:
                assert call.arguments == known
            elif known is not None and call.arguments not in (known, {}):  # {}: the name of the field was hit
                assert "\ufffd" in json.dumps(call.arguments, ensure_ascii=False)


@pytest.mark.parametrize("name", ["anthropic", "ollama", "gemini array"])
def test_text_is_read_like_bytes(name):
    provider, data = STREAMS[name]
    expected = state(read(provider, [data])[0])
    text = data.decode()
    for size in (1, 7, len(text)):
        assert state(read(None, [text[i : i + size] for i in range(0, len(text), size)])[0]) == expected


def test_comments_and_pings_before_the_first_event_are_kept_and_replayed():
    data = b": one moment\n\n" * 50 + b'event: ping\ndata: {"type": "ping"}\n\n' * 50 + sse(ANTHROPIC)
    for pieces in ([data], [data[i : i + 11] for i in range(0, len(data), 11)]):
        stream = ToolCallStream()
        for piece in pieces:
            stream.feed(piece)
        stream.close()
        assert stream.provider == "anthropic"
        assert [call.id for call in stream.completion.executable_calls] == ["a", "b"]
        assert stream.unread == []


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n",
        b"<html>busy</html>",
        b"data: {}\n\n",
        b'{"a": 1}\n',
        b"[1]",
        b"\x00\x00",
        b"data: [DONE]\n\n",
        b"\xef\xbb",
    ],
)
def test_what_fits_no_protocol_is_an_error_at_the_end_and_stays_readable(data):
    stream = ToolCallStream()
    for i in range(len(data)):
        stream.feed(data[i : i + 1])
    with pytest.raises(UnknownProviderError, match="anthropic"):
        stream.close()
    assert b"".join(stream.unread) == data


@pytest.mark.parametrize(
    "unit", [b": wait\n\n", b"data: {}\n\n", b" ", b"\n", b"<html>", b"\xff", b"\x00", b"[", b"{", b'{"a":1}\n']
)
def test_64_kilobytes_of_nothing_known_are_an_error_and_stay_readable(unit):
    stream = ToolCallStream()
    fed = []

    def flood():
        for _ in range(100_000):
            fed.append(unit)
            stream.feed(unit)

    with pytest.raises(UnknownProviderError):
        flood()
    assert 65_536 <= len(b"".join(fed)) <= 65_536 + 2 * len(unit)
    assert b"".join(stream.unread) == b"".join(fed)
    with pytest.raises(UnknownProviderError):
        stream.feed(unit)


def test_an_endless_event_is_refused_and_what_came_stays_readable():
    from toolstream.transport._text import MAX_SIZE

    stream = ToolCallStream("anthropic")
    stream.feed(sse(ANTHROPIC[:5]))
    piece = b"x" * (1 << 22)

    def flood():
        stream.feed(b"data: ")
        for _ in range(MAX_SIZE // len(piece) + 1):
            stream.feed(piece)

    with pytest.raises(LimitExceededError):
        flood()
    assert stream.close()[-1].type == "stream.end"
    assert [call.arguments for call in stream.completion.executable_calls] == [{"q": "té"}]


def test_an_event_of_a_megabyte_in_small_pieces_is_linear():
    def work(size):
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "x" * size}}
        data = sse([ANTHROPIC[0], block])
        stream = ToolCallStream("anthropic")
        for i in range(0, len(data), 5):
            stream.feed(data[i : i + 5])
        stream.close()
        assert len(stream.completion.text) == size

    assert growth(work, 60_000) < 9


def test_pieces_of_a_wrong_type_are_type_errors():
    for piece in (None, 3, 2.5, [], object()):
        with pytest.raises(TypeError):
            ToolCallStream("anthropic").feed(piece)


@pytest.mark.parametrize("provider", ["anthropic", "bedrock-converse", "cohere", "gemini-interactions", "ollama"])
def test_a_hundred_thousand_hostile_events_cost_what_they_weigh(provider):
    odd = [
        {"type": "content_block_delta", "index": 10**18, "delta": {"type": "input_json_delta", "partial_json": "x"}},
        {"contentBlockDelta": {"contentBlockIndex": -1, "delta": {"toolUse": {"input": "x"}}}},
        {
            "type": "tool-call-delta",
            "index": "9" * 5000,
            "delta": {"message": {"tool_calls": {"function": {"arguments": "x"}}}},
        },
        {"event_type": "step.delta", "index": None, "delta": {"type": "arguments_delta", "arguments": "x"}},
        {"message": {"tool_calls": [{"function": {"name": "n" * 50, "arguments": {}}}]}},
    ]
    stream = ToolCallStream(provider)
    for _ in range(2000):
        for event in odd:
            stream.feed(event)
    stream.close()
    assert len(stream.completion.defects) <= 100
    assert len(stream.completion.calls) in (0, 2000)


@pytest.mark.parametrize("provider", ["anthropic", "ollama"])
def test_an_event_that_is_torn_is_lost_in_its_place(provider):
    """A call without text that ended before it is whole, one that ended after it is not, however the bytes are cut."""
    if provider == "anthropic":
        first, second = (sse(anthropic_block(index, id, [""])) for index, id in enumerate("ab"))
        data = first + b'data: {"\xff": 1}\n\n' + second
    else:
        line = {"message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": None}}]}, "done": False}
        data = json.dumps(line).encode() + b'\n{"\xff": 1}\n' + json.dumps(line).encode() + b"\n"
    for pieces in cuttings(data):
        stream = ToolCallStream(provider)
        for piece in pieces:
            stream.feed(piece)
        stream.close()
        assert [call.executable for call in stream.completion.calls] == [True, False]


@pytest.mark.parametrize("make", [SseDecoder, NdjsonDecoder])
def test_the_place_of_what_is_torn_counts_all_messages_of_the_call(make):
    good, torn, long = b'data: {"a":1}', b'data: {"\xff":1}', b"data: " + b"x" * 50
    end = b"\n\n" if make is SseDecoder else b"\n"
    for tail in (b"", long + end):
        decoder = make(max_size=30)
        assert len(decoder.feed(good + end + good + end + torn + end + tail)) == 3
        assert decoder.torn == [2]
