"""Gemini: whole calls, arguments streamed by paths, signatures, finish reasons, in dicts, objects and bytes."""

from __future__ import annotations

import copy
import json
import pickle
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from protocol_helpers import as_objects, brief, codes, run, sse, state
from transport_helpers import growth

import toolstream
from toolstream.providers._paths import PathReader, PathWriter, encode_string, parse_path

STREAMS = Path(__file__).parent / "data" / "streams"
OSLO = {"city": "Oslo", "note": 'a "b" é 😀'}

Event = dict[str, Any]


def event(*parts: Event, finish: str | None = None, index: int | None = 0, **fields: Any) -> Event:
    candidate: Event = {"content": {"role": "model", "parts": list(parts)}, **fields}
    if index is not None:
        candidate["index"] = index
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate]}


def called(name: str | None = None, args: Any = None, **fields: Any) -> Event:
    out = {"name": name, "args": args, **fields}
    return {"functionCall": {key: value for key, value in out.items() if value is not None}}


def partial(*values: Event, more: bool = True) -> Event:
    return {"functionCall": {"partialArgs": list(values), **({"willContinue": True} if more else {})}}


def string(path: str, text: str, more: bool = False) -> Event:
    return {"jsonPath": path, "stringValue": text, **({"willContinue": True} if more else {})}


def number(path: str, value: Any) -> Event:
    return {"jsonPath": path, "numberValue": value}


STOP = event(finish="STOP")
OPEN = event(called("f", willContinue=True))
CLOSE = event(called())


def gemini(*events: Event, **options: Any) -> toolstream.Completion:
    """The completion, the same for dicts, for objects, and for objects in Python's spelling."""
    completion = run("gemini", events, **options)
    for python_names in (False, True):
        objects = [as_objects(one, python_names=python_names) for one in events]
        again = run("gemini", objects, **options)
        again.usage = completion.usage  # which is handed on in the spelling in which it came
        assert state(again) == state(completion)
    return completion


def streamed(*parts: Event, end: Event = STOP) -> toolstream.Completion:
    """One streamed call with these parts."""
    return gemini(OPEN, *(event(part) for part in parts), end)


# ---------------------------------------------------------------- recorded-style streams, cut and broken


@pytest.mark.parametrize("name", ["gemini.sse", "gemini-array.jsonarray", "gemini-partial.sse"])
def test_recorded_in_every_cutting(name: str) -> None:
    data = (STREAMS / name).read_bytes()
    whole = run("gemini", [data])
    assert brief(whole) == [("lookup", OSLO, "complete", True), ("now", {}, "complete", True)]
    assert whole.calls[0].extras == {"thoughtSignature": "c2lnbmF0dXJl"}
    assert (whole.text, whole.finish_reason, whole.raw_finish_reason) == ("Let me look.", "tool_calls", "STOP")
    assert whole.usage == {"promptTokenCount": 20, "candidatesTokenCount": 30, "totalTokenCount": 50}
    assert codes(whole) == []
    rng = random.Random(2)
    for size in (1, 2, 7, 100):
        assert state(run("gemini", [data[i : i + size] for i in range(0, len(data), size)])) == state(whole)
    for _ in range(20):
        at = rng.randrange(len(data))
        assert state(run("gemini", [data[:at], data[at:]])) == state(whole)
    assert state(run(None, [data])) == state(whole)


@pytest.mark.parametrize("name", ["gemini.sse", "gemini-array.jsonarray", "gemini-partial.sse"])
def test_stream_dies_at_any_byte(name: str) -> None:
    data = (STREAMS / name).read_bytes()
    for at in range(0, data.index(b"finishReason"), 11):
        completion = run("gemini", [data[:at]])
        assert completion.finish_reason is None
        assert ("stream_ended_early", None) in codes(completion)
        for call in completion.calls:
            if call.executable:
                assert call.arguments == (OSLO if call.name == "lookup" else {})
            else:
                # `now` came as a name alone: an event that was lost after it may have held its arguments.
                lost = {("sse_bad_json", None), ("sse_unterminated_event", None)}
                assert call.name == "lookup" or lost & set(codes(completion))
                assert (call.status, call.arguments) == ("incomplete", None)
                assert ("args_truncated", call.position) in codes(completion)


# ---------------------------------------------------------------- whole calls


