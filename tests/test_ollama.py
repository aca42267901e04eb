"""Ollama's own protocol: lines of JSON, calls whole in their entries."""

import copy
import json
import pickle

import pytest
from protocol_helpers import as_objects, brief, codes, run, state
from transport_helpers import cuttings

from toolstream import Limits, ToolCall, ToolCallStream


def line(done=False, **message):
    return {"model": "m", "created_at": "t", "message": {"role": "assistant", "content": "", **message}, "done": done}


def entry(name="lookup", arguments=None, **fields):
    function = {"name": name, **({} if arguments is None else {"arguments": arguments})}
    if "index" in fields:
        function["index"] = fields.pop("index")
    return {"function": function, **fields}


END = {**line(done=True), "done_reason": "stop", "eval_count": 5, "total_duration": 9}

MESSAGE = [
    line(thinking="Hm"),
    line(thinking="m."),
    line(content="I will look."),
    line(tool_calls=[entry(arguments={"q": "té 🍵", "n": 12345678901234567890123}, id="call_1", index=0)]),
    line(tool_calls=[entry("now", {}, id="call_2", index=1)]),
    END,
]


def lines(events):
    return "".join(json.dumps(event, ensure_ascii=False) + "\n" for event in events).encode()


def test_a_whole_message():
    done = run("ollama", MESSAGE)
    arguments = {"q": "té 🍵", "n": 12345678901234567890123}
    assert brief(done) == [("lookup", arguments, "complete", True), ("now", {}, "complete", True)]
    assert [(c.id, c.index) for c in done.calls] == [("call_1", 0), ("call_2", 1)]
    assert (done.text, done.reasoning) == ("I will look.", "Hmm.")
    assert (done.finish_reason, done.raw_finish_reason) == ("tool_calls", "stop")
    assert done.usage == {"eval_count": 5, "total_duration": 9}
    assert codes(done, "info", "warning", "error") == []
    assert done.message() == {
        "role": "assistant",
        "content": "I will look.",
        "thinking": "Hmm.",
        "tool_calls": [
            {"id": "call_1", "function": {"name": "lookup", "arguments": arguments, "index": 0}},
            {"id": "call_2", "function": {"name": "now", "arguments": {}, "index": 1}},
        ],
    }


def test_bytes_in_any_cutting_give_the_same_with_exact_integers():
    expected = state(run("ollama", MESSAGE))
    for provider in ("ollama", None):
        for pieces in cuttings(lines(MESSAGE[3:])):
            done = run(provider, pieces)
            assert brief(done) == brief(run("ollama", MESSAGE[3:]))
        assert state(run(provider, [lines(MESSAGE)])) == expected
        assert state(run(provider, [lines(MESSAGE)[:-1]])) == expected, "the last line needs no line end"


def test_objects_as_the_sdk_gives_them():
    done = run("ollama", [as_objects(event) for event in (line(content="a"), END)])
    assert (done.text, done.raw_finish_reason, codes(done)) == ("a", "stop", [])


def test_older_servers_send_neither_id_nor_index():
    calls = [entry(arguments={"q": 1}), entry(arguments={"q": 1}), entry("now")]
    done = run("ollama", [line(tool_calls=calls), END], new_id=iter(["a", "b", "c"]).__next__)
    assert [(c.id, c.index, c.name, c.arguments, c.executable) for c in done.calls] == [
        ("a", None, "lookup", {"q": 1}, True),
        ("b", None, "lookup", {"q": 1}, True),
        ("c", None, "now", {}, True),
    ]
    assert codes(done) == []
    assert codes(done, "info") == [("args_empty", 2), ("id_missing", 0), ("id_missing", 1), ("id_missing", 2)]


def test_an_index_that_repeats_is_no_identity():
    done = run(
        "ollama",
        [
            line(tool_calls=[entry(arguments={"n": 1}, index=0)]),
            line(tool_calls=[entry(arguments={"n": 2}, index=0)]),
            END,
        ],
    )
    assert [c.arguments for c in done.calls] == [{"n": 1}, {"n": 2}]
    assert codes(done) == []


def test_calls_in_the_last_line_count():
    done = run("ollama", [{**END, **line(done=True, tool_calls=[entry(arguments={"n": 1}, id="a")])}])
    assert brief(done) == [("lookup", {"n": 1}, "complete", True)]
    assert codes(done) == []


def test_arguments_may_be_text_or_no_object():
    done = run("ollama", [line(tool_calls=[entry(arguments='{"n": 1}', id="a"), entry(arguments=[1], id="b")]), END])
    assert brief(done) == [("lookup", {"n": 1}, "complete", True), ("lookup", None, "invalid", False)]
    assert codes(done) == [("args_not_object", 1)]


@pytest.mark.parametrize("word", ["length", "stop", "load", None])
def test_ends(word):
    end = {**END, "done_reason": word}
    done = run("ollama", [line(content="a"), end])
    assert (done.finish_reason, done.raw_finish_reason) == ("length" if word == "length" else "stop", word)
    assert codes(done) == []


def test_an_error_line():
    done = run(None, [lines([line(tool_calls=[entry(arguments={"n": 1}, id="a")]), {"error": "out of memory"}])])
    assert (done.error, done.finish_reason) == ({"message": "out of memory"}, "error")
    assert brief(done) == [("lookup", {"n": 1}, "complete", True)]
    assert codes(done) == [("stream_error", None)]
    done = run(None, [b'{"error": "model not found"}'])
    assert done.error == {"message": "model not found"}


