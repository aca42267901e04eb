"""Anthropic Messages: blocks, their ends, and everything that servers do to them."""

import json

import pytest
from protocol_helpers import as_objects, brief, codes, run, state
from transport_helpers import growth

import toolstream

START = {"type": "message_start", "message": {"id": "msg_1", "content": [], "usage": {"input_tokens": 7}}}
STOP = {"type": "message_stop"}


def finish(word="tool_use", **fields):
    return {"type": "message_delta", "delta": {"stop_reason": word, "stop_sequence": None}, **fields}


def start(index, kind="tool_use", **fields):
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def call_start(index, id="tu_1", name="lookup", kind="tool_use", **fields):
    return start(index, kind, id=id, name=name, **{"input": {}, **fields})


def delta(index, kind, **fields):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def fragment(index, text):
    return delta(index, "input_json_delta", partial_json=text)


def stop(index):
    return {"type": "content_block_stop", "index": index}


MESSAGE = [
    START,
    {"type": "ping"},
    start(0, "thinking", thinking="", signature=""),
    delta(0, "thinking_delta", thinking="Two "),
    delta(0, "thinking_delta", thinking="calls."),
    delta(0, "signature_delta", signature="c2ln"),
    stop(0),
    start(1, "text", text=""),
    delta(1, "text_delta", text="I will "),
    delta(1, "citations_delta", citation={"type": "page", "n": 1}),
    delta(1, "text_delta", text="look."),
    stop(1),
    call_start(2, caller={"type": "direct"}),
    fragment(2, ""),
    fragment(2, '{"q": "t'),
    {"type": "ping"},
    fragment(2, 'ea"}'),
    stop(2),
    call_start(3, "tu_2", "now"),
    fragment(3, ""),
    stop(3),
    finish(usage={"output_tokens": 30}),
    STOP,
]


def test_a_whole_message():
    done = run("anthropic", MESSAGE)
    assert brief(done) == [("lookup", {"q": "tea"}, "complete", True), ("now", {}, "complete", True)]
    assert [(c.id, c.index, c.kind, c.arguments_text, c.extras) for c in done.calls] == [
        ("tu_1", 2, "function", '{"q": "tea"}', {"caller": {"type": "direct"}}),
        ("tu_2", 3, "function", "", {}),
    ]
    assert (done.text, done.reasoning) == ("I will look.", "Two calls.")
    assert (done.finish_reason, done.raw_finish_reason) == ("tool_calls", "tool_use")
    assert done.usage == {"input_tokens": 7, "output_tokens": 30}
    assert codes(done) == []
    assert done.message() == {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Two calls.", "signature": "c2ln"},
            {"type": "text", "text": "I will look.", "citations": [{"type": "page", "n": 1}]},
            {"type": "tool_use", "id": "tu_1", "name": "lookup", "input": {"q": "tea"}, "caller": {"type": "direct"}},
            {"type": "tool_use", "id": "tu_2", "name": "now", "input": {}},
        ],
    }


def test_objects_and_recognition_give_the_same():
    expected = state(run("anthropic", MESSAGE))
    assert state(run(None, MESSAGE)) == expected
    # of objects the inner dicts are models too, but for what a schema calls a dict
    done = run("anthropic", [as_objects(event) for event in MESSAGE])
    assert brief(done) == [("lookup", {"q": "tea"}, "complete", True), ("now", {}, "complete", True)]
    assert (done.text, done.reasoning, done.usage) == (expected[1], expected[2], expected[5])


def test_what_sdk_helpers_derive_is_not_counted_twice():
    derived = {
        "text_delta": lambda d: {"type": "text", "text": d["text"], "snapshot": d["text"]},
        "thinking_delta": lambda d: {"type": "thinking", "thinking": d["thinking"], "snapshot": "x"},
        "input_json_delta": lambda d: {"type": "input_json", "partial_json": d["partial_json"], "snapshot": {}},
        "signature_delta": lambda d: {"type": "signature", "signature": d["signature"]},
        "citations_delta": lambda d: {"type": "citation", "citation": d["citation"], "snapshot": []},
    }
    events = []
    for event in MESSAGE:
        events.append(event)
        inner = event.get("delta", {})
        if inner.get("type") in derived:
            events.append(derived[inner["type"]](inner))
    assert len(events) > len(MESSAGE)
    assert state(run("anthropic", events)) == state(run("anthropic", MESSAGE))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("tool_use", "function"),
        ("server_tool_use", "server"),
        ("mcp_tool_use", "mcp"),
        ("some_new_tool_use", "server"),
    ],
)
def test_only_the_clients_calls_are_executable(kind, expected):
    done = run(
        "anthropic", [START, call_start(0, kind=kind, server_name="s"), fragment(0, "{}"), stop(0), finish(), STOP]
    )
    (call,) = done.calls
    assert (call.kind, call.status, call.executable) == (expected, "complete", expected == "function")
    assert call.extras["server_name"] == "s"
    assert done.message()["content"][0]["type"] == kind