def test_parallel_calls_in_one_event_and_in_several() -> None:
    first, second = called("f", {"a": 1}), called("f", {"a": 1})
    for events in ([event(first, second, finish="STOP")], [event(first), event(second), STOP]):
        completion = gemini(*events)
        assert brief(completion) == [("f", {"a": 1}, "complete", True)] * 2
        assert [c.arguments_text for c in completion.calls] == ['{"a":1}'] * 2
        assert codes(completion, "info", "warning", "error") == [("id_missing", 0), ("id_missing", 1)]
        assert completion.finish_reason == "tool_calls"


def test_ids() -> None:
    completion = gemini(event(called("f", {}, id="x"), called("g", {}, id="x")), STOP)
    assert completion.calls[0].id == "x"
    assert (completion.calls[1].provider_id, completion.calls[1].id != "x") == ("x", True)
    assert codes(completion) == [("id_duplicate", 1)]


@pytest.mark.parametrize("part", [called("now"), called("now", {}), {"functionCall": {"name": "now", "args": None}}])
def test_no_arguments(part: Event) -> None:
    for events in ([event(part, finish="STOP")], [event(part), STOP], [event(part)]):
        completion = gemini(*events)
        assert brief(completion) == [("now", {}, "complete", True)]


def test_exact_numbers_and_key_order() -> None:
    data = (
        b'data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f","args":'
        b'{"z":12345678901234567890123,"a":1.0,"e":-0.0}}}]},"finishReason":"STOP"}]}\n\n'
    )
    call = run("gemini", [data]).calls[0]
    assert call.arguments_text == '{"z":12345678901234567890123,"a":1.0,"e":-0.0}'
    assert call.arguments["z"] == 12345678901234567890123


def test_exact_numbers_wherever_they_stand() -> None:
    big = 10**30
    streamed = called("g", partialArgs=[{"jsonPath": "$.n", "numberValue": big}], willContinue=True)
    python_spelled = {"function_call": {"name": "h", "args": {"n": big}}}
    events = [
        event(streamed),
        event(called(args={"m": big})),
        event(python_spelled),
        event({"executableCode": [big]}),
        STOP,
    ]
    pieces = [f"data: {json.dumps(one)}\n\n".encode() for one in events]
    completion = run("gemini", pieces)
    assert [call.arguments for call in completion.calls] == [{"n": big, "m": big}, {"n": big}]
    assert completion.message()["parts"][-1] == {"executableCode": [big]}


def test_arguments_in_a_part_without_a_name_go_to_the_call_before() -> None:
    completion = gemini(event(called("f")), event(called(args={"x": 1})), STOP)
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert codes(completion) == []
    assert ("name_missing_in_part", 0) in codes(completion, "info")
    completion = gemini(event(called("f", {"x": 1})), event(called(args={"y": 2})), STOP)
    assert brief(completion) == [("f", {"x": 1, "y": 2}, "complete", True)]
    assert codes(completion) == [("args_merged", 0)]
    completion = gemini(event(called("f", {"x": "te"}), called(args={"x": "tea"})), STOP)
    assert brief(completion) == [("f", {"x": "tea"}, "complete", True)]
    completion = gemini(event(called("f", {"x": 1})), event(called(args={"x": 2})), STOP)
    assert brief(completion) == [("f", None, "invalid", False)]
    completion = gemini(event(called(args={"x": 1})), STOP)
    assert (completion.calls, codes(completion)) == ([], [("orphan_delta", None)])
    completion = gemini(event(called("f", {"x": 1})), event({"text": "so"}), event(called(args={"y": 2})), STOP)
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert codes(completion) == [("orphan_delta", None)]


WHOLE = {"q": "x", "n": 1, "yes": True, "none": None}


