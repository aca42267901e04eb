"""Arguments and indexes in forms that a protocol does not have: a value instead of text is never dropped, text in a
start is the beginning, decimal digits are an index. The same for every protocol."""

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
    delta = {"type": "response.function_call_arguments.delta", "item_id": "i", "output_index": 0}
    return [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *({**delta, "delta": fragment} for fragment in fragments),
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
    calls = [{"id": "c", "function": {"index": 0, "name": "f", "arguments": fragment}}]
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


BLOCKS = ["anthropic", "bedrock-converse", "cohere", "gemini-interactions"]


@pytest.mark.parametrize("provider", BLOCKS)
def test_an_object_in_the_start_of_a_block_that_is_not_closed(provider):
    first, _, *rest = STREAMED[provider](first={"a": 1})
    done = run(provider, [first, *rest])
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert codes(done) == [("block_unclosed", 0)]


@whole
@pytest.mark.parametrize("provider", BLOCKS)
def test_any_other_value_in_the_start_is_no_object(provider, value):
    done = run(provider, STREAMED[provider](first=value))
    assert brief(done) == [("f", None, "invalid", False)]
    assert codes(done) == [("args_not_object", 0)]


def test_objects_in_the_start_and_after_it():
    done = run("gemini-interactions", interactions({"b": 2}, first={"a": 1}))
    assert brief(done) == [("f", {"a": 1, "b": 2}, "complete", True)]
    assert codes(done) == [("args_merged", 0)]


@pytest.mark.parametrize("provider", BLOCKS)
def test_an_object_in_the_start_then_an_object_then_text(provider):
    done = run(provider, STREAMED[provider]({"b": 2}, " ", "\n", first={"a": 1}))
    assert brief(done) == [("f", {"a": 1, "b": 2}, "complete", True)]
    assert ("args_merged", 0) in codes(done)


def test_what_gemini_streams_otherwise():
    call = {"functionCall": {"name": "f", "willContinue": True}}
    done = run("gemini", [{"candidates": [{"content": {"parts": [call, {"functionCall": {"args": [1]}}]}}]}])
    assert brief(done) == [("f", None, "invalid", False)]
    part = {"toolCall": {"toolType": "t", "args": [1]}}
    done = run("gemini", [{"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}])
    assert brief(done) == [("t", None, "invalid", False)]


def test_a_null_fragment_says_nothing():
    for provider, stream in STREAMED.items():
        done = run(provider, stream('{"a"', None, ":1}"))
        assert brief(done) == [("f", {"a": 1}, "complete", True)], provider
        assert codes(done) == []
        assert ("args_null_delta", 0) in codes(done, "info"), provider
    legacy = [{"name": "f", "arguments": None}, {"arguments": "{}"}]
    done = run("openai-chat", [{"choices": [{"index": 0, "delta": {"function_call": one}}]} for one in legacy])
    assert ("args_null_delta", 0) in codes(done, "info")


def with_index(value, index):
    """The same, with another index in place of 0."""
    if isinstance(value, list):
        return [with_index(one, index) for one in value]
    if not isinstance(value, dict):
        return value
    names = ("index", "output_index", "contentBlockIndex")
    return {name: index if name in names else with_index(one, index) for name, one in value.items()}


@pytest.mark.parametrize("index", ["7", 7.0, "12345678901234567890", "9" * 640])
@pytest.mark.parametrize("provider", [*STREAMED, "ollama"])
def test_an_index_in_another_form(provider, index):
    done = run(provider, with_index(ALL[provider]('{"a":1}'), index))
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert done.calls[0].index == int(index)
    assert ("index_type", 0) in codes(done)


@pytest.mark.parametrize("index", ["x", "-1", "1.0", " 1", "٣", "²", "9" * 641, 1.5, float("inf"), True, [0], {}])
@pytest.mark.parametrize("provider", [*STREAMED, "ollama"])
def test_what_is_no_index(provider, index):
    done = run(provider, with_index(ALL[provider]('{"a":1}'), index))
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert done.calls[0].index is None
    assert ("index_type", 0) in codes(done)


@pytest.mark.parametrize("index", [None, "", "null"])
@pytest.mark.parametrize("provider", [*STREAMED, "ollama"])
def test_an_index_that_is_absent(provider, index):
    done = run(provider, with_index(ALL[provider]('{"a":1}'), index))
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert done.calls[0].index is None
    assert ("index_type", 0) not in codes(done)


@pytest.mark.parametrize("provider", STREAMED)
def test_an_index_in_another_form_than_the_start_had(provider):
    first, *rest = STREAMED[provider]('{"a"', ":1}")
    done = run(provider, [first, *with_index(rest, "0")])
    assert brief(done) == [("f", {"a": 1}, "complete", True)]
    assert codes(done) == [("index_type", 0)]


def test_a_candidate_and_a_choice_by_their_digits():
    for provider, part in (
        ("gemini", {"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}}),
        ("openai-chat", {"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f"}}]}}),
    ):
        name = "candidates" if provider == "gemini" else "choices"
        for index, choice in (("1", 1), (1.0, 1), ("x", 0), (None, 0), ("1234567890123", 1234567890123)):
            done = run(provider, [{name: [{"index": index, **part}]}])
            assert [call.choice for call in done.calls] == [choice]


def test_an_index_repeated_in_one_delta_in_any_form():
    entries = [{"index": "0", "id": "c", "function": {"name": "f"}}, {"index": 0, "function": {"arguments": "{}"}}]
    done = run("openai-chat", [{"choices": [{"index": 0, "delta": {"tool_calls": entries}}]}])
    assert ("index_repeated_in_delta", 0) in codes(done, "info")


def test_no_id_and_no_text_are_said_also_beside_what_is_worse():
    done = run(
        "mistral", [{"choices": [{"index": 0, "delta": {"tool_calls": [{"id": "null", "function": {"name": "f"}}]}}]}]
    )
    assert ("id_placeholder", 0) in codes(done)
    assert {("id_missing", 0), ("args_empty", 0)} <= set(codes(done, "info"))
    assert ("args_truncated", 0) in codes(done)
