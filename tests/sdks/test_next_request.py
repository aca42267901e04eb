"""The message goes into the next request of the official clients as it is: they accept it, and send it unchanged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from clients import CLIENTS, USER
from server import StreamServer

import toolstream

STEPS = ("openai-responses", "gemini-interactions")  # whose message is a list of items
NAMES = [name for name in CLIENTS if not name.endswith(("helper", "partial"))]


def first_turn(server: StreamServer, name: str, mode: str) -> toolstream.Completion:
    """What the client's own stream gives, as far as it goes."""
    _, provider, stream, read, _ = CLIENTS[name]
    reader = toolstream.ToolCallStream(provider)
    try:
        for event in read(server.url(stream, mode)):
            reader.feed(event)
    except Exception:
        assert mode != "whole"
    reader.close()
    return reader.completion


def history(name: str, message: Any) -> Any:
    """The messages of the next request."""
    if name == "gemini-interactions":
        asked = {"type": "user_input", "content": [{"type": "text", "text": USER["content"]}]}
        return [asked, *message]
    if name in STEPS:
        return [USER, *message]
    if name == "gemini":
        return [{"role": "user", "parts": [{"text": USER["content"]}]}, message]
    if name == "bedrock":
        return [{"role": "user", "content": [{"text": USER["content"]}]}, message]
    return [USER, message]


def sent(name: str, body: dict[str, Any]) -> Any:
    """The message as the server got it."""
    if name in STEPS:
        return body["input"][1:]
    return (body["contents"] if name == "gemini" else body["messages"])[1]


def comparable(name: str, message: Any) -> Any:
    """A message without what a client cannot send."""
    if name == "ollama" and "tool_calls" in message:  # its calls have neither id nor index
        calls = [{"function": {k: one["function"][k] for k in ("name", "arguments")}} for one in message["tool_calls"]]
        return {**message, "tool_calls": calls}
    return message


def plain(value: Any) -> Any:
    """The value without the nulls and defaults that a client adds to what it was given."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {
            k: plain(v) for k, v in value.items() if v is not None and (k, v) not in (("index", 0), ("prefix", False))
        }
    return value


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", ["whole", "cut"])
def test_the_message_is_accepted_and_sent_as_it_is(server: StreamServer, name: str, mode: str) -> None:
    pytest.importorskip(CLIENTS[name].module)
    message = first_turn(server, name, mode).message()
    server.requests.clear()
    for _ in CLIENTS[name].read(server.url(CLIENTS[name].stream), history(name, message)):
        pass
    got = sent(name, json.loads(server.requests[-1]))
    assert plain(got) == plain(comparable(name, message))


def refused(provider: str) -> tuple[str, bytes]:
    """A stream with one call whose text is no JSON, in the protocol's own events, and its framing."""
    text = '{"path": C:\\temp}'
    events: list[dict[str, Any]]
    if provider == "anthropic":
        start = {"type": "tool_use", "id": "toolu_a", "name": "read", "input": {}}
        delta = {"type": "input_json_delta", "partial_json": text}
        events = [
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
    elif provider == "openai-responses":
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_a", "name": "read", "arguments": text}
        events = [{"type": "response.completed", "response": {"status": "completed", "output": [item]}}]
    else:
        call = {"index": 0, "id": "callaaaaa", "type": "function", "function": {"name": "read", "arguments": text}}
        events = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}]
    return text, "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


@pytest.mark.parametrize("name", ["openai-chat", "openai-responses", "anthropic", "mistral"])
def test_a_refused_call_is_sent_as_the_model_wrote_it(server: StreamServer, name: str) -> None:
    pytest.importorskip(CLIENTS[name].module)
    text, stream = refused(CLIENTS[name].provider)
    completion = toolstream.assemble([stream], CLIENTS[name].provider)
    assert completion.executable_calls == []
    server.requests.clear()
    for _ in CLIENTS[name].read(server.url(CLIENTS[name].stream), history(name, completion.message())):
        pass
    body = json.dumps(json.loads(server.requests[-1]))
    assert json.dumps(text)[1:-1] in body
    assert str(completion.calls[0].id) in body