@pytest.mark.parametrize(
    "parts",
    [
        [called("f", value)]
        for value in (
            WHOLE,
            {},
            {"q": "a\nb"},
            {"q": "\0"},
            {"q": "\bad"},
            {"q": "\ud800"},
            {"q": 1.5},
            {"q": [1]},
            "{}",
        )
    ]
    + [[called("f", WHOLE, id=id)] for id in ("x", "", "null", 7)]
    + [[called("f", WHOLE, id="x"), called("g", WHOLE, id=id)] for id in ("x", "y", None)]
    + [[called(name, WHOLE)] for name in ("null", 7)]
    + [[called("f", WHOLE), called(args=more)] for more in ({}, WHOLE, {"q": "xy"}, {"q": 1}, {"z": 1}, "{}", " ", [1])]
    + [[called("f", WHOLE, id="x"), called(args={"z": 1})]]
    + [[called("f", WHOLE), called(), called(args={"z": 1})], [called("f", WHOLE), {"text": "so"}, called("g", WHOLE)]]
    + [[called("f", WHOLE), partial(string("$.z", "x"))], [called("f", WHOLE, willContinue=True), called()]]
    + [[{**called("f", WHOLE), "thoughtSignature": "YQ=="}, {**called(args={"z": 1}), "thoughtSignature": "Yg=="}]]
    + [[called("f", WHOLE), {"text": "\ud83d"}, called("f", WHOLE), {"text": "\udf75"}]],
)
def test_a_whole_call_is_the_same_in_short_as_step_by_step(parts: list[Event]) -> None:
    """A limit on calls that is never reached takes the long way."""

    def read(events: list[Any], **options: Any) -> list[Any]:
        stream = toolstream.ToolCallStream("gemini", new_id=iter(map(str, range(100))).__next__, **options)
        seen: list[Any] = []
        for piece in events:
            found = stream.feed(piece)
            seen += [(type(one), one.to_dict()) for one in found]
            seen += [(repr(c), c.arguments, c.partial_arguments, c.arguments_text) for c in stream.completion.calls]
        seen += [(type(one), one.to_dict()) for one in stream.close()]
        return [*seen, stream.completion.message(0), stream.completion.message(1)]

    one_by_one = [event(part) for part in parts]
    ends = [[], [STOP], [event(finish="MAX_TOKENS")], [event({"text": "."}), STOP, event(called("late", WHOLE))]]
    for end in ends:
        for events in (
            [*one_by_one, *end],
            [event(*parts), *end],
            [event(*parts, finish="STOP"), *end],
            [event(part, index=number % 2) for number, part in enumerate(parts * 2)] + end,
        ):
            for pieces in (events, [f"data: {json.dumps(one)}\n\n".encode() for one in events]):
                for options in ({}, {"strict": True}):
                    limits = toolstream.Limits(max_calls=1000)
                    assert repr(read(pieces, **options)) == repr(read(pieces, **options, limits=limits))


def test_a_whole_call_is_like_any_other_while_it_can_go_on() -> None:
    stream = toolstream.ToolCallStream("gemini")
    fed = {"x": 1}
    stream.feed(event(called("f", fed)))
    (call,) = stream.completion.calls
    assert (call.status, call.executable, call.arguments) == ("streaming", False, None)
    assert (call.partial_arguments, call.arguments_text) == (fed, '{"x":1}')
    assert call.partial_arguments is not fed
    stream.feed(event(called(args={"y": 2})))
    assert stream.completion.calls == [call]
    assert (call.status, call.partial_arguments) == ("streaming", {"x": 1, "y": 2})
    stream.feed(STOP)
    assert (call.status, call.executable, call.arguments) == ("complete", True, {"x": 1, "y": 2})
    stream.close()
    for copied in (copy.copy(call), copy.deepcopy(call), pickle.loads(pickle.dumps(call))):
        assert copied.to_dict() == call.to_dict()


def test_ids_that_are_made_differ_within_a_stream_and_between_streams() -> None:
    streams = [run("gemini", [event(*[called("f", {})] * 300), STOP]) for _ in range(2)]
    made = [call.id for done in streams for call in done.calls]
    assert len(set(made)) == 600
    assert all(re.fullmatch(r"call_[0-9a-f]{20}_\d+", str(id)) for id in made)


def test_arguments_that_are_no_object() -> None:
    completion = gemini(event(called("f", '{"x":1}')), STOP)
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    completion = run("gemini", [event(called("f", [1])), STOP])
    assert brief(completion) == [("f", None, "invalid", False)]
    assert codes(completion) == [("args_not_object", 0)]


def test_calls_of_the_server() -> None:
    part = {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": 1}}, "thoughtSignature": "c2ln"}
    response = {"toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH_WEB", "response": {"r": 1}}}
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    completion = run("gemini", [event(part, response), event(code, {"text": "So."}), STOP])
    call = completion.calls[0]
    assert (call.id, call.name, call.kind, call.executable) == ("t1", "GOOGLE_SEARCH_WEB", "server", False)
    assert (len(completion.calls), call.arguments, completion.finish_reason) == (1, {"q": 1}, "stop")
    assert completion.message() == {"role": "model", "parts": [part, response, code, {"text": "So."}]}


