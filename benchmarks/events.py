"""What an event costs: toolstream's own work beside `json.loads`, and whole streams beside the SDKs' own accumulation.

    python benchmarks/events.py              generated streams of every protocol
    python benchmarks/events.py FILE...      recorded ones (.sse, .ndjson, .jsonarray, .eventstream)
    ... --without-orjson                     as if it were not installed, with the decoder of the standard library

First table, for each protocol, in microseconds an event:

- `json.loads`: decoding the payload of the event, as the bytes that came, and nothing else; `of str`: of text that
  somebody has made of them before; `decoder`: the bytes with the decoder in use (`orjson`, where it is installed);
- `whole`: bytes in, finished calls out, one event a piece, live arguments read after every delta; `live`: this reading;
- `own`: `whole` without `decoder`, which is toolstream's own work: framing, protocol, parsing the arguments, events;
- `own / json`: the promise is less than 1 on the compiled back end; `/ of str`: the same by `of str`.

Of recorded streams there is a second table, with the same sums for each protocol. Most of them are short, so that what
a stream and a call cost once shows there.

Second table, for generated streams, in milliseconds a stream: from the bytes of a response to finished calls, all
through the same in-memory transport of httpx. `calls`: the client puts calls together itself (else it only hands events
on); `live`: it shows arguments while they grow. Times are the least of several rounds.
"""

from __future__ import annotations

import base64
import json
import struct
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import toolstream
from toolstream.providers import provider_class
from toolstream.transport import decoder_for, recognise_framing
from toolstream.transport.json_text import exact_loads, strict_loads

ROUNDS = 9
FRAGMENTS = 400
FRAGMENT = 'word \\"x\\" '


# ------------------------------------------------------------------------------------------------------------ streams


def _sse(events: list[dict[str, Any]], named: str = "") -> list[bytes]:
    """One piece an event."""
    out = []
    for event in events:
        name = f"event: {event[named]}\n" if named else ""
        out.append(f"{name}data: {json.dumps(event, separators=(',', ':'))}\n\n".encode())
    return out


def _frame(kind: str, payload: dict[str, Any]) -> bytes:
    head = b""
    for name, value in ((":event-type", kind), (":content-type", "application/json"), (":message-type", "event")):
        head += bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    body = json.dumps(payload, separators=(",", ":")).encode()
    start = struct.pack(">II", len(head) + len(body) + 16, len(head))
    start += struct.pack(">I", zlib.crc32(start))
    return start + head + body + struct.pack(">I", zlib.crc32(start + head + body))


ARGUMENTS = ['{"text":"', *[FRAGMENT] * FRAGMENTS, '","path":"a.py"}']


def _chunks(deltas: list[dict[str, Any]]) -> list[bytes]:
    """A stream of Chat Completions with those deltas."""
    events = []
    for number, delta in enumerate([{"role": "assistant", "content": None}, *deltas, {}]):
        finish = "tool_calls" if number > len(deltas) else None
        event = {
            "id": "chatcmpl-CnwXbmTnZkSKGjnRFpRmtVQvWx2Ks",
            "object": "chat.completion.chunk",
            "created": 1764000000,
            "model": "gpt-5-2025-08-07",
            "service_tier": "default",
            "system_fingerprint": None,
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
            "obfuscation": "aB3dE5gH7",
        }
        events.append(event)
    return [*_sse(events), b"data: [DONE]\n\n"]


def _entry(index: int, arguments: str) -> dict[str, Any]:
    """The beginning of a call in Chat Completions."""
    function = {"name": "write", "arguments": arguments}
    return {"index": index, "id": f"call_5tGfLDkC7nYjTiwQoLMqBz{index:02}", "type": "function", "function": function}


def openai_chat() -> list[bytes]:
    deltas = [{"tool_calls": [_entry(0, "")]}]
    return _chunks([*deltas, *({"tool_calls": [{"index": 0, "function": {"arguments": a}}]} for a in ARGUMENTS)])


