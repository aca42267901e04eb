"""detect_completion_defect reads the finished messages of the providers' own SDKs."""

import pytest

from toolstream import detect_completion_defect


def found(message):
    defect = detect_completion_defect(message)
    return defect and (defect.kind, defect.call)


def chat_completion(message, word):
    return {
        "id": "c1",
        "created": 1,
        "model": "m",
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": word, "message": {"role": "assistant", "content": None, **message}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def calls(arguments):
    return {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments}}]}


def test_openai_chat():
    chat = pytest.importorskip("openai.types.chat")
    cut = chat.ChatCompletion.model_validate(chat_completion(calls('{"a":'), "length"))
    for message in (cut, cut.choices[0], cut.choices[0].message):
        assert found(message) == ("arguments_truncated", 0)
    assert found(chat.ChatCompletion.model_validate(chat_completion(calls("{}"), "tool_calls"))) is None
    assert found(chat.ChatCompletion.model_validate(chat_completion({}, "tool_calls"))) == ("calls_missing", None)
    assert found(chat.ChatCompletion.model_validate(chat_completion({}, "stop"))) == ("empty", None)


@pytest.mark.parametrize(
    ("arguments", "want"), [('{"a":', ("arguments_truncated", 0)), ("", ("length", 0)), ("{}", None)]
)
def test_openai_responses(arguments, want):
    responses = pytest.importorskip("openai.types.responses")
    response = {
        "id": "r1",
        "created_at": 1,
        "model": "m",
        "object": "response",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": arguments, "status": "incomplete"}
        ],
    }
    assert found(responses.Response.model_validate(response)) == want


@pytest.mark.parametrize(("reason", "want"), [("max_tokens", ("length", 0)), ("tool_use", None)])
def test_anthropic(reason, want):
    types = pytest.importorskip("anthropic.types")
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}],
        "stop_reason": reason,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    assert found(types.Message.model_validate(message)) == want


@pytest.mark.parametrize(
    ("response", "want"),
    [
        ({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "MAX_TOKENS"}]}, ("length", None)),
        ({"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}}]}, None),
        ({"candidates": [{"content": {"parts": [{"text": ""}]}, "finishReason": "STOP"}]}, ("empty", None)),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, ("content_filter", None)),
        ({}, ("empty", None)),
    ],
)
def test_gemini(response, want):
    types = pytest.importorskip("google.genai.types")
    assert found(types.GenerateContentResponse.model_validate(response)) == want


def test_mistral():
    models = pytest.importorskip("mistralai.client.models")
    read = models.ChatCompletionResponse.model_validate
    assert found(read(chat_completion(calls('{"a":'), "length"))) == ("arguments_truncated", 0)
    assert found(read(chat_completion({"content": "x"}, "model_length"))) == ("length", None)


def test_ollama():
    ollama = pytest.importorskip("ollama")
    function = {"function": {"name": "f", "arguments": {}}}
    for message, want in (({"tool_calls": [function]}, None), ({}, ("empty", None))):
        answer = {"message": {"role": "assistant", "content": "", **message}, "done": True, "done_reason": "stop"}
        assert found(ollama.ChatResponse.model_validate(answer)) == want


def test_cohere():
    cohere = pytest.importorskip("cohere")
    for message, word, want in (
        (calls("{"), "TOOL_CALL", ("arguments_truncated", 0)),
        ({"content": [{"type": "text", "text": "x"}]}, "COMPLETE", None),
    ):
        answer = {"id": "1", "finish_reason": word, "message": {"role": "assistant", **message}}
        assert found(cohere.V2ChatResponse.model_validate(answer)) == want