def test_candidates_are_choices() -> None:
    completion = gemini(
        event(called("f", willContinue=True), index=0),
        event(called("g", {"y": 1}), index=1),
        event(partial(string("$.x", "a", True)), index=0),
        event({"text": "one"}, index=1, finish="STOP"),
        event(partial(string("$.x", "b"), more=False), {"text": "zero"}, index=0, finish="STOP"),
    )
    assert [(c.choice, c.arguments) for c in completion.calls] == [(0, {"x": "ab"}), (1, {"y": 1})]
    assert completion.text == "zero"
    assert completion.message(1)["parts"] == [
        {"functionCall": {"name": "g", "args": {"y": 1}}},
        {"text": "one"},
    ]


# ---------------------------------------------------------------- streamed arguments


def test_values_of_every_kind_are_live() -> None:
    stream = toolstream.ToolCallStream("gemini")
    live = []
    for part in (
        called("f", willContinue=True),
        partial(string("$.s", "Bos", True)),
        partial(string("$.s", "ton")),
        called(willContinue=True),
        partial(number("$.n", 50)),
        partial({"jsonPath": "$.on", "boolValue": False}, {"jsonPath": "$.no", "nullValue": "NULL_VALUE"}),
        partial(string("$.list[0].a", "x"), number("$.list[0].b", 0.5), number("$.list[1].a", -1)),
    ):
        stream.feed(event(part))
        live.append(stream.completion.calls[0].partial_arguments)
    assert live == [
        {},
        {"s": "Bos"},
        {"s": "Boston"},
        {"s": "Boston"},
        {"s": "Boston", "n": 50},
        {"s": "Boston", "n": 50, "on": False, "no": None},
        {"s": "Boston", "n": 50, "on": False, "no": None, "list": [{"a": "x", "b": 0.5}, {"a": -1}]},
    ]
    events = stream.feed(CLOSE)
    assert [e.type for e in events if e.type != "defect"] == ["tool_call.delta", "tool_call.end"]
    call = stream.completion.calls[0]
    assert call.arguments == live[-1]
    assert call.arguments_text == '{"s":"Boston","n":50,"on":false,"no":null,"list":[{"a":"x","b":0.5},{"a":-1}]}'


def test_how_a_streamed_call_closes() -> None:
    whole = partial(string("$.x", "ab"))
    for ending in (
        [CLOSE, STOP],
        [STOP],
        [event(called("g", {})), STOP],
        [event(called("g", willContinue=True)), CLOSE, STOP],
        [event(finish="SOMETHING_NEW")],
    ):
        completion = gemini(OPEN, event(whole), *ending)
        assert brief(completion)[0] == ("f", {"x": "ab"}, "complete", True)
        assert codes(completion) == []
    assert brief(streamed(partial(string("$.x", "ab"), more=False))) == [("f", {"x": "ab"}, "complete", True)]


def test_a_string_that_was_to_go_on() -> None:
    """A part without `willContinue` closes nothing while a string waits; the empty one closes all the same."""
    waiting = partial(string("$.x", "ab", True), more=False)
    end = partial(string("$.x", "c"), more=False)
    assert brief(streamed(waiting, end)) == [("f", {"x": "abc"}, "complete", True)]
    assert brief(streamed(waiting, called())) == [("f", {"x": "ab"}, "complete", True)]
    assert brief(streamed(partial({"jsonPath": "$.x"}), waiting, partial({"jsonPath": "$.x"}, more=False))) == [
        ("f", {"x": "ab"}, "complete", True)
    ]
    on = {"jsonPath": "$.x", "willContinue": True}  # no text, and not the end
    assert brief(streamed(waiting, partial(on), end)) == [("f", {"x": "abc"}, "complete", True)]
    replaced = streamed(partial(string("$.x", "ab", True)), partial(number("$.x", 1), more=False), partial({}))
    assert brief(replaced) == [("f", {"x": 1}, "complete", True)]
    assert codes(replaced) == [("orphan_delta", None)]  # what came after the end
    for completion in (streamed(waiting), gemini(OPEN, event(waiting), event(called("g", {})), STOP)):
        assert brief(completion)[0] == ("f", None, "incomplete", False)
        assert completion.calls[0].partial_arguments == {"x": "ab"}
        assert codes(completion) == [("args_truncated", 0)]


