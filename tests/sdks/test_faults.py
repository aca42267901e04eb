"""Where the official clients are wrong, on the same bytes that toolstream reads right; the table of docs/providers.md.

Each fault is a stream that real servers send, what the client makes of it, and the calls that are in it. With another
version than `TESTED` a client may have learned: that is no failure here, only a reason to shorten the table.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from clients import KEY, PROMPT, USER, bedrock, gemini, mistral, ollama
from server import STREAMS, StreamServer

import toolstream

DOCS = Path(__file__).parent.parent.parent / "docs" / "providers.md"
TESTED = {
    "openai": "3.57.0",
    "anthropic": "2.14.0",
    "google-genai": "3.6.1",
    "mistralai": "3.7.0",
    "ollama": "0.6.3",
    "boto3": "1.44.8",
}
MODULES = {"google-genai": "google.genai", "mistralai": "mistralai.client"}

Event = dict[str, Any]


# ---------------------------------------------------------------- streams


def sse(*events: Event, done: bool = True) -> bytes:
    named = "".join(
        (f"event: {event['type']}\n" if "type" in event else "") + f"data: {json.dumps(event)}\n\n" for event in events
    )
    return (named + ("data: [DONE]\n\n" if done else "")).encode()


def chunk(*calls: Event, finish: str | None = None) -> Event:
    choice = {"index": 0, "delta": {"tool_calls": list(calls)} if calls else {}, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


def part(index: int | None, arguments: Any, id: str | None = None, name: str | None = None) -> Event:
    out: Event = {} if index is None else {"index": index}
    if id is not None:
        out.update(id=id, type="function")
    out["function"] = {"arguments": arguments, **({} if name is None else {"name": name})}
    return out


FINISH = chunk(finish="tool_calls")
ONE_INDEX = sse(chunk(part(0, '{"x":1}', "a", "add")), chunk(part(0, '{"y":2}', "b", "mul")), FINISH)
NO_INDEX = sse(chunk(part(None, '{"x":1}', "a", "add")), chunk(part(None, '{"y":2}', "b", "mul")), FINISH)
CUSTOM = sse(
    chunk({"index": 0, "id": "a", "type": "custom", "custom": {"name": "run", "input": "x ="}}),
    chunk({"index": 0, "custom": {"input": " 1"}}),
    FINISH,
)

ADD = ("a", "add", {"x": 1})
MUL = ("b", "mul", {"y": 2})


def response(status: str, *output: Event, **more: Any) -> Event:
    fields = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": status, "output": list(output)}
    kind = "created" if status == "in_progress" else status
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], **more}
    return {"type": f"response.{kind}", "sequence_number": 0, "response": {**fields, **rest}}


def item(number: int, name: str, arguments: str = "", status: str = "in_progress") -> Event:
    fields = {"type": "function_call", "id": f"fc_{number}", "call_id": "ab"[number], "name": name}
    return {**fields, "arguments": arguments, "status": status}


def call_events(number: int, name: str, arguments: str) -> list[Event]:
    ids = {"item_id": f"fc_{number}", "output_index": number, "sequence_number": 0}
    place = {"output_index": number, "sequence_number": 0}
    return [
        {"type": "response.output_item.added", "item": item(number, name), **place},
        {"type": "response.function_call_arguments.delta", "delta": arguments, **ids},
        {"type": "response.function_call_arguments.done", "arguments": arguments, "name": name, **ids},
        {"type": "response.output_item.done", "item": item(number, name, arguments, "completed"), **place},
    ]


CREATED = response("in_progress")
WHOLE = call_events(0, "add", '{"x":1}')
HALF = call_events(1, "mul", '{"y"')[:2]

START = {
    "type": "message_start",
    "message": {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    },
}


def block(index: int, id: str, name: str, text: str, *, closed: bool = True) -> list[Event]:
    start = {"type": "tool_use", "id": id, "name": name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": text}
    events: list[Event] = [
        {"type": "content_block_start", "index": index, "content_block": start},
        {"type": "content_block_delta", "index": index, "delta": delta},
        {"type": "content_block_stop", "index": index},
    ]
    return events if closed else events[:2]


def stopped(reason: str = "tool_use") -> list[Event]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]


def candidate(*parts: Event, finish: str | None = None) -> Event:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": finish}]}


PARTIAL = sse(
    candidate({"functionCall": {"name": "add", "willContinue": True}}),
    candidate({"functionCall": {"partialArgs": [{"jsonPath": "$.x", "numberValue": 1}], "willContinue": True}}),
    candidate({"functionCall": {}}, finish="STOP"),
    done=False,
)

LINE = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": False}


def line(arguments: Any) -> Event:
    call = {"id": "a", "function": {"index": 0, "name": "add", "arguments": arguments}}
    return {**LINE, "message": {"role": "assistant", "content": "", "tool_calls": [call]}}


LAST = {**LINE, "done": True, "done_reason": "stop"}


def ndjson(*events: Event) -> bytes:
    return "".join(json.dumps(event) + "\n" for event in events).encode()


FRAMES = (STREAMS / "bedrock-converse.eventstream").read_bytes()


# ---------------------------------------------------------------- what the clients make of them


def chat(url: str) -> Any:
    """What the stream helper's accumulator has at the end."""
    import openai

    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
        client.chat.completions.stream(model="m", messages=[USER]) as stream,
    ):
        for _ in stream:
            pass
        calls = stream.get_final_completion().choices[0].message.tool_calls or []
        return [(call.id, call.function.name, call.function.arguments) for call in calls]


