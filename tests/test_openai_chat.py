"""Chat Completions, and how compatible servers differ from it: fields here, identity in test_assembler."""

import pytest
from chat import call, delta, entry, finish, read
from protocol_helpers import brief, codes

from toolstream import ToolCallStream, assemble

F = {"name": "f", "arguments": "{}"}
WHOLE = {"index": 0, "id": "a", "type": "function", "function": F}


def chunk(*choices, **fields):
    return {"choices": list(choices), **fields}


def choice(index=0, finish_reason=None, **fields):
    return {"index": index, "delta": fields.pop("delta", {}), "finish_reason": finish_reason, **fields}


# ---------------------------------------------------------------- chunks


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": [], "object": "", "model": "", "prompt_filter_results": [{"prompt_index": 0}]},
        {"choices": [None, "x", {}, {"index": 0}, {"index": 0, "delta": None}, {"delta": "x"}]},
        {"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [None, "x", 3]}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": "x", "content": 3, "function_call": [], "refusal": 1}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": "x"}, {"custom": 1}]}}]},
        {"choices": [{"index": 0, "delta": {"content": [None, 3, {"type": "image"}, {"text": None}]}}]},
        {"choices": [{"index": 0, "delta": {}, "content_filter_offsets": {"check_offset": 1}}], "object": ""},
        {"choices": "x", "usage": "x", "x_groq": "x", "error": None},
        {"id": "x", "object": "chat.completion.chunk", "obfuscation": "abc", "choices": [choice(delta={"x": 1})]},
    ],
)
def test_chunks_that_say_nothing(odd):
    completion = assemble([odd, call(0, "a", "f", "{}"), odd, finish()], "openai-chat")
    assert brief(completion) == [("f", {}, "complete", True)]
    assert {d.code for d in completion.defects} <= {"choice_repeated_in_chunk", "function_null"}


def test_usage_comes_last_or_twice_or_in_a_field_of_its_own():
    usages = [{"usage": None}, {"usage": {"a": 1, "b": None}}, {"x_groq": {"usage": {"c": 3}}}, {"usage": {"a": 2}}]
    completion = assemble([finish("stop"), *[chunk(**usage) for usage in usages]], "openai-chat")
    assert completion.usage == {"a": 2, "c": 3}
    assert assemble([finish("stop")], "openai-chat").usage is None


def test_usage_inside_the_choice():
    assert assemble([chunk(choice(finish_reason="stop", usage={"a": 1}))], "openai-chat").usage == {"a": 1}


def test_an_entry_without_its_list():
    completion = assemble([chunk(choice(delta={"tool_calls": WHOLE})), finish()], "openai-chat")
    assert brief(completion) == [("f", {}, "complete", True)]


def test_a_choice_without_an_index_is_the_first():
    for index in (None, "0", 0):
        one = {"index": index, "delta": {"tool_calls": [WHOLE]}}
        assert assemble([chunk(one), finish()], "openai-chat").calls[0].choice == 0
    one = {"delta": {"tool_calls": [WHOLE]}}
    assert assemble([chunk(one), finish()], "openai-chat").calls[0].choice == 0
    assert assemble([chunk({**one, "index": "2"}), finish()], "openai-chat").calls[0].choice == 2


def test_deltas_of_a_chunk_come_before_its_finish_words():
    first = choice(finish_reason="stop", delta={"content": "x"})
    completion, _ = read([chunk(first, choice(delta={"tool_calls": [WHOLE]}), choice(1, "length"))])
    assert codes(completion) == []
    assert [d.code for d in completion.defects] == ["choice_repeated_in_chunk"]
    assert (completion.finish_reason, completion.raw_finish_reason) == ("length", "stop")


def test_a_whole_message_in_place_of_a_delta():
    one = {"index": 0, "message": {"content": "x", "tool_calls": [WHOLE]}, "finish_reason": "tool_calls"}
    completion = assemble([chunk(one)], "openai-chat")
    assert (completion.text, brief(completion)) == ("x", [("f", {}, "complete", True)])
    both = {**one, "delta": {"content": "x", "tool_calls": [WHOLE]}}  # a copy of the delta
    assert len(assemble([chunk(both)], "openai-chat").calls) == 1


def test_the_stream_helper_has_the_chunk_inside():
    events = [
        {"type": "chunk", "chunk": call(0, "a", "f", '{"x":')},
        {"type": "tool_calls.function.arguments.delta", "name": "f", "index": 0, "arguments": '{"x":'},
        {"type": "chunk", "chunk": call(0, arguments="1}")},
        {"type": "tool_calls.function.arguments.done", "name": "f", "index": 0, "arguments": '{"x":1}'},
        {"type": "chunk", "chunk": {**finish(), "usage": {"total_tokens": 3}}},
    ]
    for provider in ("openai-chat", None):
        completion = assemble(events, provider)
        assert (brief(completion), codes(completion)) == ([("f", {"x": 1}, "complete", True)], [])
    assert assemble([*events, {"type": "chunk", "chunk": chunk(usage={"a": 1})}], "openai-chat").usage["a"] == 1