@pytest.mark.parametrize("finish", ["MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"])
def test_a_streamed_call_that_was_cut(finish: str) -> None:
    completion = streamed(partial(string("$.x", "ab")), end=event(finish=finish))
    assert brief(completion) == [("f", None, "incomplete", False)]
    assert ("args_truncated", 0) in codes(completion)
    closed = gemini(
        event(called("g", {"a": 1})), OPEN, event(partial(string("$.x", "ab"))), CLOSE, event(finish=finish)
    )
    assert [status for _, _, status, _ in brief(closed)] == ["complete", "complete"]


def test_a_streamed_call_without_values() -> None:
    assert brief(gemini(OPEN, CLOSE, STOP)) == [("f", {}, "complete", True)]
    assert brief(gemini(OPEN, STOP)) == [("f", {}, "complete", True)]
    assert brief(gemini(OPEN, event(finish="MAX_TOKENS"))) == [("f", None, "incomplete", False)]
    assert brief(gemini(OPEN)) == [("f", None, "incomplete", False)]


def test_values_without_an_announced_stream() -> None:
    """The name came without `willContinue`, and values follow all the same."""
    completion = gemini(event(called("f")), event(partial(number("$.x", 1))), CLOSE, STOP)
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    both = {"functionCall": {"name": "f", "partialArgs": [number("$.x", 1)]}}
    assert brief(gemini(event(both, both), STOP)) == [("f", {"x": 1}, "complete", True)] * 2
    completion = gemini(event(called("f", {"y": 1})), event(partial(number("$.x", 1))), STOP)
    assert brief(completion) == [("f", {"y": 1}, "complete", True)]
    assert codes(completion) == [("orphan_delta", None)]
    completion = gemini(event(called("f", {"y": 1})), event(partial()), STOP)
    assert brief(completion) == [("f", {"y": 1}, "complete", True)]
    assert codes(completion) == []  # nothing was said
    completion = gemini(OPEN, CLOSE, event(partial(number("$.x", 1))), STOP)
    assert brief(completion) == [("f", {}, "complete", True)]
    assert codes(completion) == [("orphan_delta", None)]


def test_an_object_inside_a_streamed_call() -> None:
    completion = streamed(partial(number("$.x", 1)), called(args={"y": [1, {"z": "é"}]}))
    assert brief(completion) == [("f", {"x": 1, "y": [1, {"z": "é"}]}, "complete", True)]


def test_text_between_the_parts_of_a_call() -> None:
    completion = streamed(partial(string("$.x", "a", True)), {"text": "hm"}, partial(string("$.x", "b")), called())
    assert brief(completion) == [("f", {"x": "ab"}, "complete", True)]
    assert completion.text == "hm"


@pytest.mark.parametrize(
    ("sent", "value"),
    [(50, 50), (50.0, 50), (-0.5, -0.5), (1e20, 1e20), (2**53, 2**53), ("7", 7), (0, 0), (10**30, 10**30)],
)
def test_numbers(sent: Any, value: Any) -> None:
    call = streamed(partial(number("$.x", sent)), called()).calls[0]
    assert call.arguments == {"x": value}
    assert type(call.arguments["x"]) is type(value)


@pytest.mark.parametrize("sent", ["NaN", "Infinity", float("inf"), "seven", [], 10**400])
def test_numbers_that_are_none(sent: Any) -> None:
    completion = streamed(partial(number("$.x", sent)), called())
    assert brief(completion) == [("f", None, "invalid", False)]
    assert codes(completion) == [("args_nonfinite", 0)]


def test_the_value_null_on_the_wire() -> None:
    completion = run("gemini", [OPEN, event(partial({"jsonPath": "$.x", "nullValue": None})), CLOSE, STOP])
    assert brief(completion) == [("f", {"x": None}, "complete", True)]