def chat_events(url: str) -> Any:
    """The types of the stream helper's events about arguments."""
    import openai

    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
        client.chat.completions.stream(model="m", messages=[USER]) as stream,
    ):
        return [(event.type.rpartition(".")[2], event.index) for event in stream if "arguments" in event.type]


def responses(url: str) -> Any:
    import openai

    with (
        openai.OpenAI(base_url=f"{url}/v1", api_key=KEY, max_retries=0) as client,
        client.responses.stream(model="m", input=PROMPT) as stream,
    ):
        for _ in stream:
            pass
        return [(item.call_id, item.name, item.arguments) for item in stream.get_final_response().output]


def messages(url: str) -> Any:
    import anthropic

    with (
        anthropic.Anthropic(base_url=url, api_key=KEY, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=[USER]) as stream,
    ):
        for _ in stream:
            pass
        return [(block.id, block.name, block.input) for block in stream.get_final_message().content]


def gemini_chat(url: str) -> Any:
    """Two turns of a chat that keeps the history itself."""
    from google import genai
    from google.genai import types

    with genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=url)) as client:
        chat = client.chats.create(model="m")
        for _ in chat.send_message_stream(PROMPT):
            pass
        return list(chat.send_message_stream(PROMPT))


def gemini_parts(url: str) -> Any:
    return [part.model_dump(exclude_none=True) for event in gemini(url) for part in event.candidates[0].content.parts]


def mistral_calls(url: str) -> Any:
    found = []
    for event in mistral(url):
        for call in event.data.choices[0].delta.tool_calls or []:
            found.append((call.index, call.id, call.function.name, call.function.arguments))
    return found


def ollama_calls(url: str) -> Any:
    return [call.model_dump() for event in ollama(url) for call in event.message.tool_calls or []]


def bedrock_end(url: str) -> Any:
    """The last event, when the iteration has ended without an exception."""
    return [next(iter(event)) for event in bedrock(url)][-1]


class Fault(NamedTuple):
    package: str
    what: str  # as in the table of the documentation
    provider: str
    stream: bytes
    read: Callable[[str], Any]
    wrong: Any  # what the client gives, or the name of the exception that it raises
    right: list[tuple[Any, ...]]  # (id, name, arguments) of the calls that may be run
    half: int = 0  # calls that may not
    ending: str = ".sse"


