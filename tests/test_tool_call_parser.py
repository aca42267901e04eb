"""StreamingToolCallParser: the examples, the three mended faults, the same rules written plainly, and the cost."""

import json
import math

import pytest
from counting import lines_executed
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_tool_call_parser import PlainParser
from vectors import exact, vectors

from toolstream import MISSING, CompletedToolCall, StreamingToolCallParser, ToolCallParseResult

FLAGS = [
    "has_incomplete_tool_calls",
    "has_nameless_tool_call",
    "has_conflicting_tool_call_identity",
    "has_invalid_tool_call_index",
    "has_invalid_tool_call_arguments",
]


def flags(parser):
    """The names of the marks that are set."""
    return [name for name in FLAGS if getattr(parser, name)() is True]


@pytest.mark.parametrize("vector", vectors("tool_call_parser"))
def test_vectors(vector):
    parser = StreamingToolCallParser()
    for method, arguments, want in vector["steps"]:
        if method == "flags":
            assert flags(parser) == want
            continue
        got = getattr(parser, method)(*arguments)
        if method == "add_chunk":
            assert exact([got.complete, got.actual_index]) == exact([want["complete"], want["actual_index"]])
            assert (got.error is not None) == ("error" in want)
            assert got.repaired is want.get("repaired", False)
            if "value" in want:
                assert exact(got.value) == exact(want["value"])
            else:
                assert got.value is MISSING
        elif method == "get_completed_tool_calls":
            assert exact(got) == exact([call for call in want if len(call) == 4])
            assert exact(parser.get_completed_tool_calls(include_empty=True)) == exact([call[:4] for call in want])
        else:
            assert exact(got) == exact(want)


# ---------------------------------------------------------------- the mended faults


def test_a_new_id_with_text_leaves_a_moved_whole_call_alone():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":1}', "c1", "f")
    assert parser.add_chunk(0, '{"b":2}', None, "g").actual_index == 1
    result = parser.add_chunk(0, '{"c":', "c3", "h")
    assert (result.complete, result.actual_index) == (False, 2)
    assert parser.add_chunk(0, "3}") == ToolCallParseResult(True, {"c": 3}, actual_index=2)
    assert parser.get_completed_tool_calls() == [
        ("c1", "f", {"a": 1}, 0),
        (None, "g", {"b": 2}, 1),
        ("c3", "h", {"c": 3}, 2),
    ]
    assert flags(parser) == []


def test_a_new_id_with_text_leaves_a_whole_call_without_id_alone():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":1}', None, "f")
    assert parser.add_chunk(0, '{"b":2}', "c2", "g") == ToolCallParseResult(True, {"b": 2}, actual_index=1)
    assert parser.get_completed_tool_calls() == [(None, "f", {"a": 1}, 0), ("c2", "g", {"b": 2}, 1)]
    assert flags(parser) == []


def test_a_call_left_alone_that_has_no_name_is_a_conflict():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":1}')
    assert parser.add_chunk(0, '{"b":2}', "c2", "g").actual_index == 1
    assert flags(parser) == ["has_nameless_tool_call", "has_conflicting_tool_call_identity"]


@pytest.mark.parametrize("chunk", ["", " ", "\n"])
def test_a_late_id_without_text_is_adopted(chunk):
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":1}', "c1", "f")
    parser.add_chunk(0, '{"b":2}', None, "g")
    assert parser.add_chunk(0, chunk, "c2").actual_index == 1
    assert parser.get_tool_call_meta(1) == ("c2", "g")
    assert parser.add_chunk(2, "[1]").actual_index == 2
    assert parser.add_chunk(2, chunk, "c3", "h").actual_index == 2
    assert parser.get_tool_call_meta(2) == ("c3", "h")
    assert parser.has_conflicting_tool_call_identity() is False


def test_an_unfinished_call_without_id_still_takes_its_late_id_with_text():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":', None, "f")
    assert parser.add_chunk(0, "1}", "c1") == ToolCallParseResult(True, {"a": 1}, actual_index=0)