def test_leaves_out_of_order() -> None:
    """Interrupted strings go on where they were; a path that comes again is set again."""
    interleaved = [string("$.a", "x", True), string("$.b", "y", True), string("$.a", "X"), string("$.b", "Y")]
    completion = streamed(*map(partial, interleaved), called())
    assert brief(completion) == [("f", {"a": "xX", "b": "yY"}, "complete", True)]
    back = [number("$.a.x", 1), number("$.b", 2), number("$.a.y", 3), string("$.b", "two"), string("$.b", "zwei")]
    completion = streamed(*map(partial, back), called())
    assert brief(completion) == [("f", {"a": {"x": 1, "y": 3}, "b": "zwei"}, "complete", True)]
    replaced = [number("$.a", 1), string("$.a.b", "x"), string("$.c[0]", "y"), number("$.c", 2)]
    completion = streamed(*map(partial, replaced), called())
    assert brief(completion) == [("f", {"a": {"b": "x"}, "c": 2}, "complete", True)]
    whole = {"s": "xyz", "a": {"x": 1, "y": 3}, "b": 2}
    pieces = [string("$.s", "x", True), string("$.s", "y", True), string("$.s", "z")]
    assert brief(streamed(*map(partial, [*pieces, *back[:3]]), called())) == [("f", whole, "complete", True)]
    filled = [number("$.a[1]", 1), number("$.a[0]", 0)]
    assert streamed(*map(partial, filled), called()).calls[0].arguments == {"a": [0, 1]}


UNPLACED = [
    "$.a[1]",  # a gap
    "$.a[999999999]",
    "$.a[99999999999999999999999]",
    "$",
    "$[0]",
    "",
    "x",
    "$..x",
    "$.*",
    "$.a[-1]",
    "$.a[01]",
    "$.a[0:2]",
    "$.a[?@.b]",
    "$['\\q']",
    "$['a'",
    "$.a[0",
    "$.a.",
    "$.b.c[0]",  # b is an array
    "$.b['x']",
]


@pytest.mark.parametrize("path", UNPLACED)
def test_leaves_that_have_no_place_refuse_the_call(path: str) -> None:
    completion = streamed(partial(number("$.b[0]", 1)), partial(string(path, "x")), called())
    assert brief(completion) == [("f", None, "invalid", False)]
    assert codes(completion) == [("args_invalid", 0)]
    assert completion.calls[0].recovered != [{}]
    assert len(completion.calls[0].arguments_text) < 100


@pytest.mark.parametrize("known", [[], [string("$.a", "x")]])
def test_a_kind_of_value_that_is_not_known_refuses_the_call(known: list[Event]) -> None:
    parts = [partial(*known, {"jsonPath": "$.path", "structValue": {"a": 1}})]
    completion = run("gemini", [OPEN, *(event(part) for part in parts), CLOSE, STOP])
    assert brief(completion) == [("f", None, "invalid", False)]


def test_paths_without_a_string_refuse_the_call() -> None:
    completion = run("gemini", [OPEN, event(partial({"jsonPath": 7, "numberValue": 1})), CLOSE, STOP])
    assert brief(completion) == [("f", None, "invalid", False)]


def test_deep_paths() -> None:
    deep = streamed(partial(number("$" + ".a" * 500, 1)), called())
    assert deep.calls[0].executable
    for path in ("$" + ".a" * 600, "$" + "[0]" * 3 + ".a" * 5000, "$.a" + "[0]" * 5000):
        completion = streamed(partial(number(path, 1)), partial(number("$.b", 1)), partial(number(path, 2)), called())
        assert not completion.calls[0].executable
        assert completion.calls[0].status == "invalid"


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("$.a.b[0].c", ("a", "b", 0, "c")),
        ("$['a.b'][\"c d\"]", ("a.b", "c d")),
        (r"$['it\'s'][" + '"\\"q\\""' + "]", ("it's", '"q"')),
        ("$['say \"x\"']", ('say "x"',)),
        (r"$['\\\n\t\u00e9\ud83d\ude00\/']", ("\\\n\té😀/",)),
        ("$ .a [ 'b' ] [ 3 ]", ("a", "b", 3)),
        ("$.content-type", ("content-type",)),
        ("$.größe.数", ("größe", "数")),
        ("$['']", ("",)),
        ("$", ()),
        ("$[999999999]", (999999999,)),
    ],
)
def test_paths(path: str, steps: tuple[Any, ...]) -> None:
    assert parse_path(path) == steps


SEGMENTS = (".a", ".bc", "[0]", "[345]", "['a.b']", '["x[3]"]', " .a", ".a ", "[ 1 ]", ".a-b", "[01]", "..", "[", "'")


@given(st.lists(st.tuples(st.integers(0, 4), st.lists(st.sampled_from(SEGMENTS), max_size=3)), max_size=12))
@settings(max_examples=200, deadline=None)
def test_paths_of_neighbours(turns: list[tuple[int, list[str]]]) -> None:
    """What a path has in common with the one before it makes no difference."""
    reader, segments = PathReader(), list[str]()
    for kept, more in turns:
        segments = segments[:kept] + more
        reader.read("$" + "".join(segments))
        steps = parse_path(reader.path)
        assert reader.place == ((steps[:-1], steps[-1]) if steps else None)


