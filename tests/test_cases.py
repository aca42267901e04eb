"""Faults that people reported of real providers and models, each rebuilt small, with the right answer beside it.

A file of `data/cases` is one case: what came (`chunks`), and what must be read (`expected`). `why` says why.
"""

import json
import math
from pathlib import Path

import pytest
from protocol_helpers import check_events

import toolstream
from toolstream.defects import DEFECTS

CASES = sorted((Path(__file__).parent / "data" / "cases").glob("*.json"))
FRAMED = {
    "sse-openai-chat": "openai-chat",
    "sse-anthropic": "anthropic",
    "sse-gemini": "gemini",
    "ndjson-ollama": "ollama",
}
FIELDS = {  # of an expected call -> attribute of ours
    "name": "name",
    "status": "status",
    "executable": "executable",
    "text": "arguments_text",
    "kind": "kind",
    "input": "input",
    "choice": "choice",
    "wire_index": "index",
    "provider_id": "provider_id",
    "recovered": "recovered",
}


def generated(spec):
    def chunk(**call):
        return {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **call}]}, "finish_reason": None}]}

    yield chunk(id="call_a", type="function", function={"name": spec["name"], "arguments": ""})
    yield chunk(function={"arguments": spec["head"]})
    whole, rest = divmod(spec["count"], spec["units_per_delta"])
    for units in [spec["units_per_delta"]] * whole + [rest] * (rest > 0):
        yield chunk(function={"arguments": spec["unit"] * units})
    if spec["tail"]:
        yield chunk(function={"arguments": spec["tail"]})
    yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}


def pieces(case, feed):
    chunks = case["chunks"]
    if isinstance(chunks, dict):
        return list(generated(chunks))
    if case["encoding"] == "json":
        return chunks
    data = [bytes.fromhex(chunk) if case["encoding"] == "hex" else chunk.encode() for chunk in chunks]
    if feed == "one-byte":
        whole = b"".join(data)
        data = [whole[i : i + 1] for i in range(len(whole))]
    return data


def plain(value):
    return json.dumps(value, sort_keys=True)  # True is not 1 there


def check_call(want, got):
    if want["id"] is None:
        assert got.id
    else:
        assert got.id == want["id"]
    for field, attribute in FIELDS.items():
        if field in want:
            assert getattr(got, attribute) == want[field], field
    if "arguments" in want:
        value = got.arguments if want["status"] == "complete" else got.partial_arguments
        assert plain(value) == plain(want["arguments"])
    assert want.get("extras", {}).items() <= got.extras.items()
    for path, length in {**want.get("argument_lengths", {}), **want.get("argument_counts", {})}.items():
        assert len(got.arguments[path.removeprefix("$.")]) == length


def check_stream(want, done):
    for key in ("text", "reasoning"):
        if key in want:
            assert getattr(done, key) == want[key]
    if "finish" in want:
        raw = want["finish"]["raw"]
        assert done.raw_finish_reason == (raw[-1] if isinstance(raw, list) else raw)
        assert done.finish_reason == want["finish"]["normalized"]
    for key in ("usage", "error"):
        if key in want:
            assert want[key].items() <= getattr(done, key).items()
    wanted = {(d["code"], d["call"]) for d in want["defects"]}
    got = {(d.code, d.call) for d in done.defects}
    assert wanted <= got
    assert {(code, call) for code, call in got - wanted if DEFECTS[code][0] != "info"} == set()
    assert len(done.defects) <= want.get("max_defects", math.inf)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_case(path):
    case = json.loads(path.read_text(encoding="utf-8"))
    want = case["expected"]
    for feed in case.get("feed", ["as-given"]):
        stream = toolstream.ToolCallStream(FRAMED.get(case["provider"], case["provider"]))
        events = []
        for number, piece in enumerate(pieces(case, feed)):
            events += stream.feed(piece)
            for partial in want.get("partials", []) if feed == "as-given" else []:
                if partial["after_chunk"] == number:
                    shown = stream.completion.calls[partial["call"]].partial_arguments
                    assert plain(shown) == plain(partial["value"])
            for partial in want.get("text_partials", []) if feed == "as-given" else []:
                if partial["after_chunk"] == number:
                    assert stream.completion.calls[partial["call"]].input == partial["input"]
        events += stream.close()
        done = stream.completion
        check_events(done, events)
        assert len(done.calls) == len(want["calls"])
        for wanted, got in zip(want["calls"], done.calls, strict=True):
            check_call(wanted, got)
        check_stream(want, done)
        ends = sum(event.type == "tool_call.end" for event in events)
        assert ends == want.get("end_events", len(done.calls))
        if "delta_text" in want:
            assert "".join(e.text for e in events if e.type == "tool_call.delta") == want["delta_text"]


def test_every_case_is_here():
    assert len(CASES) == 110