def test_a_moved_call_is_found_after_its_providers_index_was_reset():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":1}', "c1", "f")
    parser.add_chunk(0, '{"b":', "c2", "g")
    parser.reset_index(0)
    assert parser.add_chunk(0, "2}") == ToolCallParseResult(True, {"b": 2}, actual_index=1)
    assert parser.get_buffer(0) == ""


def test_a_call_that_opens_at_the_reset_index_has_its_own_chunks():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":1}', "c1", "f")
    parser.add_chunk(0, '{"b":', "c2", "g")
    parser.reset_index(0)
    assert parser.add_chunk(0, '{"c":', "c3", "h").actual_index == 0
    assert parser.add_chunk(0, "3}").actual_index == 0
    assert [parser.get_buffer(0), parser.get_buffer(1)] == ['{"c":3}', '{"b":']


def test_a_moved_call_that_was_reset_itself_is_not_found_again():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":1}', "c1", "f")
    parser.add_chunk(0, '{"b":', "c2", "g")
    parser.reset_index(0)
    parser.reset_index(1)
    assert parser.add_chunk(0, "2}").actual_index == 0


# ---------------------------------------------------------------- answers


@pytest.mark.parametrize("index", [-1, 2**53, 1.0, 0.0, -0.0, math.nan, math.inf, "0", None, True, False, []], ids=repr)
def test_an_index_that_is_no_safe_integer_is_refused(index):
    parser = StreamingToolCallParser()
    result = parser.add_chunk(index, '{"a":1}', "c1", "f")
    assert (result.complete, result.value, result.repaired, result.actual_index) == (False, MISSING, False, None)
    assert repr(index) in result.error
    assert flags(parser) == ["has_conflicting_tool_call_identity", "has_invalid_tool_call_index"]
    assert parser.get_completed_tool_calls(include_empty=True) == []
    parser.reset()
    assert flags(parser) == []
    assert parser.add_chunk(2**53 - 1, "{}", "c1", "f").actual_index == 2**53 - 1


@pytest.mark.parametrize("chunk", [None, b"{}", {"a": 1}, 1])
def test_a_chunk_that_is_no_text_is_a_type_error_and_changes_nothing(chunk):
    parser = StreamingToolCallParser()
    with pytest.raises(TypeError, match="must be str"):
        parser.add_chunk(0, chunk, "c1", "f")
    assert parser.get_tool_call_meta(0) == (None, None)


@pytest.mark.parametrize("name", [b"f", 1, ["f"]])
def test_a_name_that_is_no_text_is_a_type_error_and_changes_nothing(name):
    parser = StreamingToolCallParser()
    with pytest.raises(TypeError, match="a name must be str or None"):
        parser.add_chunk(0, "{}", "c1", name)
    assert parser.get_tool_call_meta(0) == (None, None)


@pytest.mark.parametrize("id", [b"c1", 1, ["c1"]])
def test_an_id_that_is_no_text_is_a_type_error_and_changes_nothing(id):
    parser = StreamingToolCallParser()
    with pytest.raises(TypeError, match=f"an id must be str or None, not {type(id).__name__}"):
        parser.add_chunk(0, "{}", id, "f")
    assert parser.get_tool_call_meta(0) == (None, None)


def test_a_fallback_that_cannot_be_called_is_a_type_error():
    with pytest.raises(TypeError, match="fallback must be callable or None, not dict"):
        StreamingToolCallParser(fallback={})


def test_a_bare_number_is_whole_at_any_moment_so_the_rest_goes_elsewhere():
    parser = StreamingToolCallParser()
    assert parser.add_chunk(0, "1", "c1", "f") == ToolCallParseResult(True, 1, actual_index=0)
    assert parser.add_chunk(0, "2", "c1", "f") == ToolCallParseResult(False, actual_index=0)  # a replay
    assert parser.add_chunk(0, "3") == ToolCallParseResult(True, 3, actual_index=1)