def openai_chat_whole(together: int = 1) -> list[bytes]:
    """Calls come whole, as many servers send them: 40 of them, so many in a chunk."""
    entries = [_entry(n, json.dumps({"text": "word " * 40, "path": f"a{n}.py"})) for n in range(40)]
    return _chunks([{"tool_calls": entries[at : at + together]} for at in range(0, 40, together)])


def mistral() -> list[bytes]:
    """As of its hosted models: like Chat Completions, with empty names, which its client cannot do without."""
    return [piece.replace(b'{"arguments"', b'{"name":"","arguments"') for piece in openai_chat()]


def openai_responses() -> list[bytes]:
    id = "fc_07d2265248f742f6016a3c12065a2c819e8eb9b547f64a93fc"
    item = {"id": id, "type": "function_call", "call_id": "call_5tGfLDkC7nYjTiwQoLMqBz2E", "name": "write"}
    text = "".join(ARGUMENTS)
    begun, whole = ({**item, "status": s, "arguments": a} for s, a in (("in_progress", ""), ("completed", text)))
    response = {
        "id": "resp_07d2265248f742f6016a3c1205ba3c819e8c21d6c3ae5b93ff",
        "object": "response",
        "created_at": 1764000000,
        "model": "gpt-5",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
    }
    place = {"output_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**response, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "item": begun, **place},
    ]
    for a in ARGUMENTS:
        delta = {"type": "response.function_call_arguments.delta", "delta": a, "item_id": id, **place}
        events.append({**delta, "obfuscation": "aB3dE5gH7"})
    events += [
        {"type": "response.function_call_arguments.done", "arguments": text, "item_id": id, **place},
        {"type": "response.output_item.done", "item": whole, **place},
        {"type": "response.completed", "response": {**response, "status": "completed", "output": [whole]}},
    ]
    return _sse([{**event, "sequence_number": number} for number, event in enumerate(events)], "type")


def anthropic(inputs: list[list[str]] | None = None) -> list[bytes]:
    """One call, or one for each list of fragments."""
    message = {"id": "msg_01", "type": "message", "role": "assistant", "model": "claude", "content": []}
    usage = {"input_tokens": 20, "output_tokens": 1}
    begun = {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, fragments in enumerate(inputs or [ARGUMENTS]):
        block = {"type": "tool_use", "id": f"toolu_01T1x1fJ34qAmk2tNTrN7U{index:02}", "name": "write", "input": {}}
        events.append({"type": "content_block_start", "index": index, "content_block": block})
        for a in fragments:
            delta = {"type": "input_json_delta", "partial_json": a}
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
        events.append({"type": "content_block_stop", "index": index})
    stop = {"stop_reason": "tool_use", "stop_sequence": None}
    events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 30}})
    return _sse([*events, {"type": "message_stop"}], "type")


def anthropic_short() -> list[bytes]:
    """Calls of four fragments: 20 of them."""
    return anthropic([['{"text":"', "word " * 10, "word " * 10, '","path":"a.py"}']] * 20)


def _candidate(part: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0, **more}],
        "usageMetadata": {"promptTokenCount": 20, "totalTokenCount": 50, "trafficType": "ON_DEMAND"},
        "modelVersion": "gemini-3-pro",
        "responseId": "dqHOab6xGLzWodAPkPuViA4",
    }


def gemini() -> list[bytes]:
    """Arguments streamed as values with paths."""
    texts = [json.loads(f'"{FRAGMENT}"')] * FRAGMENTS
    events = [_candidate({"functionCall": {"name": "write", "willContinue": True}})]
    for text in texts:
        value = {"jsonPath": "$.text", "stringValue": text, "willContinue": True}
        events.append(_candidate({"functionCall": {"partialArgs": [value], "willContinue": True}}))
    value = {"jsonPath": "$.text", "stringValue": ""}
    events.append(_candidate({"functionCall": {"partialArgs": [value], "willContinue": True}}))
    return _sse([*events, _candidate({"functionCall": {}}, finishReason="STOP")])


