"""The examples run, without a key, and do what they say; the example streams are what they claim to be."""

import asyncio
import importlib
import json
import sys
from pathlib import Path

import pytest

import toolstream

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def example(monkeypatch):
    """A function that imports an example."""
    monkeypatch.syspath_prepend(EXAMPLES)

    def load(name):
        for loaded in (name, "recorded"):
            monkeypatch.delitem(sys.modules, loaded, raising=False)
        return importlib.import_module(name)

    yield load
    for path in EXAMPLES.glob("*.py"):
        sys.modules.pop(path.stem, None)


CONTENT = json.loads(
    "".join(
        json.loads(line.partition("data: ")[2])["delta"]["partial_json"]
        for row in map(json.loads, (EXAMPLES / "write_file.jsonl").read_text().splitlines()[1:])
        for line in row["d"].splitlines()
        if '"partial_json"' in line
    )
)["content"]


def test_live_view_shows_the_call_growing(example, capsys):
    example("live_view").main(speed=None)
    out = capsys.readouterr().out
    frames = out.split("\x1b[J")
    assert len(frames) > 80
    assert out.startswith("I'll write the file now.")
    assert '"overwrite": true' in frames[-1]
    assert out.endswith("complete, may be run\n")


def test_cancel_early_stops_at_the_first_wrong_character(example, capsys):
    example("cancel_early").main()
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith("run_query: cancelled at character 47: expected a member's name")
    assert second == "so far: {'sql': 'SELECT name FROM ships', 'limit': 10}"
    read, size = (int(word) for word in third.split() if word.isdigit())
    assert size == (EXAMPLES / "malformed.sse").stat().st_size
    assert read < size / 5


def test_stream_argument_writes_the_file_while_it_comes(example, capsys, tmp_path, monkeypatch):
    module = example("stream_argument")
    grown = []

    def watched(name):
        for piece in importlib.import_module("recorded").pieces(name):
            yield piece
            grown.extend(path.stat().st_size for path in tmp_path.glob("*.part"))

    monkeypatch.setattr(module, "pieces", watched)
    module.main(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == CONTENT
    assert len(set(grown)) > 50
    assert grown == sorted(grown)


def test_stream_argument_keeps_nothing_of_a_cut_call(example, capsys, tmp_path, monkeypatch):
    module = example("stream_argument")
    whole = list(importlib.import_module("recorded").pieces("write_file.jsonl"))
    monkeypatch.setattr(module, "pieces", lambda name: whole[:60])
    module.main(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == "nothing was written: the call is incomplete\n"


def test_fan_out_answers_calls_before_the_stream_ends(example, capsys):
    answers = asyncio.run(example("fan_out").main(speed=2))
    out = capsys.readouterr().out
    assert [answer["call_id"] for answer in answers] == ["call_fan_price", "call_fan_risk", "call_fan_news"]
    assert json.loads(answers[1]["output"]) == 0.136
    assert out.index("get_price has ended") < out.index("search_news has ended") < out.index("the stream has ended")


def test_fan_out_answers_a_call_that_must_not_be_run(example):
    [call] = toolstream.assemble([{"choices": [{"index": 0, "delta": {"tool_calls": [
        {"index": 0, "id": "call_x", "function": {"name": "get_price", "arguments": '{"symbol": "A'}}
    ]}, "finish_reason": "length"}]}], "openai-chat").calls  # fmt: skip
    answer = asyncio.run(example("fan_out").run(call))
    assert answer == {"call_id": "call_x", "error": "not run: the call is incomplete"}


def test_fastapi_endpoint_forwards_live_arguments(example):
    pytest.importorskip("fastapi")
    app = example("fastapi_sse").app
    parts, status = [], []

    async def receive():
        await asyncio.sleep(3600)

    async def send(message):
        if message["type"] == "http.response.start":
            status.append((message["status"], dict(message["headers"])[b"content-type"]))
        else:
            parts.append(message["body"])

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": "GET",
        "path": "/answer",
        "raw_path": b"/answer",
        "query_string": b"speed=50",
        "headers": [],
        "scheme": "http",
        "server": ("test", 80),
        "client": ("test", 1),
        "root_path": "",
    }
    asyncio.run(asyncio.wait_for(app(scope, receive, send), 60))
    assert status == [(200, b"text/event-stream; charset=utf-8")]
    assert len(parts) > 40
    decoder = toolstream.SseDecoder()
    events = decoder.feed(b"".join(parts)) + decoder.close()
    assert events[0].event == "tool_call.start"
    assert events[-1].event == "stream.end"
    ended = [json.loads(event.data)["call"] for event in events if event.event == "tool_call.end"]
    assert [(call["name"], call["executable"]) for call in ended] == [
        ("get_price", True),
        ("risk_score", True),
        ("search_news", True),
    ]


@pytest.mark.parametrize(
    ("name", "provider", "calls", "loud"),
    [
        ("weather.sse", "openai-chat", {"get_weather": True, "find_trains": True}, set()),
        ("cut.sse", "openai-chat", {"read_file": True, "delete_files": False}, {"args_truncated"}),
        (
            "gateway.sse",
            "openai-chat",
            {"search_orders": True, "get_stock": True, "send_note": True},
            {"index_reused", "args_cumulative", "args_repaired"},
        ),
        ("malformed.sse", "openai-chat", {"run_query": False}, {"args_invalid"}),
        ("write_file.jsonl", "anthropic", {"write_file": True}, set()),
        ("parallel.jsonl", "openai-responses", {"get_price": True, "search_news": True, "risk_score": True}, set()),
    ],
)
def test_example_streams(example, name, provider, calls, loud):
    stream = toolstream.ToolCallStream()
    for piece in example("recorded").pieces(name):
        stream.feed(piece)
    stream.close()
    assert stream.provider == provider
    assert {call.name: call.executable for call in stream.completion.calls} == calls
    assert {defect.code for defect in stream.completion.defects if defect.severity != "info"} == loud