@pytest.mark.parametrize(
    ("text", "wholes"),
    [("-0.5e+2", [1, 3, 6]), ("12", [0, 1]), ("true", [3]), ("false", [4]), (" null", [4]), ("nul", []), ("01", [0])],
)
def test_where_bare_scalars_are_whole(text, wholes):
    for last in range(len(text)):
        ways = [[text[: last + 1]]]
        if last and last - 1 not in wholes:  # what follows a whole text would be ignored as a replay
            ways.append([text[:last], text[last]])
        for chunks in ways:
            parser = StreamingToolCallParser()
            for chunk in chunks:
                result = parser.add_chunk(0, chunk, "c1", "f")
            assert result.complete is (last in wholes), chunks
            assert (result.error is None) is (last in wholes or chunks == [" "]), chunks
            if last in wholes:
                assert exact(result.value) == exact(json.loads(text[: last + 1]))


def test_integers_are_exact_and_those_of_too_many_digits_are_floats():
    parser = StreamingToolCallParser()
    assert parser.add_chunk(0, '{"a":12345678901234567890}', "c1", "f").value == {"a": 12345678901234567890}
    assert exact(parser.add_chunk(1, "9" * 4300, "c2", "f").value) == exact(int("9" * 4300))
    assert parser.add_chunk(2, "9" * 4301, "c3", "f").value == math.inf


def test_a_root_string_is_closed_for_the_time_being():
    parser = StreamingToolCallParser()
    opened = parser.add_chunk(0, '"a\\', "c1", "f")
    assert (opened.complete, opened.repaired, opened.value) == (False, False, MISSING)
    assert "too early" in opened.error
    first = parser.add_chunk(0, 'n"', "c1")
    assert first == ToolCallParseResult(True, "a\n", actual_index=0)
    texts = [parser.add_chunk(1, chunk, "c2", "g") for chunk in ('"x', "\\u00", "e9", "\\ud83d", "\\", "ude00", "y")]
    assert [(text.complete, text.repaired, text.value) for text in texts] == [
        (True, True, "x"),
        (False, False, MISSING),
        (True, True, "x\u00e9"),
        (True, True, "x\u00e9\ufffd"),
        (False, False, MISSING),
        (True, True, "x\u00e9\U0001f600"),
        (True, True, "x\u00e9\U0001f600y"),
    ]


def test_a_late_value_is_that_of_its_own_moment():
    parser = StreamingToolCallParser()
    results = [parser.add_chunk(0, chunk, "c1", "f") for chunk in ('"a', "\ud83d", "\ude00", "z")]
    parser.add_chunk(0, '"', "c1")
    parser.reset_index(0)
    assert [result.value for result in reversed(results)] == ["a\U0001f600z", "a\U0001f600", "a\ufffd", "a"]


def test_halves_of_a_character_are_joined_in_the_buffer():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '{"a":"\ud83d', "c1", "f")
    assert parser.get_buffer(0) == '{"a":"\ud83d'
    assert parser.add_chunk(0, '\ude00"}').value == {"a": "\U0001f600"}
    assert parser.get_buffer(0) == '{"a":"\U0001f600"}'


def test_the_error_says_where():
    result = StreamingToolCallParser().add_chunk(0, '{"a":1,}', "c1", "f")
    assert result.error == "not valid JSON at offset 7: expected a member's name in double quotes"
    assert result.complete is False


def test_results_compare_and_show_what_they_hold():
    result = StreamingToolCallParser().add_chunk(0, "12", "c1", "f")
    assert repr(result) == "ToolCallParseResult(complete=True, value=12, error=None, repaired=False, actual_index=0)"
    assert result == ToolCallParseResult(True, 12, actual_index=0)
    assert result != ToolCallParseResult(True, 12, actual_index=1)
    assert result != (True, 12, None, False, 0)
    match result:
        case ToolCallParseResult(True, 12):
            pass
        case _:
            pytest.fail("it does not match")


