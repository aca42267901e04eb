"""The official Python packages as clients of the loopback server: how each opens a stream.

Everything is imported inside, so that this module can be read without any of the packages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

KEY = "no-key"
PROMPT = "What is it like in Oslo now?"
USER = {"role": "user", "content": PROMPT}


def openai_chat(url: str, messages: list[Any] = [USER]) -> Iterator[Any]:  # noqa: B006
    import openai

    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        yield from client.chat.completions.create(model="gpt-5", messages=messages, stream=True)


async def openai_chat_async(url: str) -> AsyncIterator[Any]:
    import openai

    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        async for chunk in await client.chat.completions.create(model="gpt-5", messages=[USER], stream=True):
            yield chunk


def openai_responses(url: str, messages: list[Any] = [USER]) -> Iterator[Any]:  # noqa: B006
    import openai

    with openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        yield from client.responses.create(model="gpt-5", input=messages, stream=True)


async def openai_responses_async(url: str) -> AsyncIterator[Any]:
    import openai

    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client:
        async for event in await client.responses.create(model="gpt-5", input=PROMPT, stream=True):
            yield event


def anthropic(url: str, messages: list[Any] = [USER]) -> Iterator[Any]:  # noqa: B006
    import anthropic

    with anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        yield from client.messages.create(model="claude", max_tokens=100, messages=messages, stream=True)


async def anthropic_async(url: str) -> AsyncIterator[Any]:
    import anthropic

    async with anthropic.AsyncAnthropic(base_url=url, api_key=KEY, max_retries=0) as client:
        async for event in await client.messages.create(model="claude", max_tokens=100, messages=[USER], stream=True):
            yield event


def anthropic_helper(url: str) -> Iterator[Any]:
    """The stream helper, which puts events of its own between those of the wire."""
    import anthropic

    with (
        anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client,
        client.messages.stream(model="claude", max_tokens=100, messages=[USER]) as stream,
    ):
        yield from stream


def openai_chat_helper(url: str) -> Iterator[Any]:
    """The stream helper, whose events have the chunks inside."""
    import openai

    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
        client.chat.completions.stream(model="gpt-5", messages=[USER]) as stream,
    ):
        yield from stream


def openai_responses_helper(url: str) -> Iterator[Any]:
    """The stream helper, whose events carry snapshots."""
    import openai

    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
        client.responses.stream(model="gpt-5", input=PROMPT) as stream,
    ):
        yield from stream


def _gemini_client(url: str) -> Any:
    from google import genai
    from google.genai import types

    return genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url))


def gemini(url: str, messages: Any = PROMPT) -> Iterator[Any]:
    with _gemini_client(url) as client:
        yield from client.models.generate_content_stream(model="gemini-3", contents=messages)


async def gemini_async(url: str) -> AsyncIterator[Any]:
    async with _gemini_client(url).aio as client:
        async for response in await client.models.generate_content_stream(model="gemini-3", contents=PROMPT):
            yield response


def gemini_interactions(url: str, messages: Any = PROMPT) -> Iterator[Any]:
    with _gemini_client(url) as client:
        yield from client.interactions.create(model="gemini-3", input=messages, stream=True)


async def gemini_interactions_async(url: str) -> AsyncIterator[Any]:
    async with _gemini_client(url).aio as client:
        async for event in await client.interactions.create(model="gemini-3", input=PROMPT, stream=True):
            yield event


def mistral(url: str, messages: list[Any] = [USER]) -> Iterator[Any]:  # noqa: B006
    from mistralai.client import Mistral

    with (
        Mistral(api_key=KEY, server_url=url) as client,
        client.chat.stream(model="mistral", messages=messages) as stream,
    ):
        yield from stream


async def mistral_async(url: str) -> AsyncIterator[Any]:
    from mistralai.client import Mistral

    client = Mistral(api_key=KEY, server_url=url)
    async with client, await client.chat.stream_async(model="mistral", messages=[USER]) as stream:
        async for event in stream:
            yield event


def cohere(url: str, messages: list[Any] = [USER]) -> Iterator[Any]:  # noqa: B006
    import cohere

    with cohere.ClientV2(api_key=KEY, base_url=url) as client:
        yield from client.chat_stream(model="command", messages=messages)


async def cohere_async(url: str) -> AsyncIterator[Any]:
    import cohere

    async with cohere.AsyncClientV2(api_key=KEY, base_url=url) as client:
        async for event in client.chat_stream(model="command", messages=[USER]):
            yield event


def ollama(url: str, messages: list[Any] = [USER]) -> Iterator[Any]:  # noqa: B006
    import ollama

    client = ollama.Client(host=url)
    try:
        yield from client.chat(model="qwen", messages=messages, stream=True)
    finally:
        client._client.close()


async def ollama_async(url: str) -> AsyncIterator[Any]:
    import ollama

    client = ollama.AsyncClient(host=url)
    try:
        async for part in await client.chat(model="qwen", messages=[USER], stream=True):
            yield part
    finally:
        await client._client.aclose()


def bedrock(url: str, messages: list[Any] | None = None) -> Iterator[Any]:
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id=KEY,
        aws_secret_access_key=KEY,
        config=Config(retries={"total_max_attempts": 1}),
    )
    try:
        messages = messages or [{"role": "user", "content": [{"text": PROMPT}]}]
        yield from client.converse_stream(modelId="nova", messages=messages)["stream"]
    finally:
        client.close()


class Client(NamedTuple):
    """A package: its module, its protocol, the stream that the server plays, and how to read it."""

    module: str
    provider: str
    stream: str
    read: Callable[..., Iterator[Any]]
    read_async: Callable[[str], AsyncIterator[Any]] | None = None


CLIENTS = {
    "openai-chat": Client("openai", "openai-chat", "openai-chat", openai_chat, openai_chat_async),
    "openai-chat-helper": Client("openai", "openai-chat", "openai-chat", openai_chat_helper),
    "openai-responses": Client(
        "openai", "openai-responses", "openai-responses", openai_responses, openai_responses_async
    ),
    "openai-responses-helper": Client("openai", "openai-responses", "openai-responses", openai_responses_helper),
    "anthropic": Client("anthropic", "anthropic", "anthropic", anthropic, anthropic_async),
    "anthropic-helper": Client("anthropic", "anthropic", "anthropic", anthropic_helper),
    "gemini": Client("google.genai", "gemini", "gemini", gemini, gemini_async),
    "gemini-partial": Client("google.genai", "gemini", "gemini-partial", gemini, gemini_async),
    "gemini-interactions": Client(
        "google.genai", "gemini-interactions", "gemini-interactions", gemini_interactions, gemini_interactions_async
    ),
    "mistral": Client("mistralai.client", "mistral", "mistral", mistral, mistral_async),
    "cohere": Client("cohere", "cohere", "cohere", cohere, cohere_async),
    "ollama": Client("ollama", "ollama", "ollama", ollama, ollama_async),
    "bedrock": Client("boto3", "bedrock-converse", "bedrock-converse", bedrock),
}