FAULTS = [
    Fault(
        "openai",
        "two calls under one index",
        "openai-chat",
        ONE_INDEX,
        chat,
        [("ab", "addmul", '{"x":1}{"y":2}')],
        [ADD, MUL],
    ),
    Fault("openai", "calls without an index", "openai-chat", NO_INDEX, chat, "TypeError", [ADD, MUL]),
    Fault(
        "openai",
        "indexes from 1",
        "openai-chat",
        sse(chunk(part(1, '{"x":', "a", "add")), chunk(part(1, "1}")), FINISH),
        chat,
        "IndexError",
        [ADD],
    ),
    Fault(
        "openai",
        "id and name on every chunk",
        "openai-chat",
        sse(chunk(part(0, '{"x":', "a", "add")), chunk(part(0, "1}", "a", "add")), FINISH),
        chat,
        [("aa", "addadd", '{"x":1}')],
        [ADD],
    ),
    Fault(
        "openai",
        "another id on every chunk",
        "openai-chat",
        sse(chunk(part(0, '{"x":', "a", "add")), chunk(part(0, "1}", "b")), FINISH),
        chat,
        [("ab", "add", '{"x":1}')],
        [ADD],
    ),
    Fault(
        "openai",
        "the whole text so far in every fragment",
        "openai-chat",
        sse(chunk(part(0, '{"x"', "a", "add")), chunk(part(0, '{"x":1}')), FINISH),
        chat,
        [("a", "add", '{"x"{"x":1}')],
        [ADD],
    ),
    Fault(
        "openai",
        "`{}` before the arguments",
        "openai-chat",
        sse(chunk(part(0, "{}", "a", "add")), chunk(part(0, '{"x":1}')), FINISH),
        chat,
        [("a", "add", '{}{"x":1}')],
        [ADD],
    ),
    Fault(
        "openai",
        "custom tools in Chat Completions",
        "openai-chat",
        CUSTOM,
        chat,
        "AttributeError",
        [("a", "run", "x = 1")],
    ),
    Fault(
        "openai",
        "interleaved calls: `arguments.done` before the last fragment",
        "openai-chat",
        sse(
            chunk(part(0, "", "a", "add")),
            chunk(part(1, "", "b", "mul")),
            chunk(part(0, '{"x":1}')),
            chunk(part(1, '{"y":2}')),
            FINISH,
        ),
        chat_events,
        [("delta", 0), ("delta", 1), ("done", 0), ("delta", 0), ("done", 1), ("delta", 1)],
        [ADD, MUL],
    ),
    Fault(
        "openai",
        "cut by `length`",
        "openai-chat",
        sse(chunk(part(0, '{"x":1}', "a", "add")), chunk(part(1, '{"y"', "b", "mul")), chunk(finish="length")),
        chat,
        "LengthFinishReasonError",
        [ADD],
        1,
    ),
    Fault(
        "openai",
        "a Chat stream that dies inside a call",
        "openai-chat",
        sse(chunk(part(0, '{"x":1}', "a", "add")), chunk(part(1, '{"y"', "b", "mul")), done=False),
        chat,
        [("a", "add", '{"x":1}'), ("b", "mul", '{"y"')],
        [ADD],
        1,
    ),
    Fault(
        "openai",
        "a Responses stream that dies",
        "openai-responses",
        sse(CREATED, *WHOLE, *HALF),
        responses,
        "RuntimeError",
        [ADD],
        1,
    ),
    Fault(
        "openai",
        "`response.incomplete`",
        "openai-responses",
        sse(CREATED, *WHOLE, *HALF, response("incomplete", incomplete_details={"reason": "max_output_tokens"})),
        responses,
        "RuntimeError",
        [ADD],
        1,
    ),
    Fault(
        "openai",
        "a Responses stream taken up in the middle",
        "openai-responses",
        sse(*WHOLE[2:], response("completed", item(0, "add", '{"x":1}', "completed"))),
        responses,
        "RuntimeError",
        [ADD],
    ),
    Fault(
        "openai",
        "a last event without output",
        "openai-responses",
        sse(CREATED, *WHOLE, response("completed")),
        responses,
        [],
        [ADD],
    ),
    Fault(
        "anthropic",
        "`max_tokens` inside the input",
        "anthropic",
        sse(START, *block(0, "a", "add", '{"x":12', closed=False), *stopped("max_tokens"), done=False),
        messages,
        [("a", "add", {"x": 12})],
        [],
        1,
    ),
    Fault(
        "anthropic",
        "a stream that dies inside the input",
        "anthropic",
        sse(START, *block(0, "a", "add", '{"x":1}'), *block(1, "b", "mul", '{"y', closed=False), done=False),
        messages,
        [("a", "add", {"x": 1}), ("b", "mul", {})],
        [ADD],
        1,
    ),
    Fault(
        "anthropic",
        "an invalid escape in the input",
        "anthropic",
        sse(START, *block(0, "a", "add", '{"x": "C:\\d"}'), *stopped(), done=False),
        messages,
        "ValueError",
        [("a", "add", {"x": "C:\\d"})],
    ),
    Fault(
        "anthropic",
        "input that is no JSON, beside input that is",
        "anthropic",
        sse(START, *block(0, "a", "add", '{"x":1}'), *block(1, "b", "mul", '{"y": C:}'), *stopped(), done=False),
        messages,
        "ValueError",
        [ADD],
        1,
    ),
    Fault(
        "anthropic",
        "a gap in the indexes",
        "anthropic",
        sse(START, *block(3, "a", "add", '{"x":1}'), *stopped(), done=False),
        messages,
        "IndexError",
        [ADD],
    ),
    Fault(
        "anthropic",
        "two blocks under one index",
        "anthropic",
        sse(START, *block(0, "a", "add", '{"x":1}'), *block(0, "b", "mul", '{"y":2}'), *stopped(), done=False),
        messages,
        [("a", "add", {"x": 1}), ("b", "mul", {})],
        [ADD, MUL],
    ),
    Fault(
        "google-genai",
        "streamed arguments in a chat's second turn",
        "gemini",
        PARTIAL,
        gemini_chat,
        "ValueError",
        [(None, "add", {"x": 1})],
    ),
    Fault(
        "google-genai",
        "parts of unknown types",
        "gemini",
        sse(
            candidate({"newThing": {"x": 1}}, {"functionCall": {"name": "add", "args": {"x": 1}}}, finish="STOP"),
            done=False,
        ),
        gemini_parts,
        [{}, {"function_call": {"name": "add", "args": {"x": 1}}}],
        [(None, "add", {"x": 1})],
    ),
    Fault(
        "mistralai",
        "calls without id and index",
        "mistral",
        sse(chunk(part(None, '{"x":1}', None, "add")), FINISH),
        mistral_calls,
        [(0, "null", "add", '{"x":1}')],
        [(None, "add", {"x": 1})],
    ),
    Fault(
        "mistralai",
        "fragments without a name",
        "mistral",
        sse(chunk(part(0, '{"x":', "a", "add")), chunk(part(0, "1}")), FINISH),
        mistral_calls,
        "ResponseValidationError",
        [ADD],
    ),
    Fault(
        "mistralai",
        "custom tools",
        "mistral",
        CUSTOM,
        mistral_calls,
        "ResponseValidationError",
        [("a", "run", "x = 1")],
    ),
    Fault(
        "mistralai",
        "an error event",
        "mistral",
        sse(chunk(part(0, '{"x":1}', "a", "add")), {"error": {"message": "busy"}}, done=False),
        mistral_calls,
        "ResponseValidationError",
        [ADD],
    ),
    Fault(
        "ollama",
        "ids and indexes",
        "ollama",
        ndjson(line({"x": 1}), LAST),
        ollama_calls,
        [{"function": {"name": "add", "arguments": {"x": 1}}}],
        [ADD],
        0,
        ".ndjson",
    ),
    Fault(
        "ollama",
        "arguments as text",
        "ollama",
        ndjson(line('{"x":1}'), LAST),
        ollama_calls,
        "ValidationError",
        [ADD],
        0,
        ".ndjson",
    ),
    Fault(
        "ollama",
        "a stream that dies inside a line",
        "ollama",
        ndjson(line({"x": 1}), LAST)[:-20],
        ollama_calls,
        "JSONDecodeError",
        [ADD],
        0,
        ".ndjson",
    ),
    Fault(
        "boto3",
        "a response that ends inside a frame",
        "bedrock-converse",
        FRAMES[: len(FRAMES) * 3 // 4],
        bedrock_end,
        "contentBlockStop",
        [("tooluse_a", "lookup", {"city": "Oslo", "note": 'a "b" é 😀'})],
        0,
        ".eventstream",
    ),
]


@pytest.mark.parametrize("fault", FAULTS, ids=[f"{fault.package}: {fault.what}" for fault in FAULTS])
def test_fault(server: StreamServer, fault: Fault) -> None:
    pytest.importorskip(MODULES.get(fault.package, fault.package))
    completion = toolstream.assemble([fault.stream], fault.provider)
    got = [
        (call.id if id is not None else None, call.name, call.arguments if call.input is None else call.input)
        for call, (id, _, _) in zip(completion.executable_calls, fault.right, strict=True)
    ]
    assert got == fault.right
    assert len(completion.calls) == len(fault.right) + fault.half
    url = server.url(server.add(re.sub(r"\W+", "-", fault.what), fault.stream, fault.ending))
    try:
        made: Any = fault.read(url)
    except Exception as error:
        made = type(error).__name__
    if made != fault.wrong and version(fault.package) != TESTED[fault.package]:
        pytest.xfail(f"{fault.package} {version(fault.package)} gives {made}")
    assert made == fault.wrong


def test_null_arguments_are_no_fault(server: StreamServer) -> None:
    """The row of the README's table that the client reads right."""
    pytest.importorskip("openai")
    stream = sse(chunk(part(0, None, "a", "add")), chunk(part(0, None)), chunk(part(0, "{}")), FINISH)
    assert chat(server.url(server.add("null-arguments", stream))) == [("a", "add", "{}")]


def test_the_documentation_has_every_row() -> None:
    table = DOCS.read_text(encoding="utf-8")
    for package, tested in TESTED.items():
        assert f"{package} {tested}" in table
    rows = re.findall(r"^\| ([a-z0-9-]+) \| (.*?) \|", table, re.M)
    documented = {(package, what) for package, what in rows if package in TESTED}
    assert {(fault.package, fault.what) for fault in FAULTS} <= documented
