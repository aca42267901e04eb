"""`apply_changes`: a writer that follows a parser, and the errors of changes that do not fit."""

import copy
import sys
import time

import pytest

from toolstream import MISSING, apply_changes


def test_starts_from_missing_and_returns_the_root():
    assert apply_changes(MISSING, []) is MISSING
    assert apply_changes(MISSING, [("set", (), None)]) is None
    assert apply_changes(MISSING, [("set", (), 7)]) == 7
    assert apply_changes(MISSING, [("set", (), "a"), ("append", (), "b")]) == "ab"


def test_changes_the_target_in_place():
    target = apply_changes(MISSING, [("set", (), {}), ("set", ("a",), []), ("set", ("a", 0), "x")])
    assert target == {"a": ["x"]}
    inner = target["a"]
    again = apply_changes(target, [("append", ("a", 0), "y"), ("set", ("a", 1), 2), ("set", ("b",), True)])
    assert again is target
    assert target["a"] is inner
    assert target == {"a": ["xy", 2], "b": True}


def test_a_root_that_is_set_again_is_a_new_object():
    target = apply_changes(MISSING, [("set", (), [])])
    again = apply_changes(target, [("set", (), {})])
    assert (target, again) == ([], {})


def test_an_end_changes_nothing():
    changes = [("set", (), []), ("set", (0,), "a"), ("end", (0,), None), ("end", (), None)]
    assert apply_changes(MISSING, changes) == ["a"]


def test_a_member_keeps_its_place_and_an_element_too():
    changes = [("set", (), {}), ("set", ("a",), 1), ("set", ("b",), [1, 2]), ("set", ("a",), 3), ("set", ("b", 0), 4)]
    value = apply_changes(MISSING, changes)
    assert list(value.items()) == [("a", 3), ("b", [4, 2])]


def test_changes_stay_as_they_are_and_can_be_applied_again():
    changes = [
        ("set", (), {}),
        ("set", ("a",), [[1], {"k": []}]),
        ("set", ("a", 1, "k", 0), "x"),
        ("append", ("a", 1, "k", 0), "y"),
    ]
    before = copy.deepcopy(changes)
    first = apply_changes(MISSING, changes)
    second = apply_changes(MISSING, changes)
    assert first == second == {"a": [[1], {"k": ["xy"]}]}
    assert first is not second
    assert first["a"] is not second["a"]
    assert changes == before
    first["a"][0].append(2)
    assert changes == before


def test_strings_that_take_turns_and_are_replaced():
    changes = [
        ("set", (), {}), ("set", ("a",), "a"), ("set", ("b",), "b"),
        ("append", ("a",), "1"), ("append", ("b",), "2"), ("append", ("a",), "3"),
        ("set", ("a",), "new"), ("append", ("a",), "4"), ("append", ("b",), "5"),
        ("set", ("c",), {}), ("set", ("c", "d"), "d"), ("append", ("c", "d"), "6"), ("set", ("c",), 7),
    ]  # fmt: skip
    assert apply_changes(MISSING, changes) == {"a": "new4", "b": "b25", "c": 7}


def test_changes_read_from_json_are_lists():
    assert apply_changes(MISSING, [["set", [], {}], ["set", ["a"], "x"], ["append", ["a"], "y"]]) == {"a": "xy"}


def test_any_iterable_of_changes():
    assert apply_changes(MISSING, (("set", (), i) for i in range(3))) == 2


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("append", ("b",), "x"), "an object of 3 members has nothing at 'b'"),
        (("append", ("list", 1), "x"), "an array of 1 elements has nothing at 1"),
        (("append", ("list", -1), "x"), "has nothing at -1"),
        (("append", ("list", "0"), "x"), "has nothing at '0'"),
        (("append", ("n",), "x"), "there is a value of type int, and only a string grows"),
        (("append", ("list",), "x"), "there is an array of 1 elements, and only a string grows"),
        (("append", ("s",), 1), "a value of type int cannot be added to a string"),
        (("append", ("s",), None), "a value of type NoneType cannot be added to a string"),
        (("set", ("list", 2), 1), "an array of 1 elements has no place 2"),
        (("set", ("list", -1), 1), "no place -1"),
        (("set", ("list", True), 1), "no place True"),
        (("set", ("list", "a"), 1), "no place 'a'"),
        (("set", (0,), 1), "an object of 3 members has no place 0"),
        (("set", ("b", "c"), 1), "has nothing at 'b'"),
        (("set", ("n", "c"), 1), "a value of type int has no place 'c'"),
        (("set", ("s", 0), 1), "a string has no place 0"),
        (("set", ("s", 0, 0), 1), "step 0 leads into a string"),
        (("set", ([],), 1), "no place []"),
        (("drop", (), None), "the kinds are set, append and end"),
        (("set", ()), "not enough values"),
        (("set", (), 1, 2), "too many values"),
        (5, "cannot unpack"),
        (None, "cannot unpack"),
        (("set", 5, 1), "not iterable"),
    ],
)
def test_a_change_that_does_not_fit(change, reason):
    target = {"list": [1], "n": 1, "s": "text"}
    changes = [("append", ("s",), "!"), change, ("set", ("later",), 1)]
    with pytest.raises(ValueError, match=r"^change 1, .* cannot be applied: ") as caught:
        apply_changes(target, changes)
    assert reason in str(caught.value)
    assert repr(change)[:20] in str(caught.value)
    assert target == {"list": [1], "n": 1, "s": "text!"}  # those before it have been applied


@pytest.mark.parametrize("change", [("append", (), "x"), ("set", ("a",), 1), ("append", (0, "a"), "x")])
def test_a_change_inside_a_value_that_is_not_there(change):
    with pytest.raises(ValueError, match=r"change 0, .* there is no value yet"):
        apply_changes(MISSING, [change])


def test_an_error_is_short_whatever_the_change():
    with pytest.raises(ValueError, match="cannot be applied") as caught:
        apply_changes({}, [("append", ("k" * 100_000,), "x" * 100_000)])
    assert len(str(caught.value)) < 1000


def test_deep_values_are_no_recursion():
    deep = []
    for _ in range(10 * sys.getrecursionlimit()):
        deep = [deep]
    value = apply_changes(MISSING, [("set", (), {}), ("set", ("a",), deep)])
    levels = 0
    value = value["a"]
    while value:
        [value] = value
        levels += 1
    assert levels == 10 * sys.getrecursionlimit()


def test_many_appends_cost_what_they_hold():
    """A quadratic writer copies gigabytes here."""

    def seconds(count):
        changes = [("set", (), {}), ("set", ("a",), ""), ("set", ("b",), "")]
        changes += [("append", ("a" if i % 2 else "b",), "0123456789abcdef") for i in range(count)]
        start = time.process_time()
        value = apply_changes(MISSING, changes)
        assert len(value["a"]) == len(value["b"]) == 8 * count
        return time.process_time() - start

    seconds(1000)
    assert min(seconds(100_000) for _ in range(3)) < 60 * min(seconds(10_000) for _ in range(3)) + 0.05