def test_a_server_tool_alone_is_no_reason_to_answer():
    result = start(1, "web_search_tool_result", tool_use_id="st_1", content=[{"type": "web_search_result"}])
    done = run(
        "anthropic",
        [START, call_start(0, "st_1", kind="server_tool_use"), stop(0), result, stop(1), finish("end_turn"), STOP],
    )
    assert (done.finish_reason, codes(done, "info", "warning", "error")) == ("stop", [("args_empty", 0)])
    assert done.message()["content"][1] == result["content_block"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("tool_use", "stop"),  # the word alone is no call
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("compaction", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("something_new", "stop"),
    ],
)
def test_finish_words(word, reason):
    done = run("anthropic", [START, start(0, "text", text="a"), stop(0), finish(word), STOP])
    assert (done.text, done.finish_reason, done.raw_finish_reason) == ("a", reason, word)


def test_a_budget_that_ends_inside_a_call():
    done = run("anthropic", [START, call_start(0), fragment(0, '{"q": "te'), finish("max_tokens"), STOP])
    assert brief(done) == [("lookup", None, "incomplete", False)]
    assert done.calls[0].partial_arguments == {"q": "te"}
    assert codes(done) == [("args_truncated", 0), ("block_unclosed", 0)]
    assert done.finish_reason == "length"


def test_a_budget_that_ends_before_the_arguments():
    done = run("anthropic", [START, call_start(0), fragment(0, ""), finish("max_tokens"), STOP])
    assert brief(done) == [("lookup", None, "incomplete", False)]
    assert codes(done) == [("args_truncated", 0), ("block_unclosed", 0)]


@pytest.mark.parametrize("tail", [[stop(0), finish(), STOP], [finish(), STOP], [finish()], [STOP]])
def test_arguments_in_the_start_count_where_no_fragment_comes(tail):
    whole = call_start(0, input={"q": "tea", "n": 2})
    for before in ([], [fragment(0, "")]):
        done = run("anthropic", [START, whole, *before, *tail])
        assert brief(done) == [("lookup", {"q": "tea", "n": 2}, "complete", True)]
        assert ("args_in_start", 0) in codes(done, "info")
    done = run("anthropic", [START, whole, fragment(0, '{"q": "cake"}'), *tail])
    assert brief(done) == [("lookup", {"q": "cake"}, "complete", True)]
    assert ("args_in_start", 0) not in codes(done, "info")


def test_arguments_in_the_start_may_be_text():
    done = run("anthropic", [START, call_start(0, input='{"q": "tea"}'), stop(0), finish(), STOP])
    assert brief(done) == [("lookup", {"q": "tea"}, "complete", True)]


@pytest.mark.parametrize(("sent", "word"), [(3, "3"), (["f"], None), ({}, None), ("", None)])
def test_ids_and_names_of_a_wrong_type(sent, word):
    named = run("anthropic", [call_start(0, name=sent), fragment(0, "{}"), stop(0), finish()])
    assert (named.calls[0].name, named.calls[0].status) == (word, "complete" if word else "incomplete")
    numbered = run("anthropic", [call_start(0, id=sent), fragment(0, "{}"), stop(0), finish()]).calls[0]
    assert numbered.status == "complete"
    assert numbered.id == word or (word is None and numbered.id.startswith("call_"))


def test_a_message_that_starts_with_content():
    content = [
        {"type": "text", "text": "Resumed."},
        {"type": "tool_use", "id": "tu_1", "name": "a", "input": {"x": 1}},
        {"type": "tool_use", "id": "tu_2", "name": "b", "input": {}},
    ]
    first = {"type": "message_start", "message": {"id": "m", "content": content, "stop_reason": "tool_use"}}
    done = run("anthropic", [first, STOP])
    assert brief(done) == [("a", {"x": 1}, "complete", True), ("b", {}, "complete", True)]
    assert (done.text, done.raw_finish_reason, codes(done)) == ("Resumed.", "tool_use", [])
    assert done.message()["content"] == content


def test_a_repeated_start_changes_nothing():
    done = run(
        "anthropic", [START, call_start(0), fragment(0, '{"q":'), START, fragment(0, "1}"), stop(0), finish(), STOP]
    )
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert codes(done) == []


