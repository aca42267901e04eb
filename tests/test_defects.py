"""The table of codes, and whether finished messages are whole: of every shape, and of our own completions."""

import json
import re
from enum import Enum
from types import MappingProxyType, SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vectors import vectors

from toolstream import CompletionDefect, Limits, ToolCallStream, assemble, detect_completion_defect
from toolstream.defects import DEFECTS, SENTENCES
from toolstream.providers import anthropic, bedrock_converse, cohere, gemini, gemini_interactions, ollama, openai_chat

# ---------------------------------------------------------------- the table


def test_every_defect_has_a_severity_and_a_whole_sentence():
    assert len(DEFECTS) == 65
    for code, (severity, sentence) in DEFECTS.items():
        assert re.fullmatch("[a-z0-9]+(_[a-z0-9]+)+", code)
        assert severity in ("error", "warning", "info")
        assert re.fullmatch(r"[A-Z][^\n{}]{20,}\.", sentence), code
    assert len({sentence for _, sentence in DEFECTS.values()}) == len(DEFECTS)


def test_what_must_not_be_run_says_so():
    for code, (severity, sentence) in DEFECTS.items():
        if code.startswith(("args_", "depth_", "name_")):
            assert (severity == "error") == bool(re.search("must not be run|cannot be run", sentence)), code


# ---------------------------------------------------------------- messages of any provider


@pytest.mark.parametrize("vector", vectors("completion_defect"))
def test_vectors(vector):
    defect = detect_completion_defect(vector["message"])
    assert (defect is not None) == vector["defect"]
    assert defect is None or isinstance(defect, CompletionDefect)


def found(message):
    defect = detect_completion_defect(message)
    return defect and (defect.kind, defect.call)


def call(arguments=None, name="f", **more):
    function = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
    return {"id": "c1", "type": "function", "function": function, **more}


def chat(*calls, word="tool_calls", **more):
    return {"role": "assistant", "content": None, "tool_calls": list(calls), "finish_reason": word, **more}


