"""ToolCallAccumulator: by index, by the letter, at a cost that is linear."""

import math
from collections import UserDict
from types import MappingProxyType, SimpleNamespace

import pytest
from counting import lines_executed
from hypothesis import given, settings
from hypothesis import strategies as st
from vectors import exact, vectors

from toolstream import ToolCallAccumulator


def assembled(accumulator):
    return [[call["id"], call["function"]["name"], call["function"]["arguments"]] for call in accumulator.assembled()]


def delta(index=None, id=None, name=None, arguments=None):
    """A delta with the fields that are given."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = (("index", index), ("id", id), ("function", function or None))
    return {key: value for key, value in fields if value is not None}


@pytest.mark.parametrize("vector", vectors("accumulator"))
def test_vectors(vector):
    accumulator, last, kept = ToolCallAccumulator(), None, None
    for what, *values in vector["script"]:
        if what == "observe":
            accumulator.observe(*values)
        elif what == "new":
            accumulator = ToolCallAccumulator()
        elif what == "mutate":
            for call in last:
                call["function"].clear()
                call.clear()
            last.clear()
        elif what in ("assembled", "kept"):
            if what == "assembled":
                last = accumulator.assembled()
                kept = last if len(values) > 1 else kept
            calls = kept if what == "kept" else last
            want = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for id, name, arguments in values[0]
            ]
            assert exact(calls) == exact(want)
        else:
            assert exact(getattr(accumulator, what)) == exact(values[0])


@pytest.mark.parametrize(
    "index", [-1, 1.5, math.nan, math.inf, -math.inf, True, False, "0", "", [], {}, -(10**30), -0.5, b"1"], ids=repr
)
def test_an_index_that_is_no_integer_from_0_up_is_dropped_and_counted(index):
    accumulator = ToolCallAccumulator()
    accumulator.observe([delta(index, "c1", "f", "{}"), delta(0, "c2", "g", "[]")])
    assert assembled(accumulator) == [["c2", "g", "[]"]]
    assert accumulator.dropped_deltas == 1
    assert accumulator.is_empty is False


@pytest.mark.parametrize("no_delta", [None, "call", b"call", 5, True, 1.5, [], [delta(0, "c2")]], ids=repr)
def test_what_has_no_fields_is_dropped(no_delta):
    accumulator = ToolCallAccumulator()
    accumulator.observe([no_delta, delta(0, "c1", "f", "{}")])
    assert assembled(accumulator) == [["c1", "f", "{}"]]
    assert accumulator.dropped_deltas == 1


def test_only_dropped_deltas_leave_it_empty():
    accumulator = ToolCallAccumulator()
    accumulator.observe([delta(-1, "c1", "f", "{}")])
    assert accumulator.assembled() == []
    assert accumulator.is_empty is True


@pytest.mark.parametrize("index", [None, 0, 0.0, -0.0], ids=repr)
def test_no_index_and_every_zero_are_one_slot(index):
    accumulator = ToolCallAccumulator()
    accumulator.observe([delta(0, "c1", "f", '{"a'), delta(index, arguments='":1}'), {"index": None}])
    assert assembled(accumulator) == [["c1", "f", '{"a":1}']]
    assert accumulator.dropped_deltas == 0


def test_whole_floats_and_huge_integers_are_indexes():
    accumulator = ToolCallAccumulator()
    accumulator.observe([delta(10**40, "big"), delta(2.0**60, "float"), delta(2**60, name="f"), delta(1, "one")])
    assert assembled(accumulator) == [["one", "", ""], ["float", "f", ""], ["big", "", ""]]


def test_the_last_id_wins_and_an_empty_one_erases_nothing():
    accumulator = ToolCallAccumulator()
    accumulator.observe([delta(0, "c1"), delta(0, "c2"), {"index": 0, "id": ""}, {"index": 0, "id": None}])
    assert assembled(accumulator) == [["c2", "", ""]]


def test_what_is_no_text_adds_nothing():
    accumulator = ToolCallAccumulator()
    accumulator.observe([delta(0, "c1", "f", "{}")])
    accumulator.observe([{"index": 0, "id": 7, "function": {"name": None, "arguments": {"a": 1}}}])
    assert assembled(accumulator) == [["c1", "f", "{}"]]


def test_mappings_are_read_like_dicts():
    accumulator = ToolCallAccumulator()
    one = {"index": 1, "id": "c1", "function": MappingProxyType({"name": "f", "arguments": "{}"})}
    accumulator.observe([MappingProxyType(one), UserDict({"index": -1})])
    assert assembled(accumulator) == [["c1", "f", "{}"]]
    assert accumulator.dropped_deltas == 1


def test_objects_are_read_like_dicts():
    accumulator = ToolCallAccumulator()
    accumulator.observe(
        (
            SimpleNamespace(index=1, id="c1", function=SimpleNamespace(name="f", arguments='{"a":')),
            SimpleNamespace(index=1, id=None, function=SimpleNamespace(name=None, arguments="1}")),
            SimpleNamespace(index=1, function=None),
            SimpleNamespace(index=-1),
        )
    )
    assert assembled(accumulator) == [["c1", "f", '{"a":1}']]
    assert accumulator.dropped_deltas == 1


def test_halves_of_a_character_are_joined_between_deltas_and_stay_where_they_are_alone():
    accumulator = ToolCallAccumulator()
    for arguments in ("<\ud83d", "\ude00", "\ud83d", "x\ude00>"):
        accumulator.observe([delta(0, arguments=arguments)])
    assert assembled(accumulator) == [["", "", "<\U0001f600\ud83dx\ude00>"]]


fields = st.builds(
    delta,
    st.one_of(st.none(), st.integers(0, 3)),
    st.sampled_from([None, "", "a", "b"]),
    st.sampled_from([None, "", "f", "g"]),
    st.sampled_from([None, "", "{", '"x"', "}"]),
)


@given(st.lists(st.lists(fields, max_size=3), max_size=12))
@settings(max_examples=200, deadline=None)
def test_it_is_the_rule_in_one_expression_each(lists):
    accumulator = ToolCallAccumulator()
    for deltas in lists:
        accumulator.observe(deltas)
        accumulator.assembled()
    everything = [(d.get("index") or 0, d) for deltas in lists for d in deltas]
    want = []
    for slot in sorted({slot for slot, _ in everything}):
        own = [d for s, d in everything if s == slot]
        functions = [d["function"] for d in own if "function" in d]
        want.append(
            [
                ([d["id"] for d in own if d.get("id")] or [""])[-1],
                "".join(function.get("name", "") for function in functions),
                "".join(function.get("arguments", "") for function in functions),
            ]
        )
    assert assembled(accumulator) == want


@pytest.mark.parametrize("calls", [1, 200])
def test_a_delta_costs_the_same_whatever_has_come_before(calls):
    def work(deltas):
        accumulator = ToolCallAccumulator()
        return lines_executed(lambda: [accumulator.observe([delta(i % calls, arguments="x")]) for i in range(deltas)])

    small, large = work(1000), work(4000)
    assert large < 4.05 * small


def test_text_is_joined_once_however_long_it_is():
    accumulator = ToolCallAccumulator()
    for _ in range(100_000):
        accumulator.observe([{"index": 0, "function": {"arguments": "x"}}])
    first = accumulator.assembled()[0]["function"]["arguments"]
    assert first == "x" * 100_000
    assert accumulator.assembled()[0]["function"]["arguments"] is first
