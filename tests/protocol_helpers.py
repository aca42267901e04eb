"""Feed events of a protocol in every form, and hold what must be true of any stream."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace
from typing import Any

import toolstream


def run(provider: str | None, pieces: Any, **options: Any) -> toolstream.Completion:
    """The completion of a stream, with everything checked that holds for every stream."""
    stream = toolstream.ToolCallStream(provider=provider, **options)
    events = [event for piece in pieces for event in stream.feed(piece)]
    events += stream.close()
    assert stream.close() == []
    check_events(stream.completion, events)
    return stream.completion


def check_events(completion: toolstream.Completion, events: list[Any]) -> None:
    """One start and one end for each call, and deltas that carry the text."""
    texts: dict[int, list[str]] = {}
    state: dict[int, str] = {}
    for event in events:
        if event.type == "tool_call.start":
            assert event.call.position not in state
            assert event.call.id
            state[event.call.position] = "open"
        elif event.type == "tool_call.delta":
            position = event.call.position
            assert state[position] == "open"
            if event.restart:
                texts[position] = []
            texts.setdefault(position, []).append(event.text)
        elif event.type == "tool_call.end":
            assert state[event.call.position] == "open"
            state[event.call.position] = "ended"
    for call in completion.calls:
        assert state[call.position] == "ended", call
        assert "".join(texts.get(call.position, ())) == call.arguments_text
        assert call.status != "streaming"
        if call.executable and call.input is None:
            assert isinstance(call.arguments, dict)
    assert events[-1].type == "stream.end"
    ids = [(call.choice, call.id) for call in completion.calls]
    assert len(set(ids)) == len(ids)


def brief(completion: toolstream.Completion) -> list[tuple[Any, ...]]:
    """(name, arguments or text, status, executable) of each call."""
    return [
        (call.name, call.input if call.input is not None else call.arguments, call.status, call.executable)
        for call in completion.calls
    ]


def codes(completion: toolstream.Completion, *severities: str) -> list[tuple[str, int | None]]:
    """(code, call) of the defects; without severities of those that are no mere information."""
    wanted = severities or ("warning", "error")
    return sorted(((d.code, d.call) for d in completion.defects if d.severity in wanted), key=str)


def sse(events: list[dict[str, Any]], *, done: bool = False) -> bytes:
    """The events as server-sent events."""
    out = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    return (out + ("data: [DONE]\n\n" if done else "")).encode()


def as_objects(value: Any, *, python_names: bool = False) -> Any:
    """The value with attributes in place of keys, as SDKs give it; `python_names`: in Python's spelling."""
    if isinstance(value, list):
        return [as_objects(one, python_names=python_names) for one in value]
    if not isinstance(value, dict):
        return value
    fields = {}
    for name, inner in value.items():
        if name == "args":  # arguments stay a dict
            fields[name] = inner
            continue
        spelled = re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name) if python_names else name
        fields[spelled] = as_objects(inner, python_names=python_names)
    return SimpleNamespace(**fields)


def state(completion: toolstream.Completion) -> Any:
    """Everything that must be the same however a stream is cut; generated ids differ."""
    calls = [
        (c.name, c.kind, c.index, c.choice, c.status, c.arguments, c.partial_arguments, c.arguments_text, c.extras)
        for c in completion.calls
    ]
    return (
        calls,
        completion.text,
        completion.reasoning,
        completion.finish_reason,
        completion.raw_finish_reason,
        completion.usage,
        completion.error,
        [(d.code, d.call, d.offset) for d in completion.defects],
    )