# ---------------------------------------------------------------- the writer of texts

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(st.text(max_size=3), inner, min_size=1, max_size=3)
    ),
    max_leaves=12,
)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for step, inner in steps for leaf in leaves(inner, (*path, step))]
    return [(path, value)]


class Shown:
    """What a writer has passed on."""

    def __init__(self) -> None:
        self.text = ""
        self.restarts = 0

    def append(self, call: Any, text: str) -> None:
        self.text += text

    def replace(self, call: Any, text: str) -> None:
        self.text = text
        self.restarts += 1


def write(operations: list[tuple[tuple[Any, ...], Any, bool]]) -> tuple[str, int]:
    """The text, and how often it was started anew."""
    writer, shown = PathWriter(), Shown()
    assembler: Any = shown
    call: Any = None
    for path, value, more in operations:
        if isinstance(value, str):
            writer.append((path[:-1], path[-1]), value, more=more)
        else:
            writer.set((path[:-1], path[-1]), json.dumps(value))
        writer.pass_on(assembler, call)
    assert writer.waiting == 0
    writer.finish()
    writer.pass_on(assembler, call)
    return shown.text, shown.restarts


def operations(value: Any, cut: int) -> list[list[tuple[tuple[Any, ...], Any, bool]]]:
    """For each leaf the pieces that write it."""
    out = []
    for path, leaf in leaves(value):
        if isinstance(leaf, str) and cut:
            out.append([(path, leaf[:cut], True), (path, leaf[cut:], False)])
        else:
            out.append([(path, leaf, False)])
    return out


@given(st.dictionaries(st.text(max_size=3), JSON, min_size=1, max_size=3), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_leaves_in_order_only_add(value: dict[str, Any], cut: int) -> None:
    text, restarts = write([one for pieces in operations(value, cut) for one in pieces])
    assert text == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert restarts == 0


@given(st.dictionaries(st.text(max_size=3), JSON, min_size=1, max_size=3), st.integers(0, 3), st.randoms())
@settings(max_examples=60, deadline=None)
def test_leaves_in_any_order(value: dict[str, Any], cut: int, rng: random.Random) -> None:
    pending = operations(value, cut)
    mixed = []
    while pending:
        pieces = rng.choice(pending)
        mixed.append(pieces.pop(0))
        pending = [rest for rest in pending if rest]
    assert json.loads(write(mixed)[0]) == value


@given(st.text(st.characters(exclude_categories=[]), max_size=8))
@settings(max_examples=100, deadline=None)
def test_encoded_strings(text: str) -> None:
    assert json.loads(f'"{encode_string(text)}"') == text
    encode_string(text).encode()


def test_cost_is_linear_in_any_order() -> None:
    def in_order(count: int) -> None:
        run("gemini", [OPEN, *(event(partial(string("$.x", "y", True))) for _ in range(count)), CLOSE, STOP])

    def to_and_fro(count: int) -> None:
        values = [string(f"$.a{i % 2}", "some text", True) for i in range(count)]
        run("gemini", [OPEN, *(event(partial(value)) for value in values), CLOSE, STOP])

    def back_and_back(count: int) -> None:
        values = [number(f"$.a{i % 7}.b{i}[0]", i) for i in range(count)]
        run("gemini", [OPEN, *(event(partial(value)) for value in values), CLOSE, STOP])

    for work in (in_order, to_and_fro, back_and_back):
        assert growth(work, 300) < 10  # four times as much costs four times as much


# ---------------------------------------------------------------- ends, text, errors


@pytest.mark.parametrize(
    ("word", "meaning"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("CONTINUATION", "length"),
        ("SAFETY", "content_filter"),
        ("ESCALATION", "content_filter"),
        ("PUP_LIMITED_DISABLED", "content_filter"),
        ("RECITATION", "content_filter"),
        ("PROHIBITED_CONTENT", "content_filter"),
        ("MODEL_ARMOR", "content_filter"),
        ("IMAGE_SAFETY", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "error"),
        ("UNEXPECTED_TOOL_CALL", "error"),
        ("TOO_MANY_TOOL_CALLS", "error"),
        ("MISSING_THOUGHT_SIGNATURE", "error"),
        ("OTHER", "error"),
        ("BRAND_NEW", "stop"),
    ],
)
def test_finish_reasons(word: str, meaning: str) -> None:
    completion = gemini(event({"text": "x"}, finish=word))
    assert (completion.finish_reason, completion.raw_finish_reason) == (meaning, word)
    completion = gemini(event(called("f", {"a": 1}), finish=word))
    assert completion.finish_reason == ("tool_calls" if meaning == "stop" else meaning)
    assert completion.calls[0].executable  # it was whole


@pytest.mark.parametrize("word", ["MALFORMED_FUNCTION_CALL", "STOP"])
def test_what_is_said_about_the_finish(word: str) -> None:
    said = event(finish=word)
    said["candidates"][0]["finishMessage"] = "Malformed function call: call:f{"
    completion = gemini(said)
    is_error = word != "STOP"
    assert completion.error == ({"message": "Malformed function call: call:f{"} if is_error else None)
    assert completion.finish_reason == ("error" if is_error else "stop")
    assert [code for code, _ in codes(completion)] == ["stream_error"] * is_error


def test_refused_before_it_began() -> None:
    feedback = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}}
    completion = gemini(feedback)
    assert (completion.finish_reason, completion.raw_finish_reason) == ("content_filter", "SAFETY")
    assert completion.usage == {"promptTokenCount": 4}
    assert codes(completion) == []
    assert gemini({"promptFeedback": {"safetyRatings": []}, **STOP}).finish_reason == "stop"


