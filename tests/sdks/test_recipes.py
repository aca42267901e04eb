"""The recipes of docs/providers.md, run: an SDK's stream through `iter_events`, and the raw bytes with httpx.

The server plays every stream whole, slow, cut and dropped; both ways give the same calls.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from clients import CLIENTS, Client
from server import StreamServer

import toolstream

OSLO = {"city": "Oslo", "note": 'a "b" é 😀'}
EXPECTED = [("lookup", OSLO), ("now", {})]
IDS = {
    "openai-chat": ["call_a", "call_b"],
    "openai-responses": ["call_a", "call_b"],
    "anthropic": ["toolu_a", "toolu_b"],
    "gemini": ["aaaaaaaa", "bbbbbbbb"],
    "gemini-interactions": ["aaaaaaaa", "bbbbbbbb"],
    "mistral": ["callaaaaa", "callbbbbb"],
    "cohere": ["lookup_a", "now_b"],
    "bedrock-converse": ["tooluse_a", "tooluse_b"],
    "ollama": ["call_a", "call_b"],
}
# What a client lets through of the ids on the wire: ollama drops them, and partial arguments come without.
WITHOUT_IDS = ("ollama", "gemini-partial")

CLIENT_NAMES = sorted(CLIENTS)
STREAMS = sorted({(client.stream, client.provider) for client in CLIENTS.values()} | {("gemini-array", "gemini")})


def client(name: str) -> Client:
    pytest.importorskip(CLIENTS[name].module)
    return CLIENTS[name]


def check(completion: toolstream.Completion, provider: str, *, ids: bool = True) -> None:
    assert [(call.name, call.arguments) for call in completion.executable_calls] == EXPECTED
    assert len(completion.calls) == 2
    assert (completion.reasoning if provider == "cohere" else completion.text) == "Let me look."
    assert completion.finish_reason == "tool_calls"
    assert completion.usage
    assert [defect.code for defect in completion.defects if defect.severity != "info"] == []
    if ids:
        assert [call.id for call in completion.calls] == IDS[provider]


def end_of(events: Any) -> toolstream.Completion:
    *_, last = events
    assert last.type == "stream.end"
    return last.completion


@pytest.mark.parametrize("name", CLIENT_NAMES)
@pytest.mark.parametrize("mode", ["whole", "slow"])
def test_sdk(server: StreamServer, name: str, mode: str) -> None:
    _, provider, stream, read, _ = client(name)
    completion = end_of(toolstream.iter_events(read(server.url(stream, mode)), provider))
    check(completion, provider, ids=name not in WITHOUT_IDS)


@pytest.mark.parametrize("name", CLIENT_NAMES)
def test_sdk_recognised(server: StreamServer, name: str) -> None:
    _, _, stream, read, _ = client(name)
    completion = end_of(toolstream.iter_events(read(server.url(stream))))
    assert [(call.name, call.arguments) for call in completion.executable_calls] == EXPECTED


@pytest.mark.parametrize("name", [name for name in CLIENT_NAMES if CLIENTS[name].read_async])
def test_sdk_async(server: StreamServer, name: str) -> None:
    _, provider, stream, _, read_async = client(name)
    assert read_async is not None

    async def main() -> toolstream.Completion:
        events = [event async for event in toolstream.aiter_events(read_async(server.url(stream)), provider)]
        return end_of(events)

    check(asyncio.run(main()), provider, ids=name not in WITHOUT_IDS)


@pytest.mark.parametrize("name", CLIENT_NAMES)
@pytest.mark.parametrize("mode", ["cut", "dropped"])
def test_sdk_of_a_broken_stream(server: StreamServer, name: str, mode: str) -> None:
    """An SDK raises or ends quietly: whole calls come out, half ones are never executable, and `StreamEnd` comes."""
    _, provider, stream, read, _ = client(name)
    events, error = collected(toolstream.iter_events(read(server.url(stream, mode)), provider))
    check_broken(end_of(events))
    if mode == "dropped":
        assert error is not None


def collected(events: Any) -> tuple[list[Any], Exception | None]:
    """The events, and the exception that came after them."""
    out: list[Any] = []
    try:
        for event in events:
            out.append(event)
    except Exception as error:
        return out, error
    return out, None


def check_broken(completion: toolstream.Completion) -> None:
    assert completion.text == "Let me look." or completion.reasoning
    assert completion.finish_reason is None
    for call in completion.calls:
        assert call.status in ("complete", "incomplete")
        assert not call.executable or (call.name, call.arguments) in EXPECTED
    codes = [defect.code for defect in completion.defects]
    assert "stream_ended_early" in codes
    assert ("args_truncated" in codes) is any(call.status == "incomplete" for call in completion.calls)


@pytest.mark.parametrize(("stream", "provider"), STREAMS)
@pytest.mark.parametrize("mode", ["whole", "slow"])
def test_httpx(server: StreamServer, stream: str, provider: str, mode: str) -> None:
    httpx = pytest.importorskip("httpx")
    with httpx.stream("POST", server.url(stream, mode), json={}) as response:
        check(end_of(toolstream.iter_events(response.iter_bytes(), provider)), provider, ids=stream != "gemini-partial")
    with httpx.stream("POST", server.url(stream, mode), json={}) as response:
        check(toolstream.assemble(response.iter_bytes()), provider, ids=stream != "gemini-partial")


@pytest.mark.parametrize(("stream", "provider"), STREAMS)
def test_httpx_async(server: StreamServer, stream: str, provider: str) -> None:
    httpx = pytest.importorskip("httpx")

    async def main() -> toolstream.Completion:
        async with (
            httpx.AsyncClient() as client,
            client.stream("POST", server.url(stream, "slow"), json={}) as response,
        ):
            return await toolstream.aassemble(response.aiter_bytes(), provider)

    check(asyncio.run(main()), provider, ids=stream != "gemini-partial")


@pytest.mark.parametrize(("stream", "provider"), STREAMS)
def test_httpx_of_a_dropped_connection(server: StreamServer, stream: str, provider: str) -> None:
    """The source's own exception comes through, after the last event."""
    httpx = pytest.importorskip("httpx")
    with httpx.stream("POST", server.url(stream, "dropped"), json={}) as response:
        events, error = collected(toolstream.iter_events(response.iter_bytes(), provider))
    assert isinstance(error, httpx.RemoteProtocolError)
    check_broken(end_of(events))