def test_args_is_an_object_and_the_buffer_has_what_was_sent():
    parser = StreamingToolCallParser()
    for index, text in enumerate(['{"a":1}', "[1]", '"x', "12", "null", '{"a":tru', "  "]):
        parser.add_chunk(index, text, f"c{index}", "f")
    assert parser.get_completed_tool_calls() == [
        CompletedToolCall(f"c{index}", "f", args, index)
        for index, args in enumerate([{"a": 1}, {}, {}, {}, {}, {"a": True}])
    ]
    assert parser.get_completed_tool_calls(include_empty=True)[6] == ("c6", "f", {}, 6)
    assert [parser.get_buffer(i) for i in (1, 2, 6, 7)] == ["[1]", '"x', "  ", ""]


def test_the_fallback_reads_what_is_no_json_and_nothing_else():
    seen = []

    def fallback(text):
        seen.append(text)
        return {"read": text} if "x" in text else [text]

    parser = StreamingToolCallParser(fallback=fallback)
    for index, text in enumerate(['{"a":1}', '{"x":', '{"y":', '"x', "x", "12"]):
        parser.add_chunk(index, text, f"c{index}", "f")
    args = [call.args for call in parser.get_completed_tool_calls()]
    assert args == [{"a": 1}, {"read": '{"x":'}, {}, {}, {"read": "x"}, {}]
    assert seen == ['{"x":', '{"y":', "x"]
    parser.reset()
    parser.add_chunk(0, "{x", "c1", "f")
    assert parser.get_completed_tool_calls()[0].args == {"read": "{x"}


def test_a_blank_call_does_not_hide_another_one_with_its_id():
    parser = StreamingToolCallParser()
    parser.add_chunk(1, "", "c1", "f")
    parser.add_chunk(0, '{"a":', "c2", "g")
    parser.add_chunk(0, "1}", "c3", "g")
    parser.reset_index(0)
    parser.add_chunk(0, '{"a":1}', "c2", "g")
    parser.add_chunk(1, "", "c2x", "g")
    assert [call.id for call in parser.get_completed_tool_calls()] == ["c2"]


def test_reset_index_of_no_index_does_nothing():
    parser = StreamingToolCallParser()
    parser.reset_index(-1)
    parser.reset_index("0")
    assert parser.add_chunk(0, "{}", "c1", "f").actual_index == 0


# ---------------------------------------------------------------- the same rules, written plainly

PIECES = [
    "{",
    "}",
    '{"a":1}',
    '{"a":',
    "1}",
    "[1]",
    '"',
    'x"',
    "x",
    " ",
    "",
    "12",
    "tru",
    "e",
    "null",
    "\\",
    '"a":',
    ",",
]
steps = st.one_of(
    st.tuples(
        st.just("add_chunk"),
        st.sampled_from([0, 0, 0, 1, 1, 2, 3, 7, -1]),
        st.sampled_from(PIECES),
        st.sampled_from([None, None, "", "a", "b", "c", "d"]),
        st.sampled_from([None, None, "f", "g", " f ", " "]),
    ),
    st.tuples(st.just("add_chunk"), st.just(0), st.sampled_from(['{"b":2}', '{"b":', "2}"])),
    st.tuples(st.just("reset_index"), st.integers(0, 4)),
)


@given(st.lists(steps, max_size=16))
@settings(max_examples=400, deadline=None)
def test_it_does_what_the_plain_rules_do(script):
    parser, plain = StreamingToolCallParser(), PlainParser()
    results = []
    for method, *arguments in script:
        got = getattr(parser, method)(*arguments)
        want = getattr(plain, method)(*arguments)
        if method == "add_chunk":
            results.append((got, want))
            assert (got.complete, got.error is not None, got.repaired, got.actual_index) == (want[0], *want[2:])
        for number, slot in plain.slots.items():
            assert parser.get_buffer(number) == slot.text
            assert parser.get_state(number) == slot.state
            assert parser.get_tool_call_meta(number) == (slot.id, slot.name)
        assert {name: getattr(parser, name)() for name in FLAGS} == plain.flags()
    completed = parser.get_completed_tool_calls(include_empty=True)
    for call, (*want, _) in zip(completed, plain.completed(), strict=True):
        assert exact([call.id, call.name, call.index]) == exact([want[0], want[1], want[3]])
        if want[2] is not None:
            assert exact(call.args) == exact(want[2])
    for got, want in results:  # late values, read in the end
        if got.complete:
            assert exact(got.value) == exact(want[1])
        else:
            assert got.value is MISSING


