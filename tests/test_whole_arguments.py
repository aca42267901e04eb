"""Rule 5 in every protocol: a value instead of text is never dropped, and text in a start is the beginning."""

import pytest
from protocol_helpers import brief, codes, run


def chat(*fragments, first=None):
    function = {"name": "f"} if first is None else {"name": "f", "arguments": first}
    calls = [{"index": 0, "id": "c", "function": function}]
    calls += [{"index": 0, "function": {"arguments": fragment}} for fragment in fragments]
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]


def responses(*fragments, first=""):
    item = {"type": "function_call", "id": "i", "call_id": "c", "name": "f", "arguments": first}
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *({"type": "response.function_call_arguments.delta", "item_id": "i", "delta": one} for one in fragments),
        {"type": "response.completed", "response": {"status": "completed"}},
    ]


def anthropic(*fragments, first=None):
    block = {"type": "tool_use", "id": "c", "name": "f", "input": {} if first is None else first}
    deltas = [{"type": "input_json_delta", "partial_json": fragment} for fragment in fragments]
    return [
        {"type": "content_block_start", "index": 0, "content_block": block},
        *({"type": "content_block_delta", "index": 0, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]


def bedrock(*fragments, first=None):
    start = {"toolUse": {"toolUseId": "c", "name": "f", "input": first}}
    return [
        {"contentBlockStart": {"contentBlockIndex": 0, "start": start}},
        *({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolUse": {"input": one}}}} for one in fragments),
        {"contentBlockStop": {"contentBlockIndex": 0}},
        {"messageStop": {"stopReason": "tool_use"}},
    ]


def cohere(*fragments, first=""):
    def event(kind, **call):
        return {"type": f"tool-call-{kind}", "index": 0, "delta": {"message": {"tool_calls": call}}}

    return [
        event("start", id="c", type="function", function={"name": "f", "arguments": first}),
        *(event("delta", function={"arguments": fragment}) for fragment in fragments),
        event("end"),
        {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}},
    ]


def interactions(*fragments, first=None):
    step = {"type": "function_call", "id": "c", "name": "f", "arguments": {} if first is None else first}
    deltas = [{"type": "arguments_delta", "arguments": fragment} for fragment in fragments]
    return [
        {"event_type": "step.start", "index": 0, "step": step},
        *({"event_type": "step.delta", "index": 0, "delta": delta} for delta in deltas),
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {"status": "requires_action"}},
    ]


def gemini(*fragments):
    parts = [{"functionCall": {"name": "f", "args": fragments[0]}}]
    parts += [{"functionCall": {"args": fragment}} for fragment in fragments[1:]]
    return [{"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]}]


def ollama(fragment):
    calls = [{"id": "c", "function": {"name": "f", "arguments": fragment}}]
    return [{"message": {"tool_calls": calls}, "done": False}, {"message": {}, "done": True, "done_reason": "stop"}]


STREAMED = {
    "openai-chat": chat,
    "mistral": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "bedrock-converse": bedrock,
    "cohere": cohere,
    "gemini-interactions": interactions,
}
OBJECTS_ARE_NORMAL = {"gemini": gemini, "ollama": ollama}
ALL = STREAMED | OBJECTS_ARE_NORMAL

whole = pytest.mark.parametrize("value", [[1], [], 3, 0, True, False, 1.5])


@pytest.mark.parametrize("provider", ALL)
def test_an_object_instead_of_text(provider):
    done = run(provider, ALL[provider]({"a": 1}))
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert codes(done) == []
    usual = provider in OBJECTS_ARE_NORMAL or provider == "gemini-interactions"
    assert (("args_object", 0) in codes(done, "info")) is not usual


@whole
@pytest.mark.parametrize("provider", ALL)
def test_any_other_value_is_no_object(provider, value):
    done = run(provider, ALL[provider](value))
    assert brief(done) == [("f", None, "invalid", False)]
    assert codes(done) == [("args_not_object", 0)]


@pytest.mark.parametrize("provider", STREAMED)
def test_objects_of_one_call_are_put_together(provider):
    done = run(provider, STREAMED[provider]({"a": 1}, {"b": 2}))
    assert brief(done) == [("f", {"a": 1, "b": 2}, "complete", True)]
    assert codes(done) == [("args_merged", 0)]


@pytest.mark.parametrize("provider", STREAMED)
def test_text_in_the_start_is_the_beginning(provider):
    done = run(provider, STREAMED[provider](":", "1}", first='{"a"'))
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert codes(done) == []
    done = run(provider, STREAMED[provider](first='{"a"'))
    assert brief(done) == [("f", None, "incomplete", False)]


@pytest.mark.parametrize("provider", STREAMED)
def test_text_in_the_start_may_be_a_placeholder_or_all_of_it(provider):
    done = run(provider, STREAMED[provider]('{"a"', ":1}", first="{}"))
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert codes(done) == [("args_placeholder", 0)]
    done = run(provider, STREAMED[provider]('{"a"', ":1}", first='{"a": 1}'))
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert codes(done) == [("args_resend", 0)]


@pytest.mark.parametrize("provider", ["bedrock-converse", "cohere"])
def test_an_object_in_the_start_where_text_is_usual(provider):
    done = run(provider, STREAMED[provider](first={"a": 1}))
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert codes(done, "info") == [("args_in_start", 0), ("args_object", 0)]


@whole
@pytest.mark.parametrize("provider", ["anthropic", "bedrock-converse", "cohere", "gemini-interactions"])
def test_any_other_value_in_the_start_is_no_object(provider, value):
    done = run(provider, STREAMED[provider](first=value))
    assert brief(done) == [("f", None, "invalid", False)]
    assert codes(done) == [("args_not_object", 0)]


def test_objects_in_the_start_and_after_it():
    done = run("gemini-interactions", interactions({"b": 2}, first={"a": 1}))
    assert brief(done) == [("f", {"a": 1, "b": 2}, "complete", True)]
    assert codes(done) == [("args_merged", 0)]


def test_what_gemini_streams_otherwise():
    call = {"functionCall": {"name": "f", "willContinue": True}}
    done = run("gemini", [{"candidates": [{"content": {"parts": [call, {"functionCall": {"args": [1]}}]}}]}])
    assert brief(done) == [("f", None, "invalid", False)]
    part = {"toolCall": {"toolType": "t", "args": [1]}}
    done = run("gemini", [{"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}])
    assert brief(done) == [("t", None, "invalid", False)]