# ---------------------------------------------------------------- calls


def test_several_choices_alternate():
    chunks = []
    for piece in ['{"x"', ":1", "}"]:
        for n in range(3):
            first = piece == '{"x"'
            chunks.append(delta(entry(0, f"c{n}" if first else None, "f" if first else None, piece), choice=n))
    completion, _ = read([*chunks, *[finish(choice=n) for n in range(3)]])
    assert [(c.choice, c.id, c.arguments) for c in completion.calls] == [(n, f"c{n}", {"x": 1}) for n in range(3)]
    assert completion.defects == []


@pytest.mark.parametrize(
    ("choice", "index", "text", "code"),
    [
        (True, 1, '{"a":', ("orphan_delta", None)),  # no number: the first choice, which has no call
        (1.0, 1, '{"a":1}', None),
        (1, True, '{"a":1}', ("index_type", 0)),
        (1, 1.0, '{"a":1}', ("index_type", 0)),
    ],
)
def test_equal_numbers_of_another_type_say_so(choice, index, text, code):
    completion, _ = read([call(1, "a", "f", '{"a":', choice=1), call(index, None, None, "1}", choice=choice)])
    assert completion.calls[0].arguments_text == text
    truncated = [("args_truncated", 0)] if text == '{"a":' else []
    assert codes(completion) == [*truncated, *([code] if code else []), ("stream_ended_early", None)]


@pytest.mark.parametrize("index", ["0", 0.0, 0])
def test_an_index_that_comes_twice_in_one_list(index):
    again = {"index": index, "function": {"arguments": "1}"}}
    completion, _ = read([delta(entry(0, "a", "f", '{"a":'), again, {"index": [], "id": "a"}), finish()])
    assert brief(completion) == [("f", {"a": 1}, "complete", True)]
    assert ("index_repeated_in_delta", 0) in codes(completion, "info", "warning", "error")


def test_one_bare_entry_beside_others_is_for_the_last_call():
    chunks = [delta(entry(0, "a", "f", '{"a":'), entry(1, "b", "g", '{"b":'), entry(arguments="2}")), finish()]
    completion, _ = read([*chunks[:1], call(0, None, None, "1}"), *chunks[1:]])
    assert brief(completion) == [("f", {"a": 1}, "complete", True), ("g", {"b": 2}, "complete", True)]
    assert codes(completion) == []


def test_a_legacy_function_call():
    def legacy(**fields):
        return delta(function_call=fields)

    completion, _ = read([legacy(name="f"), legacy(arguments='{"x"'), legacy(arguments=":1}"), finish("function_call")])
    assert [(c.kind, c.name, c.arguments, c.executable, c.index) for c in completion.calls] == [
        ("legacy_function", "f", {"x": 1}, True, None)
    ]
    assert [d.code for d in completion.defects] == ["id_missing"]
    assert completion.finish_reason == "tool_calls"
    completion, _ = read([legacy(name="f", arguments={"x": 1}), finish("function_call")])
    assert completion.calls[0].arguments == {"x": 1}
    both = delta(entry(0, "a", "g", "{"), function_call={"name": "f", "arguments": "{"})
    more = delta(entry(0, arguments="}"), function_call={"arguments": "}"})
    completion, _ = read([both, more, finish()])
    assert brief(completion) == [("g", {}, "complete", True), ("f", {}, "complete", True)]


def test_custom_tools_have_free_text():
    def custom(index, **fields):
        return delta({"index": index, "custom": fields})

    opening = delta({"index": 0, "id": "a", "type": "custom", "custom": {"name": "run", "input": ""}})
    stream = ToolCallStream("openai-chat")
    for piece in (opening, custom(0, input="print(1"), custom(0, input=")\n{"), delta({"index": 1, "type": "custom"})):
        stream.feed(piece)
    got = stream.completion.calls[0]
    assert (got.input, got.partial_arguments, got.status) == ("print(1)\n{", {}, "streaming")
    stream.feed(finish())
    stream.close()
    assert (got.kind, got.input, got.arguments, got.executable) == ("custom", "print(1)\n{", None, True)
    assert codes(stream.completion) == []
    completion, _ = read([opening, custom(0, input="x"), finish("length")])
    assert brief(completion) == [("run", "x", "incomplete", False)]


