"""The rules that keep calls apart and say which may be run, one after the other."""

import json

import pytest
from chat import call, delta, entry, finish, read
from protocol_helpers import brief, check_events, codes

import toolstream
from toolstream import MISSING, Limits, ToolCallStream
from toolstream.assembler import Assembler


def done(*chunks, word="tool_calls", **options):
    return read([*chunks, finish(word)], **options)[0]


# ---------------------------------------------------------------- 1: index given, slot empty


def test_a_fragment_with_an_unknown_index_goes_to_the_only_open_call():
    completion = done(call(0, "a", "f", '{"x":'), call(3, arguments="1}"))
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert codes(completion) == [("index_drift", 0)]


def test_a_fragment_with_an_unknown_index_is_an_orphan_while_several_calls_are_open():
    completion = done(call(0, "a", "f", '{"x":'), call(1, "b", "g", '{"y":'), call(7, arguments="1}"))
    assert brief(completion) == [("f", None, "incomplete", False), ("g", None, "incomplete", False)]
    assert codes(completion) == [("args_truncated", 0), ("args_truncated", 1), ("orphan_delta", None)]


def test_an_orphan_makes_calls_without_text_incomplete():
    completion = done(call(0, "a", "f", ""), call(1, "b", "g", '{"y":'), call(7, arguments="1}"))
    assert [c.status for c in completion.calls] == ["incomplete", "incomplete"]


def test_text_waits_for_its_header_while_no_call_is_open():
    completion = done(call(2, arguments='{"x"'), call(2, arguments=":1}"), call(2, "a", "f"))
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert codes(completion) == []
    assert completion.calls[0].index == 2


def test_text_that_waits_keeps_its_index_when_another_call_opens():
    completion = done(call(0, arguments='{"x":'), call(1, "b", "g", "{"), call(0, arguments="1}"), call(0, "a", "f"))
    assert [c.arguments_text for c in completion.calls] == ["{", '{"x":1}']


def test_what_waits_for_its_header_is_read_as_if_the_header_had_come_first():
    cumulative = (call(0, arguments='{"x"'), call(0, arguments='{"x": [1'))
    completion = done(*cumulative, call(0, "a", "f", '{"x": [1]}'))
    assert brief(completion) == [("f", {"x": [1]}, "complete", True)]
    assert codes(completion) == [("args_cumulative", 0)]
    completion = done(call(0, arguments={"x": 1}), call(0, "a", "f", {"y": 2}))
    assert brief(completion) == [("f", {"x": 1, "y": 2}, "complete", True)]
    assert codes(completion) == [("args_merged", 0)]
    assert ("args_object", 0) in codes(completion, "info")


def test_text_whose_header_never_comes_is_an_orphan():
    completion = done(call(0, arguments='{"x":1}'))
    assert completion.calls == []
    assert codes(completion) == [("orphan_delta", None)]


def test_a_known_id_without_a_name_continues_its_call_under_another_index():
    completion = done(call(0, "a", "f", '{"x":'), call(1, "b", "g", '{"y":'), call(5, "a", arguments="1}"))
    assert brief(completion) == [("f", {"x": 1}, "complete", True), ("g", None, "incomplete", False)]
    assert codes(completion) == [("args_truncated", 1), ("index_drift", 0)]


@pytest.mark.parametrize("index", [None, 5])
def test_a_known_id_finds_a_call_that_came_whole(index):
    chunks = [call(0, "a", "f", '{"x":1}'), call(1, "b", "g", '{"y":2}'), call(index, "a", arguments='{"x":1}')]
    completion = done(*chunks)
    assert brief(completion) == [("f", {"x": 1}, "complete", True), ("g", {"y": 2}, "complete", True)]
    assert ("args_resend", 0) in codes(completion, "info", "warning")


def test_a_known_id_with_a_name_under_a_new_index_is_another_call():
    completion = done(call(0, "a", "f", "{}"), call(1, "a", "f", '{"x":1}'))
    assert brief(completion) == [("f", {}, "complete", True), ("f", {"x": 1}, "complete", True)]
    assert codes(completion) == [("id_duplicate", 1)]
    assert completion.calls[1].provider_id == "a"
    assert completion.calls[1].id != "a"


def test_an_entry_of_nothing_opens_no_call():
    completion = done(call(0), call(1, "", "", ""), call(2, "null", "null", ""), delta({"index": 3, "function": None}))
    assert completion.calls == []
    assert codes(completion) == []


# ---------------------------------------------------------------- 2: index given, slot taken


def test_an_id_that_another_call_has_finds_that_call():
    completion = done(call(0, "a", "f", '{"x":'), call(1, "b", "g", '{"y":'), call(0, "b", arguments="2}"))
    assert brief(completion) == [("f", None, "incomplete", False), ("g", {"y": 2}, "complete", True)]
    assert codes(completion) == [("args_truncated", 0), ("index_conflict", 1)]


def test_a_new_id_with_a_name_opens_a_call_even_while_the_slot_is_unfinished():
    completion = done(call(0, "a", "f", '{"x":'), call(0, "b", "f", '{"x":2}'))
    assert brief(completion) == [("f", None, "incomplete", False), ("f", {"x": 2}, "complete", True)]
    assert codes(completion) == [("args_truncated", 0), ("index_reused", 1)]


def test_ids_that_change_with_every_fragment_stay_one_call():
    chunks = [call(0, f"id{n}", None, piece) for n, piece in enumerate(["", '{"x"', ":", "1}"])]
    completion = done(call(0, "first", "f", ""), *chunks)
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert (completion.calls[0].id, codes(completion)) == ("first", [("id_changed", 0)])


def test_a_value_that_had_ended_before_its_name_came_may_come_again():
    completion = done(call(0, "a", None, '{"x":1}'), call(0, None, "f"), call(0, arguments='{"x":1}'))
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert [d.code for d in completion.defects] == ["name_late", "args_resend"]


def test_what_follows_a_value_is_read_at_once_after_a_late_name_as_well():
    stream = toolstream.ToolCallStream("openai-chat")
    for chunk in (call(0, "a", None, '{"x":1}'), call(0, arguments='{"y":2}'), call(0, None, "f", '{"z":3}')):
        stream.feed(chunk)
    assert stream.completion.calls[0].recovered == [{"y": 2}, {"z": 3}]


def test_another_name_after_a_finished_value_opens_a_call():
    completion = done(call(0, None, "f", '{"x":1}'), call(0, None, "g", ""), call(0, arguments='{"y":2}'))
    assert brief(completion) == [("f", {"x": 1}, "complete", True), ("g", {"y": 2}, "complete", True)]
    assert codes(completion) == [("index_reused", 1)]