CHAT = [
    (chat(call('{"a":1}')), None),
    (chat(call('{"a":1}'), call('{"a":')), ("arguments_truncated", 1)),
    (chat(call('{"a":1,}')), ("arguments_invalid", 0)),
    (chat(call('{"a":1}x')), ("arguments_invalid", 0)),
    (chat(call("{'a':1}")), ("arguments_invalid", 0)),
    (chat(call('{"a":"\n"}')), ("arguments_invalid", 0)),
    (chat(call("NaN")), ("arguments_invalid", 0)),
    (chat(call("tru")), ("arguments_truncated", 0)),
    (chat(call("12")), None),
    (chat(call("-")), ("arguments_truncated", 0)),
    (chat(call("[1]")), None),
    (chat(call("\u00a0\ufeff")), None),
    (chat(call("\u200b")), ("arguments_invalid", 0)),
    (chat(call({"a": 1})), None),
    (chat(call({})), None),
    (chat(call([1])), None),
    (chat(call(b'{"a":1}')), None),
    (chat(call("{}", name="")), ("name_missing", 0)),
    (chat(call("{}", name=None)), ("name_missing", 0)),
    (chat(call("{}"), {"id": "c2"}), ("name_missing", 1)),
    (chat({"id": "c", "type": "custom", "custom": {"name": "f", "input": "{"}}), None),
    (chat({"id": "c", "type": "custom", "custom": {"name": "", "input": "x"}}), ("name_missing", 0)),
    (chat({"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}, word="length"), ("length", 0)),
    (chat({"id": "c", "type": "retrieval"}), None),
    (chat({"id": "c", "custom": {"name": "f", "input": "x"}}), None),
    # a cut: whole calls stay whole, what does not show that it is whole is doubtful
    (chat(call('{"a":1}'), word="length"), None),
    (chat(call('{"a":1}'), call('{"a":'), word="length"), ("arguments_truncated", 1)),
    (chat(call('{"a":1}'), call(""), word="length"), ("length", 1)),
    (chat(call('{"a":1}'), call(), word="content_filter"), ("content_filter", 1)),
    (chat(call({}), word="length"), ("length", 0)),
    (chat(call({"a": 1}), word="length"), None),
    (chat(word="length"), ("length", None)),
    (chat(word="length", content="so far"), ("length", None)),
    (chat(word="content_filter", content="so far"), ("content_filter", None)),
    # promises, and nothing
    (chat(), ("calls_missing", None)),
    (chat(content="text"), ("calls_missing", None)),
    (chat(word="function_call"), ("calls_missing", None)),
    (chat(word="stop"), ("empty", None)),
    (chat(word=None), ("empty", None)),
    (chat(word="stop", content=" \u3000"), ("empty", None)),
    (chat(word="stop", content="x"), None),
    (chat(word="stop", content=[{"type": "text", "text": ""}]), ("empty", None)),
    (chat(word="stop", content=[{"type": "text", "text": "x"}]), None),
    (chat(word="stop", content=["x"]), None),
    (chat(word="stop", content=[{"type": "image_url", "image_url": {}}]), None),
    (chat(word="stop", refusal="no"), None),
    (chat(word="stop", refusal=""), ("empty", None)),
    (chat(word="stop", reasoning_content="hm"), None),
    (chat(word="stop", audio={"data": ""}), None),
    (chat(call("{}"), word="stop"), None),
    # the old form, and failures
    ({"function_call": {"name": "f", "arguments": '{"a":'}}, ("arguments_truncated", 0)),
    ({"function_call": {"name": "f", "arguments": '{"a":1}'}, "finish_reason": "function_call"}, None),
    ({"error": {"message": "overloaded"}}, ("error", None)),
    (chat(call('{"a":'), word="error"), ("error", None)),
    ({}, ("empty", None)),
]

SHAPES = [
    # Chat Completions: a choice, the whole
    ({"index": 0, "message": {"content": "x"}, "finish_reason": "length"}, ("length", None)),
    ({"choices": [{"message": chat(call("{")), "finish_reason": "tool_calls"}]}, ("arguments_truncated", 0)),
    (
        {"choices": [{"message": chat(call("{}"), call("{}"))}, {"message": chat(call("{}"), call("["))}]},
        ("arguments_truncated", 3),
    ),
    ({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}, None),
    ({"choices": []}, ("empty", None)),
    ({"choices": [], "error": {"code": 500}}, ("error", None)),
    # Anthropic
    ({"type": "message", "content": [{"type": "tool_use", "name": "f", "input": {}}], "stop_reason": "tool_use"}, None),
    ({"content": [{"type": "tool_use", "name": "f", "input": {}}], "stop_reason": "max_tokens"}, ("length", 0)),
    ({"content": [{"type": "tool_use", "name": "f", "input": {"a": 1}}], "stop_reason": "max_tokens"}, None),
    ({"content": [{"type": "text", "text": "x"}], "stop_reason": "tool_use"}, ("calls_missing", None)),
    ({"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}, None),
    ({"content": [{"type": "thinking", "thinking": "x"}], "stop_reason": "end_turn"}, None),
    ({"content": [], "stop_reason": "refusal"}, ("content_filter", None)),
    ({"content": [], "stop_reason": "end_turn"}, ("empty", None)),
    # Responses
    (
        {
            "status": "completed",
            "output": [{"type": "function_call", "name": "f", "arguments": "{}", "status": "completed"}],
        },
        None,
    ),
    (
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [{"type": "function_call", "name": "f", "arguments": '{"a":', "status": "incomplete"}],
        },
        ("arguments_truncated", 0),
    ),
    (
        {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": [
                {"type": "web_search_call", "status": "completed", "action": {}},
                {"type": "function_call", "name": "f", "arguments": "", "status": "completed"},
                {"type": "custom_tool_call", "name": "g", "input": "x", "status": "incomplete"},
            ],
        },
        ("length", 2),
    ),
    (
        {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []},
        ("content_filter", None),
    ),
    ({"status": "failed", "error": {"code": "server_error"}, "output": []}, ("error", None)),
    (
        {"status": "completed", "output": [{"type": "function_call", "name": None, "arguments": "{}"}]},
        ("name_missing", 0),
    ),
    (
        {"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": " "}]}]},
        ("empty", None),
    ),
    ({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "x"}]}]}, None),
    ({"status": "completed", "output": [{"type": "reasoning", "summary": []}]}, None),
    ({"status": "completed", "output": []}, ("empty", None)),
    # Gemini
    ({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}, "finishReason": "STOP"}]}, None),
    ({"candidates": [{"content": {"parts": [{"function_call": {"name": ""}}]}}]}, ("name_missing", 0)),
    ({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "MAX_TOKENS"}]}, ("length", None)),
    ({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "CONTINUATION"}]}, ("length", None)),
    ({"candidates": [{"finishReason": "SAFETY"}]}, ("content_filter", None)),
    ({"candidates": [{"finishReason": "ESCALATION"}]}, ("content_filter", None)),
    ({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]}, ("error", None)),
    ({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]}, ("empty", None)),
    ({"promptFeedback": {"blockReason": "SAFETY"}}, ("content_filter", None)),
    # Bedrock Converse
    (
        {"output": {"message": {"content": [{"toolUse": {"name": "f", "input": {"a": 1}}}]}}, "stopReason": "tool_use"},
        None,
    ),
    ({"output": {"message": {"content": [{"text": "x"}]}}, "stopReason": "max_tokens"}, ("length", None)),
    ({"output": {"message": {"content": []}}, "stopReason": "end_turn"}, ("empty", None)),
    (
        {"output": {"message": {"content": [{"text": "x"}]}}, "stopReason": "guardrail_intervened"},
        ("content_filter", None),
    ),
    # Ollama
    (
        {
            "message": {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
            "done_reason": "stop",
        },
        None,
    ),
    ({"message": {"content": "", "thinking": ""}, "done": True, "done_reason": "stop"}, ("empty", None)),
    ({"message": {"content": "x"}, "done": True, "done_reason": "length"}, ("length", None)),
    # Cohere
    ({"message": {"tool_calls": [call("{}")], "tool_plan": "x"}, "finish_reason": "TOOL_CALL"}, None),
    ({"message": {"content": [{"type": "text", "text": "x"}]}, "finish_reason": "MAX_TOKENS"}, ("length", None)),
    ({"message": {"tool_plan": "x"}, "finish_reason": "TOOL_CALL"}, ("calls_missing", None)),
    ({"message": {}, "finish_reason": "ERROR"}, ("error", None)),
]


