"""OpenAI Responses: items, identities, final events, ends, text, in dicts, objects and bytes."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from protocol_helpers import as_objects, brief, codes, run, sse, state
from transport_helpers import growth

import toolstream

RECORDED = (Path(__file__).parent / "data" / "streams" / "openai-responses.sse").read_bytes()
OSLO = {"city": "Oslo", "note": 'a "b" é 😀'}

Event = dict[str, Any]


def item(number: int, kind: str = "function_call", **fields: Any) -> Event:
    named = {"name": f"tool{number}", "arguments": ""} if kind == "function_call" else {}
    return {"type": kind, "id": f"item_{number}", "call_id": f"call_{number}", **named, **fields}


def added(fields: Event, index: int | None = 0) -> Event:
    return {"type": "response.output_item.added", "output_index": index, "item": fields}


def item_done(fields: Event, index: int | None = 0) -> Event:
    return {"type": "response.output_item.done", "output_index": index, "item": {"status": "completed", **fields}}


def delta(number: int | None, text: Any, index: int | None = 0, kind: str = "function_call_arguments") -> Event:
    out = {"type": f"response.{kind}.delta", "delta": text}
    if number is not None:
        out["item_id"] = f"item_{number}"
    if index is not None:
        out["output_index"] = index
    return out


def done(
    number: int, text: Any, index: int = 0, kind: str = "function_call_arguments", field: str = "arguments"
) -> Event:
    return {"type": f"response.{kind}.done", "item_id": f"item_{number}", "output_index": index, field: text}


def ended(how: str = "completed", output: list[Event] | None = None, **fields: Any) -> Event:
    return {"type": f"response.{how}", "response": {"status": how, "output": output or [], **fields}}


COMPLETED = ended()


def responses(*events: Event, **options: Any) -> toolstream.Completion:
    """The completion, the same for dicts and for objects."""
    completion = run("openai-responses", events, **options)
    again = run("openai-responses", [as_objects(list(events))[i] for i in range(len(events))], **options)
    assert state(again) == state(completion)
    return completion


# ---------------------------------------------------------------- the ordinary stream


def check_recorded(completion: toolstream.Completion) -> None:
    assert brief(completion) == [("lookup", OSLO, "complete", True), ("now", {}, "complete", True)]
    assert [(c.id, c.index, c.kind) for c in completion.calls] == [
        ("call_a", 2, "function"),
        ("call_b", 3, "function"),
    ]
    assert completion.text == "Let me look."
    assert (completion.finish_reason, completion.raw_finish_reason) == ("tool_calls", "completed")
    assert completion.usage["total_tokens"] == 50
    assert codes(completion, "info", "warning", "error") == []


def test_recorded_in_every_cutting() -> None:
    whole = run("openai-responses", [RECORDED])
    check_recorded(whole)
    rng = random.Random(1)
    for size in (1, 2, 7, 1000):
        cut = [RECORDED[i : i + size] for i in range(0, len(RECORDED), size)]
        assert state(run("openai-responses", cut)) == state(whole)
    for _ in range(20):
        at = rng.randrange(len(RECORDED))
        assert state(run("openai-responses", [RECORDED[:at], RECORDED[at:]])) == state(whole)
    assert state(run(None, [RECORDED])) == state(whole)


def test_stream_dies_at_any_byte() -> None:
    """The call that was closed stays whole; the other one is never executable; the cut is reported."""
    closed = RECORDED.index(b"response.output_item.done", RECORDED.index(b"fc_1"))
    after_closed = RECORDED.index(b"\n\n", closed) + 2
    end = RECORDED.index(b'"type":"response.completed"')
    for at in range(0, end, 13):
        completion = run("openai-responses", [RECORDED[:at]])
        assert completion.finish_reason is None
        assert [call.name for call in completion.executable_calls] == ["lookup", "now"][
            : len(completion.executable_calls)
        ]
        if at >= after_closed:
            assert completion.executable_calls[0].arguments == OSLO
        assert ("stream_ended_early", None) in codes(completion)
        for call in completion.calls:
            if not call.executable:
                assert (call.status, call.arguments) == ("incomplete", None)
                assert ("args_truncated", call.position) in codes(completion)


@pytest.mark.parametrize("first", range(24))
def test_stream_starts_anywhere(first: int) -> None:
    """Streams can be resumed: what was missed comes with the final events."""
    events = [json.loads(line[6:]) for line in RECORDED.decode().split("\n") if line.startswith("data: ")]
    completion = run("openai-responses", events[first:])
    found = [("lookup", OSLO, "complete", True), ("now", {}, "complete", True)]
    assert sorted(brief(completion), key=str) == found  # in order of appearance: what was missed comes last
    assert completion.finish_reason == "tool_calls"
    assert [fields["type"] for fields in completion.message()] == [
        "reasoning",
        "message",
        "function_call",
        "function_call",
    ]


# ---------------------------------------------------------------- which item


def test_unknown_item_ids_say_nothing() -> None:
    """GitHub Copilot sends another id on every event: the output index decides."""
    events = [
        added(item(1), 0),
        added(item(2), 1),
        delta(71, '{"a":', 0),
        delta(72, '{"b":', 1),
        delta(73, "1}", 0),
        delta(74, "2}", 1),
        done(75, '{"a":1}', 0),
        item_done(item(1, id="item_76", arguments='{"a":1}'), 0),
        item_done(item(2, id="item_77", arguments='{"b":2}'), 1),
        ended(output=[item(1, id="item_78", arguments='{"a":1}'), item(2, id="item_79", arguments='{"b":2}')]),
    ]
    completion = responses(*events)
    assert brief(completion) == [("tool1", {"a": 1}, "complete", True), ("tool2", {"b": 2}, "complete", True)]
    assert codes(completion) == []


def test_call_id_decides_before_output_index() -> None:
    events = [added(item(1), 0), added(item(2), 1), {**delta(None, "{}", 1), "call_id": "call_1"}, COMPLETED]
    completion = responses(*events)
    assert [call.arguments_text for call in completion.calls] == ["{}", ""]
    assert ("item_id_missing", 0) in codes(completion, "info")


def test_known_item_id_wins_over_output_index() -> None:
    completion = responses(added(item(1), 0), added(item(2), 1), delta(1, "{}", 1), delta(2, "{}", 0), COMPLETED)
    assert codes(completion) == [("index_conflict", 0), ("index_conflict", 1)]
    assert all(call.executable for call in completion.calls)


def test_output_index_alone() -> None:
    events = [added(item(1, id=None), 0), delta(None, '{"x":', 0), delta(None, "1}", 0), COMPLETED]
    completion = responses(*events)
    assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
    assert codes(completion) == []


def test_fragments_without_a_call_are_orphans() -> None:
    message = {"type": "message", "id": "item_3", "role": "assistant", "content": []}
    completion = responses(delta(9, '{"x":1}', 5), added(message, 0), delta(3, "{}", 0), COMPLETED)
    assert completion.calls == []
    assert codes(completion) == [("orphan_delta", None)]


def test_fragment_after_the_end_of_its_item_is_an_orphan() -> None:
    completion = responses(added(item(1)), delta(1, "{}"), item_done(item(1, arguments="{}")), delta(1, "x"), COMPLETED)
    assert brief(completion) == [("tool1", {}, "complete", True)]
    assert codes(completion) == [("orphan_delta", None)]


def test_announced_on_a_taken_index() -> None:
    completion = responses(added(item(1)), delta(1, '{"a":1}'), added(item(2)), delta(2, '{"b":2}'), COMPLETED)
    assert brief(completion) == [("tool1", {"a": 1}, "complete", True), ("tool2", {"b": 2}, "complete", True)]
    assert codes(completion) == [("index_reused", 1)]


def test_announced_twice_is_one_call() -> None:
    events = [added(item(1)), delta(1, "{}"), added(item(1)), added(item(1, id="item_9")), COMPLETED]
    assert len(responses(*events).calls) == 1


def test_same_item_id_with_another_call_id_is_another_call() -> None:
    events = [
        added(item(1), 0),
        item_done(item(1, arguments='{"a":1}'), 0),
        added(item(1, call_id="call_9", name="other"), 1),
        item_done(item(1, call_id="call_9", name="other", arguments='{"b":2}'), 1),
        COMPLETED,
    ]
    completion = responses(*events)
    assert [(c.id, c.name, c.arguments) for c in completion.calls] == [
        ("call_1", "tool1", {"a": 1}),
        ("call_9", "other", {"b": 2}),
    ]


def test_one_call_id_on_two_items_is_made_distinct() -> None:
    events = [added(item(1), 0), added(item(2, call_id="call_1"), 1), delta(1, "{}", 0), delta(2, "{}", 1), COMPLETED]
    completion = responses(*events)
    first, second = completion.calls
    assert (first.id, second.provider_id) == ("call_1", "call_1")
    assert second.id != "call_1"
    assert codes(completion) == [("id_duplicate", 1)]
    assert [fields["call_id"] for fields in completion.message()] == [first.id, second.id]


@pytest.mark.parametrize("kind", ["function_call", "custom_tool_call", "shell_call", "apply_patch_call"])
def test_the_item_id_is_no_id_to_answer_with(kind: str) -> None:
    for id_ in ("item_1", "", None, "null"):
        completion = responses(added(item(1, kind, call_id=None, id=id_, name="f")), COMPLETED)
        call = completion.calls[0]
        assert call.id not in ("item_1", "", "null", None)
        assert ("id_missing", 0) in codes(completion, "info")
        assert [fields["call_id"] for fields in completion.message()] == [call.id]


def test_call_id_that_comes_late() -> None:
    begin = [added(item(1, call_id=None))]
    for last in (item_done(item(1, arguments="{}")), ended(output=[item(1, arguments="{}")])):
        completion = responses(*begin, last, COMPLETED)
        assert (completion.calls[0].id, completion.calls[0].provider_id) == ("call_1", None)
        assert ("id_late", 0) in codes(completion, "info")
        assert completion.message()[0]["call_id"] == "call_1"
        completion = run("openai-responses", [*begin, delta(1, "{"), delta(1, "}"), last], new_id=lambda: "made")
        assert (completion.calls[0].id, completion.calls[0].provider_id) == ("made", "call_1")
        assert completion.message()[0]["call_id"] == "made"
    approval = item(1, "mcp_approval_request", name="send", arguments="{}", call_id=None)
    assert responses(added(approval), item_done(approval), COMPLETED).calls[0].id == "item_1"


def test_a_known_item_id_decides_whatever_the_call_id_says() -> None:
    again = item(1, call_id="call_9", arguments="{}")
    for last in ([item_done(again)], [ended(output=[again])], [item_done(again, 7), ended(output=[again])]):
        completion = responses(added(item(1)), *last, COMPLETED)
        assert brief(completion) == [("tool1", {}, "complete", True)]
        assert completion.calls[0].id == "call_1"
        assert ("id_changed", 0) in codes(completion)
        assert [fields["call_id"] for fields in completion.message()] == ["call_1"]
    completion = responses(added(item(1)), item_done(item(1, arguments="{}")), item_done(again), COMPLETED)
    assert (len(completion.calls), codes(completion)) == (1, [("id_changed", 0)])


def test_the_place_decides_where_no_id_is_known() -> None:
    again = item(1, id="item_9", call_id="call_9", arguments='{"x":1}')
    for events in (
        [item_done(again)],
        [ended(output=[again])],
        [item_done(again), ended(output=[again])],
        [delta(1, '{"x":1}'), item_done(item(1, arguments='{"x":1}')), ended(output=[again])],
    ):
        completion = responses(added(item(1)), *events, COMPLETED)
        assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
        assert completion.calls[0].id == "call_1"
        assert ("id_changed", 0) in codes(completion)


def test_a_place_says_nothing_about_another_call() -> None:
    first = [added(item(1)), item_done(item(1, arguments="{}"))]
    for last in (item_done(item(2, arguments="{}")), ended(output=[item(2, arguments="{}")])):
        assert [call.id for call in responses(*first, last, COMPLETED).calls] == ["call_1", "call_2"]
    same_name = item(2, name="tool1", arguments="{}")
    listed = ended(output=[same_name, item(1, arguments="{}")])
    assert [call.id for call in responses(*first, listed).calls] == ["call_1", "call_2"]


def test_an_item_id_that_is_used_again() -> None:
    events = [
        added(item(1, id="x"), 0),
        added(item(2, id="x"), 1),
        item_done(item(1, id="x", arguments='{"a":1}'), 0),
        item_done(item(2, id="x", arguments='{"b":2}'), 1),
        ended(output=[item(1, id="x", arguments='{"a":1}'), item(2, id="x", arguments='{"b":2}')]),
    ]
    completion = responses(*events)
    assert brief(completion) == [("tool1", {"a": 1}, "complete", True), ("tool2", {"b": 2}, "complete", True)]
    assert codes(completion) == []
    completion = responses(added(item(1)), added(item(1, call_id="call_9")), delta(1, "{}"), COMPLETED)
    assert (len(completion.calls), codes(completion)) == (1, [("id_changed", 0)])
    completion = responses(added(item(1)), added(item(1, call_id="call_9", name="other")), COMPLETED)
    assert [call.id for call in completion.calls] == ["call_1", "call_9"]


def test_the_text_null_is_no_id() -> None:
    none = {"id": "null", "call_id": "null"}
    events = [
        added(item(1, **none), 0),
        added(item(2, **none), 1),
        {**delta(None, '{"a":1}', 0), "item_id": "null"},
        {**delta(None, '{"b":2}', 1), "item_id": "null", "call_id": "null"},
        item_done(item(1, **none, arguments='{"a":1}'), 0),
        ended(output=[item(1, **none, arguments='{"a":1}'), item(2, **none, arguments='{"b":2}')]),
    ]
    completion = responses(*events)
    assert brief(completion) == [("tool1", {"a": 1}, "complete", True), ("tool2", {"b": 2}, "complete", True)]
    assert codes(completion) == [("id_placeholder", 0), ("id_placeholder", 1)]


@pytest.mark.parametrize("item_id", [None, "", "null"])
def test_item_id_that_says_nothing(item_id: str | None) -> None:
    completion = responses(added(item(1)), {**delta(1, "{}"), "item_id": item_id}, COMPLETED)
    assert brief(completion) == [("tool1", {}, "complete", True)]
    assert ("item_id_missing", 0) in codes(completion, "info")


@pytest.mark.parametrize("index", ["0", 0.0, None, True, [], {}, 1.5, "null", ""])
def test_odd_indexes(index: Any) -> None:
    for sent in (index, 0):
        completion = run("openai-responses", [added(item(1), sent), delta(1, "{}", index), COMPLETED])
        assert brief(completion) == [("tool1", {}, "complete", True)]
        assert completion.calls[0].index == (0 if sent in ("0", 0) else None)
        assert (("index_type", 0) in codes(completion)) == (index not in (None, "null", ""))


def test_indexes_of_many_digits_are_told_apart() -> None:
    one, two = "12345678901234567890123", "12345678901234567890124"
    events = [added(item(1, id=None), one), added(item(2, id=None), two), delta(None, '{"a":1}', one)]
    completion = run("openai-responses", [*events, delta(None, '{"b":2}', two), COMPLETED])
    assert brief(completion) == [("tool1", {"a": 1}, "complete", True), ("tool2", {"b": 2}, "complete", True)]
    assert [call.index for call in completion.calls] == [int(one), int(two)]


def test_a_name_that_changes() -> None:
    for events in ([], [delta(1, '{"x":1}')]):
        last = item_done(item(1, name="other", arguments='{"x":1}'))
        completion = responses(added(item(1)), *events, last, COMPLETED)
        assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
        assert codes(completion) == [("name_changed", 0)]
        assert completion.message()[0]["name"] == "tool1"


def test_names_that_come_late() -> None:
    events = [added(item(1, name="")), delta(1, "{}"), item_done(item(1, name="late", arguments="{}")), COMPLETED]
    assert brief(responses(*events)) == [("late", {}, "complete", True)]
    completion = responses(added(item(1, name="")), delta(1, "{}"), COMPLETED)
    assert brief(completion) == [(None, None, "incomplete", False)]
    assert codes(completion) == [("name_missing", 0)]


# ---------------------------------------------------------------- final events


def test_arguments_only_in_the_item() -> None:
    completion = responses(added(item(1)), item_done(item(1, arguments='{"x":1}')), COMPLETED)
    assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
    assert codes(completion) == []


def test_item_without_announcement() -> None:
    completion = responses(item_done(item(1, arguments='{"x":1}')), COMPLETED)
    assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
    assert codes(completion, "info", "warning", "error") == [("snapshot_only", 0)]


def test_done_extends_differs_or_is_empty() -> None:
    begin = [added(item(1)), delta(1, '{"x":1')]
    completion = responses(*begin, done(1, '{"x":12}'), COMPLETED)
    assert brief(completion) == [("tool1", {"x": 12}, "complete", True)]
    assert codes(completion, "info", "warning", "error") == [("done_extends_deltas", 0)]
    completion = responses(*begin, done(1, '{"y":2}'), COMPLETED)
    assert brief(completion) == [("tool1", {"y": 2}, "complete", True)]
    assert codes(completion) == [("done_mismatch", 0)]
    completion = responses(*begin, delta(1, "}"), done(1, ""), item_done(item(1, arguments="")), COMPLETED)
    assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
    assert codes(completion) == [("done_empty", 0)]


def test_the_item_wins_over_its_done_event() -> None:
    events = [added(item(1)), delta(1, "{}"), done(1, "{}"), item_done(item(1, arguments='{"x":1}')), COMPLETED]
    completion = responses(*events)
    assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
    assert codes(completion) == [("done_mismatch", 0)]


def test_terminal_snapshot_completes_what_was_open() -> None:
    completion = responses(added(item(1)), delta(1, '{"x":'), ended(output=[item(1, arguments='{"x":1}')]))
    assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
    assert codes(completion) == []


def test_terminal_snapshot_repeats_nothing() -> None:
    whole = item(1, arguments="{}")
    completion = responses(added(item(1), 4), delta(1, "{}", 4), item_done(whole, 4), ended(output=[whole]))
    assert len(completion.calls) == 1
    assert codes(completion, "info", "warning", "error") == []


def test_arguments_as_an_object() -> None:
    whole = {"x": 1}
    for events in (
        [item_done(item(1, arguments=whole))],
        [done(1, whole)],
        [done(1, whole), item_done(item(1, arguments=whole))],
        [delta(1, '{"x":'), done(1, whole), item_done(item(1, arguments='{"x":1}'))],
        [delta(1, '{"x": 1}'), done(1, whole)],
        [delta(1, whole), done(1, '{"x":1}')],
        [ended(output=[item(1, arguments=whole)])],
    ):
        completion = responses(added(item(1)), *events, COMPLETED)
        assert brief(completion) == [("tool1", whole, "complete", True)]
        assert ("args_object", 0) in codes(completion, "info")
        assert codes(completion) == []


def test_arguments_that_only_the_announcement_has() -> None:
    for value, arguments, status in (({"x": 1}, {"x": 1}, "complete"), ([1], None, "invalid"), (3, None, "invalid")):
        for last in ([], [item_done(item(1, arguments=None))], [ended(output=[item(1)])]):
            completion = responses(added(item(1, arguments=value)), *last, COMPLETED)
            assert brief(completion) == [("tool1", arguments, status, status == "complete")]
            infos = codes(completion, "info")
            assert ("args_in_start", 0) in infos
            assert ("args_object", 0) in infos
            assert codes(completion) == ([] if status == "complete" else [("args_not_object", 0)])
    completion = responses(added(item(1, arguments={"x": 1})), delta(1, "{}"), COMPLETED)
    assert brief(completion) == [("tool1", {}, "complete", True)]
    assert ("args_in_start", 0) not in codes(completion, "info")


def test_text_that_the_announcement_has() -> None:
    for last in ([], [item_done(item(1, arguments='{"x":1}'))], [item_done(item(1))]):
        completion = responses(added(item(1, arguments='{"x":1}')), *last, COMPLETED)
        assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
        assert codes(completion, "info", "warning", "error") == [("args_in_start", 0)]
    completion = responses(added(item(1, arguments='{"x"')), delta(1, ":1}"), COMPLETED)
    assert brief(completion) == [("tool1", {"x": 1}, "complete", True)]
    assert codes(completion, "info", "warning", "error") == []


@pytest.mark.parametrize("value", [[], [1], "x", 3, False])
def test_an_object_that_is_none(value: Any) -> None:
    """What cannot be read is not a call without arguments."""
    for kind, field in (("shell_call", "action"), ("apply_patch_call", "operation")):
        completion = responses(added(item(1, kind)), item_done(item(1, kind, **{field: value})), COMPLETED)
        assert [(call.status, call.executable) for call in completion.calls] == [("invalid", False)]


def test_an_announced_object_is_not_whole() -> None:
    stub = item(1, "local_shell_call", action={"type": "exec", "command": [], "env": {}})
    for last in ([], [item_done(item(1, "local_shell_call"))]):
        completion = responses(added(stub), *last, COMPLETED)
        assert brief(completion) == [("local_shell_call", None, "incomplete", False)]
        assert codes(completion) == [("args_truncated", 0)]


def test_text_only_in_the_done_event() -> None:
    completion = responses(added(item(1)), done(1, "{}"), item_done(item(1, arguments="{}")), COMPLETED)
    assert codes(completion, "info", "warning", "error") == [("snapshot_only", 0)]
    assert completion.defect_count == 1


# ---------------------------------------------------------------- ends


def test_an_unfinished_status_does_not_refuse_a_closed_item() -> None:
    completion = responses(added(item(1)), item_done(item(1, arguments="", status="in_progress")), COMPLETED)
    assert brief(completion) == [("tool1", {}, "complete", True)]


def test_incomplete() -> None:
    cut = item(2, arguments='{"y":2', status="incomplete")
    events = [
        added(item(1), 0),
        delta(1, '{"x":1}', 0),
        item_done(item(1, arguments='{"x":1}'), 0),
        added(item(2), 1),
        delta(2, '{"y":2', 1),
        done(2, '{"y":2', 1),
        item_done(cut, 1),
        ended("incomplete", [item(1, arguments='{"x":1}'), cut], incomplete_details={"reason": "max_output_tokens"}),
    ]
    completion = responses(*events)
    assert brief(completion) == [("tool1", {"x": 1}, "complete", True), ("tool2", None, "incomplete", False)]
    assert codes(completion) == [("args_truncated", 1)]
    assert (completion.finish_reason, completion.raw_finish_reason) == ("length", "max_output_tokens")
    # The item that says incomplete is enough: a cut call with no text at all is no call without arguments.
    events[4:7] = [item_done(item(2, arguments="", status="incomplete"), 1)]
    assert brief(responses(*events))[1] == ("tool2", None, "incomplete", False)


@pytest.mark.parametrize(
    ("reason", "meaning"),
    [
        ("max_output_tokens", "length"),
        ("content_filter", "content_filter"),
        ("max_messages", "length"),
        ("steered", "length"),
    ],
)
def test_reasons_of_an_incomplete_response(reason: str, meaning: str) -> None:
    completion = responses(added(item(1)), ended("incomplete", incomplete_details={"reason": reason}))
    assert (completion.finish_reason, completion.raw_finish_reason) == (meaning, reason)
    assert brief(completion) == [("tool1", None, "incomplete", False)]


@pytest.mark.parametrize("reason", ["max_output_tokens", "content_filter"])
def test_a_status_that_is_worse_than_its_event(reason: str) -> None:
    custom = item(2, "custom_tool_call", name="run", input="")
    begin = [added(item(1), 0), added(custom, 1), delta(2, "ls", 1, kind="custom_tool_call_input")]
    cut = ended(status="incomplete", incomplete_details={"reason": reason})
    completion = responses(*begin, cut)
    meaning = "length" if reason == "max_output_tokens" else reason
    assert (completion.finish_reason, completion.raw_finish_reason) == (meaning, reason)
    assert [(call.status, call.executable) for call in completion.calls] == [("incomplete", False)] * 2
    for word in ("failed", "cancelled"):
        for how in ("completed", "incomplete"):
            completion = responses(*begin, ended(how, status=word, error={"message": "no"}))
            assert (completion.finish_reason, completion.raw_finish_reason) == ("error", word)
            assert not completion.executable_calls
            assert (completion.error == {"message": "no"}) == (word == "failed")
    for reason in (None, 5, {"a": 1}):
        completion = responses(*begin, ended("incomplete", incomplete_details={"reason": reason}))
        assert (completion.raw_finish_reason, completion.executable_calls) == ("incomplete", [])
    assert responses(*begin, ended(status="in_progress")).finish_reason == "tool_calls"
    assert responses(*begin, ended("incomplete", status="completed")).finish_reason == "length"


def test_incomplete_without_a_reason() -> None:
    completion = responses(ended("incomplete"))
    assert (completion.finish_reason, completion.raw_finish_reason) == ("length", "incomplete")


def test_empty_text_at_a_regular_end() -> None:
    completion = responses(added(item(1)), COMPLETED)
    assert brief(completion) == [("tool1", {}, "complete", True)]


def test_failed_once() -> None:
    error = {"code": "server_error", "message": "It broke."}
    flat = {"type": "error", "sequence_number": 2, "param": None, **error}
    nested = {"type": "error", "error": {"type": "server_error", **error}}
    for events in ([flat], [nested], [ended("failed", error=error)], [nested, ended("failed", error=error)]):
        completion = responses(added(item(1)), delta(1, '{"x"'), *events)
        assert completion.error["message"] == "It broke."
        assert completion.error["code"] == "server_error"
        assert completion.finish_reason == "error"
        assert codes(completion) == [("args_truncated", 0), ("stream_error", None)]
    assert responses(ended("failed", error=error)).raw_finish_reason == "failed"


def test_stream_ends_early() -> None:
    completion = responses(added(item(1)), delta(1, "{}"))
    assert brief(completion) == [("tool1", {}, "complete", True)]
    assert codes(completion) == [("stream_ended_early", None)]
    assert completion.finish_reason is None


# ---------------------------------------------------------------- kinds of items


def test_custom_tool_is_text() -> None:
    fields = item(1, "custom_tool_call", name="run", input="")
    kind = "custom_tool_call_input"
    stream = toolstream.ToolCallStream("openai-responses")
    stream.feed(added(fields))
    stream.feed(delta(1, 'print("', kind=kind))
    assert stream.completion.calls[0].input == 'print("'
    events = [added(fields), delta(1, 'print("', kind=kind), delta(1, "{)\n", kind=kind)]
    text = 'print("{)\n'
    closed = [done(1, text, kind=kind, field="input"), item_done({**fields, "input": text})]
    for final in (closed, closed[:1], []):
        completion = responses(*events, *final, COMPLETED)
        assert brief(completion) == [("run", text, "complete", True)]
        assert completion.calls[0].kind == "custom"
        assert codes(completion) == []
    assert brief(responses(*events)) == [("run", text, "incomplete", False)]
    cut = responses(*events, item_done({**fields, "input": text, "status": "incomplete"}), ended("incomplete"))
    assert brief(cut) == [("run", text, "incomplete", False)]


@pytest.mark.parametrize(("model", "kind"), [("grok-4", "server"), (None, "server"), ("gpt-5", "custom")])
def test_tools_of_xai_are_its_own(model: str | None, kind: str) -> None:
    fields = item(1, "custom_tool_call", name="x_keyword_search", input='{"query":"x"}')
    created = {"type": "response.created", "response": {"model": model, "output": []}}
    completion = responses(created, added(fields), item_done(fields), COMPLETED)
    assert (completion.calls[0].kind, completion.calls[0].executable) == (kind, kind == "custom")
    other = item(1, "custom_tool_call", name="run", input="x")
    assert responses(created, added(other), item_done(other), COMPLETED).calls[0].kind == "custom"


OBJECTS = [
    ("local_shell_call", "client_builtin", {"action": {"type": "exec", "command": ["ls", "-a"], "env": {}}}, "action"),
    ("computer_call", "client_builtin", {"action": {"type": "click", "button": "left", "x": 1, "y": 2}}, "action"),
    ("web_search_call", "server", {"action": {"type": "search", "query": "tea"}}, "action"),
    ("apply_patch_call", "client_builtin", {"operation": {"type": "delete_file", "path": "a.py"}}, "operation"),
    ("shell_call", "client_builtin", {"action": {"commands": ["ls"], "timeout_ms": None}}, "action"),
    ("tool_search_call", "server", {"arguments": {"paths": ["x"]}, "execution": "server"}, "arguments"),
    ("tool_search_call", "client_builtin", {"arguments": {"q": "x"}, "execution": "client"}, "arguments"),
]


@pytest.mark.parametrize(("type_", "kind", "fields", "field"), OBJECTS)
def test_items_with_an_object(type_: str, kind: str, fields: Event, field: str) -> None:
    whole = item(1, type_, **fields)
    stub = {**whole, field: {}, "status": "in_progress"}
    for events in ([added(stub), item_done(whole)], [item_done(whole)], [ended(output=[whole])]):
        completion = responses(*events, *([] if "response" in events[0] else [COMPLETED]))
        call = completion.calls[0]
        assert (call.id, call.name, call.kind, call.status) == ("call_1", type_, kind, "complete")
        assert call.arguments == fields[field]
        assert json.loads(call.arguments_text) == fields[field]
        assert call.executable is (kind == "client_builtin")
        assert completion.finish_reason == ("tool_calls" if kind == "client_builtin" else "stop")
        assert codes(completion) == []


def test_items_of_the_server() -> None:
    searched = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["a", "b"], "results": None}
    drawn = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "AAAA"}
    program = item(3, "program", code="text(1)", fingerprint="f")
    mcp = {"type": "mcp_call", "id": "mcp_1", "server_label": "s", "name": "ask", "arguments": '{"q":1}', "output": "x"}
    listed = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "s", "tools": []}
    output = {"type": "function_call_output", "id": "fo_1", "call_id": "call_1", "output": "x"}
    items = [searched, drawn, program, mcp, listed, output, {"type": "brand_new_item", "id": "n"}]
    events = [
        event
        for i, one in enumerate(items)
        for event in (added({**one, "status": "in_progress"}, i), item_done(one, i))
    ]
    completion = responses(*events, ended(output=items))
    assert [(c.id, c.name, c.kind, c.executable) for c in completion.calls] == [
        ("fs_1", "file_search_call", "server", False),
        ("ig_1", "image_generation_call", "server", False),
        ("call_3", "program", "server", False),
        ("mcp_1", "ask", "mcp", False),
    ]
    assert completion.calls[0].arguments == {"queries": ["a", "b"]}
    assert completion.calls[1].arguments == {}
    assert completion.calls[2].input == "text(1)"
    assert completion.calls[3].arguments == {"q": 1}
    assert completion.calls[3].extras == {"server_label": "s"}
    assert completion.finish_reason == "stop"
    assert codes(completion) == []


def test_code_interpreter_streams_its_code() -> None:
    fields = {"type": "code_interpreter_call", "id": "item_1", "code": "", "container_id": "c", "outputs": None}
    kind = "code_interpreter_call_code"
    events = [
        added(fields),
        delta(1, "x = ", kind=kind),
        delta(1, "{", kind=kind),
        done(1, "x = {", kind=kind, field="code"),
    ]
    completion = responses(*events, item_done({**fields, "code": "x = {"}), COMPLETED)
    assert brief(completion) == [("code_interpreter_call", "x = {", "complete", False)]
    assert codes(completion) == []


def test_approval_request_is_whole_when_announced() -> None:
    fields = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "server_label": "s",
        "name": "send",
        "arguments": '{"a":1}',
    }
    completion = responses(added(fields), item_done(fields), COMPLETED)
    call = completion.calls[0]
    assert (call.id, call.kind, call.status, call.executable, call.arguments) == (
        "mcpr_1",
        "mcp_approval",
        "complete",
        False,
        {"a": 1},
    )


@pytest.mark.parametrize(("announced", "sent"), [(0, 0.0), (1, True)])
def test_equal_numbers_of_another_type_say_so(announced: int, sent: Any) -> None:
    completion = responses(added(item(1), announced), delta(1, "{}", sent), COMPLETED)
    assert codes(completion) == [("index_type", 0)]


def test_callers_are_extras() -> None:
    caller = {"type": "program", "caller_id": "call_9"}
    completion = responses(added(item(1, caller=caller, namespace="n")), delta(1, "{}"), COMPLETED)
    assert completion.calls[0].extras == {"caller": caller, "namespace": "n"}
    checks = [{"id": "s1", "code": "c", "message": "m"}]
    fields = item(1, "computer_call", actions=[{"type": "wait"}], pending_safety_checks=checks)
    call = responses(added(fields), item_done(fields), COMPLETED).calls[0]
    assert call.arguments == {"actions": [{"type": "wait"}]}
    assert call.extras == {"pending_safety_checks": checks}


def patch(piece: str) -> Event:
    return delta(1, piece, kind="apply_patch_call_operation_diff")


def test_patch_is_live() -> None:
    operation = {"type": "create_file", "diff": "", "path": "a.py"}
    begin = [added(item(1, "apply_patch_call", operation=operation)), patch('+"x'), patch('"\n+é')]
    stream = toolstream.ToolCallStream("openai-responses")
    for event in begin:
        events = stream.feed(event)
    assert stream.completion.calls[0].partial_arguments == {"type": "create_file", "path": "a.py", "diff": '+"x"\n+é'}
    final = {**operation, "diff": '+"x"\n+é\n'}
    events = stream.feed(patch("\n")) + stream.feed(item_done(item(1, "apply_patch_call", operation=final)))
    assert [e.type for e in events] == ["tool_call.delta", "tool_call.delta", "tool_call.end"]
    assert not any(e.restart for e in events if e.type == "tool_call.delta")
    completion = responses(*begin, patch("\n"), item_done(item(1, "apply_patch_call", operation=final)), COMPLETED)
    assert brief(completion) == [("apply_patch_call", final, "complete", True)]
    assert codes(completion) == []
    wrong = {**final, "diff": "other"}
    assert (
        responses(*begin, item_done(item(1, "apply_patch_call", operation=wrong)), COMPLETED).calls[0].arguments
        == wrong
    )
    assert brief(responses(*begin)) == [("apply_patch_call", None, "incomplete", False)]


def command(what: str, index: int, **fields: Any) -> Event:
    return {"type": f"response.shell_call_command.{what}", "output_index": 0, "command_index": index, **fields}


def test_commands_are_live_and_have_no_item_id() -> None:
    begin = [
        added(item(1, "shell_call", action={"commands": [], "timeout_ms": None})),
        command("added", 0, command=""),
        command("delta", 0, delta="ls "),
        command("delta", 0, delta="-a"),
        command("done", 0, command="ls -a"),
        command("added", 1, command="p"),
        command("delta", 1, delta="wd"),
    ]
    stream = toolstream.ToolCallStream("openai-responses")
    for event in begin:
        stream.feed(event)
    assert stream.completion.calls[0].partial_arguments == {"commands": ["ls -a", "pwd"]}
    action = {"commands": ["ls -a", "pwd"], "timeout_ms": None}
    completion = responses(
        *begin, command("done", 1, command="pwd"), item_done(item(1, "shell_call", action=action)), COMPLETED
    )
    assert brief(completion) == [("shell_call", action, "complete", True)]
    assert codes(completion, "info", "warning", "error") == []
    completion = responses(*begin, command("done", 1, command="pwd"), COMPLETED)
    assert brief(completion) == [("shell_call", {"commands": ["ls -a", "pwd"]}, "complete", True)]
    only_done = [begin[0], command("done", 0, command="ls"), COMPLETED]
    assert brief(responses(*only_done)) == [("shell_call", {"commands": ["ls"]}, "complete", True)]
    assert codes(responses(command("delta", 0, delta="x"), COMPLETED)) == [("orphan_delta", None)]


def test_a_command_after_the_end_of_the_response_is_one_of_the_commands() -> None:
    begin = [added(item(1, "shell_call", action=None)), command("done", 0, command="ls"), COMPLETED]
    late = responses(*begin, command("done", 1, command="pwd"))
    assert late.calls[0].arguments_text == '{"commands":["ls","pwd"]'
    assert brief(late) == [("shell_call", None, "incomplete", False)]


def test_shell_in_a_container_of_the_server() -> None:
    fields = item(
        1, "shell_call", action={"commands": ["ls"]}, environment={"type": "container_reference", "container_id": "c"}
    )
    call = responses(added(fields), item_done(fields), COMPLETED).calls[0]
    assert (call.kind, call.executable) == ("server", False)


# ---------------------------------------------------------------- text, reasoning, usage


def said(kind: str, what: str, text: str, index: int = 0, **fields: Any) -> Event:
    field = {"delta": "delta", "done": "refusal" if kind == "refusal" else "text"}[what]
    return {"type": f"response.{kind}.{what}", "output_index": index, "item_id": f"item_{index}", field: text, **fields}


def test_text_refusal_and_reasoning() -> None:
    message = {"type": "message", "id": "item_1", "role": "assistant", "content": []}
    thought = {"type": "reasoning", "id": "item_0", "summary": []}
    events = [
        added(thought, 0),
        said("reasoning_summary_text", "delta", "I ", summary_index=0),
        said("reasoning_summary_text", "delta", "think.", summary_index=0),
        said("reasoning_summary_text", "done", "I think.", summary_index=0),
        item_done({**thought, "summary": [{"type": "summary_text", "text": "I think."}]}, 0),
        added(message, 1),
        said("output_text", "delta", "Yes", 1, content_index=0),
        said("output_text", "done", "Yes", 1, content_index=0),
        said("refusal", "delta", ", but no", 1, content_index=1),
        said("refusal", "done", ", but no", 1, content_index=1),
        item_done({**message, "content": [{"type": "output_text", "text": "Yes"}]}, 1),
        ended(usage={"total_tokens": 3}),
    ]
    completion = responses(*events)
    assert (completion.text, completion.reasoning, completion.usage) == ("Yes, but no", "I think.", {"total_tokens": 3})
    assert (completion.finish_reason, codes(completion)) == ("stop", [])


def test_text_that_comes_only_at_the_end() -> None:
    content = [{"type": "output_text", "text": "Hello", "annotations": []}]
    message = {"type": "message", "id": "item_1", "role": "assistant", "content": content}
    thought = {
        "type": "reasoning",
        "id": "item_0",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Hm."}],
    }
    started = added({**message, "content": []}, 1)
    for events in (
        [started, said("output_text", "done", "Hello", 1, content_index=0), COMPLETED],
        [started, item_done(message, 1), COMPLETED],
        [item_done(message, 1), COMPLETED],
        [ended(output=[thought, message])],
        [started, said("output_text", "delta", "Hello", 1), ended(output=[message])],
        [said("output_text", "delta", "Hello", 1), item_done(message, 1), ended(output=[thought, message])],
    ):
        assert responses(*events).text == "Hello"
    assert responses(ended(output=[thought, message])).reasoning == "Hm."


def test_text_of_no_item() -> None:
    for item_id in (None, "", "null"):
        loose = [{"type": "response.output_text.delta", "delta": text, "item_id": item_id} for text in ("Hel", "lo")]
        completion = responses(*loose, COMPLETED)
        assert completion.text == "Hello"
        assert completion.message() == [
            {
                "type": "message",
                "role": "assistant",
                "status": "incomplete",
                "content": [{"type": "output_text", "text": "Hello", "annotations": []}],
            }
        ]


# ---------------------------------------------------------------- anything at all


def test_unknown_events_are_ignored() -> None:
    events = [{"type": "response.brand_new", "x": 1}, {"type": 7}, {}, {"type": "keepalive"}]
    completion = run("openai-responses", [*events, added(item(1)), delta(1, "{}"), *events, COMPLETED])
    assert brief(completion) == [("tool1", {}, "complete", True)]
    assert codes(completion) == []


VALUES = [None, True, 7, -1, "", "x", "0", [], [1], {}, {"a": 1}, "item_1", [[]]]


def test_wrong_types_anywhere_raise_nothing() -> None:
    """Every field of every event, replaced by values of other types."""
    events = [
        added(item(1)),
        delta(1, '{"x":'),
        done(1, '{"x":1}'),
        item_done(item(1, arguments='{"x":1}')),
        added(item(2, "shell_call", action={"commands": []}), 1),
        {**command("delta", 0, delta="ls"), "output_index": 1},
        said("output_text", "delta", "Hi", 2, content_index=0),
        item_done({"type": "message", "id": "m", "content": [{"type": "output_text", "text": "x"}]}, 3),
        {"type": "error", "message": "x"},
        ended("incomplete", [item(1)], incomplete_details={"reason": "x"}, usage={}),
    ]
    for position, event in enumerate(events):
        for broken in broken_forms(event):
            completion = run("openai-responses", [*events[:position], broken, *events[position + 1 :]])
            assert all(
                call.arguments in ({"x": 1}, {"a": 1})  # the final item may have another one of `VALUES`
                for call in completion.executable_calls
                if call.name == "tool1" and call.arguments
            )
            json.dumps(completion.message())


def broken_forms(event: Any) -> list[Any]:
    """The event with each field in turn replaced."""
    out = []
    for name, value in event.items():
        out += [{**event, name: other} for other in VALUES if name != "type"]
        if isinstance(value, dict):
            out += [{**event, name: inner} for inner in broken_forms(value)]
            out += [{**event, name: {**value, "type": other}} for other in VALUES]
    return out


def test_events_as_bytes_give_the_same() -> None:
    events = [added(item(1)), delta(1, '{"x":'), delta(1, "1}"), item_done(item(1, arguments='{"x":1}')), COMPLETED]
    assert state(run("openai-responses", [sse(events)])) == state(responses(*events))


def test_the_cost_of_many_ends_is_linear() -> None:
    def work(count: int) -> None:
        stream = toolstream.ToolCallStream("openai-responses")
        for i in range(count):
            stream.feed(added(item(i, "shell_call", action={"commands": []}), i))
        for _ in range(4 * count):
            stream.feed(COMPLETED)
        stream.close()

    assert growth(work, 500) < 7


def test_cost_is_linear() -> None:
    def work(count: int) -> None:
        stream = toolstream.ToolCallStream("openai-responses")
        stream.feed(added(item(1, "shell_call", action={"commands": []})))
        for i in range(count):
            stream.feed(command("delta", i % 2, delta="x"))
        for i in range(count):
            stream.feed({"type": "response.output_text.delta", "delta": "x", "item_id": f"unknown {i}"})
        stream.close()

    assert growth(work, 2000) < 10  # four times as much costs four times as much