@pytest.mark.parametrize("size", [1, 3, 8, 100])
def test_the_same_name_and_another_value_opens_a_call_however_it_is_cut(size):
    second = '{"day":"tue"}'
    pieces = [second[i : i + size] for i in range(0, len(second), size)]
    for header in ("", pieces[0]):
        rest = pieces if header == "" else pieces[1:]
        completion = done(
            call(0, None, "add", '{"day":"mon"}'), call(0, None, "add", header), *[call(0, arguments=p) for p in rest]
        )
        assert brief(completion) == [
            ("add", {"day": "mon"}, "complete", True),
            ("add", {"day": "tue"}, "complete", True),
        ]
        assert codes(completion) == [("index_reused", 1)]


@pytest.mark.parametrize("size", [1, 3, 8, 100])
def test_the_same_name_and_the_same_value_is_a_copy_however_it_is_cut(size):
    text = '{"day":"mon"}'
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    for header in ("", pieces[0]):
        rest = pieces if header == "" else pieces[1:]
        completion = done(
            call(0, None, "add", text), call(0, None, "add", header), *[call(0, arguments=p) for p in rest]
        )
        assert brief(completion) == [("add", {"day": "mon"}, "complete", True)]
        assert completion.calls[0].arguments_text == text
        assert codes(completion) == [("args_resend", 0)]


def test_the_same_name_and_another_value_after_noise():
    completion = done(
        call(0, None, "add", '{"day":"mon"}</call>'),
        call(0, None, "add", ""),
        call(0, arguments='{"day":'),
        call(0, arguments='"tue"}'),
    )
    assert [c.arguments for c in completion.calls] == [{"day": "mon"}, {"day": "tue"}]
    assert codes(completion) == [("args_trailing", 0), ("index_reused", 1)]


def test_the_same_name_and_then_only_noise():
    completion = done(call(0, None, "add", '{"day":"mon"}'), call(0, None, "add", ""), call(0, arguments="</call>"))
    assert codes(completion) == [("args_trailing", 0)]
    assert completion.calls[0].arguments_text == '{"day":"mon"}</call>'


def test_the_same_name_and_a_cut_value_is_a_call_that_was_cut():
    completion = done(call(0, None, "add", '{"day":"mon"}'), call(0, None, "add", '{"day":'), word="length")
    assert brief(completion) == [("add", {"day": "mon"}, "complete", True), ("add", None, "incomplete", False)]


def test_a_call_that_is_told_apart_at_the_end_has_not_come_after_the_finish_word():
    completion = done(call(0, "a", "f", '{"x":2}'), call(0, None, "f", "{"))
    assert brief(completion) == [("f", {"x": 2}, "complete", True), ("f", None, "incomplete", False)]
    assert codes(completion) == [("args_truncated", 1), ("index_reused", 1)]


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_late_id_with_the_name_again_goes_with_the_text_that_tells_the_calls_apart(size):
    second = '{"x":2}'
    completion = done(
        call(0, None, "f", '{"x":1}'),
        call(0, "b", "f", second[:size]),
        *[call(0, arguments=second[i : i + size]) for i in range(size, len(second), size)],
    )
    assert [c.arguments for c in completion.calls] == [{"x": 1}, {"x": 2}]
    assert [c.provider_id for c in completion.calls] == [None, None]
    assert completion.calls[1].id == "b"
    assert ("id_missing", 0) in [(d.code, d.call) for d in completion.defects]


def test_a_name_that_only_repeats_opens_nothing():
    completion = done(call(0, None, "f", '{"x":1}'), call(0, None, "f", ""), call(0, None, "f", " "))
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert codes(completion) == []


def test_a_late_id_belongs_to_the_call_whose_value_came_before():
    completion = done(call(0, None, "f", '{"x":1}'), call(0, "a"))
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert completion.calls[0].provider_id == "a"  # the start event had fixed another


# ---------------------------------------------------------------- 3: index absent


def test_without_an_index_a_known_id_finds_its_call():
    completion = done(
        call(None, "a", "f", '{"x":'), call(None, "b", "g", '{"y":'), call(None, "a", arguments="1}"),
        call(None, "b", arguments="2}"),
    )  # fmt: skip
    assert brief(completion) == [("f", {"x": 1}, "complete", True), ("g", {"y": 2}, "complete", True)]
    assert codes(completion) == []


def test_without_an_index_a_bare_entry_belongs_to_the_call_opened_last():
    completion = done(call(None, "a", "f", '{"x":'), call(None, "b", "g", '{"y":'), call(arguments="2}"))
    assert [c.arguments for c in completion.calls] == [None, {"y": 2}]


def test_without_an_index_a_name_opens_a_call_if_it_differs_or_the_last_one_is_finished():
    completion = done(call(name="f", arguments='{"x":'), call(name="f", arguments="1}"), call(name="f", arguments="{}"))
    assert [c.arguments for c in completion.calls] == [{"x": 1}, {}]
    completion = done(call(name="f", arguments='{"x":'), call(name="g", arguments="{}"))
    assert [(c.name, c.status) for c in completion.calls] == [("f", "incomplete"), ("g", "complete")]


def test_without_an_index_a_late_name_goes_to_the_call_that_lacks_it():
    completion = done(call(None, "a", arguments='{"x":1}'), call(name="f"))
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]


def test_bare_entries_go_by_position_or_nowhere():
    open_two = call(None, "a", "f", '{"x":'), call(None, "b", "g", '{"y":')
    bare = [entry(arguments="1}"), entry(arguments="2}")]
    assert [c.arguments for c in done(*open_two, delta(*bare)).calls] == [{"x": 1}, {"y": 2}]
    completion = done(*open_two, delta(*bare, entry(arguments="3}")))
    assert [c.arguments_text for c in completion.calls] == ['{"x":', '{"y":']
    assert ("orphan_delta", None) in codes(completion)
    assert codes(done(call(arguments="{}"))) == [("orphan_delta", None)]


def test_position_counts_the_calls_that_were_open_before_the_delta():
    bare = [entry(arguments='{"x":1}'), entry(None, "c", "h", "{}"), entry(arguments='{"y":2}')]
    completion = done(call(None, "a", "f", ""), call(None, "b", "g", ""), delta(*bare))
    assert [c.arguments for c in completion.calls] == [{"x": 1}, {"y": 2}, {}]


@pytest.mark.parametrize(
    ("index", "code", "number"),
    [
        ("1", "index_type", 1),
        (1.0, "index_type", 1),
        (True, "index_type", None),
        ("x", "index_type", None),
        (None, "index_null", None),
        ("", "index_null", None),
        ("null", "index_null", None),
        (MISSING, "index_missing", None),
    ],
)
def test_an_index_of_a_wrong_type(index, code, number):
    one = entry(None, "a", "f", "{}") if index is MISSING else {**entry(None, "a", "f", "{}"), "index": index}
    completion = done(delta(one))
    assert completion.calls[0].index == number
    assert [d.call for d in completion.defects if d.code == code] == [0]