def gemini_whole(ids: bool = True) -> list[bytes]:
    """Calls come whole: 40 of them, with the fields of the Gemini API; from Gemini 3 on they have ids."""
    usage = {"promptTokenCount": 71, "candidatesTokenCount": 0, "totalTokenCount": 164}
    rest = {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": 71}], "thoughtsTokenCount": 93}
    parts: list[dict[str, Any]] = []
    for number in range(40):
        call = {"name": "write", "args": {"text": "word " * 40, "path": f"a{number}.py"}}
        parts.append({"functionCall": {**call, "id": f"j80tal{number}"} if ids else call})
    events = []
    for number, part in enumerate([*parts, {"text": ""}]):
        counts = {"candidatesTokenCount": 50 * number, "totalTokenCount": 164 + 50 * number}
        finish = {} if number < 40 else {"finishReason": "STOP"}
        event = _candidate(part, **finish)
        events.append({**event, "usageMetadata": {**usage, **counts, **rest, "serviceTier": "standard"}})
    return _sse(events)


def gemini_interactions() -> list[bytes]:
    def event(kind: str, **fields: Any) -> dict[str, Any]:
        return {**fields, "event_type": kind}

    interaction = {"id": "v1_ChdVbXNIYXVEUkVacmpxdHNQb3JQeXlBRRIX", "object": "interaction", "model": "gemini-3-pro"}
    step = {"id": "61nzpsv4", "signature": "", "type": "function_call", "name": "write", "arguments": {}}
    deltas = [{"arguments": a, "type": "arguments_delta"} for a in ARGUMENTS]
    events = [
        event("interaction.created", interaction={**interaction, "status": "in_progress"}),
        event("step.start", index=0, step=step),
        *[event("step.delta", index=0, delta=delta) for delta in deltas],
        event("step.stop", index=0),
        event("interaction.completed", interaction={**interaction, "status": "requires_action"}),
    ]
    return [*_sse(events, "event_type"), b"data: [DONE]\n\n"]


def cohere() -> list[bytes]:
    def event(type: str, calls: dict[str, Any]) -> dict[str, Any]:
        return {"type": type, "index": 0, "delta": {"message": {"tool_calls": calls}}}

    function = {"name": "write", "arguments": ""}
    events: list[dict[str, Any]] = [
        {"type": "message-start", "id": "m1", "delta": {"message": {"role": "assistant"}}},
        event("tool-call-start", {"id": "write_1", "type": "function", "function": function}),
        *[event("tool-call-delta", {"function": {"arguments": a}}) for a in ARGUMENTS],
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"input_tokens": 20}}}},
    ]
    return _sse(events, "type")


PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFG"  # of a random length in real streams, 33 on average


def bedrock_converse() -> list[bytes]:
    def block(kind: str, **fields: Any) -> bytes:
        return _frame(kind, {"contentBlockIndex": 0, **fields, "p": PADDING})

    return [
        _frame("messageStart", {"role": "assistant", "p": PADDING}),
        block("contentBlockStart", start={"toolUse": {"toolUseId": "tooluse_kZJMlvQmRJ6eAyJE5GIl7Q", "name": "write"}}),
        *[block("contentBlockDelta", delta={"toolUse": {"input": a}}) for a in ARGUMENTS],
        block("contentBlockStop"),
        _frame("messageStop", {"stopReason": "tool_use", "p": PADDING}),
        _frame("metadata", {"usage": {"inputTokens": 20, "outputTokens": 30, "totalTokens": 50}}),
    ]


def bedrock_invoke() -> list[bytes]:
    """Anthropic's events inside frames of InvokeModelWithResponseStream."""
    out = []
    for piece in anthropic():
        payload = piece.partition(b"data: ")[2].strip()
        out.append(_frame("chunk", {"bytes": base64.b64encode(payload).decode(), "p": PADDING}))
    return out