def test_a_block_in_the_place_of_an_open_call_takes_no_arguments():
    events = [START, call_start(0), fragment(0, "{}"), start(0, "text", text=""), fragment(0, "1"), fragment(0, "")]
    events += [call_start(1), fragment(1, "{}"), stop(1), fragment(1, "2"), fragment(1, "")]
    done = run("anthropic", [*events, finish(), STOP])
    assert brief(done) == [("lookup", {}, "complete", True)] * 2
    assert ("orphan_delta", None) in codes(done)


def test_another_message_in_the_same_stream_is_an_error_and_gives_no_call_twice():
    other = {"type": "message_start", "message": {"id": "msg_2", "content": []}}
    first = [START, call_start(0), fragment(0, "{}"), stop(0), call_start(1, "tu_2"), fragment(1, '{"q":')]
    rest = [fragment(1, "1}"), call_start(0, "tu_3"), fragment(0, "{}"), stop(0), finish(), STOP]
    done = run("anthropic", [*first, other, *rest])
    assert brief(done) == [("lookup", {}, "complete", True), ("lookup", None, "incomplete", False)]
    assert codes(done) == [("args_truncated", 1), ("stream_error", None)]
    assert done.finish_reason == "error"
    assert done.error["type"] == "message_restarted"


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, {"type": "overloaded_error"}),
        ({"type": "error", "error": "busy"}, {"message": "busy"}),
        ({"type": "error", "message": "busy"}, {"message": "busy"}),
        ({"error": {"message": "busy"}}, {"message": "busy"}),
    ],
)
def test_errors_in_the_stream(event, error):
    done = run("anthropic", [START, call_start(0), fragment(0, '{"q": "t'), event])
    assert error.items() <= done.error.items()
    assert (done.finish_reason, brief(done)) == ("error", [("lookup", None, "incomplete", False)])
    assert codes(done) == [("args_truncated", 0), ("stream_error", None)]


def test_blocks_that_overlap_keep_their_own_fragments():
    events = [
        START,
        call_start(0, "a"),
        call_start(4, "b"),
        fragment(4, '{"n":'),
        fragment(0, '{"n":'),
        fragment(4, "4}"),
    ]
    done = run("anthropic", [*events, fragment(0, "0}"), stop(4), stop(0), finish(), STOP])
    assert [(c.id, c.index, c.arguments) for c in done.calls] == [("a", 0, {"n": 0}), ("b", 4, {"n": 4})]
    assert codes(done, "info", "warning") == [("block_index_gap", 1)]


@pytest.mark.parametrize("between", [[stop(1)], []])
def test_a_start_on_a_taken_index_opens_another_call(between):
    events = [START, call_start(1, "a"), fragment(1, '{"n": 1}'), *between, call_start(1, "b"), fragment(1, '{"n": 2}')]
    done = run("anthropic", [*events, stop(1), finish(), STOP])
    assert [(c.id, c.arguments, c.executable) for c in done.calls] == [("a", {"n": 1}, True), ("b", {"n": 2}, True)]
    assert codes(done) == [*([] if between else [("block_unclosed", 0)]), ("index_reused", 1)]


def test_a_call_on_the_index_of_a_text_says_so():
    done = run("anthropic", [START, start(0, "text", text="a"), stop(0), call_start(0), stop(0), finish(), STOP])
    assert codes(done) == [("index_reused", 0)]


@pytest.mark.parametrize(
    "events",
    [
        [fragment(3, '{"q": 1}')],
        [call_start(0), stop(0), fragment(0, '{"q": 1}')],
        [start(0, "text", text=""), fragment(0, '{"q": 1}')],
        [call_start(0), stop(0), fragment(None, "x")],
    ],
)
def test_a_fragment_of_no_open_call_is_an_orphan(events):
    done = run("anthropic", [START, *events, finish(), STOP])
    assert ("orphan_delta", None) in codes(done)


def test_a_lost_fragment_makes_an_empty_call_incomplete():
    done = run("anthropic", [START, call_start(0), fragment(7, '{"q": 1}'), stop(0), finish(), STOP])
    assert brief(done) == [("lookup", None, "incomplete", False)]


def test_text_needs_no_start():
    done = run(
        "anthropic",
        [START, delta(0, "text_delta", text="a"), delta(0, "text_delta", text="b"), finish("end_turn"), STOP],
    )
    assert (done.text, codes(done)) == ("ab", [])
    assert done.message()["content"] == [{"type": "text", "text": "ab"}]