def test_an_index_of_a_derived_type_is_one():
    class Number(int):
        pass

    completion = done(call(Number(1), "a", "f", '{"x":'), call(Number(1), arguments="1}"))
    assert type(completion.calls[0].index) is int
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert [d.code for d in completion.defects] == ["index_not_zero_based"]


# ---------------------------------------------------------------- 4: header


def test_a_name_after_argument_text_changes_nothing():
    completion = done(call(0, "a", "f", '{"x":'), call(0, None, "g", "1}"))
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert codes(completion) == [("name_changed", 0)]


def test_a_name_in_pieces():
    completion = done(call(0, "a", "get_"), call(0, None, "weat"), call(0, None, "her", "{}"))
    assert brief(completion) == [("get_weather", {}, "complete", True)]
    assert codes(completion) == [("name_split", 0)]


def test_the_start_event_waits_for_the_name_and_brings_the_text():
    stream = toolstream.ToolCallStream("openai-chat", changes=True)
    assert stream.feed(call(0, "a", arguments='{"x":')) == []
    assert stream.feed(call(0, arguments='"1')) == []
    assert stream.completion.calls[0].partial_arguments == {"x": "1"}
    start, text = (event for event in stream.feed(call(0, name="f")) if event.type != "defect")
    assert (start.type, start.call.id) == ("tool_call.start", "a")
    assert (text.text, text.restart) == ('{"x":"1', False)
    assert toolstream.apply_changes(MISSING, text.changes) == {"x": "1"}


def test_the_start_event_comes_with_the_first_text_when_no_id_has_come():
    stream = toolstream.ToolCallStream("openai-chat", new_id=lambda: "made")
    assert stream.feed(call(0, name="f")) == []
    assert stream.completion.calls[0].id is None
    start, text = stream.feed(call(0, arguments="{"))
    assert (start.call.id, text.text) == ("made", "{")
    stream.feed(call(0, "late"))
    assert (start.call.id, start.call.provider_id) == ("made", "late")


def test_the_start_event_comes_at_the_end_if_nothing_else_comes():
    stream = toolstream.ToolCallStream("openai-chat")
    stream.feed(call(0, name="f"))
    assert [event.type for event in stream.close()] == [
        "defect", "defect", "tool_call.start", "defect", "defect", "tool_call.end", "stream.end"
    ]  # fmt: skip


def test_made_ids_are_distinct_even_if_the_factory_repeats_itself():
    chunks = [call(n, None, "f", "{}") for n in range(3)] + [call(3, "x-2", "f", "{}"), call(4, "x", "f", "{}")]
    completion, _ = read([*chunks, finish()], new_id=lambda: "x")
    assert len({c.id for c in completion.calls}) == 5


def test_equal_ids_in_two_choices_are_left_alone():
    chunks = [delta(entry(0, "a", "f", "{}"), choice=n) for n in (0, 1)]
    completion, _ = read([*chunks, finish(), finish(choice=1)])
    assert [(c.choice, c.id, c.provider_id) for c in completion.calls] == [(0, "a", None), (1, "a", None)]
    assert codes(completion) == []


# ---------------------------------------------------------------- 5: arguments


@pytest.mark.parametrize("text", ['{"t":"{}{}"}', '{"t":"{\\"t\\":{\\"t\\":"}', '{"a":[[1],[1],[1]]}', '{"t":"aaaa"}'])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_repeated_text_is_content(text, size):
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    completion = done(call(0, "a", "f", ""), *[call(0, arguments=p) for p in pieces])
    assert completion.calls[0].arguments == json.loads(text)
    assert completion.calls[0].arguments_text == text
    assert codes(completion) == []


def one(*texts, word="tool_calls", repeat_id=False, **options):
    """One call whose text comes in these pieces: (call, codes)."""
    first, *rest = texts
    id = "a" if repeat_id else None
    completion = done(call(0, "a", "f", first), *[call(0, id, None, text) for text in rest], word=word, **options)
    assert len(completion.calls) == 1
    return completion.calls[0], codes(completion)


def test_a_placeholder_and_then_the_object():
    got, found = one("{}", '{"x"', ":1}")
    assert (got.arguments, got.arguments_text, found) == ({"x": 1}, '{"x":1}', [("args_placeholder", 0)])
    got, found = one(' {} {}{ }{"x":1}')
    assert (got.arguments, got.arguments_text, found) == ({"x": 1}, '{"x":1}', [("args_placeholder", 0)])
    got, found = one("{}", "{}")
    assert (got.arguments, got.arguments_text, found) == ({}, "{}", [("args_resend", 0)])
    got, found = one("{}", '{"x":')
    assert (got.status, found) == ("incomplete", [("args_placeholder", 0), ("args_truncated", 0)])


def test_a_placeholder_restarts_the_text():
    stream = toolstream.ToolCallStream("openai-chat", changes=True)
    stream.feed(call(0, "a", "f", "{}"))
    event = next(e for e in stream.feed(call(0, arguments='{"x":"y')) if e.type == "tool_call.delta")
    assert (event.text, event.restart, event.changes) == ('{"x":"y', True, [("set", (), {}), ("set", ("x",), "y")])
    assert event.call.partial_arguments == {"x": "y"}


def test_cumulative_fragments_replace_each_other():
    text = '{"t":"one two","u":[1,2]}'
    got, found = one(*[text[:n] for n in range(1, len(text) + 1)])
    assert (got.arguments, got.arguments_text, found) == (json.loads(text), text, [("args_cumulative", 0)])
    got, found = one('{"t"', '{"t":"x', '{"t":"x', '{"t":"xy"}', '{"t":"xy"}')
    assert (got.arguments, found) == ({"t": "xy"}, [("args_cumulative", 0)])


def test_a_fragment_that_may_be_a_nested_value_is_never_taken_for_a_repetition():
    got, found = one('{"t":', '{"t":1', "}}")
    assert (got.arguments, found) == ({"t": {"t": 1}}, [])


def test_cumulative_fragments_whose_key_looks_like_the_end():
    got, found = one('{"}":"a', '{"}":"ab"}')
    assert (got.arguments, found) == ({"}": "ab"}, [("args_cumulative", 0)])


def test_cumulative_deltas_carry_only_what_is_new():
    stream = toolstream.ToolCallStream("openai-chat")
    stream.feed(call(0, "a", "f", '{"t":"a'))
    deltas = []
    for text in ('{"t":"ab', '{"t":"abc', '{"t":"abc', '{"t":"abcd'):
        deltas += [(e.text, e.restart) for e in stream.feed(call(0, arguments=text)) if e.type == "tool_call.delta"]
    assert deltas == [('{"t":"ab', True), ("c", False), ("d", False)]