def as_mappings(value):
    if isinstance(value, dict):
        return MappingProxyType({k: as_mappings(inner) for k, inner in value.items()})
    return [as_mappings(inner) for inner in value] if isinstance(value, list) else value


def as_objects(value):
    """Dicts, at any depth, as objects with attributes; but not arguments, which every SDK leaves a dict."""
    if isinstance(value, dict):
        plain = ("arguments", "input", "args")
        return SimpleNamespace(**{k: inner if k in plain else as_objects(inner) for k, inner in value.items()})
    return [as_objects(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("message", "want"), CHAT + SHAPES)
def test_the_kind_and_the_call(message, want):
    before = repr(message)
    assert found(message) == want
    assert repr(message) == before
    assert found(as_objects(message)) == want
    assert found(as_mappings(message)) == want


@pytest.mark.parametrize(
    "word", [5, ["length"], {"name": "length"}, SimpleNamespace(name=5), SimpleNamespace(name=None)]
)
def test_a_finish_word_that_is_no_word_says_nothing(word):
    assert found(chat(call("{}"), word=word)) is None
    assert found(SimpleNamespace(**chat(call('{"a":'), word=word))) == ("arguments_truncated", 0)


def test_a_finish_word_may_be_an_enumeration():
    class Text(str, Enum):
        MAX_TOKENS = "MAX_TOKENS"

    class Number(Enum):
        MAX_TOKENS = 2

    for word in (Text.MAX_TOKENS, Number.MAX_TOKENS):
        assert found({"candidates": [{"finish_reason": word}]}) == ("length", None)


WORDS = [
    (module, word, meaning)
    for module in (anthropic, bedrock_converse, cohere, gemini, gemini_interactions, ollama, openai_chat)
    for word, meaning in module._MEANINGS.items()
]


@pytest.mark.parametrize(("module", "word", "meaning"), WORDS)
def test_a_finish_word_means_the_same_in_a_stream_and_in_a_whole_message(module, word, meaning):
    message = {"choices": [{"message": {"content": "text"}, "finish_reason": word}]}
    if module is gemini:
        message = {"candidates": [{"content": {"parts": [{"text": "text"}]}, "finishReason": word}]}
    defect = detect_completion_defect(message)
    kinds = {"stop": None, "tool_calls": "calls_missing"}
    assert (defect and defect.kind) == kinds.get(meaning, meaning)


def test_the_message_names_the_call_and_never_shows_arguments():
    defect = detect_completion_defect(chat(call("{}"), call('{"secret":', name="write_file")))
    assert defect.message == "Call 1 (write_file): Its arguments end before they are whole; it must not be run."
    assert detect_completion_defect({}).message == SENTENCES["empty"]


@pytest.mark.parametrize("given", [None, "text", b"bytes", 1, True, 1.5, [], ()])
def test_what_has_no_fields_is_a_type_error(given):
    with pytest.raises(TypeError, match="an object with fields"):
        detect_completion_defect(given)


def test_deep_arguments_and_deep_messages_do_no_harm():
    assert found(chat(call("[" * 100_000))) == ("arguments_truncated", 0)
    assert found(chat(call("[" * 100_000 + "]" * 100_000))) is None
    message = {"content": "x"}
    for _ in range(100_000):
        message = {"message": message, "choices": [message]}
    found(message)
    while message:  # taken apart here: so deep a value cannot be freed at once
        message.pop("choices", None)
        message = message.pop("message", None)


@given(st.dictionaries(st.text(max_size=4), st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=6))))
@settings(max_examples=100, deadline=None)
def test_whole_arguments_are_no_defect_and_every_cut_of_them_is(value):
    text = json.dumps(value)
    assert found(chat(call(text))) is None
    for end in range(1, len(text)):
        assert found(chat(call(text[:end]))) == ("arguments_truncated", 0)