objects = st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)))


@given(st.lists(objects, min_size=1, max_size=4), st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_well_formed_calls_come_back_however_they_are_cut_and_interleaved(calls, rng):
    parser = StreamingToolCallParser()
    rest = [json.dumps(call, ensure_ascii=rng.random() < 0.5) for call in calls]
    for index in range(len(calls)):
        parser.add_chunk(index, "", f"c{index}", f"f{index}")
    while any(rest):
        index = rng.choice([index for index, text in enumerate(rest) if text])
        length = rng.randint(1, 4)
        parser.add_chunk(index, rest[index][:length])
        rest[index] = rest[index][length:]
    assert parser.get_completed_tool_calls() == [(f"c{i}", f"f{i}", call, i) for i, call in enumerate(calls)]
    assert flags(parser) == []


# ---------------------------------------------------------------- cost


def work(feed, size):
    parser = StreamingToolCallParser()
    return lines_executed(lambda: feed(parser, size))


def root_string(parser, size):
    parser.add_chunk(0, '"', "c1", "f")
    for _ in range(size):
        parser.add_chunk(0, "x", "c1")


def one_object(parser, size):
    parser.add_chunk(0, '{"a":"', "c1", "f")
    for _ in range(size):
        parser.add_chunk(0, "x")


def broken_text(parser, size):
    parser.add_chunk(0, "x", "c1", "f")
    for _ in range(size):
        parser.add_chunk(0, "y")


def stray_chunks(parser, size):
    for index in range(size // 10):
        parser.add_chunk(index, '{"a":1}', f"c{index}", "f")
    for i in range(size):
        parser.add_chunk(i % (size // 10), '{"b":2}')


def stray_chunks_to_unfinished_calls(parser, size):
    for index in range(size // 10):
        parser.add_chunk(index, '{"a":1}' if index % 2 else '{"a":', f"c{index}", "f")
    for i in range(size // 2):
        parser.add_chunk((2 * i + 1) % (size // 10), "}")


def colliding_calls(parser, size):
    for i in range(size):
        parser.add_chunk(0, '{"a":1}', f"c{i}", "f")


def moves_and_resets(parser, size):
    for i in range(size):
        parser.add_chunk(i + 1, '{"a":1}', "c", "f")
        parser.reset_index(i % 7)


def marks_read_all_the_time(parser, size):
    for index in range(size):
        parser.add_chunk(index, '{"a":', f"c{index}", "f")
        flags(parser)


FEEDS = [
    root_string,
    one_object,
    broken_text,
    stray_chunks,
    stray_chunks_to_unfinished_calls,
    colliding_calls,
    moves_and_resets,
    marks_read_all_the_time,
]


@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: feed.__name__)
def test_work_is_linear(feed):
    small, large = work(feed, 200), work(feed, 800)
    assert large < 4.4 * small


def test_ten_thousand_calls_and_a_hundred_thousand_stray_chunks():
    parser = StreamingToolCallParser()
    for index in range(10_000):
        parser.add_chunk(index, '{"a":1}', f"c{index}", "f")
    for i in range(100_000):
        parser.add_chunk(i % 10_000, "[")
    assert parser.get_state(10_000).depth == 100_000
    assert parser.has_nameless_tool_call() is True


def test_a_long_root_string_in_one_character_pieces():
    parser = StreamingToolCallParser()
    parser.add_chunk(0, '"', "c1", "f")
    for _ in range(100_000):
        result = parser.add_chunk(0, "x", "c1")
    assert (result.complete, result.repaired, result.value) == (True, True, "x" * 100_000)