@pytest.mark.parametrize("second", ['{"x": 1.0}', '\n{"x":1}\n', '{"x"|:1}', '{"x":1|}', '{"x":1}|{"x":1}'])
def test_the_finished_value_again_is_a_copy(second):
    got, found = one('{"x":1}', *second.split("|"))
    assert got.arguments_text.strip() == '{"x":1}'
    assert (got.arguments, got.executable, found) == ({"x": 1}, True, [("args_resend", 0)])


def test_true_is_not_one():
    assert one('{"x":1}', '{"x":true}')[1] == [("args_concatenated", 0)]


@pytest.mark.parametrize("cut", range(1, 8))
def test_another_value_refuses_the_call(cut):
    for repeat_id, code in ((False, "args_concatenated"), (True, "args_conflict")):
        second = '{"x":2}'
        got, found = one('{"x":1}', second[:cut], second[cut:], repeat_id=repeat_id)
        assert (got.status, got.executable, got.arguments) == ("invalid", False, None)
        assert (got.arguments_text, got.recovered) == ('{"x":1}{"x":2}', [{"x": 1}, {"x": 2}])
        assert found == [(code, 0)]


@pytest.mark.parametrize("changes", [False, True])
def test_another_value_conflicts_only_if_its_own_delta_repeats_the_id(changes):
    first, again, other = call(0, "a", "f", "1"), call(0, "a", arguments="1"), call(0, arguments='{"x":1}')
    completion = done(first, again, other, changes=changes)
    assert codes(completion) == [("args_concatenated", 0)]
    assert completion.calls[0].recovered == [11, {"x": 1}]


def test_all_values_are_recovered():
    got, found = one('{"a":1}{"b":2} [3] 4 "five" null {"a":1}')
    assert got.recovered == [{"a": 1}, {"b": 2}, [3], 4, "five", None, {"a": 1}]
    assert found == [("args_concatenated", 0)]


@pytest.mark.parametrize(
    "noise", ["</tool_call>", "}", "]", ",", "ok", ' and "more", 2 times', "<|end|>", '"', "[/CALL]"]
)
@pytest.mark.parametrize("size", [1, 100])
def test_noise_after_the_object_is_ignored(noise, size):
    got, found = one('{"a":1}', *[noise[i : i + size] for i in range(0, len(noise), size)])
    assert (got.arguments, got.executable, found) == ({"a": 1}, True, [("args_trailing", 0)])
    assert got.arguments_text == '{"a":1}' + noise


@pytest.mark.parametrize(
    "tail", [';{"b":2}', '</c><c>{"b":2}</c>', ', {"b":2}', "[x] {'b':2}", ' say [/x] or [y {"b":2}']
)
@pytest.mark.parametrize("size", [1, 2, 100])
def test_noise_and_then_a_value_refuses_the_call(tail, size):
    got, found = one('{"a":1}', *[tail[i : i + size] for i in range(0, len(tail), size)])
    assert (got.status, got.recovered, found) == ("invalid", [{"a": 1}, {"b": 2}], [("args_concatenated", 0)])
    assert got.arguments_text == '{"a":1}' + tail


def test_noise_and_then_the_same_value():
    got, found = one('{"a":1}', "; ", '{"a":1}')
    assert (got.arguments, found) == ({"a": 1}, [("args_resend", 0), ("args_trailing", 0)])


def test_another_object_that_was_cut_refuses_the_call():
    got, found = one('{"a":1}', '{"b":')
    assert (got.status, found) == ("invalid", [("args_concatenated", 0)])


def test_an_object_for_text():
    got, found = one({"x": [1, {"y": "é"}]})
    assert (got.arguments, got.arguments_text, found) == ({"x": [1, {"y": "é"}]}, '{"x":[1,{"y":"é"}]}', [])


@pytest.mark.parametrize(
    ("objects", "arguments", "code"),
    [
        ([{}, {"a": 1}], {"a": 1}, None),
        ([{"a": 1}, {}], {"a": 1}, None),
        ([{"a": 1}, {"b": 2}], {"a": 1, "b": 2}, "args_merged"),
        ([{"a": "x"}, {"a": "xy"}], {"a": "xy"}, "args_cumulative"),
        ([{"a": [{"b": ""}]}, {"a": [{"b": "x", "c": 0}, 2]}], {"a": [{"b": "x", "c": 0}, 2]}, "args_cumulative"),
        ([{"a": 1}, {"a": 1}], {"a": 1}, "args_resend"),
        ([{"a": 1}, {"a": 2}], None, "args_conflict"),
        ([{"a": 1}, {"a": True}], None, "args_conflict"),
    ],
)  # fmt: skip
def test_several_objects_for_one_call(objects, arguments, code):
    got, found = one(*objects)
    assert (got.arguments, got.executable) == (arguments, arguments is not None)
    assert found == ([(code, 0)] if code else [])
    if arguments is None:
        assert got.recovered == objects
    else:
        assert json.loads(got.arguments_text) == arguments


def test_an_object_is_no_alias_of_what_was_fed():
    value = {"a": {"b": [1]}}
    completion = done(call(0, "a", "f", value))
    value["a"]["b"].append(2)
    assert completion.calls[0].arguments == {"a": {"b": [1]}}


def test_many_objects_that_do_not_fit_are_all_recovered():
    objects = [{"a": 1}, {"a": 2}, {"a": 3}]
    assert one(*objects)[0].recovered == objects


def test_text_and_then_an_object():
    assert one('{"a":1}', {"a": 1})[1] == [("args_resend", 0)]
    assert one('{"a":1}', {"a": 2})[1] == [("args_concatenated", 0)]
    got, found = one('{"a":"x', {"a": "xy", "b": 1})
    assert (got.arguments, found) == ({"a": "xy", "b": 1}, [("args_cumulative", 0)])
    assert one('{"a":"x', {"a": "z"})[1] == [("args_conflict", 0)]


@pytest.mark.parametrize("strange", [float("inf"), float("nan"), object()])
def test_an_object_that_was_not_read_whole_is_not_put_together_with_another(strange):
    for objects in ([{"a": strange}, {"b": 1}], [{"b": 1}, {"a": strange}]):
        got, found = one(*objects)
        assert (got.arguments, got.status, got.executable) == (None, "invalid", False)
        assert ("args_nonfinite" if isinstance(strange, float) else "args_invalid", 0) in found


@pytest.mark.parametrize("text", ["null", "[1", "5", "x", '{"a":oops'])
def test_an_object_after_text_that_is_no_beginning_of_it(text):
    got, found = one(text, {"a": 1})
    assert (got.status, got.recovered, found) == ("invalid", [{"a": 1}], [("args_conflict", 0)])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1', {"a": 2}),  # what does not show yet counts as well
        ('{"a": 1', {"b": 1}),
        ('{"a": tr', {"a": False}),
        ('{"a', {"b": 1}),
        ('{"a"', {"ab": 1}),
        ('{"a": "x"', {"a": "xy"}),
        ('{"a": [1, 2', {"a": [1]}),
    ],
)
def test_an_object_that_says_something_else_than_the_text_before(text, value):
    got, found = one(text, value)
    assert (got.status, got.recovered, found) == ("invalid", [value], [("args_conflict", 0)])


