"""Mistral's departures from Chat Completions."""

import re

from chat import call, delta, entry, finish, read
from protocol_helpers import brief, codes

from toolstream import assemble

WHOLE = {"name": "f", "arguments": '{"x":1}'}


def test_whole_calls_come_with_the_finish_word():
    entries = [entry(n, f"id{n}", "f", f'{{"x":{n}}}') for n in range(3)]
    completion, _ = read([delta(*entries, finish="tool_calls")], "mistral")
    assert brief(completion) == [("f", {"x": n}, "complete", True) for n in range(3)]
    assert completion.defects == []


def test_no_index():
    entries = [entry(None, f"id{n}", "f", f'{{"x":{n}}}') for n in range(3)]
    completion, _ = read([delta(*entries, finish="tool_calls")], "mistral")
    assert [c.arguments for c in completion.calls] == [{"x": n} for n in range(3)]
    assert {d.code for d in completion.defects} == {"index_missing"}


def test_fragments_as_hosted_models_send_them():
    chunks = [call(0, "a", "f", ""), call(0, "null", "", '{"x"'), call(0, "null", "", ":1}"), finish()]
    completion, _ = read(chunks, "mistral")
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]


def test_what_the_sdk_makes_of_missing_ids_and_indexes():
    entries = [
        {"id": "null", "index": 0, "function": {"name": name, "arguments": "{}"}} for name in ("f", "f", "g", "f")
    ]
    completion, _ = read([delta(*entries, finish="tool_calls")], "mistral")
    assert [(c.name, c.arguments, c.index) for c in completion.calls] == [
        (name, {}, None) for name in ("f", "f", "g", "f")
    ]
    assert len({c.id for c in completion.calls}) == 4
    assert codes(completion) == [("id_placeholder", number) for number in range(4)]
    entries[0]["id"] = "a"  # ids are there, and so are indexes
    completion, _ = read([delta(*entries[:2], finish="tool_calls")], "mistral")
    assert [(c.id, c.index) for c in completion.calls] == [("a", 0)]


def test_arguments_as_an_object():
    completion, _ = read([call(0, "a", "f", {"x": 1}), finish()], "mistral")
    assert (completion.calls[0].arguments, completion.calls[0].arguments_text) == ({"x": 1}, '{"x":1}')
    assert [d.code for d in completion.defects] == ["args_object"]


def test_a_call_that_was_cut():
    for text in ("", '{"x":'):
        completion, _ = read([delta(entry(0, "a", "f", text), finish="length")], "mistral")
        assert (completion.calls[0].status, completion.finish_reason) == ("incomplete", "length")
    for word in ("model_length", "error"):
        completion, _ = read([delta(entry(0, "a", "f", ""), finish=word)], "mistral")
        assert not completion.calls[0].executable


def test_content_as_a_list_of_parts():
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm "}, {"type": "text", "text": "hm"}]},
        {"type": "thinking", "thinking": "."},
        {"type": "text", "text": "Yes"},
        "!",
    ]
    completion, _ = read([delta(content=parts), finish("stop")], "mistral")
    assert (completion.reasoning, completion.text) == ("hm hm.", "Yes!")


def test_the_sdk_wraps_each_chunk():
    chunks = [{"data": call(0, "a", "f", "{"), "event": None}, {"data": call(0, arguments="}")}, {"data": finish()}]
    for provider in ("mistral", None):
        assert brief(assemble(chunks, provider)) == [("f", {}, "complete", True)]


def test_generated_ids_have_the_form_that_requests_must_have():
    completion, _ = read([call(0, None, "f", "{}"), call(1, None, "g", "{}"), finish()], "mistral")
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", c.id) for c in completion.calls)
    completion, _ = read([call(0, None, "f", "{}"), finish()], "mistral", new_id=lambda: "mine")
    assert completion.calls[0].id == "mine"
