"""Gemini Interactions: steps."""

import pytest
from protocol_helpers import as_objects, brief, codes, run, sse, state


def start(index, kind="function_call", **fields):
    return {"event_type": "step.start", "index": index, "step": {"type": kind, **fields}}


def call(index, id="c1", name="lookup", **fields):
    return start(index, id=id, name=name, **{"arguments": {}, **fields})


def delta(index, kind, **fields):
    return {"event_type": "step.delta", "index": index, "delta": {"type": kind, **fields}}


def fragment(index, text):
    return delta(index, "arguments_delta", arguments=text)


def stop(index):
    return {"event_type": "step.stop", "index": index}


def end(status="requires_action", **fields):
    return {"event_type": "interaction.completed", "interaction": {"id": "i", "status": status, **fields}}


FIRST = {"event_type": "interaction.created", "interaction": {"id": "i", "status": "in_progress"}}

MESSAGE = [
    FIRST,
    {"event_type": "interaction.status_update", "interaction_id": "i", "status": "in_progress"},
    start(0, "thought"),
    delta(0, "thought_summary", content={"type": "text", "text": "Hmm."}),
    delta(0, "thought_signature", signature="c2ln"),
    stop(0),
    start(1, "model_output"),
    delta(1, "text", text="I will "),
    delta(1, "text", text="look."),
    stop(1),
    call(2, signature="dHdv"),
    fragment(2, '{"q": "t'),
    fragment(2, 'ea"}'),
    stop(2),
    call(3, "c2", "now"),
    stop(3),
    end(usage={"total_tokens": 9}),
]


def test_a_whole_interaction():
    done = run("gemini-interactions", MESSAGE)
    assert brief(done) == [("lookup", {"q": "tea"}, "complete", True), ("now", {}, "complete", True)]
    assert [(c.id, c.index, c.extras) for c in done.calls] == [("c1", 2, {"signature": "dHdv"}), ("c2", 3, {})]
    assert (done.text, done.reasoning) == ("I will look.", "Hmm.")
    assert (done.finish_reason, done.raw_finish_reason) == ("tool_calls", "requires_action")
    assert done.usage == {"total_tokens": 9}
    assert codes(done) == []
    assert done.message() == [
        {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Hmm."}]},
        {"type": "model_output", "content": [{"type": "text", "text": "I will look."}]},
        {"type": "function_call", "id": "c1", "name": "lookup", "arguments": {"q": "tea"}, "signature": "dHdv"},
        {"type": "function_call", "id": "c2", "name": "now", "arguments": {}},
    ]


def test_bytes_objects_and_recognition_give_the_same():
    expected = state(run("gemini-interactions", MESSAGE))
    assert state(run(None, MESSAGE)) == expected
    assert state(run(None, [sse(MESSAGE, done=True)])) == expected
    objects = [as_objects(event) for event in MESSAGE[:-1]]
    assert brief(run("gemini-interactions", [*objects, MESSAGE[-1]])) == brief(run("gemini-interactions", MESSAGE))


@pytest.mark.parametrize(
    ("kind", "expected", "name"),
    [
        ("google_search_call", "server", "google_search_call"),
        ("code_execution_call", "server", "code_execution_call"),
        ("mcp_server_tool_call", "mcp", "ask"),
        ("something_new_call", "server", "something_new_call"),
    ],
)
def test_what_google_runs_itself_is_not_for_the_client(kind, expected, name):
    fields = {"name": "ask", "server_name": "s"} if expected == "mcp" else {}
    result = kind.replace("_call", "_result")
    events = [
        FIRST,
        start(0, kind, id="s1", arguments={}, **fields),
        delta(0, kind, arguments={"queries": ["tea"]}),
        stop(0),
        start(1, result, call_id="s1"),
        delta(1, result, result=[{"url": "u"}]),
        stop(1),
        end("completed"),
    ]
    done = run("gemini-interactions", events)
    (one,) = done.calls
    assert (one.kind, one.name, one.arguments, one.status, one.executable) == (
        expected,
        name,
        {"queries": ["tea"]},
        "complete",
        False,
    )
    assert (done.finish_reason, codes(done)) == ("stop", [])
    assert done.message()[1] == {"type": result, "call_id": "s1", "result": [{"url": "u"}]}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("requires_action", "tool_calls"),
        ("completed", "tool_calls"),
        ("incomplete", "length"),
        ("budget_exceeded", "length"),
        ("requires_continuation", "length"),
        ("failed", "error"),
        ("cancelled", "error"),
    ],
)
def test_statuses(status, reason):
    done = run("gemini-interactions", [FIRST, call(0), fragment(0, "{}"), stop(0), end(status)])
    assert (done.finish_reason, done.raw_finish_reason) == (reason, status)
    assert brief(done) == [("lookup", {}, "complete", True)]