def test_a_call_that_starts_without_text_has_no_delta():
    custom = {"index": 0, "id": "a", "type": "custom", "custom": {"name": "f"}}
    for first in (custom, entry(0, "a", "f"), entry(0, "a", "f", "")):
        assert [event.type for event in ToolCallStream("openai-chat").feed(delta(first))] == ["tool_call.start"]


def test_calls_in_a_flat_form_open_no_call():
    completion, _ = read([delta({"index": 0, "id": "", "name": "f", "arguments": "{}"}), finish("stop")])
    assert completion.calls == []


def test_vendor_fields_of_a_call_are_kept():
    extra = {"google": {"thought_signature": "x"}}
    chunks = [
        delta({**WHOLE, "extra_content": extra, "cache": 1}),
        delta({"index": 0, "extra_content": None, "cache": 2}),
        delta(entry(0, "", extra_content=None)),
    ]
    completion, _ = read([*chunks, finish()])
    assert completion.calls[0].extras == {"extra_content": extra, "cache": 2}
    call = {"id": "a", "type": "function", "function": F, "extra_content": extra, "cache": 2}
    assert completion.message()["tool_calls"] == [call]


@pytest.mark.parametrize(
    ("one", "code"),
    [
        ({"index": 0, "function": None}, "function_null"),
        ({"index": 0, "function": {"arguments": None}}, "args_null_delta"),
        ({"index": 0, "id": ""}, "id_empty"),
        ({"index": 0, "id": "", "function": {"arguments": " "}}, "id_empty"),
        ({"index": 0, "function": {"name": ""}}, "name_empty"),
        ({"index": 0, "id": "a", "function": {"arguments": " "}}, "id_repeated"),
        ({"index": 0, "function": {"name": "f"}}, "name_repeated"),
    ],
)
def test_harmless_oddities_are_reported_as_such(one, code):
    completion, _ = read([call(0, "a", "f", "{"), delta(one), call(0, arguments="}"), finish()])
    assert [(d.code, d.call, d.severity) for d in completion.defects] == [(code, 0, "info")]
    assert completion.calls[0].executable


def test_numbering_that_is_unusual():
    completion, _ = read([call(1, "a", "f", "{}"), call(4, "b", "g", "{}"), finish()])
    assert [(d.code, d.call) for d in completion.defects] == [("index_not_zero_based", 0), ("index_sparse", 0)]
    completion, _ = read([call(1, "a", "f", "{}"), call(0, "b", "g", "{}"), finish()])
    assert completion.defects == []


# ---------------------------------------------------------------- text, reasoning, refusal


def test_reasoning_in_the_fields_of_several_servers():
    for field in ("reasoning_content", "reasoning"):
        completion = assemble(
            [delta(**{field: "a"}), delta(**{field: "b"}, content="c"), finish("stop")], "openai-chat"
        )
        assert (completion.reasoning, completion.text) == ("ab", "c")
    both = assemble([delta(reasoning_content="a", reasoning="a"), finish("stop")], "openai-chat")
    assert both.reasoning == "a"


def test_a_refusal_is_text():
    completion = assemble([delta(refusal="No"), delta(refusal="."), finish("stop")], "openai-chat")
    assert completion.text == "No."
    assert completion.message() == {"role": "assistant", "content": None, "refusal": "No."}


# ---------------------------------------------------------------- ends and errors


@pytest.mark.parametrize(
    ("word", "native", "reason"),
    [
        ("tool_calls", "length", "length"),
        ("tool_calls", "max_output_tokens", "length"),
        ("tool_calls", "MAX_TOKENS", "length"),
        ("stop", "SAFETY", "content_filter"),
        ("tool_calls", "STOP", "tool_calls"),
        ("length", "completed", "length"),
        ("tool_calls", None, "tool_calls"),
        ("tool_calls", 7, "tool_calls"),
    ],
)
def test_a_native_word_for_a_cut_wins(word, native, reason):
    last = choice(finish_reason=word, native_finish_reason=native)
    completion, _ = read([call(0, "a", "f", ""), chunk(last)])
    assert (completion.finish_reason, completion.raw_finish_reason) == (reason, word)
    assert completion.calls[0].executable == (reason == "tool_calls")


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("siblings", [[], [choice(1)]])
def test_a_native_word_for_a_cut_counts_without_a_finish_word(first, siblings):
    """No text says that the call is whole, so the end decides; and the native word stays out of the raw one."""
    ends = [choice(finish_reason="tool_calls", native_finish_reason=None)]
    ends.insert(0 if first else 1, choice(finish_reason=None, native_finish_reason="length"))
    completion, _ = read([call(0, "a", "f", ""), *(chunk(end, *siblings) for end in ends)])
    assert (completion.finish_reason, completion.raw_finish_reason) == ("length", "tool_calls")
    assert (completion.calls[0].status, completion.calls[0].executable) == ("incomplete", False)