def test_a_bad_line_is_reported_and_costs_itself_alone():
    done = run("ollama", [lines(MESSAGE[:3]) + b"<html>\n" + lines(MESSAGE[3:])])
    assert [c.name for c in done.calls] == ["lookup", "now"]
    assert codes(done) == [("sse_bad_json", None)]


def test_a_stream_that_is_cut():
    data = lines(MESSAGE)
    cut = data.index(b'"now"')
    done = run("ollama", [data[:cut]])
    assert [(c.name, c.executable) for c in done.calls] == [("lookup", True)]
    assert codes(done) == [("sse_unterminated_event", None), ("stream_ended_early", None)]


def test_what_is_unknown_or_of_a_wrong_type_is_ignored():
    events = [
        {},
        {"message": 3, "done": "true"},
        line(tool_calls=3),
        line(tool_calls=[3, {}, {"function": 3}]),
        {"message": {"content": 3, "thinking": []}, "done": False},
        line(tool_calls=[entry(arguments={}, id="a", index="x")]),
        END,
    ]
    done = run("ollama", events)
    assert [(c.id, c.index) for c in done.calls] == [("a", None)]
    assert codes(done) == [("index_type", 0)]


def test_a_call_without_anything_to_report_is_the_same_in_short_as_step_by_step():
    """A limit on calls that is never reached takes the long way."""
    whole = {"q": "x", "n": 1, "yes": True, "none": None}
    values = [
        whole,
        {},
        {"q": "a\\b"},
        {"q": "\0"},
        {"q": "\ud800"},
        {"q": 1.5},
        {"q": [1]},
        {"q": 10**30},
        [1],
        "{}",
        None,
    ]
    entries = [entry(arguments=value, id=f"i{number}") for number, value in enumerate(values)]
    entries += [entry(arguments=whole, id=id) for id in (None, "", "null", 7, "i0", "new")]
    entries += [entry(name, arguments=whole, id=f"n{number}") for number, name in enumerate((None, "", "null", 7))]
    entries += [
        entry(arguments=whole, id=f"x{number}", index=index) for number, index in enumerate((0, "1", 2.5, None))
    ]
    entries += [{**entry(arguments=whole), "index": 3, "id": "y0"}, {**entry(arguments=whole), "type": "function"}]
    entries += [{**entry(arguments=whole), "signed": 1}, {**entry(arguments=whole, id="y1"), "type": 1, "signed": 2}]
    events = [
        *(line(tool_calls=[one]) for one in entries),
        line(content="\ud83d", tool_calls=[entry(arguments=whole, id="z0")]),
        line(content="\udf75", tool_calls=[entry(arguments=whole, id="z1")]),
        line(tool_calls=entries),
        END,
        line(tool_calls=[*entries[:2], entry(arguments=whole, id="late")]),
    ]

    def read(events, **options):
        stream = ToolCallStream("ollama", new_id=iter(map(str, range(100))).__next__, **options)
        seen = [(type(event), event.to_dict()) for piece in events for event in stream.feed(piece)]
        seen += [(type(event), event.to_dict()) for event in stream.close()]
        looks = [(call.position, call.partial_arguments, repr(call)) for call in stream.completion.calls]
        return seen, looks, stream.completion.message()

    for pieces in (events, [json.dumps(event).encode() + b"\n" for event in events]):
        for options in ({}, {"strict": True}):
            assert repr(read(pieces, **options)) == repr(read(pieces, **options, limits=Limits(max_calls=1000)))


def test_a_call_that_came_whole_is_like_any_other():
    """It can be changed, copied and pickled, and shares nothing with what was fed."""
    fed = {"q": "x"}
    pieces = [line(tool_calls=[entry(arguments=fed, id="a")]), END]
    (short,) = run("ollama", pieces).calls
    (long,) = run("ollama", pieces, limits=Limits(max_calls=1000)).calls
    assert isinstance(short, ToolCall)
    assert short.arguments == fed
    assert short.arguments is not fed
    for name in ToolCall.__slots__:
        if name[0] != "_":
            setattr(short, name, getattr(long, name))
    for copied in (copy.copy(short), copy.deepcopy(short), pickle.loads(pickle.dumps(short))):
        assert copied.to_dict() == short.to_dict() == long.to_dict()


def test_what_is_missing_of_a_call_takes_nothing_else_with_it():
    entries = [{"id": "a", "function": {"name": "now"}}, {"id": "b", "function": {"arguments": {}}}]
    entries += [{"function": {"name": "now", "arguments": {"q": "x"}}, "index": 4}]
    done = run("ollama", [line(tool_calls=entries), END], new_id=lambda: "made")
    assert [(c.id, c.name, c.arguments_text, c.index) for c in done.calls] == [
        ("a", "now", "", None),
        ("b", None, "{}", None),
        ("made", "now", '{"q":"x"}', 4),
    ]


def test_what_a_call_has_beside_its_arguments_goes_back_exactly():
    signed = {"n": 10**30}
    odd = [entry(arguments={}, id="c", signed=signed), entry(arguments={}, signed=signed)]
    done = run("ollama", [lines([line(content="a")]), lines([line(tool_calls=odd)]), lines([END])])
    assert [repr(call["signed"]) for call in done.message()["tool_calls"]] == [repr(signed)] * 2