def ollama() -> list[bytes]:
    """Calls come whole: 40 of them."""
    head = {"model": "qwen3:8b", "created_at": "2026-01-01T00:00:00.000000Z"}
    lines = []
    for number in range(40):
        function = {"index": number, "name": "write", "arguments": {"text": "word " * 40, "path": f"a{number}.py"}}
        message = {"role": "assistant", "content": "", "tool_calls": [{"id": f"call_{number}", "function": function}]}
        lines.append({**head, "message": message, "done": False})
    lines.append({**head, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"})
    return [json.dumps(line).encode() + b"\n" for line in lines]


STREAMS: dict[str, tuple[str, Callable[[], list[bytes]]]] = {
    "openai-chat": ("openai-chat", openai_chat),
    "openai-chat (whole calls)": ("openai-chat", openai_chat_whole),
    "openai-chat (4 in a chunk)": ("openai-chat", lambda: openai_chat_whole(together=4)),
    "openai-responses": ("openai-responses", openai_responses),
    "anthropic": ("anthropic", anthropic),
    "anthropic (short calls)": ("anthropic", anthropic_short),
    "anthropic (InvokeModel)": ("anthropic", bedrock_invoke),
    "gemini (paths)": ("gemini", gemini),
    "gemini (whole calls)": ("gemini", gemini_whole),
    "gemini (whole, no ids)": ("gemini", lambda: gemini_whole(ids=False)),
    "gemini-interactions": ("gemini-interactions", gemini_interactions),
    "bedrock-converse": ("bedrock-converse", bedrock_converse),
    "mistral": ("mistral", mistral),
    "cohere": ("cohere", cohere),
    "ollama (whole calls)": ("ollama", ollama),
}


def recorded(path: Path) -> list[bytes]:
    """The pieces of a recorded stream, one event each as far as the framing shows."""
    data = path.read_bytes()
    if path.suffix == ".sse":
        mark = b"\r\n\r\n" if b"\r\n\r\n" in data else b"\n\n"
        return [event + mark for event in data.split(mark) if event]
    if path.suffix == ".ndjson":
        return data.splitlines(keepends=True)
    if path.suffix == ".eventstream":
        out, at = [], 0
        while at < len(data):
            size = int.from_bytes(data[at : at + 4], "big")
            out.append(data[at : at + size])
            at += size
        return out
    out, at = [], 0
    for element in elements(data.decode()):  # each with the comma before it, the last one with what ends the array
        end = data.index(element.encode(), at) + len(element.encode())
        out.append(data[at:end])
        at = end
    return [*out[:-1], out[-1] + data[at:]]


# ------------------------------------------------------------------------------------------------------- measurements


def least(*runs: Callable[[], object]) -> list[float]:
    """The least time of each, in seconds of the processor; they take turns, so that a slow moment hits all alike."""
    best = [float("inf")] * len(runs)
    for _ in range(ROUNDS):
        for number, run in enumerate(runs):
            start = time.process_time()
            run()
            best[number] = min(best[number], time.process_time() - start)
    return best


def read(pieces: Any, provider: str | None, live: bool = True) -> toolstream.Completion:
    """Bytes in, finished calls out; `live`: with the live arguments read after every delta."""
    stream = toolstream.ToolCallStream(provider)
    for piece in pieces:
        for event in stream.feed(piece):
            if live and event.type == "tool_call.delta":
                event.call.partial_arguments  # noqa: B018
    stream.close()
    return stream.completion


def payloads(pieces: list[bytes]) -> list[str]:
    """The JSON texts that the stream decodes."""
    framing = recognise_framing(pieces[0], True)
    if framing == "json-array":
        return elements(b"".join(pieces).decode())
    decoder = decoder_for(framing or "sse")
    messages: list[Any] = [message for piece in pieces for message in decoder.feed(piece)] + decoder.close()
    texts: list[str] = []
    for message in messages:
        text = message.payload.decode() if framing == "aws-event-stream" else getattr(message, "data", message)
        if text[:1] in ("{", "["):
            texts.append(text)
            if framing == "aws-event-stream" and '"bytes"' in text:  # the event inside is decoded as well
                texts.append(base64.b64decode(json.loads(text)["bytes"]).decode())
    return [text for text in texts if text != "[DONE]"]


def elements(text: str) -> list[str]:
    """The texts of the elements of an array."""
    found, at, scan = [], text.index("[") + 1, json.JSONDecoder().raw_decode
    while (start := text.find("{", at)) >= 0:
        at = scan(text, start)[1]
        found.append(text[start:at])
    return found


class Cost(NamedTuple):
    """Of a stream, or several of a protocol: its events, the bytes of their JSON, and seconds."""

    protocol: str
    streams: int
    events: int
    size: int
    standard: float
    of_text: float
    used: float
    whole: float
    live: float

    def row(self, name: str) -> list[str]:
        own = self.whole - self.used
        times = (self.standard, self.of_text, self.used, self.whole, self.live, own)
        columns = [f"{seconds / self.events * 1e6:.2f}" for seconds in times]
        ratios = [f"{own / self.standard:.2f}", f"{own / self.of_text:.2f}"]
        return [name, str(self.events), str(self.size // self.events), *columns, *ratios]


def cost(provider: str | None, pieces: list[bytes]) -> Cost:
    texts = payloads(pieces)
    stream = toolstream.ToolCallStream(provider)
    for piece in pieces:
        stream.feed(piece)
    decoder: Any = exact_loads if provider_class(str(stream.provider)).exact_numbers else strict_loads()
    encoded = [text.encode() for text in texts]
    standard, of_text, used, silent, whole = least(
        lambda: [json.loads(text) for text in encoded],
        lambda: [json.loads(text) for text in texts],
        lambda: [decoder(text) for text in encoded],
        lambda: read(pieces, stream.provider, live=False),
        lambda: read(pieces, stream.provider),
    )
    size = sum(map(len, encoded))
    return Cost(str(stream.provider), 1, len(pieces), size, standard, of_text, used, whole, whole - silent)


def by_protocol(costs: list[Cost]) -> list[list[str]]:
    rows = []
    for protocol in [*sorted({one.protocol for one in costs}), ""]:
        some = [one for one in costs if protocol in ("", one.protocol)]
        total = Cost(protocol, *(sum(column) for column in list(zip(*some, strict=True))[1:]))
        rows.append(total.row(f"{total.streams} {protocol or 'in all'}"))
    return rows


# ----------------------------------------------------------------------------------------------------------- the SDKs


def transport(body: bytes, content_type: str, http: Any) -> Any:
    """A client of httpx that answers every request with the body, in pieces of a network's size."""

    class Pieces(http.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Iterator[bytes]:
            for start in range(0, len(body), 1400):
                yield body[start : start + 1400]

    def answer(_: Any) -> Any:
        return http.Response(200, headers={"content-type": content_type}, stream=Pieces())

    return http.Client(transport=http.MockTransport(answer))


def _http(package: str) -> Any:
    """The HTTP library that a client is built on: httpx, or its successor."""
    from importlib import import_module
    from importlib.util import find_spec

    successor = find_spec("httpx2") and package in ("anthropic", "mistralai.client")
    return import_module("httpx2" if successor else "httpx")


def sdk_openai_chat(body: bytes) -> int:
    import httpx
    import openai

    client = openai.OpenAI(api_key="k", http_client=transport(body, "text/event-stream", httpx))
    with client.chat.completions.stream(model="m", messages=[]) as stream:
        for _ in stream:
            pass
        return len(stream.get_final_completion().choices[0].message.tool_calls or [])


def sdk_openai_responses(body: bytes) -> int:
    import httpx
    import openai

    client = openai.OpenAI(api_key="k", http_client=transport(body, "text/event-stream", httpx))
    with client.responses.stream(model="m", input="x") as stream:
        for _ in stream:
            pass
        return len(stream.get_final_response().output)


def sdk_anthropic(body: bytes) -> int:
    import anthropic

    client = anthropic.Anthropic(api_key="k", http_client=transport(body, "text/event-stream", _http("anthropic")))
    with client.messages.stream(model="m", max_tokens=9, messages=[{"role": "user", "content": "x"}]) as stream:
        for _ in stream:
            pass
        return len(stream.get_final_message().content)


def sdk_gemini(body: bytes) -> int:
    import httpx
    from google import genai
    from google.genai import types

    options = types.HttpOptions(httpx_client=transport(body, "text/event-stream", httpx))
    client = genai.Client(api_key="k", http_options=options)
    return sum(1 for _ in client.models.generate_content_stream(model="m", contents="x"))


def sdk_mistral(body: bytes) -> int:
    from mistralai.client import Mistral

    client = Mistral(api_key="k", client=transport(body, "text/event-stream", _http("mistralai.client")))
    return sum(1 for _ in client.chat.stream(model="m", messages=[{"role": "user", "content": "x"}]))


def sdk_cohere(body: bytes) -> int:
    import cohere
    import httpx

    client = cohere.ClientV2(api_key="k", httpx_client=transport(body, "text/event-stream", httpx))
    return sum(1 for _ in client.chat_stream(model="m", messages=[{"role": "user", "content": "x"}]))


def sdk_ollama(body: bytes) -> int:
    import httpx
    import ollama

    client = ollama.Client()
    client._client = transport(body, "application/x-ndjson", httpx)
    client._client.base_url = "http://localhost"
    return sum(1 for _ in client.chat(model="m", messages=[], stream=True))


def sdk_bedrock(body: bytes) -> int:
    """botocore's decoder of frames and its parser of events, without its HTTP."""
    from botocore.eventstream import EventStreamBuffer
    from botocore.parsers import EventStreamJSONParser
    from botocore.session import Session

    model = Session().get_service_model("bedrock-runtime").operation_model("ConverseStream")
    shape = model.output_shape.members["stream"]
    buffer, parser, count = EventStreamBuffer(), EventStreamJSONParser(), 0
    for start in range(0, len(body), 1400):
        buffer.add_data(body[start : start + 1400])
        for message in buffer:
            parser.parse(message.to_response_dict(), shape)
            count += 1
    return count


SDKS: dict[str, tuple[str, Callable[[bytes], int], bool, bool]] = {  # stream -> (package, run, calls, live)
    "openai-chat": ("openai", sdk_openai_chat, True, False),
    "openai-responses": ("openai", sdk_openai_responses, True, False),
    "anthropic": ("anthropic", sdk_anthropic, True, True),
    "gemini (paths)": ("google-genai", sdk_gemini, False, False),
    "bedrock-converse": ("botocore", sdk_bedrock, False, False),
    "mistral": ("mistralai", sdk_mistral, False, False),
    "cohere": ("cohere", sdk_cohere, False, False),
    "ollama (whole calls)": ("ollama", sdk_ollama, False, False),
}


def through_httpx(body: bytes, provider: str) -> toolstream.Completion:
    import httpx

    with transport(body, "text/event-stream", httpx).stream("POST", "http://localhost/") as response:
        return read(response.iter_bytes(), provider)


def beside(name: str) -> list[str]:
    from importlib.metadata import version

    package, run, calls, live = SDKS[name]
    provider, make = STREAMS[name]
    body = b"".join(make())
    ours, theirs = (seconds * 1e3 for seconds in least(lambda: through_httpx(body, provider), lambda: run(body)))
    marks = ["yes" if calls else "no", "yes" if live else "no"]
    return [name, f"{package} {version(package)}", *marks, f"{theirs:.1f}", f"{ours:.1f}", f"{theirs / ours:.1f}"]


def show(rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        print("  ".join(cells).rstrip())
    print()


def main() -> None:
    warnings.simplefilter("ignore")
    arguments = sys.argv[1:]
    if "--without-orjson" in arguments:
        arguments.remove("--without-orjson")
        sys.modules["orjson"] = None  # type: ignore[assignment]  # an import fails
    print(f"toolstream {toolstream.__version__}, back end {toolstream.BACKEND}, Python {sys.version.split()[0]}\n")
    head = ["microseconds an event", "events", "bytes", "json.loads", "of str", "decoder", "whole", "live", "own"]
    head += ["own / json", "/ of str"]
    files = [Path(name) for name in arguments]
    if files:
        costs = [cost(None, recorded(path)) for path in files]
        show([head, *(one.row(path.stem) for one, path in zip(costs, files, strict=True))])
        show([["streams", *head[1:]], *by_protocol(costs)])
        return
    show([head, *(cost(provider, make()).row(name) for name, (provider, make) in STREAMS.items())])
    head = ["milliseconds a stream", "client", "calls", "live", "client's", "toolstream", "times"]
    show([head, *(beside(name) for name in SDKS)])


if __name__ == "__main__":
    main()