@pytest.mark.parametrize(
    "text", ["{", '{ "a', '{"a" :', '{"\\u0061": 1', '{"a": 12, "b":["\\u00e9\\n', '{"a":12,"b":["é']
)
def test_an_object_after_the_beginning_of_its_text_is_cumulative(text):
    value = {"a": 12, "b": ["é\n"]}
    got, found = one(text, value)
    assert (got.arguments, found) == (value, [("args_cumulative", 0)])


@pytest.mark.parametrize("first", ["", " ", "{}", '{"a":1'])
def test_an_object_after_the_beginning_of_its_text_takes_more_keys(first):
    got, found = one(first, {"a": 1}, {"b": 2})
    assert (got.arguments, got.executable) == ({"a": 1, "b": 2}, True)
    assert ("args_merged", 0) in found


@pytest.mark.parametrize(
    ("text", "arguments", "code"),
    [
        ("</call>", {"a": 1, "b": 2}, "args_trailing"),
        ('{"b":2,"a":1}', {"a": 1, "b": 2}, "args_resend"),
        ('{"c":3}', None, "args_concatenated"),
    ],
)
def test_text_after_objects_that_were_put_together(text, arguments, code):
    got, found = one({"a": 1}, {"b": 2}, text)
    assert (got.arguments, found) == (arguments, sorted([("args_merged", 0), (code, 0)]))
    rest = "" if code == "args_resend" else text
    assert got.arguments_text == '{"a":1,"b":2}' + rest
    assert got.recovered == ([] if arguments else [{"a": 1, "b": 2}, {"c": 3}])
    assert one({"a": 1}, {"b": 2}, text, strict=True)[0].executable is (code == "args_resend")


@pytest.mark.parametrize(
    "values",
    [
        ([1], {"a": 1}),
        (3, {"a": 1}),  # a number that more digits could follow
        (True, {"a": 1}, {"b": 2}),
        (3, 4),
        ({"a": 1}, {"a": 2}),
    ],
)
@pytest.mark.parametrize("text", ["", '{"c":3}', '{"c":3}[4]'])
def test_values_that_are_no_one_object_are_each_recovered_once(values, text):
    got, found = one(*values, text)
    assert (got.status, found) == ("invalid", [("args_conflict", 0)])
    assert got.recovered == [*values, *([{"c": 3}, [4]] if "[" in text else [{"c": 3}] if text else [])]
    json.dumps(got.to_dict())


def test_objects_and_text_by_turns_are_recovered_in_order():
    assert one({"a": 1}, '{"b":2}', {"c": 3})[0].recovered == [{"a": 1}, {"b": 2}, {"c": 3}]
    assert one({"a": 1}, {"b": 2}, {"a": 3}, '{"c":4}')[0].recovered == [{"a": 1, "b": 2}, {"a": 3}, {"c": 4}]


# ---------------------------------------------------------------- 6 and 7: finish words, entries


def test_a_call_after_the_finish_word_counts():
    completion, _ = read([call(0, "a", "f", "{"), finish("stop"), call(0, arguments="}")])
    assert brief(completion) == [("f", {}, "complete", True)]
    assert codes(completion) == [("delta_after_finish", 0)]


def test_the_start_waits_for_the_id_while_no_text_comes_after_the_name():
    """Rule 4: text that came before the name is no argument text once the name is known."""
    before = call(0, arguments='{"x":')
    completion, events = read([before, call(0, None, "f"), call(0, "a"), call(0, arguments="1}"), finish()])
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert [e.type for e in events if e.type.startswith("tool")] == [
        "tool_call.start", "tool_call.delta", "tool_call.delta", "tool_call.end"
    ]  # fmt: skip
    assert (completion.calls[0].id, completion.calls[0].provider_id) == ("a", None)
    later = ToolCallStream("openai-chat", new_id=lambda: "made")
    kinds = [[e.type for e in later.feed(chunk)] for chunk in (before, call(0, None, "f"), call(0, arguments="1}"))]
    assert ["tool_call.start" in kind for kind in kinds] == [False, False, True]
    later.feed(call(0, "a"))
    later.close()
    assert (later.completion.calls[0].id, later.completion.calls[0].provider_id) == ("made", "a")


def test_a_late_id_with_the_name_again_is_no_other_call():
    """Rule 2: the text that would tell another call has not come."""
    first = call(0, None, "f", '{"x":1}')
    completion, _ = read([first, call(0, "a", "f", ""), finish()])
    assert brief(completion) == [("f", {"x": 1}, "complete", True)]
    assert codes(completion, "info") == [("id_late", 0), ("name_repeated", 0)]
    completion, _ = read([first, call(0, "a", "f", ""), call(0, arguments='{"x":1}'), finish()])
    assert (len(completion.calls), codes(completion)) == (1, [("args_resend", 0)])
    completion, _ = read([first, call(0, "a", "f", ""), call(0, arguments='{"x":2}'), finish()])
    assert [(c.id, c.arguments) for c in completion.calls][1:] == [("a", {"x": 2})]
    assert codes(completion) == [("index_reused", 1)]
    completion, _ = read([first, call(0, "a", "f", '{"x":2}'), finish()])
    assert (len(completion.calls), codes(completion)) == (2, [("index_reused", 1)])


@pytest.mark.parametrize("late", [{"b": 2}, {"a": 1}, {"a": 2}, [1]], ids=["more", "again", "another", "no object"])
def test_an_object_after_the_finish_word_is_late_too(late):
    completion, _ = read([call(0, "a", "f", {"a": 1}), finish(), call(0, arguments=late)])
    assert ("delta_after_finish", 0) in codes(completion)
    completion, _ = read([call(0, "a", "f", '{"a": 1'), finish(), call(0, arguments={"a": 1})])
    assert ("delta_after_finish", 0) in codes(completion)


def test_numbers_that_are_unusual_name_the_first_call_of_the_choice():
    """Also where another one has its number by now."""
    again = [call(1, id, "f", "{}", choice=choice) for choice in (1, 2) for id in ("a", "b")]
    completion, _ = read([call(0, "z", "f", "{}"), *again, call(5, "c", "f", "{}", choice=2), finish()])
    found = [(d.code, d.call) for d in completion.defects if d.code in ("index_not_zero_based", "index_sparse")]
    assert found == [("index_not_zero_based", 1), ("index_not_zero_based", 3), ("index_sparse", 3)]