# ---------------------------------------------------------------- our own completions


def stream(*choices):
    return [{"choices": [{"index": 0, **choice}]} for choice in choices]


def piece(index, id=None, name=None, arguments=None):
    return {"delta": {"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}]}}


def end(word):
    return {"delta": {}, "finish_reason": word}


TEXT = {"delta": {"content": "hello"}}
WHOLE = piece(0, "c1", "f", '{"a":1}')

COMPLETIONS = [
    ([WHOLE, end("tool_calls")], None),
    ([WHOLE, end("stop")], None),
    ([WHOLE, end("length")], None),
    ([WHOLE, end("content_filter")], None),
    ([piece(0, "c1", "f", '{"a":1,}'), end("tool_calls")], None),  # read without loss
    ([piece(0, "c1", "f", ""), end("tool_calls")], None),
    ([piece(0, "c1", "f", "null"), end("tool_calls")], None),
    ([piece(0, "c1", "f", "[1]"), end("tool_calls")], None),  # JSON, and no object
    ([piece(0, "c1", "f", '"x"'), end("tool_calls")], None),
    ([TEXT, end("stop")], None),
    ([{"delta": {"reasoning_content": "hm"}}, end("stop")], None),
    ([WHOLE, piece(1, "c2", "g", '{"a":'), end("length")], ("arguments_truncated", 1)),
    ([piece(0, "c1", "f", '{"a":'), end("tool_calls")], ("arguments_truncated", 0)),
    ([piece(0, "c1", "f", '{"a":')], ("arguments_truncated", 0)),
    ([piece(0, "c1", "f", '{"a":1}{"b":2}'), end("tool_calls")], ("arguments_invalid", 0)),
    ([piece(0, "c1", "f", '{"a":x}'), end("tool_calls")], ("arguments_invalid", 0)),
    ([WHOLE, piece(1, "c2", "g", ""), end("length")], ("length", 1)),
    ([piece(0, "c1", "g", ""), end("content_filter")], ("content_filter", 0)),
    ([piece(0, "c1", "g", "")], ("arguments_truncated", 0)),
    ([piece(0, "c1", None, "{}"), end("tool_calls")], ("name_missing", 0)),
    ([TEXT, end("length")], ("length", None)),
    ([TEXT, end("content_filter")], ("content_filter", None)),
    ([end("tool_calls")], ("calls_missing", None)),
    ([TEXT, end("tool_calls")], ("calls_missing", None)),
    ([end("stop")], ("empty", None)),
    ([], ("empty", None)),
    ([TEXT], ("ended_early", None)),
    ([WHOLE], ("ended_early", None)),
]
LOST = [piece(0, "c1", "f", '{"a":'), piece(1, "c2", "g", "{"), piece(9, None, None, "x")]


@pytest.mark.parametrize(("choices", "want"), COMPLETIONS)
@pytest.mark.parametrize("limits", [None, Limits(max_defects=0)], ids=["", "no defects kept"])
def test_a_completion(choices, want, limits):
    completion = assemble(stream(*choices), "openai-chat", limits=limits)
    assert found(completion) == want
    assert found(completion.to_dict()) == want


@pytest.mark.parametrize("limits", [None, Limits(max_defects=0)], ids=["", "no defects kept"])
def test_lost_deltas_make_a_completion_of_whole_calls_doubtful(limits):
    choices = [*LOST, piece(0, None, None, "1}"), piece(1, None, None, "}"), end("tool_calls")]
    completion = assemble(stream(*choices), "openai-chat", limits=limits)
    assert [call.status for call in completion.calls] == ["complete", "complete"]
    assert found(completion) == ("deltas_lost", None)


def test_a_call_without_text_is_doubtful_where_deltas_were_lost():
    choices = [piece(0, "c1", "f"), piece(1, "c2", "g"), piece(9, None, None, "{"), end("tool_calls")]
    assert found(assemble(stream(*choices), "openai-chat")) == ("deltas_lost", 0)


def test_an_event_that_is_no_json_may_have_held_anything():
    data = b'data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\ndata: {"cho\n\ndata: [DONE]\n\n'
    assert found(assemble([data], "openai-chat")) == ("deltas_lost", None)


def test_an_error_counts_before_everything_else():
    completion = assemble([*stream(piece(0, "c1", "f", '{"a":')), {"error": {"message": "overloaded"}}], "openai-chat")
    assert found(completion) == ("error", None)


def test_too_deep_arguments_are_invalid_although_they_are_json():
    completion = assemble(
        stream(piece(0, "c1", "f", '{"a":[[[]]]}'), end("tool_calls")), "openai-chat", limits=Limits(max_depth=2)
    )
    assert found(completion) == ("arguments_invalid", 0)


def test_free_text_that_may_go_on():
    custom = {
        "delta": {"tool_calls": [{"index": 0, "id": "c1", "type": "custom", "custom": {"name": "f", "input": "{"}}]}
    }
    assert found(assemble(stream(custom, end("tool_calls")), "openai-chat")) is None
    assert found(assemble(stream(custom, end("length")), "openai-chat")) == ("length", 0)
    assert found(assemble(stream(custom), "openai-chat")) == ("arguments_truncated", 0)


def test_a_completion_that_is_still_being_read_is_not_whole():
    live = ToolCallStream("openai-chat")
    live.feed(stream(piece(0, "c1", "f", '{"a":1}'))[0])
    assert found(live.completion) == ("arguments_truncated", 0)