def test_a_native_word_for_a_cut_beside_a_fragment():
    cut = chunk(choice(delta={"tool_calls": [entry(0, None, None, '"x')]}, native_finish_reason="length"))
    completion, _ = read([call(0, "a", "f", '{"a":'), cut, finish()])
    assert completion.finish_reason == "length"
    assert brief(completion) == [("f", None, "incomplete", False)]


def test_a_native_word_for_no_cut_is_no_finish_word():
    completion, _ = read([call(0, "a", "f", "{}"), chunk(choice(finish_reason=None, native_finish_reason="STOP"))])
    assert (completion.finish_reason, completion.raw_finish_reason) == (None, None)
    assert codes(completion) == [("stream_ended_early", None)]


ERROR = {"message": "busy", "code": "503"}


@pytest.mark.parametrize(
    "event",
    [
        {"error": ERROR},
        {"error": ERROR, "choices": []},
        {"error": ERROR, "choices": [choice(finish_reason="error")]},
        {"error": ERROR, "choices": [choice()]},
        {"choices": [choice(error=ERROR, finish_reason="error")]},
        {"object": "error", **ERROR},
        {"type": "error", "error": ERROR},
        {"type": "server_error", **ERROR},
        {"choices": [], "x_groq": {"error": ERROR}},
    ],
)
def test_errors_of_every_shape(event):
    completion, _ = read([call(0, "a", "f", "{}"), call(1, "b", "g", ""), event])
    assert ERROR.items() <= completion.error.items()
    assert completion.finish_reason == "error"
    assert codes(completion) == [("args_truncated", 1), ("stream_error", None)]
    assert [c.executable for c in completion.calls] == [True, False]


def test_an_error_as_text_and_in_an_event_of_that_name():
    assert read([{"error": "busy"}])[0].error == {"message": "busy"}
    data = b'event: error\ndata: {"message": "busy", "code": "503"}\n\n'
    assert assemble([data], "openai-chat").error == ERROR
    assert assemble([data]).error == ERROR


def test_the_first_error_stays_and_a_later_one_adds():
    assert read([{"error": {"message": "a"}}, {"error": {"message": "b", "code": 1}}])[0].error == {
        "message": "a",
        "code": 1,
    }


def test_a_finish_word_for_an_error_is_one():
    completion, _ = read([call(0, "a", "f", ""), finish("error")])
    assert (completion.error, completion.finish_reason, completion.calls[0].status) == (None, "error", "incomplete")
    assert ("stream_error", None) in codes(completion)


def test_finish_words_that_do_not_fit():
    completion, _ = read([call(0, "a", "f", "{}"), finish("stop")])
    assert [d.code for d in completion.defects] == ["finish_mismatch"]
    completion, _ = read([delta(content="x"), finish()])
    assert [d.code for d in completion.defects] == ["finish_mismatch"]


# ---------------------------------------------------------------- the next request


def test_the_message_for_the_next_request():
    chunks = [
        delta(reasoning_content="why", reasoning_details=[{"type": "reasoning.text", "text": "why"}]),
        delta(content="Hm"),
        call(0, "a", "f", ' {"x":1}'),
        call(1, "b", "g", ""),
        call(2, "c", "h", '{"cut'),
        delta({"index": 3, "id": "d", "type": "custom", "custom": {"name": "run", "input": "1+1"}}),
    ]
    completion, _ = read([*chunks, finish()])
    assert completion.message() == {
        "role": "assistant",
        "content": "Hm",
        "reasoning_content": "why",
        "reasoning_details": [{"type": "reasoning.text", "text": "why"}],
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "f", "arguments": ' {"x":1}'}},
            {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}},
            {"id": "c", "type": "function", "function": {"name": "h", "arguments": '{"cut'}},
            {"id": "d", "type": "custom", "custom": {"name": "run", "input": "1+1"}},
        ],
    }


def test_the_message_of_a_choice():
    chunks = [delta(content=f"t{n}", choice=n) for n in (0, 1)]
    chunks += [delta(entry(0, f"c{n}", "f", "{}"), choice=n) for n in (0, 1)]
    completion, _ = read([*chunks, finish(), finish(choice=1)])
    message = completion.message(1)
    assert (message["content"], [c["id"] for c in message["tool_calls"]]) == ("t1", ["c1"])
    assert completion.message(7) == {"role": "assistant", "content": ""}  # null only where there are calls


def test_the_message_of_a_legacy_call():
    completion, _ = read([delta(function_call={"name": "f", "arguments": "{}"}), finish("function_call")])
    assert completion.message() == {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "f", "arguments": "{}"},
    }