def test_an_empty_delta_after_the_finish_word_is_nothing():
    completion, _ = read([call(0, "a", "f", "{}"), finish(), call(0, "", "", ""), finish("")])
    assert codes(completion) == []
    assert completion.raw_finish_reason == "tool_calls"


def test_text_and_reasoning_are_those_of_the_lowest_choice_that_has_any():
    chunks = [
        delta(choice=2, content="two"), delta(choice=1, content="one "), delta(choice=1, content="more"),
        delta(choice=2, reasoning_content="why"), delta(choice=0, content=""), finish("length", 2), finish("stop", 1),
    ]  # fmt: skip
    completion, events = read(chunks)
    assert (completion.text, completion.reasoning) == ("one more", "why")
    assert (completion.finish_reason, completion.raw_finish_reason) == ("length", "stop")
    assert [(e.text, e.choice) for e in events if e.type == "text.delta"] == [("two", 2), ("one ", 1), ("more", 1)]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["stop"], "stop"),
        (["tool_calls"], "stop"),  # no call came
        (["length", "stop"], "length"),
        (["length", "content_filter"], "content_filter"),
        (["content_filter", "length"], "content_filter"),
        (["stop", "error"], "error"),
        (["something_new"], "stop"),
        ([], None),
    ],
)
def test_the_finish_reason(words, reason):
    completion, _ = read([delta(content="x"), *[finish(word) for word in words]])
    assert completion.finish_reason == reason
    assert completion.raw_finish_reason == (words[-1] if words else None)
    assert (("stream_ended_early", None) in codes(completion)) == (not words)


def test_a_length_word_about_whole_calls():
    completion = done(call(0, "a", "f", "{}"), word="length")
    assert completion.calls[0].executable
    assert codes(completion) == [("finish_length", None)]


# ---------------------------------------------------------------- 8 to 11: what may be run


@pytest.mark.parametrize("text", ["", " \n", "null", " null "])
def test_no_text_is_no_arguments_only_at_a_regular_end(text):
    got, found = one(text)
    assert (got.arguments, got.executable, found) == ({}, True, [])
    for word in ("length", "content_filter"):
        got, found = one(text, word=word)
        assert (got.status, got.arguments, found) == ("incomplete", None, [("args_truncated", 0)])
    completion, _ = read([call(0, "a", "f", text)])
    assert codes(completion) == [("args_truncated", 0), ("stream_ended_early", None)]


def test_the_choice_decides_whether_its_end_is_regular():
    chunks = [delta(entry(0, f"c{n}", "f", ""), choice=n) for n in (0, 1)]
    completion, _ = read([*chunks, finish(), finish("length", 1)])
    assert [c.status for c in completion.calls] == ["complete", "incomplete"]


@pytest.mark.parametrize(
    ("text", "value", "code"),
    [
        ('{"a":"x\ty"}', {"a": "x\ty"}, "args_repaired"),
        (r'{"a":"it\'s \d"}', {"a": r"it's \d"}, "args_repaired"),
        ('{"a":1,}', {"a": 1}, "args_repaired"),
        (r'{\n"a":1}\n', {"a": 1}, "args_repaired"),
        ("{'a': True, 'b': None}", {"a": True, "b": None}, "args_repaired"),
        ('{"a":1 /* one */} // done', {"a": 1}, "args_repaired"),
        ('```json\n{"a":1}\n```', {"a": 1}, "args_fenced"),
        ('<args>{"a":1}</args>', {"a": 1}, "args_repaired"),
        (r'{"a":"\ud800"}', {"a": "\ufffd"}, "surrogate_lone"),
        (r'"{\"a\":1}"', {"a": 1}, "args_double_encoded"),
        ('{"a":1}</args>', {"a": 1}, "args_trailing"),
    ],
)
def test_what_is_repaired_without_loss_may_be_run_unless_strict(text, value, code):
    for pieces in ([text], list(text)):
        got, found = one(*pieces)
        assert (got.arguments, got.executable, found) == (value, True, [(code, 0)])
        assert got.partial_arguments == value
        got, found = one(*pieces, strict=True)
        assert (got.status, got.executable, got.arguments, found) == ("invalid", False, None, [(code, 0)])
        assert got.recovered == [value]


def test_strict_leaves_valid_text_alone():
    got, found = one('{"a":"\\f"}', strict=True)
    assert (got.executable, found) == (True, [])
    got, found = one("{}", '{"a":1}', strict=True)
    assert (got.executable, found) == (True, [("args_placeholder", 0)])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"a":oops}', "args_invalid"),
        ('{"a":[1}', "args_invalid"),
        ('{"a" 1}', "args_invalid"),
        ("no arguments", "args_invalid"),
        ('{"a":01}', "args_invalid"),
        ('{"a":NaN}', "args_nonfinite"),
        ('{"a":-Infinity}', "args_nonfinite"),
        ('{"a":1e400}', "args_nonfinite"),
        ("[1]", "args_not_object"),
        ("1", "args_not_object"),
        ("true", "args_not_object"),
        ('"text"', "args_not_object"),
        ('"[1]"', "args_not_object"),
        (r'"{\"a\":oops}"', "args_not_object"),
        (r'"{\"a\":1}"}', "args_not_object"),
    ],
)
def test_what_is_never_repaired(text, code):
    for pieces in ([text], list(text)):
        got, found = one(*pieces)
        assert (got.status, got.executable, got.arguments, found) == ("invalid", False, None, [(code, 0)])
        assert got.arguments_text == text


def test_an_encoded_object_is_nested_no_deeper_than_any_other():
    def encoded(start, depth):
        return json.dumps(start + '{"a":' * depth + "1" + "}" * depth + "}" * len(start[:1]))

    for pieces in ([encoded('{"b":', 512)], list(encoded('{"b":', 512))):
        got, found = one(*pieces)
        assert (got.status, got.arguments, found) == ("invalid", None, [("depth_exceeded", 0)])
    assert one(encoded('{"b":', 511))[1] == [("args_double_encoded", 0)]
    assert one(json.dumps("[" * 600))[1] == [("args_not_object", 0)]
    assert one(json.dumps('{"a":oops,"b":' + "[" * 600))[1] == [("args_not_object", 0)]


def test_defects_inside_an_encoded_object_have_no_offset():
    inner = r"""{'a':"\frac"}"""
    for text, repaired in ((json.dumps(inner), None), ("/**/" + json.dumps(inner), 0)):
        completion = done(call(0, "a", "f", text))
        assert completion.calls[0].arguments == {"a": "\frac"}
        assert [(d.code, d.offset) for d in completion.defects] == [
            ("args_double_encoded", None),
            ("args_repaired", repaired),
            ("suspicious_escape", None),
        ]


def test_what_was_found_in_a_refused_text():
    assert one("[1, 2]")[0].recovered == [[1, 2]]
    assert one('{"a":oops}')[0].recovered == []


