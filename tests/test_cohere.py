"""Cohere v2 chat."""

import pytest
from protocol_helpers import as_objects, brief, codes, run, sse, state


def start(index, id="c1", name="lookup", arguments="", **fields):
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **fields}
    return {"type": "tool-call-start", "index": index, "delta": {"message": {"tool_calls": call}}}


def fragment(index, text):
    calls = {"function": {"arguments": text}}
    return {"type": "tool-call-delta", "index": index, "delta": {"message": {"tool_calls": calls}}}


def stop(index):
    return {"type": "tool-call-end", "index": index}


def content(kind, index, **fields):
    return {"type": f"content-{kind}", "index": index, "delta": {"message": {"content": fields}}}


def plan(text):
    return {"type": "tool-plan-delta", "delta": {"message": {"tool_plan": text}}}


def end(word="TOOL_CALL", **fields):
    return {"type": "message-end", "delta": {"finish_reason": word, **fields}}


FIRST = {
    "type": "message-start",
    "id": "m",
    "delta": {"message": {"role": "assistant", "content": [], "tool_calls": []}},
}

MESSAGE = [
    FIRST,
    content("start", 0, type="thinking", thinking=""),
    content("delta", 0, thinking="Hm"),
    content("delta", 0, thinking="m."),
    {"type": "content-end", "index": 0},
    plan("I will "),
    plan("look."),
    start(0),
    fragment(0, '{"q": "t'),
    fragment(0, 'ea"}'),
    stop(0),
    start(1, "c2", "now"),
    stop(1),
    end(usage={"tokens": {"output_tokens": 9}}),
]


def test_a_whole_message():
    done = run("cohere", MESSAGE)
    assert brief(done) == [("lookup", {"q": "tea"}, "complete", True), ("now", {}, "complete", True)]
    assert [(c.id, c.index, c.arguments_text) for c in done.calls] == [("c1", 0, '{"q": "tea"}'), ("c2", 1, "")]
    assert (done.text, done.reasoning) == ("", "Hmm.I will look.")
    assert (done.finish_reason, done.raw_finish_reason) == ("tool_calls", "TOOL_CALL")
    assert done.usage == {"tokens": {"output_tokens": 9}}
    assert codes(done) == []
    assert done.message() == {
        "role": "assistant",
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "lookup", "arguments": '{"q": "tea"}'}},
            {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
        ],
        "tool_plan": "I will look.",
        "content": [{"type": "thinking", "thinking": "Hmm."}],
    }


def test_bytes_objects_and_recognition_give_the_same():
    expected = state(run("cohere", MESSAGE))
    assert state(run(None, MESSAGE)) == expected
    assert state(run(None, [sse(MESSAGE, done=True)])) == expected
    assert state(run("cohere", [as_objects(event) for event in MESSAGE[:-1]] + MESSAGE[-1:])) == expected


def test_text_and_citations():
    citation = {"start": 0, "end": 1, "text": "a"}
    cited = {"type": "citation-start", "index": 0, "delta": {"message": {"citations": citation}}}
    events = [FIRST, content("start", 0, type="text", text="a"), cited, {"type": "citation-end", "index": 0}]
    done = run("cohere", [*events, content("delta", 0, text="b"), end("COMPLETE")])
    assert (done.text, done.finish_reason, codes(done)) == ("ab", "stop", [])
    assert done.message() == {
        "role": "assistant",
        "content": [{"type": "text", "text": "ab"}],
        "citations": [citation],
    }


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("TOOL_CALL", "tool_calls"),
        ("COMPLETE", "tool_calls"),
        ("STOP_SEQUENCE", "tool_calls"),
        ("MAX_TOKENS", "length"),
        ("ERROR", "error"),
        ("TIMEOUT", "error"),
        ("NEW", "tool_calls"),
    ],
)
def test_finish_words_of_a_message_with_a_call(word, reason):
    done = run("cohere", [FIRST, start(0), fragment(0, "{}"), stop(0), end(word)])
    assert (done.finish_reason, done.raw_finish_reason) == (reason, word)
    assert brief(done) == [("lookup", {}, "complete", True)]


@pytest.mark.parametrize("fragments", [[], [fragment(0, '{"q": "t')]])
def test_a_budget_that_ends_inside_a_call(fragments):
    done = run("cohere", [FIRST, start(0), *fragments, end("MAX_TOKENS")])
    assert brief(done) == [("lookup", None, "incomplete", False)]
    assert codes(done) == [("args_truncated", 0), ("block_unclosed", 0)]


def test_errors():
    done = run("cohere", [FIRST, start(0), fragment(0, "{"), end("ERROR", error="broken")])
    assert (done.error, done.finish_reason) == ({"message": "broken"}, "error")
    assert ("stream_error", None) in codes(done)
    done = run("cohere", [FIRST, {"type": "error", "error": {"message": "no"}}])
    assert done.error == {"message": "no"}


def test_a_list_of_one_and_arguments_in_the_start():
    listed = start(0, arguments='{"q": 1}')
    listed["delta"]["message"]["tool_calls"] = [listed["delta"]["message"]["tool_calls"]]
    done = run("cohere", [FIRST, listed, stop(0), end()])
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert codes(done, "info") == [("args_in_start", 0)]


def test_a_fragment_of_no_open_call_is_an_orphan():
    done = run("cohere", [FIRST, start(0), stop(0), fragment(1, "x"), fragment(0, "x"), end()])
    assert codes(done) == [("orphan_delta", None)]


def test_what_is_unknown_or_of_a_wrong_type_is_ignored():
    unknown = [
        {},
        {"type": "debug", "prompt": "x"},
        {"type": "tool-call-delta", "index": 0},
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": []}}},
        {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {"function": 3}}}},
        {"type": "content-delta", "delta": 3},
        content("delta", 0, text=3, thinking=None),
        plan(None),
        {"type": "message-end"},
        {"type": "tool-call-end"},
    ]
    done = run(
        "cohere", [FIRST, start(0), fragment(0, '{"q":'), *unknown[:-2], fragment(0, "1}"), stop(0), end(), *unknown]
    )
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert codes(done) == []