def test_a_call_that_was_cut():
    done = run("gemini-interactions", [FIRST, call(0), fragment(0, '{"q": "t'), end("incomplete")])
    assert brief(done) == [("lookup", None, "incomplete", False)]
    assert codes(done) == [("args_truncated", 0), ("block_unclosed", 0)]


def test_arguments_in_the_start():
    done = run("gemini-interactions", [FIRST, call(0, arguments={"q": 1}), stop(0), end()])
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert codes(done, "info") == [("args_in_start", 0)]
    done = run("gemini-interactions", [FIRST, call(0, arguments={"q": 1}), fragment(0, '{"q": 2}'), stop(0), end()])
    assert brief(done) == [("lookup", {"q": 2}, "complete", True)]


def test_an_interaction_that_the_client_goes_on_with():
    first = [FIRST, start(0, "model_output"), delta(0, "text", text="So "), stop(0), end("requires_continuation")]
    rest = [FIRST, start(0, "model_output"), delta(0, "text", text="far."), stop(0), call(1), stop(1), end()]
    done = run("gemini-interactions", [*first, *rest])
    assert (done.finish_reason, done.raw_finish_reason) == ("tool_calls", "requires_action")
    assert (done.text, brief(done), codes(done)) == ("So far.", [("lookup", {}, "complete", True)], [])
    done = run("gemini-interactions", first)
    assert (done.finish_reason, done.raw_finish_reason) == ("length", "requires_continuation")
    done = run("gemini-interactions", [*first, *rest[:3]])  # the connection was lost
    assert (done.finish_reason, codes(done)) == (None, [("stream_ended_early", None)])


def test_a_call_that_the_limit_of_a_request_cut():
    done = run("gemini-interactions", [FIRST, call(0), stop(0), call(1), end("requires_continuation")])
    assert brief(done) == [("lookup", {}, "complete", True), ("lookup", None, "incomplete", False)]
    assert codes(done) == [("args_truncated", 1), ("block_unclosed", 1), ("id_duplicate", 1)]


def test_steps_that_only_the_last_event_has():
    steps = [
        {"type": "user_input", "content": [{"type": "text", "text": "Tea?"}]},
        {"type": "thought", "signature": "c2ln", "summary": [{"type": "text", "text": "Hm."}]},
        {"type": "model_output", "content": [{"type": "text", "text": "I will look."}]},
        {"type": "function_call", "id": "c1", "name": "lookup", "arguments": {"q": 1}},
    ]
    done = run("gemini-interactions", [FIRST, end(steps=steps)])
    assert (done.text, done.reasoning) == ("I will look.", "Hm.")
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert ("snapshot_only", 0) in codes(done, "info")
    assert done.message() == steps[1:]
    assert run("gemini-interactions", [*MESSAGE[:-1], end(steps=steps)]).message() == run(None, MESSAGE).message()