def test_a_prefix_is_incomplete_and_keeps_its_live_value():
    got, found = one('{"a":"x","b":[1,{"c":"y', word="stop")
    assert (got.status, got.arguments, found) == ("incomplete", None, [("args_truncated", 0)])
    assert got.partial_arguments == {"a": "x", "b": [1, {"c": "y"}]}
    assert one("{'a': Tr")[0].status == "incomplete"
    assert one('{"a":nul')[0].status == "incomplete"


@pytest.mark.parametrize("text", ["nul", "t", "fals", "-", "1e", "1.", " -", "Tru", "/* c */ nul", "```json\nnul"])
def test_half_a_word_or_number_is_a_prefix_also_outside_an_object(text):
    for word in ("length", "stop"):
        got, found = one("", text, word=word)
        assert (got.status, got.arguments, found) == ("incomplete", None, [("args_truncated", 0)])
    assert one(text + "?")[0].status == "invalid"
    assert one("NaN")[1] == [("args_nonfinite", 0)]


def test_a_wide_cut_value_is_fresh_at_the_end():
    text = "{" + ",".join(f'"{n}":{n}' for n in range(3000)) + ',"x":"' + "y" * 5000
    stream = toolstream.ToolCallStream("openai-chat")
    stream.feed(call(0, "a", "f", ""))
    for i in range(0, len(text), 3):
        stream.feed(call(0, arguments=text[i : i + 3]))
        stream.completion.calls[0].partial_arguments  # noqa: B018
    stream.close()
    assert stream.completion.calls[0].partial_arguments == {**{str(n): n for n in range(3000)}, "x": "y" * 5000}


def test_a_call_without_a_name_is_kept_and_refused():
    completion = done(call(0, "a", arguments='{"x":1}'), call(1, "b", "null", "[1]"))
    assert [(c.status, c.executable, c.arguments) for c in completion.calls] == [
        ("incomplete", False, None), ("invalid", False, None)
    ]  # fmt: skip
    assert completion.calls[0].partial_arguments == {"x": 1}
    assert codes(completion) == [("args_not_object", 1), ("name_missing", 0), ("name_missing", 1)]


def test_a_text_that_is_one_value_gives_the_same_or_nothing_wherever_it_is_cut():
    for text in (
        '{"a": [1, {"b": "c\\n\\ud83d\\ude00"}], "d": -1.5e3, "e": null}',
        r'"{\"a\": [1, 2]}"',
        "{}",
        ' {"a":{}} ',
    ):
        whole = one(text)[0].arguments
        for n in range(len(text) + 1):
            for word in ("tool_calls", "length"):
                got, _ = one("", text[:n], word=word)
                assert not got.executable or got.arguments == whole or not text[:n].strip()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (r'{"a":"\frac"}', "suspicious_escape"),
        (r'{"a":[{"\beta":1}]}', "suspicious_escape"),
        ('{"a":"\\u0000"}', "nul_in_string"),
        ('{"a":"\\u0000","a":"x"}', "nul_in_string"),
    ],
)
@pytest.mark.parametrize("more", ["", r"C:\\bin\\foo " * 40, r"\b1 " * 200])
def test_valid_text_that_is_surely_not_meant_so(text, code, more):
    at = text.index("\\")
    text = f'{text[:-1]},"more":"{more}"}}'
    got, _ = one(text)
    assert got.arguments == json.loads(text)
    completion = done(call(0, "a", "f", text))
    assert [d.offset for d in completion.defects if d.code == code] == [at]


@pytest.mark.parametrize("text", [r'{"a":"C:\\bin\\foo"}', r'{"a":"\b1\f "}', r'{"a":"\\u0000"}'])
@pytest.mark.parametrize("more", ["", r"C:\\bin\\foo " * 40, r"\b1 " * 200])
def test_escapes_that_are_not_suspicious(text, more):
    completion = done(call(0, "a", "f", f'{text[:-1]},"more":"{more}"}}'))
    assert completion.defects == []


# ---------------------------------------------------------------- 12 and 13: live values, limits


def test_nesting_beyond_the_limit():
    got, found = one("[" * 513 + '"x', "y", '"]')
    assert (got.status, found) == ("invalid", [("depth_exceeded", 0)])
    assert one('{"a":' * 512 + "1" + "}" * 512)[0].executable
    assert one('{"a":{"b":1}}', limits=Limits(max_depth=1))[1] == [("depth_exceeded", 0)]
    deep = {"a": 1}
    for _ in range(600):
        deep = {"a": deep}
    assert one(deep)[1] == [("depth_exceeded", 0)]
    assert one('{"a":1}', '{"b":' + "[" * 600)[0].status == "invalid"


def test_nesting_beyond_the_limit_is_found_once():
    """What follows is kept unread, also after half a character that the other half came for."""
    pieces = ['{"a":[', "x\ud83d", "\ude00", "y", "z"]
    completion = done(
        call(0, "a", "f", ""), *(call(0, None, None, piece) for piece in pieces), limits=Limits(max_depth=1)
    )
    assert [defect.code for defect in completion.defects] == ["depth_exceeded"]
    assert completion.defect_count == 1
    assert completion.calls[0].arguments_text == '{"a":[x\U0001f600yz'


@pytest.mark.parametrize("name", ["f", None])
def test_deltas_beyond_the_depth_limit_have_changes_where_they_are_asked_for(name):
    chunks = [call(0, "a", name, '{"x":{'), call(0, arguments='"y":1}}'), call(0, None, "f"), finish()]
    _, events = read(chunks, changes=True, limits=Limits(max_depth=1))
    changes = [event.changes for event in events if event.type == "tool_call.delta"]
    assert changes
    assert None not in changes


def limited(chunks, **limits):
    """(completion, events) of a stream that passes a limit."""
    stream = toolstream.ToolCallStream("openai-chat", limits=Limits(**limits))
    events = []
    try:
        for chunk in chunks:
            events += stream.feed(chunk)
    except toolstream.LimitExceededError as error:
        first = error
    with pytest.raises(toolstream.LimitExceededError) as second:
        stream.feed(finish())
    assert second.value is first
    events += stream.close()
    assert stream.close() == []
    return stream.completion, events


@pytest.mark.parametrize(
    "limits", [{"max_calls": 2}, {"max_argument_bytes": 10}, {"max_pieces": 3}], ids=lambda limits: next(iter(limits))
)
def test_after_a_limit_all_that_was_read_stays_readable(limits):
    chunks = [
        call(0, "a", "f", '{"x":1}'),
        delta(content="hm"),
        delta(entry(1, "b", "g", "{"), entry(2, "c", "h", "123456")),
    ]
    completion, events = limited([*chunks, finish()], **limits)
    check_events(completion, events)
    assert (completion.text, completion.calls[0].arguments) == ("hm", {"x": 1})
    assert [c.name for c in completion.calls[:2]] == ["f", "g"]
    assert not any(c.executable for c in completion.calls[1:])