def test_errors() -> None:
    error = {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}
    completion = gemini(event(called("f", {"a": 1})), OPEN, event(partial(string("$.x", "a", True))), {"error": error})
    assert (completion.error, completion.finish_reason) == (error, "error")
    assert brief(completion) == [("f", {"a": 1}, "complete", True), ("f", None, "incomplete", False)]
    assert codes(completion) == [("args_truncated", 1), ("stream_error", None)]


def test_thoughts_are_reasoning() -> None:
    completion = gemini(
        event({"text": "Hm. ", "thought": True}, {"text": "So", "thought": True}), event({"text": "Yes"}), STOP
    )
    assert (completion.reasoning, completion.text) == ("Hm. So", "Yes")


def test_signatures_as_bytes() -> None:
    part = {"function_call": {"name": "f", "args": {}}, "thought_signature": b"\xff\xfe signature"}
    completion = run("gemini", [event(part), STOP])
    assert completion.calls[0].extras == {"thoughtSignature": "//4gc2lnbmF0dXJl"}
    assert completion.message()["parts"][0]["thoughtSignature"] == "//4gc2lnbmF0dXJl"
    late = gemini(OPEN, event({**called(), "thoughtSignature": "c2ln"}), STOP)
    assert late.calls[0].extras == {"thoughtSignature": "c2ln"}
    assert late.message()["parts"] == [{"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}]


# ---------------------------------------------------------------- anything at all

VALUES = [None, True, 7, -1, 1.5, "", "x", "0", [], [1], {}, {"a": 1}, [{}], [[]]]


def broken_forms(value: Any) -> list[Any]:
    """The value with each thing inside it in turn replaced."""
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    out = []
    for step, inner in steps:
        for other in VALUES + (broken_forms(inner) if isinstance(inner, dict | list) else []):
            copy = dict(value) if isinstance(value, dict) else list(value)
            copy[step] = other
            out.append(copy)
    return out


def test_wrong_types_anywhere_raise_nothing() -> None:
    events = [
        event({"text": "Hi", "thought": False, "thoughtSignature": "c2ln"}),
        event(called("f", {"x": 1}, id="i")),
        event(called("g", willContinue=True)),
        event(partial(string("$.a", "x", True), number("$.b[0]", 1))),
        event({"toolCall": {"id": "t", "toolType": "T", "args": {}}}),
        {
            **event(called(), finish="STOP"),
            "usageMetadata": {},
            "promptFeedback": {"blockReason": "x"},
            "error": {"code": 1},
        },
    ]
    for position, one in enumerate(events):
        for broken in broken_forms(one):
            completion = run("gemini", [*events[:position], broken, *events[position + 1 :]])
            json.dumps(completion.message())


def test_events_as_bytes_give_the_same() -> None:
    events = [OPEN, event(partial(string("$.a", "é", True))), event(partial(string("$.a", ""))), CLOSE, STOP]
    assert state(run("gemini", [sse(events)])) == state(gemini(*events))
