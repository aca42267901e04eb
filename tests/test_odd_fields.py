"""Any field of any event may hold anything: nothing raises, and however the event comes, it is read alike."""

import copy
import json
from pathlib import Path

import pytest
from protocol_helpers import check_events, state

import toolstream

CASES = [json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "data" / "cases").glob("*.json"))]
EVENTS = [
    (case["provider"], case["chunks"]) for case in CASES if case["encoding"] == "json" and type(case["chunks"]) is list
]
ODD = ([{}], {"a": [1]}, "tool_calls", 7, True, None)


def places(value, path=()):
    """The path of everything inside a value."""
    for step, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, step)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, step))


def read(provider, pieces, **options):
    stream = toolstream.ToolCallStream(provider, **options)
    events = [event for piece in pieces for event in stream.feed(piece)]
    events += stream.close()
    check_events(stream.completion, events)
    json.dumps([stream.completion.message(), stream.completion.to_dict(), [event.to_dict() for event in events]])
    toolstream.detect_completion_defect(stream.completion)
    return state(stream.completion)


def check_odd(provider, events, count):
    """Read the events with each of their fields in turn replaced by so many odd things."""
    for number, (position, path) in enumerate((i, path) for i, event in enumerate(events) for path in places(event)):
        for turn in range(count):
            odd = ODD[(number + turn) % len(ODD)]
            changed = [*events[:position], copy.deepcopy(events[position]), *events[position + 1 :]]
            holder = changed[position]
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = odd
            seen = read(provider, changed)
            assert read(provider, [f"data: {json.dumps(event)}\n\n" for event in changed]) == seen
            assert read(provider, changed, changes=True) == seen


@pytest.mark.parametrize("provider", sorted({provider for provider, _ in EVENTS}))
def test_a_field_may_hold_anything(provider):
    for name, events in EVENTS:
        if name == provider and len(events) < 20:
            check_odd(provider, events, 2)


ITEM = {
    "type": "custom_tool_call",
    "id": "i",
    "call_id": "c",
    "name": "x_user_search",
    "input": "x",
    "status": "completed",
}
MORE = {
    "anthropic": [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}},
    ],
    "openai-responses": [
        {"type": "response.output_item.added", "output_index": 0, "item": {**ITEM}},
        {"type": "response.output_item.done", "output_index": 0, "item": {**ITEM}},
        {"type": "response.completed", "response": {"status": "completed", "output": [{**ITEM}]}},
    ],
}


@pytest.mark.parametrize("provider", MORE)
def test_a_field_of_rare_events_may_hold_anything(provider):
    check_odd(provider, MORE[provider], len(ODD))