def test_bytes_are_counted_as_utf_8():
    stream = toolstream.ToolCallStream("openai-chat", limits=Limits(max_argument_bytes=10))
    stream.feed(call(0, "a", "f", '{"é":"é'))  # nine bytes
    with pytest.raises(toolstream.LimitExceededError):
        stream.feed(call(0, arguments="é"))
    assert stream.completion.calls[0].partial_arguments == {"é": "é"}


@pytest.mark.parametrize(
    "more",
    [
        [call(0, arguments={"b": "y" * 300})],
        [call(0, arguments={f"k{n}": n}) for n in range(100)],
        [call(0, arguments={"a": "x" * n}) for n in range(2, 300)],
        [call(0, arguments={"a": "y" * 300})],
        [call(0, arguments={"a": "y"}), *[call(0, arguments={"a": "z", "n": n}) for n in range(100)]],
    ],
    ids=["one", "many", "grown", "refused", "all refused"],
)
def test_bytes_of_objects_put_together_are_counted(more):
    chunks = [call(0, "a", "f", {"a": "x"}), *more, finish()]
    with pytest.raises(toolstream.LimitExceededError, match="max_argument_bytes=200"):
        read(chunks, limits=Limits(max_argument_bytes=200))
    read(chunks, limits=Limits(max_argument_bytes=100_000))


@pytest.mark.parametrize("how", ["final_text", "replace", "whole"])
def test_bytes_of_a_text_that_replaces_another_are_counted(how):
    """So far as it is longer: what is written anew is not counted twice."""
    assembler = Assembler(limits=Limits(max_argument_bytes=200))
    made = assembler.open("k", id="a", name="f")
    assembler.append(made, '{"a": "x')
    for n in range(1, 50):
        assembler.replace(made, '{"b": "' + "yz"[n % 2] * n)
    longer = '{"a": "' + "x" * 1000 + '"}'
    with pytest.raises(toolstream.LimitExceededError):
        getattr(assembler, how)(made, json.loads(longer) if how == "whole" else longer)
    assert made.arguments_text == '{"b": "' + "z" * 49


@pytest.mark.parametrize(
    ("limits", "error", "words"),
    [
        ({"max_depth": 0}, ValueError, "max_depth must be at least 1, or None, not 0"),
        ({"max_calls": -1}, ValueError, "max_calls must be at least 0, or None, not -1"),
        ({"max_pieces": "3"}, TypeError, "max_pieces must be an int or None, not str"),
        ({"max_argument_bytes": 1.5}, TypeError, "max_argument_bytes must be an int or None, not float"),
        ({"max_defects": True}, TypeError, "max_defects must be an int or None, not bool"),
    ],
)
def test_what_is_no_limit_is_told_when_it_is_given(limits, error, words):
    with pytest.raises(error, match=words):
        Limits(**limits)


def test_limits_that_are_just_not_passed():
    chunks = [call(0, "a", "f", '{"x":1}'), finish()]
    read(chunks, limits=Limits(max_calls=1, max_argument_bytes=7, max_pieces=2))


def test_defects_kept_are_bounded_and_all_are_counted():
    chunks = [call(n, f"i{n}", "f", "[]") for n in range(300)]
    completion = done(*chunks)
    assert (len(completion.defects), completion.defect_count) == (100, 300)
    assert len(done(*chunks, limits=Limits(max_defects=7)).defects) == 7
    assert done(*chunks, limits=Limits(max_defects=0)).defects == []
    assert len(done(*chunks, limits=Limits(max_defects=None)).defects) == 300


def test_a_defect_is_reported_once_for_a_call_and_every_one_is_counted():
    completion = done(*[call(0, "a", "f", piece) for piece in ["{", *[" "] * 98, "}"]])
    assert [(d.code, d.call, d.severity) for d in completion.defects] == [
        ("id_repeated", 0, "info"), ("name_repeated", 0, "info")
    ]  # fmt: skip
    assert completion.defect_count == 198


def test_a_defect_says_where():
    stream = toolstream.ToolCallStream("openai-chat")
    stream.feed(delta(content="x"))
    stream.feed(call(0, "a", "f", '{"a":'))
    stream.feed(call(0, "b", None, "oops}"))
    stream.feed(finish())
    stream.close()
    changed, invalid = stream.completion.defects
    assert (changed.code, changed.call, changed.piece) == ("id_changed", 0, 2)
    assert (invalid.code, invalid.call, invalid.offset, invalid.piece) == ("args_invalid", 0, 5, 4)
    assert invalid.message.startswith("call 0 (f): The arguments are no JSON")
    assert "oops" not in invalid.message


# ---------------------------------------------------------------- halves of characters


def test_halves_of_a_character_meet_between_deltas():
    stream = toolstream.ToolCallStream("openai-chat")
    pieces = ['{"a":"\ud83d', "\ude00\ud83d", "\ude00", "\ud83d", "x\ud83d", '"}']
    events = stream.feed(call(0, "a", "f", ""))
    for piece in pieces:
        events += stream.feed(call(0, arguments=piece))
        events += stream.feed(delta(content=piece, reasoning=piece))
    events += stream.feed(finish())
    events += stream.close()
    got = stream.completion.calls[0]
    assert got.arguments_text == '{"a":"\U0001f600\U0001f600\ud83dx\ud83d"}' == stream.completion.text
    assert stream.completion.reasoning == stream.completion.text
    assert got.arguments == {"a": "\U0001f600\U0001f600\ufffdx\ufffd"}
    check_events(stream.completion, events)
    for kind in ("text.delta", "reasoning.delta"):
        assert "".join(event.text for event in events if event.type == kind) == stream.completion.text


def test_a_half_that_stays_alone_at_the_end_is_kept():
    stream = toolstream.ToolCallStream("openai-chat")
    events = stream.feed(delta(entry(0, "a", "f", '{"a":"\ud83d'), content="\ud83d", reasoning="\ud83d"))
    assert stream.completion.calls[0].arguments_text == '{"a":"'
    events += stream.close()
    check_events(stream.completion, events)
    completion = stream.completion
    assert [completion.calls[0].arguments_text, completion.text, completion.reasoning] == [
        '{"a":"\ud83d', "\ud83d", "\ud83d"
    ]  # fmt: skip


def test_a_half_before_the_final_text():
    from toolstream.assembler import Assembler

    for final in ('{"a":"\U0001f600"}', '{"b":1}', '{"a":"'):
        assembler = Assembler()
        got = assembler.open(1, id="a", name="f")
        assembler.append(got, '{"a":"\ud83d')
        assembler.final_text(got, final)
        assembler.end(got)
        assert got.arguments_text == final
