"""`Completion.message`: what goes into the next request, for every protocol, of whole, refused and broken streams."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from protocol_helpers import codes, run, sse

import toolstream

STREAMS = Path(__file__).parent / "data" / "streams"
TEXT = '{"city":"Oslo","note":"a \\"b\\" é \\ud83d\\ude00"}'
OSLO = {"city": "Oslo", "note": 'a "b" é 😀'}


def function(name: str, arguments: str, id: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


MESSAGES: dict[str, tuple[str, Any]] = {
    "openai-chat.sse": (
        "openai-chat",
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [function("lookup", TEXT, "call_a"), function("now", "{}", "call_b")],
        },
    ),
    "mistral.sse": (
        "mistral",
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [function("lookup", TEXT, "callaaaaa"), function("now", "{}", "callbbbbb")],
        },
    ),
    "openai-responses.sse": (
        "openai-responses",
        [
            {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "ZW5jcnlwdGVk"},
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
            },
            {
                "id": "fc_1",
                "type": "function_call",
                "status": "completed",
                "call_id": "call_a",
                "name": "lookup",
                "arguments": TEXT,
            },
            {
                "id": "fc_2",
                "type": "function_call",
                "status": "completed",
                "call_id": "call_b",
                "name": "now",
                "arguments": "{}",
            },
        ],
    ),
    "anthropic.sse": (
        "anthropic",
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Two tools.", "signature": "c2lnbmF0dXJl"},
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "toolu_a", "name": "lookup", "input": OSLO},
                {"type": "tool_use", "id": "toolu_b", "name": "now", "input": {}},
            ],
        },
    ),
    "gemini.sse": (
        "gemini",
        {
            "role": "model",
            "parts": [
                {"text": "Let me look."},
                {
                    "functionCall": {"name": "lookup", "args": OSLO, "id": "aaaaaaaa"},
                    "thoughtSignature": "c2lnbmF0dXJl",
                },
                {"functionCall": {"name": "now", "args": {}, "id": "bbbbbbbb"}},
            ],
        },
    ),
    "gemini-partial.sse": (
        "gemini",
        {
            "role": "model",
            "parts": [
                {"text": "Let me look."},
                {"functionCall": {"name": "lookup", "args": OSLO}, "thoughtSignature": "c2lnbmF0dXJl"},
                {"functionCall": {"name": "now", "args": {}}},
            ],
        },
    ),
    "gemini-interactions.sse": (
        "gemini-interactions",
        [
            {"type": "model_output", "content": [{"type": "text", "text": "Let me look."}]},
            {"type": "function_call", "id": "aaaaaaaa", "name": "lookup", "arguments": OSLO},
            {"type": "function_call", "id": "bbbbbbbb", "name": "now", "arguments": {}},
        ],
    ),
    "bedrock-converse.eventstream": (
        "bedrock-converse",
        {
            "role": "assistant",
            "content": [
                {"text": "Let me look."},
                {"toolUse": {"toolUseId": "tooluse_a", "name": "lookup", "input": OSLO}},
                {"toolUse": {"toolUseId": "tooluse_b", "name": "now", "input": {}}},
            ],
        },
    ),
    "cohere.sse": (
        "cohere",
        {
            "role": "assistant",
            "tool_calls": [function("lookup", TEXT, "lookup_a"), function("now", "{}", "now_b")],
            "tool_plan": "Let me look.",
        },
    ),
    "ollama.ndjson": (
        "ollama",
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"id": "call_a", "function": {"name": "lookup", "arguments": OSLO, "index": 0}},
                {"id": "call_b", "function": {"name": "now", "arguments": {}, "index": 1}},
            ],
        },
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_recorded(name: str) -> None:
    provider, message = MESSAGES[name]
    completion = run(provider, [(STREAMS / name).read_bytes()])
    assert completion.message() == message
    assert completion.message() == message  # reading it changes nothing
    assert codes(completion) == []


def answer_ids(value: Any) -> list[str]:
    """The ids under which a message holds its calls, wherever the protocol has them."""
    found = []
    if isinstance(value, list):
        found = [one for inner in value for one in answer_ids(inner)]
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key in ("call_id", "toolUseId") or (key == "id" and ("name" in value or "function" in value)):
                if key != "id" or "call_id" not in value:
                    found.append(inner)
            else:
                found += answer_ids(inner)
    return found


@pytest.mark.parametrize("name", MESSAGES)
def test_of_a_stream_that_dies_at_any_byte(name: str) -> None:
    """Plain JSON always, and every call that was announced is in it under the id that its answer must name."""
    provider = MESSAGES[name][0]
    data = (STREAMS / name).read_bytes()
    for at in range(0, len(data), 17):
        completion = run(provider, [data[:at]])
        broken = completion.message()
        json.dumps(broken, allow_nan=False)
        if name != "gemini-partial.sse":  # calls without ids
            assert sorted(answer_ids(broken)) == sorted(str(call.id) for call in completion.calls)
        text = json.dumps(broken)
        for call in completion.calls:
            assert json.dumps(call.name) in text
            if call.executable:
                assert call.arguments in (OSLO, {})


def test_before_the_protocol_is_known() -> None:
    with pytest.raises(ValueError, match="not known"):
        toolstream.ToolCallStream().completion.message()


def message(provider: str, *events: dict[str, Any]) -> Any:
    return run(provider, events).message()


# ---------------------------------------------------------------- Chat Completions


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def test_chat_refused_calls_are_as_sent() -> None:
    got = message(
        "openai-chat",
        chunk(tool_calls=[{"index": 0, **function("f", '{"x": C:\\', "a")}]),
        chunk(tool_calls=[{"index": 1, **function("g", '{"y"', "b")}], finish="length"),
    )
    assert got["content"] is None
    assert got["tool_calls"] == [function("f", '{"x": C:\\', "a"), function("g", '{"y"', "b")]


def test_chat_generated_and_distinct_ids() -> None:
    completion = run(
        "openai-chat",
        [
            chunk(tool_calls=[{"index": i, **function("f", "{}", id)} for i, id in enumerate(["", "a", "a"])]),
            chunk("stop"),
        ],
    )
    assert [one["id"] for one in completion.message()["tool_calls"]] == [call.id for call in completion.calls]
    assert completion.calls[1].id == "a"


def test_chat_spoken_answers_go_back_by_their_id() -> None:
    said = [chunk(audio={"id": "audio_a"}), chunk(audio={"transcript": "Two "}), chunk(audio={"transcript": "tools."})]
    rest = [chunk(audio={"data": "AAAA"}), chunk("stop"), chunk(audio={"expires_at": 5})]
    done = run("openai-chat", [*said, *rest])
    assert (done.text, done.finish_reason, codes(done)) == ("Two tools.", "stop", [])
    assert done.message() == {"role": "assistant", "content": None, "audio": {"id": "audio_a"}}
    got = message("openai-chat", *said, chunk("tool_calls", tool_calls=[{"index": 0, **function("f", "{}", "a")}]))
    assert (got["audio"], got["tool_calls"]) == ({"id": "audio_a"}, [function("f", "{}", "a")])
    assert message("openai-chat", chunk(audio={"id": "audio_a"}), chunk(content="Hm."))["content"] == "Hm."
    assert message("openai-chat", said[1], chunk("stop")) == {"role": "assistant", "content": "Two "}


def test_chat_vendor_fields() -> None:
    signature = {"google": {"thought_signature": "c2ln"}}
    got = message(
        "openai-chat",
        chunk(role="assistant", reasoning_content="Hm", content=""),
        chunk(reasoning_content="m."),
        chunk(tool_calls=[{"index": 0, **function("f", "", "a"), "extra_content": signature}], finish="stop"),
    )
    assert got == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hmm.",
        "tool_calls": [function("f", "{}", "a", extra_content=signature)],
    }


def test_chat_reasoning_details_are_joined() -> None:
    def text(piece: str | None, index: int, **more: Any) -> dict[str, Any]:
        return {"type": "reasoning.text", "text": piece, "index": index, "format": "anthropic", **more}

    got = message(
        "openai-chat",
        chunk(reasoning="I ", reasoning_details=[text("I ", 0)]),
        chunk(reasoning="see", reasoning_details=[text("see", 0), text(None, 0, signature="c2ln")]),
        chunk(reasoning_details=[{"type": "reasoning.encrypted", "data": "eA==", "id": "r", "index": 1}]),
        chunk(tool_calls=[{"index": 0, **function("f", "{}", "a")}], finish="tool_calls"),
    )
    assert got["reasoning"] == "I see"
    assert got["reasoning_details"] == [
        text("I see", 0, signature="c2ln"),
        {"type": "reasoning.encrypted", "data": "eA==", "id": "r", "index": 1},
    ]


def test_chat_legacy_custom_and_refusal() -> None:
    got = message("openai-chat", chunk(function_call={"name": "f", "arguments": '{"x"'}), chunk(finish="function_call"))
    assert got["function_call"] == {"name": "f", "arguments": '{"x"'}
    custom = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "run", "input": "x = {"}}
    got = message("openai-chat", chunk(tool_calls=[custom], finish="tool_calls"))
    assert got["tool_calls"] == [{"id": "a", "type": "custom", "custom": {"name": "run", "input": "x = {"}}]
    assert message("openai-chat", chunk(refusal="No", finish="stop")) == {
        "role": "assistant",
        "content": None,
        "refusal": "No",
    }


def test_chat_content_is_null_only_beside_something_else() -> None:
    assert message("openai-chat", chunk("stop", content="")) == {"role": "assistant", "content": ""}
    assert message("openai-chat", chunk("stop", refusal="No.")) == {
        "role": "assistant",
        "content": None,
        "refusal": "No.",
    }


def test_chat_choices() -> None:
    completion = run(
        "openai-chat",
        [
            chunk(index=0, content="zero"),
            chunk(index=1, tool_calls=[{"index": 0, **function("f", "{}", "a")}]),
            chunk(index=0, tool_calls=[{"index": 0, **function("g", "{}", "a")}]),
        ],
    )
    assert completion.message(0)["tool_calls"] == [function("g", "{}", "a")]
    assert completion.message(1) == {"role": "assistant", "content": None, "tool_calls": [function("f", "{}", "a")]}


def test_mistral_thinking_is_content() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}
    got = message(
        "mistral",
        chunk(content=[thinking]),
        chunk(content=[{"type": "text", "text": "So"}]),
        chunk(tool_calls=[{**function("f", "{}", "abcdefghi"), "index": 0}], finish="tool_calls"),
    )
    assert got["content"] == [thinking, {"type": "text", "text": "So"}]
    assert "reasoning_content" not in got


def test_mistral_parts_keep_their_order_and_signatures() -> None:
    def thinking(*thoughts: Any, **fields: Any) -> dict[str, Any]:
        return {"type": "thinking", "thinking": list(thoughts), **fields}

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    reference = {"type": "reference", "reference_ids": [1]}
    got = message(
        "mistral",
        chunk(content=[thinking(text("H"), closed=False)]),
        chunk(content=[thinking(text("m"), reference)]),
        chunk(content=[thinking(closed=True, signature="c2ln")]),
        chunk(content=[thinking(text("Again"))]),
        chunk(content=[text("So")]),
        chunk(content=" it"),
        chunk(content=[{"type": "text", "text": None}, reference]),
        chunk(content="is"),
    )
    assert got["content"] == [
        thinking(text("Hm"), reference, closed=True, signature="c2ln"),
        thinking(text("Again")),
        text("So it"),
        reference,
        text("is"),
    ]


def test_mistral_generated_ids_have_the_form_that_requests_take() -> None:
    calls = [{"function": {"name": "f", "arguments": "{}"}}]
    id = message("mistral", chunk(tool_calls=calls, finish="tool_calls"))["tool_calls"][0]["id"]
    assert (len(id), id.isalnum()) == (9, True)


# ---------------------------------------------------------------- Responses


def test_responses_of_a_broken_stream() -> None:
    def added(index: int, **item: Any) -> dict[str, Any]:
        return {"type": "response.output_item.added", "output_index": index, "item": item}

    completion = run(
        "openai-responses",
        [
            added(0, type="reasoning", id="rs_1", summary=[], encrypted_content=""),
            added(1, type="message", id="msg_1", role="assistant", status="in_progress", content=[]),
            {
                "type": "response.output_text.delta",
                "item_id": "msg_1",
                "output_index": 1,
                "content_index": 0,
                "delta": "Le",
            },
            {
                "type": "response.output_text.delta",
                "item_id": "msg_1",
                "output_index": 1,
                "content_index": 0,
                "delta": "t",
            },
            added(2, type="web_search_call", id="ws_1", status="in_progress"),
            added(3, type="function_call", id="fc_1", call_id="c1", name="f", arguments="", status="in_progress"),
            {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 3, "delta": '{"x'},
            added(4, type="custom_tool_call", id="ct_1", call_id="c2", name="run", input=""),
            {"type": "response.custom_tool_call_input.delta", "item_id": "ct_1", "output_index": 4, "delta": "x ="},
            added(5, type="shell_call", id="sh_1", call_id="c3", status="in_progress", action={"commands": []}),
            {"type": "response.shell_call_command.delta", "output_index": 5, "command_index": 0, "delta": "ls"},
        ],
    )
    assert completion.message() == [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "incomplete",
            "content": [{"type": "output_text", "text": "Let", "annotations": []}],
        },
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "c1",
            "name": "f",
            "arguments": '{"x',
            "status": "incomplete",
        },
        {"type": "custom_tool_call", "id": "ct_1", "call_id": "c2", "name": "run", "input": "x ="},
        {
            "type": "shell_call",
            "id": "sh_1",
            "call_id": "c3",
            "status": "incomplete",
            "action": {"commands": ["ls"]},
        },
    ]


def test_responses_approval_has_the_id_that_its_answer_names() -> None:
    fields = {"type": "mcp_approval_request", "server_label": "s", "name": "send", "arguments": "{}"}
    events = [
        {"type": f"response.output_item.{when}", "output_index": 0, "item": {**fields, "id": id}}
        for when, id in (("added", "mcpr_1"), ("done", "mcpr_2"))
    ]
    done = run("openai-responses", events)
    assert [item["id"] for item in done.message()] == [done.calls[0].id] == ["mcpr_1"]


def test_responses_drops_what_only_answers_have() -> None:
    shell = {"type": "shell_call", "id": "s", "call_id": "c", "status": "completed", "created_by": "x", "action": {}}
    parsed = {"type": "output_text", "text": "{}", "annotations": [], "parsed": {"a": 1}}
    said = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [parsed]}
    call = {"type": "function_call", "call_id": "d", "name": "f", "arguments": "{}", "parsed_arguments": {"a": 1}}
    done = {"type": "response.completed", "response": {"status": "completed", "output": [shell, said, call]}}
    assert message("openai-responses", done) == [
        {"type": "shell_call", "id": "s", "call_id": "c", "status": "completed", "action": {}},
        {**said, "content": [{"type": "output_text", "text": "{}", "annotations": []}]},
        {"type": "function_call", "call_id": "d", "name": "f", "arguments": "{}"},
    ]


def test_responses_keeps_items_of_the_server_and_unknown_ones() -> None:
    items = [
        {"type": "mcp_list_tools", "id": "l", "server_label": "s", "tools": []},
        {"type": "mcp_call", "id": "m", "server_label": "s", "name": "f", "arguments": '{"x":1}', "output": "y"},
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "q"}},
        {"type": "compaction", "id": "k", "encrypted_content": "eA=="},
        {"type": "brand_new_item", "id": "n", "x": 1},
    ]
    done = {"type": "response.completed", "response": {"status": "completed", "output": items}}
    assert message("openai-responses", done) == items


# ---------------------------------------------------------------- Anthropic and Bedrock


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def test_anthropic_blocks_of_every_kind() -> None:
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    citation = {"type": "char_location", "cited_text": "x"}
    got = message(
        "anthropic",
        start(0, type="redacted_thinking", data="eA=="),
        stop(0),
        start(1, type="server_tool_use", id="s1", name="web_search", input={}),
        delta(1, "input_json_delta", partial_json='{"query":"tea"}'),
        stop(1),
        start(2, **result),
        stop(2),
        start(3, type="text", text="", citations=[]),
        delta(3, "text_delta", text="Tea."),
        delta(3, "citations_delta", citation=citation),
        stop(3),
        start(4, type="mcp_tool_use", id="m1", name="ask", server_name="s", input={"q": 1}),
        stop(4),
        start(5, type="tool_use", id="t1", name="f", input={}, cache_control={"type": "ephemeral"}),
        delta(5, "input_json_delta", partial_json='{"x": C:\\'),
        stop(5),
        start(6, type="text", text=""),
        stop(6),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )
    assert got["content"] == [
        {"type": "redacted_thinking", "data": "eA=="},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tea"}},
        result,
        {"type": "text", "text": "Tea.", "citations": [citation]},
        {"type": "mcp_tool_use", "id": "m1", "name": "ask", "input": {"q": 1}, "server_name": "s"},
        {
            "type": "tool_use",
            "id": "t1",
            "name": "f",
            "input": {"INVALID_JSON": '{"x": C:\\'},
            "cache_control": {"type": "ephemeral"},
        },
    ]


def test_anthropic_of_a_model_that_declined() -> None:
    """Where another model has gone on, what only the one before it can read, and calls that get no result, are left out
    of what came before; all that came after is as sent."""
    models = {"from": {"model": "a"}, "to": {"model": "b"}, "trigger": None}
    result = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    thought = {"type": "thinking", "thinking": "Hm", "signature": "c2ln"}

    def block(index: int, **fields: Any) -> list[dict[str, Any]]:
        return [start(index, **fields), stop(index)]

    got = message(
        "anthropic",
        *block(0, **thought),
        *block(1, type="redacted_thinking", data="eA=="),
        *block(2, type="text", text="I will"),
        *block(3, type="server_tool_use", id="s1", name="web_search", input={"query": "tea"}),
        *block(4, **result),
        *block(5, type="server_tool_use", id="s2", name="web_search", input={"query": "tea"}),
        *block(6, type="tool_use", id="t1", name="f", input={"x": 1}),
        *block(7, type="fallback", **models),
        *block(8, **thought),
        *block(9, type="tool_use", id="t2", name="f", input={"x": 2}),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    )
    assert got["content"] == [
        {"type": "text", "text": "I will"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tea"}},
        result,
        {"type": "fallback", **models},
        thought,
        {"type": "tool_use", "id": "t2", "name": "f", "input": {"x": 2}},
    ]


def test_anthropic_of_a_broken_stream() -> None:
    got = message(
        "anthropic",
        start(0, type="thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm"),
        start(1, type="server_tool_use", id="s1", name="web_search", input={}),
        delta(1, "input_json_delta", partial_json='{"que'),
        start(2, type="tool_use", id="t1", name="f", input={}),
    )
    assert got["content"] == [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]


def test_bedrock_reasoning_in_pieces() -> None:
    def reasoning(index: int, **fields: Any) -> dict[str, Any]:
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"reasoningContent": fields}}}

    got = message(
        "bedrock-converse",
        reasoning(0, text="Hm"),
        reasoning(0, signature="c2ln"),
        reasoning(0, signature="bmVk"),
        reasoning(1, redactedContent="eA=="),  # each piece is base64 of its own
        reasoning(1, redactedContent="eQ=="),
        reasoning(2, redactedContent=b"x"),
        reasoning(2, redactedContent=b"y"),
        reasoning(3, redactedContent="eA=="),
        reasoning(3, redactedContent=[]),
    )
    assert got["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2lnbmVk"}}},
        {"reasoningContent": {"redactedContent": "eHk="}},
        {"reasoningContent": {"redactedContent": b"xy"}},
    ]


def test_bedrock_blocks_of_every_kind() -> None:
    def piece(index: int, **fields: Any) -> dict[str, Any]:
        return {"contentBlockDelta": {"contentBlockIndex": index, "delta": fields}}

    def begin(index: int, **fields: Any) -> dict[str, Any]:
        return {"contentBlockStart": {"contentBlockIndex": index, "start": fields}}

    def end(index: int) -> dict[str, Any]:
        return {"contentBlockStop": {"contentBlockIndex": index}}

    got = message(
        "bedrock-converse",
        piece(0, reasoningContent={"text": "Hm"}),
        piece(0, reasoningContent={"signature": "c2ln"}),
        end(0),
        piece(1, reasoningContent={"redactedContent": "eA=="}),
        end(1),
        begin(2, toolUse={"toolUseId": "n1", "name": "nova_grounding", "type": "server_tool_use"}),
        piece(2, toolUse={"input": '{"q":1}'}),
        end(2),
        begin(3, toolResult={"toolUseId": "n1", "type": "nova_grounding_result", "status": "success"}),
        piece(3, toolResult=[{"text": "found"}]),
        end(3),
        piece(4, text="Tea"),
        piece(4, citation={"title": "T"}),
        end(4),
        begin(5, toolUse={"toolUseId": "t1", "name": "f"}),
        piece(5, toolUse={"input": '{"x"'}),
        piece(6, reasoningContent={"text": "never signed"}),
    )
    assert got["content"] == [
        {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "eA=="}},
        {"toolUse": {"toolUseId": "n1", "name": "nova_grounding", "input": {"q": 1}, "type": "server_tool_use"}},
        {
            "toolResult": {
                "toolUseId": "n1",
                "type": "nova_grounding_result",
                "status": "success",
                "content": [{"text": "found"}],
            }
        },
        {"citationsContent": {"content": [{"text": "Tea"}], "citations": [{"title": "T"}]}},
        {"toolUse": {"toolUseId": "t1", "name": "f", "input": {"INVALID_JSON": '{"x"'}}},
    ]


@pytest.mark.parametrize(
    ("sources", "want"),
    [
        ([{"bytes": "aGk="}, {"bytes": "aG8="}], {"bytes": "aGlobw=="}),
        ([{"bytes": b"hi"}, {"bytes": b"ho"}], {"bytes": b"hiho"}),
        ([{"s3Location": {"uri": "s3://b/k"}}], {"s3Location": {"uri": "s3://b/k"}}),
    ],
)
def test_bedrock_images_are_whole(sources: list[Any], want: Any) -> None:
    def piece(**fields: Any) -> dict[str, Any]:
        return {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"image": fields}}}

    begin = {"contentBlockStart": {"contentBlockIndex": 0, "start": {"image": {"format": "png"}}}}
    got = message("bedrock-converse", begin, *(piece(source=source) for source in sources))
    assert got["content"] == [{"image": {"format": "png", "source": want}}]
    assert message("bedrock-converse", begin, piece(error={"message": "no"}))["content"] == []
    assert message("bedrock-converse", piece(source=sources[0]))["content"] == []  # its start was lost


# ---------------------------------------------------------------- Gemini


def parts(*several: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(several)}, **fields}]}


def test_gemini_signatures_keep_their_parts() -> None:
    """Text is joined, but never across a signature, nor thoughts with text."""
    got = message(
        "gemini",
        parts({"text": "Hm", "thought": True}),
        parts({"text": "m", "thought": True}),
        parts({"text": "Yes"}, {"text": ", so"}),
        parts({"text": " it", "thoughtSignature": "c2lnMQ=="}),
        parts({"text": " is"}),
        parts({"text": "", "thoughtSignature": "c2lnMg=="}),
        parts({"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "c2lnMw=="}),
        parts({"text": ""}, finishReason="STOP"),
    )
    assert got["parts"] == [
        {"text": "Hmm", "thought": True},
        {"text": "Yes, so"},
        {"text": " it", "thoughtSignature": "c2lnMQ=="},
        {"text": " is"},
        {"text": "", "thoughtSignature": "c2lnMg=="},
        {"functionCall": {"name": "f", "args": {"x": 1}}, "thoughtSignature": "c2lnMw=="},
    ]


def test_gemini_metadata_stays_with_its_part() -> None:
    noted = {"text": "b", "partMetadata": {"k": 1}}
    got = message("gemini", parts({"text": "a"}), parts(noted), parts({"text": "c", "thoughtSignature": None}))
    assert got["parts"] == [{"text": "a"}, noted, {"text": "c", "thoughtSignature": None}]
    assert message("gemini", parts({"text": "a"}), parts({"text": "b", "thought": None}))["parts"] == [{"text": "ab"}]
    noted = {"text": "b", "partMetadata": {"k": 2**64 + 1}}
    assert message("gemini", sse([parts(noted)]))["parts"] == [noted]


def test_gemini_refused_calls() -> None:
    streamed = {"functionCall": {"name": "f", "willContinue": True}}
    piece = {"functionCall": {"partialArgs": [{"jsonPath": "$.x", "stringValue": "a", "willContinue": True}]}}
    got = message("gemini", parts(streamed), parts(piece), parts(finishReason="MAX_TOKENS"))
    assert got["parts"] == [{"functionCall": {"name": "f", "args": {"INVALID_JSON": '{"x":"a'}}}]


def test_gemini_interactions_content_keeps_its_order() -> None:
    def change(**fields: Any) -> dict[str, Any]:
        return {"event_type": "step.delta", "index": 0, "delta": fields}

    begun = {"type": "model_output", "content": [{"type": "text", "text": "A"}]}
    cited = {"type": "url_citation", "url": "u", "start_index": 0, "end_index": 3}
    image = {"type": "image", "data": "aGk=", "mime_type": "image/png"}
    got = message(
        "gemini-interactions",
        {"event_type": "step.start", "index": 0, "step": begun},
        change(type="text", text=" b"),
        change(type="text_annotation_delta", annotations=[cited]),
        change(**image),
        change(type="text", text="en"),
        change(type="text", text="d"),
        {"event_type": "step.stop", "index": 0},
        {"event_type": "step.start", "index": 1, "step": {"type": "processing_call", "id": "p"}},
        {"event_type": "step.stop", "index": 1},
    )
    text = {"type": "text", "text": "A b", "annotations": [cited]}
    assert got == [
        {"type": "model_output", "content": [text, image, {"type": "text", "text": "end"}]},
        {"type": "processing_call", "id": "p"},
    ]


def test_gemini_interactions_thoughts_keep_all_their_parts() -> None:
    def change(content: Any) -> dict[str, Any]:
        return {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_summary", "content": content}}

    image = {"type": "image", "data": "aGk=", "mime_type": "image/png"}
    events = [
        {
            "event_type": "step.start",
            "index": 0,
            "step": {"type": "thought", "summary": [{"type": "text", "text": "A"}]},
        },
        change({"type": "text", "text": " plan"}),
        change(image),
        change({"type": "text", "text": "B"}),
    ]
    done = run("gemini-interactions", events)
    assert done.reasoning == "A planB"
    assert done.message() == [
        {"type": "thought", "summary": [{"type": "text", "text": "A plan"}, image, {"type": "text", "text": "B"}]}
    ]


def test_gemini_interactions_fields_that_a_step_has_or_has_not() -> None:
    failed = {"code": 13, "message": "no"}
    got = message(
        "gemini-interactions",
        {"event_type": "step.start", "index": 0, "step": {"type": "model_output", "error": failed}},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "step.start", "index": 1, "step": {"type": "file_search_call", "id": "s"}},
        {"event_type": "step.stop", "index": 1},
        {"event_type": "step.start", "index": 2, "step": {"type": "url_context_call", "id": "u", "arguments": {}}},
        {"event_type": "step.stop", "index": 2},
    )
    assert got == [
        {"type": "model_output", "error": failed},
        {"type": "file_search_call", "id": "s"},
        {"type": "url_context_call", "id": "u", "arguments": {}},
    ]


def test_gemini_interactions_content_of_the_first_builds() -> None:
    got = message(
        "gemini-interactions",
        {"event_type": "content.start", "index": 0, "content": {"type": "text", "text": "a"}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "text", "text": "b"}},
    )
    assert got == [{"type": "model_output", "content": [{"type": "text", "text": "ab"}]}]


def test_gemini_interactions_steps() -> None:
    def step(index: int, **fields: Any) -> dict[str, Any]:
        return {"event_type": "step.start", "index": index, "step": fields}

    def change(index: int, **fields: Any) -> dict[str, Any]:
        return {"event_type": "step.delta", "index": index, "delta": fields}

    def end(index: int) -> dict[str, Any]:
        return {"event_type": "step.stop", "index": index}

    found = [{"url": "u"}]
    got = message(
        "gemini-interactions",
        step(0, type="thought"),
        change(0, type="thought_summary", content={"type": "text", "text": "Hm"}),
        change(0, type="thought_signature", signature="c2ln"),
        end(0),
        step(1, type="google_search_call", id="g1", arguments={}),
        change(1, type="google_search_call", arguments={"queries": ["q"]}, signature="c2ln"),
        end(1),
        step(2, type="google_search_result", call_id="g1", result=[]),
        change(2, type="google_search_result", result=found, signature="c2ln"),
        end(2),
        step(3, type="model_output"),
        change(3, type="text", text="So"),
        end(3),
        step(4, type="function_call", id="f1", name="f", arguments={}, signature="c2ln"),
        change(4, type="arguments_delta", arguments='{"x"'),
        {"event_type": "interaction.completed", "interaction": {"status": "incomplete"}},
    )
    assert got == [
        {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Hm"}]},
        {"type": "google_search_call", "id": "g1", "arguments": {"queries": ["q"]}, "signature": "c2ln"},
        {"type": "google_search_result", "call_id": "g1", "result": found, "signature": "c2ln"},
        {"type": "model_output", "content": [{"type": "text", "text": "So"}]},
        {"type": "function_call", "id": "f1", "name": "f", "arguments": {"INVALID_JSON": '{"x"'}, "signature": "c2ln"},
    ]


# ---------------------------------------------------------------- Cohere and Ollama


def test_cohere_content_and_citations() -> None:
    def event(type: str, **inner: Any) -> dict[str, Any]:
        return {"type": type, "index": 0, "delta": {"message": inner}}

    citation = {"start": 0, "end": 3, "text": "Tea", "sources": []}
    got = message(
        "cohere",
        event("content-start", content={"type": "thinking", "thinking": ""}),
        event("content-delta", content={"thinking": "Hm"}),
        event("content-start", content={"type": "text", "text": ""}),
        event("content-delta", content={"text": "Te"}),
        event("content-delta", content={"text": "a"}),
        event("citation-start", citations=citation),
        {"type": "message-end", "delta": {"finish_reason": "COMPLETE"}},
    )
    assert got == {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Tea"}],
        "citations": [citation],
    }


def test_ollama_thinking_and_old_servers() -> None:
    call = {"function": {"name": "f", "arguments": {"x": 1}}}
    completion = run(
        "ollama",
        [
            {"message": {"role": "assistant", "content": "", "thinking": "Hm"}, "done": False},
            {"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": False},
            {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
        ],
    )
    assert completion.message() == {
        "role": "assistant",
        "content": "",
        "thinking": "Hm",
        "tool_calls": [{"id": completion.calls[0].id, **call}],
    }


@pytest.mark.parametrize("text", ["", " \n", "null", " null\n"])
def test_a_call_without_arguments_goes_back_with_an_empty_object(text: str) -> None:
    entry = {"index": 0, **function("f", text, "a")}
    assert message("openai-chat", chunk("tool_calls", tool_calls=[entry]))["tool_calls"] == [function("f", "{}", "a")]
    item = {"type": "function_call", "id": "fc", "call_id": "a", "name": "f", "arguments": text, "status": "completed"}
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    assert message("openai-responses", done) == [{**item, "arguments": "{}"}]
    block = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    begun = message("anthropic", start(0, **block), delta(0, "input_json_delta", partial_json=text))
    assert begun["content"] == [block]


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n"])
def test_blank_text_does_not_go_back_where_requests_with_it_are_refused(text: str) -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    words = [start(0, type="text", text=""), delta(0, "text_delta", text=text), stop(0)]
    assert message("anthropic", *words, start(1, **call), stop(1))["content"] == [call]
    words = [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}}]
    use = {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "a", "name": "f"}}}}
    got = message("bedrock-converse", *words, use)
    assert got["content"] == [{"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]


def test_bytes_and_events_give_the_same() -> None:
    events = [chunk(tool_calls=[{"index": 0, **function("f", '{"x":1}', "a")}]), chunk("tool_calls")]
    assert run(None, [sse(events, done=True)]).message() == message("openai-chat", *events)


@pytest.mark.parametrize("framed", [True, False])
def test_integers_of_any_length_go_back_as_they_came(framed: bool) -> None:
    """Also those outside of arguments, wherever the protocol lets a message hold an object."""
    big = {"n": 2**64 + 1}
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": big}
    streams: dict[str, dict[str, Any]] = {
        "anthropic": {"type": "content_block_start", "index": 0, "content_block": {"type": "some_tool_result", **big}},
        "cohere": {"type": "citation-start", "index": 0, "delta": {"message": {"citations": {"sources": [big]}}}},
        "openai-chat": chunk(tool_calls=[call], reasoning_details=[big]),
        "mistral": chunk(content=[{"type": "reference", "reference_ids": [big]}]),
    }
    for provider, event in streams.items():
        got = run(provider, [sse([event])] if framed else [event]).message()
        count = json.dumps(event).count(str(big["n"]))
        assert json.dumps(got).count(str(big["n"])) == count, provider


HIGH, LOW = "\ud83d", "\ude00"


def halves(half: str) -> dict[str, list[dict[str, Any]]]:
    """An event of every protocol with half a character of the text or the reasoning."""
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": half}]}
    detail = {"type": "reasoning.text", "index": 0, "text": half}
    delta = {"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "delta": half}
    block = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": half}}
    spoken = {"event_type": "step.delta", "index": 0, "delta": {"type": "text", "text": half}}
    return {
        "openai-chat": [chunk(content=half, reasoning_details=[detail])],
        "mistral": [chunk(content=[thought])],
        "openai-responses": [delta],
        "anthropic": [block],
        "gemini": [parts({"text": half})],
        "gemini-interactions": [spoken],
        "bedrock-converse": [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": half}}}],
        "ollama": [{"message": {"content": half, "thinking": half}, "done": False}],
        "cohere": [{"type": "tool-plan-delta", "delta": {"message": {"tool_plan": half}}}],
    }


@pytest.mark.parametrize("provider", halves(HIGH))
def test_halves_of_a_character_are_one_in_the_message(provider: str) -> None:
    """No request could be encoded otherwise."""
    got = message(provider, *halves(HIGH)[provider], *halves(LOW)[provider])
    assert "😀" in json.dumps(got, ensure_ascii=False).encode().decode()
    alone = message(provider, *halves(HIGH)[provider])
    assert "\ufffd" in json.dumps(alone, ensure_ascii=False).encode().decode()


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_half_a_character_in_arguments(kind: str) -> None:
    field = "arguments" if kind == "function" else "input"
    call = {"index": 0, "id": "a", "type": kind, kind: {"name": "f", field: f'{{"x":"{HIGH}"}}'}}
    got = message("openai-chat", chunk(tool_calls=[call], finish="tool_calls"))
    assert got["tool_calls"][0][kind][field] == '{"x":"\ufffd"}'
    assert message("openai-chat", chunk(refusal=HIGH))["refusal"] == "\ufffd"
    item = {"type": "function_call", "id": "i", "call_id": "a", "name": "f", "arguments": f'{{"x":"{HIGH}"}}'}
    event = {"type": "response.output_item.done", "output_index": 0, "item": item}
    assert message("openai-responses", event)[0]["arguments"] == '{"x":"\ufffd"}'


X = {"x": 1}
NAMELESS: dict[str, tuple[list[dict[str, Any]], Any]] = {
    "openai-chat": (
        [
            {
                "choices": [
                    {"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"arguments": "{}"}}]}}
                ]
            }
        ],
        {"role": "assistant", "content": ""},
    ),
    "mistral": (
        [
            {
                "choices": [
                    {"index": 0, "delta": {"tool_calls": [{"id": "a", "function": {"name": "", "arguments": "{}"}}]}}
                ]
            }
        ],
        {"role": "assistant", "content": ""},
    ),
    "openai-responses": (
        [{"type": "response.output_item.done", "output_index": 0, "item": {"type": "function_call", "call_id": "a"}}],
        [],
    ),
    "anthropic": (
        [{"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "input": {}}}],
        {"role": "assistant", "content": []},
    ),
    "gemini": (
        [{"candidates": [{"content": {"parts": [{"functionCall": {"name": "null", "args": X}}]}}]}],
        {"role": "model", "parts": []},
    ),
    "gemini-interactions": (
        [{"event_type": "step.start", "index": 0, "step": {"type": "function_call", "id": "a"}}],
        [],
    ),
    "bedrock-converse": (
        [{"contentBlockStart": {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "a"}}}}],
        {"role": "assistant", "content": []},
    ),
    "ollama": (
        [{"message": {"tool_calls": [{"function": {"arguments": X}}]}, "done": True, "done_reason": "stop"}],
        {"role": "assistant", "content": ""},
    ),
    "cohere": (
        [{"type": "tool-call-start", "index": 0, "delta": {"message": {"tool_calls": {"id": "a"}}}}],
        {"role": "assistant"},
    ),
}


@pytest.mark.parametrize("provider", NAMELESS)
def test_a_call_without_a_name_does_not_go_back(provider: str) -> None:
    """Every provider refuses a request with one."""
    events, message = NAMELESS[provider]
    completion = run(provider, events)
    assert [(call.name, call.executable) for call in completion.calls] == [(None, False)]
    assert ("name_missing", 0) in codes(completion)
    assert completion.message() == message