def test_words_at_the_index_of_an_open_call_end_nothing():
    words = [delta(0, "text_delta", text="a"), fragment(0, ":"), delta(0, "text_delta", text="b")]
    thought = [delta(0, "thinking_delta", thinking="c"), delta(0, "signature_delta", signature="cw==")]
    events = [START, call_start(0), fragment(0, '{"q"'), *words, *thought, fragment(0, "1}"), stop(0), finish(), STOP]
    done = run("anthropic", events)
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert (done.text, done.reasoning, codes(done)) == ("ab", "c", [])
    assert done.message()["content"][1:] == [
        {"type": "text", "text": "ab"},
        {"type": "thinking", "thinking": "c", "signature": "cw=="},
    ]


def test_unknown_events_blocks_and_deltas_are_ignored():
    unknown = [
        {"type": "message_thing", "x": 1},
        {"x": 1},
        {"type": ["message_start"]},
        start(9, "new_block", x=1),
        delta(9, "new_delta", x=1),
        fragment(9, "not for a call"),
        stop(9),
        stop(77),
        {"type": "content_block_start"},
        {"type": "content_block_start", "index": 1, "content_block": 3},
        {"type": "content_block_delta", "index": 1},
        {"type": "content_block_delta", "index": [1], "delta": {"type": "input_json_delta", "partial_json": ""}},
        {"type": "content_block_stop", "index": {}},
        {"type": "message_delta"},
        {"type": "message_delta", "delta": {"stop_reason": 3}, "usage": 4},
        {"type": "message_start", "message": None},
        delta(1, "text_delta", text=3),
        delta(1, "thinking_delta"),
    ]
    events = [START, call_start(0), fragment(0, '{"q":'), *unknown, fragment(0, "1}"), stop(0), finish(), STOP]
    done = run("anthropic", events)
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert codes(done) == []


def test_an_index_may_be_a_decimal_string_and_huge_or_missing():
    done = run("anthropic", [START, call_start("0"), fragment(0, "{}"), stop("0"), finish(), STOP])
    assert (done.calls[0].index, brief(done)) == (0, [("lookup", {}, "complete", True)])
    done = run("anthropic", [START, call_start(10**30), fragment(10**30, "{}"), stop(10**30), finish(), STOP])
    assert brief(done) == [("lookup", {}, "complete", True)]
    done = run("anthropic", [START, call_start(None), fragment(None, "{}"), stop(None), finish(), STOP])
    assert (done.calls[0].index, brief(done)) == (None, [("lookup", {}, "complete", True)])


def test_a_call_without_a_name_is_never_executable():
    done = run("anthropic", [START, call_start(0, name=None), fragment(0, "{}"), stop(0), finish(), STOP])
    assert brief(done) == [(None, None, "incomplete", False)]
    assert codes(done) == [("name_missing", 0)]


def test_a_stream_without_its_end():
    done = run("anthropic", [START, call_start(0), fragment(0, '{"q": 1}'), stop(0)])
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert codes(done) == [("stream_ended_early", None)]
    assert done.finish_reason is None


def test_chunks_of_invoke_model_as_boto3_gives_them():
    events = [{"chunk": {"bytes": json.dumps(event).encode()}} for event in MESSAGE]
    for provider in ("anthropic", None):
        assert state(run(provider, events)) == state(run("anthropic", MESSAGE))
    done = run("anthropic", [*events[:-2], {"chunk": {"bytes": b"{"}}, *events[-2:]])
    assert ("sse_bad_json", None) in codes(done)
    assert brief(done) == brief(run("anthropic", MESSAGE))


def test_compaction_and_redacted_thinking_go_back():
    events = [
        START,
        start(0, "redacted_thinking", data="b3Bx"),
        stop(0),
        start(1, "compaction", content=None),
        delta(1, "compaction_delta", content="Before: nothing.", encrypted_content=None),
        stop(1),
        finish("compaction"),
        STOP,
    ]
    assert run("anthropic", events).message()["content"] == [
        {"type": "redacted_thinking", "data": "b3Bx"},
        {"type": "compaction", "content": "Before: nothing."},
    ]


def test_many_blocks_and_many_fragments_are_linear():
    def blocks(size):
        stream = toolstream.ToolCallStream("anthropic")
        for index in range(size):
            stream.feed(call_start(index, f"id{index}"))
            stream.feed(stop(index))
        stream.close()

    def fragments(size):
        stream = toolstream.ToolCallStream("anthropic")
        stream.feed(start(0, "text", text=""))
        stream.feed(call_start(1))
        stream.feed(fragment(1, '{"q": "'))
        for _ in range(size):
            stream.feed(fragment(1, "x"))
            stream.feed(delta(0, "text_delta", text="y"))
        stream.close()
        assert stream.completion.text == "y" * size
        assert len(stream.completion.message()["content"][0]["text"]) == size

    assert growth(blocks, 500) < 9
    assert growth(fragments, 2000) < 9