def test_the_names_of_2025():
    events = [
        {"event_type": "interaction.start", "interaction": {"id": "i"}},
        {"event_type": "content.start", "index": 0, "content": {"type": "thought"}},
        {"event_type": "content.delta", "index": 0, "delta": {"type": "thought_summary", "content": {"text": "Hm."}}},
        {"event_type": "content.stop", "index": 0},
        {"event_type": "content.start", "index": 1, "content": {"type": "text"}},
        {"event_type": "content.delta", "index": 1, "delta": {"type": "text", "text": "Hi"}},
        {"event_type": "content.stop", "index": 1},
        {"event_type": "content.start", "index": 2, "content": {"type": "function_call"}},
        {
            "event_type": "content.delta",
            "index": 2,
            "delta": {"type": "function_call", "id": "c1", "name": "lookup", "arguments": {"q": 1}},
        },
        {"event_type": "content.stop", "index": 2},
        {"event_type": "interaction.complete", "interaction": {"status": "requires_action"}},
    ]
    done = run(None, events)
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert (done.calls[0].id, done.text, done.reasoning) == ("c1", "Hi", "Hm.")
    assert codes(done) == []


@pytest.mark.parametrize("error", [{"code": "x", "message": "no"}, None])
def test_errors(error):
    done = run("gemini-interactions", [FIRST, call(0), fragment(0, "{"), {"event_type": "error", "error": error}])
    assert done.finish_reason == "error"
    assert done.error["message"]
    assert codes(done) == [("args_truncated", 0), ("stream_error", None)]


def test_a_fragment_of_no_open_call_is_an_orphan():
    done = run("gemini-interactions", [FIRST, fragment(4, "{}"), end("completed")])
    assert codes(done) == [("orphan_delta", None)]


@pytest.mark.parametrize("step", ["model_output", "thought"])
def test_a_fragment_of_arguments_in_a_step_of_words_is_an_orphan(step):
    done = run("gemini-interactions", [FIRST, start(0, step), fragment(0, "{}"), stop(0), call(1), stop(1), end()])
    assert codes(done) == [("args_truncated", 0), ("orphan_delta", None)]


def test_words_at_the_index_of_an_open_call_end_nothing():
    words = [delta(0, "text", text="a"), delta(0, "thought_summary", content={"type": "text", "text": "b"})]
    done = run("gemini-interactions", [FIRST, call(0), fragment(0, '{"q":'), *words, fragment(0, "1}"), stop(0), end()])
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert (done.text, done.reasoning, codes(done)) == ("a", "b", [])
    assert [step["type"] for step in done.message()] == ["function_call", "model_output", "thought"]


def test_what_stands_beside_a_fragment_is_kept():
    signed = delta(0, "arguments_delta", arguments="{}", signature="c2ln")
    done = run("gemini-interactions", [FIRST, call(0), signed, stop(0), end()])
    assert brief(done) == [("lookup", {}, "complete", True)]
    assert done.calls[0].extras == {"signature": "c2ln"}


def test_a_fragment_is_one_by_its_type_and_may_be_an_object():
    words = delta(0, "text", arguments="x")
    done = run("gemini-interactions", [FIRST, call(0), words, fragment(0, {"q": [1]}), stop(0), end()])
    assert brief(done) == [("lookup", {"q": [1]}, "complete", True)]


def test_what_is_unknown_or_of_a_wrong_type_is_ignored():
    unknown = [
        {},
        {"event_type": 3},
        {"event_type": "step.start", "index": 9, "step": 3},
        {"event_type": "step.delta", "index": 0},
        start(9, 3),
        delta(9, "new", x=1),
        delta(9, "text", text=3),
        delta([], "text", text="x"),
        stop({}),
        {"event_type": "interaction.new"},
    ]
    done = run(
        "gemini-interactions", [FIRST, call(0), fragment(0, '{"q":'), *unknown, fragment(0, "1}"), stop(0), end()]
    )
    assert brief(done) == [("lookup", {"q": 1}, "complete", True)]
    assert codes(done) == []
