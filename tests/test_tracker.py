"""`JsonTracker` and `scan_bytes`: depth and string state without values."""

from array import array

import numpy as np
import pytest
from cutting import feed_all, ways

STATES = [
    ("", 0, False, False),
    ("[", 1, False, False),
    ('{"a":[', 2, False, False),
    ('{"a":[{}],"b":"}"', 1, False, False),
    ('"', 0, True, False),
    ('"[{', 0, True, False),
    ('"a\\', 0, True, True),
    ('"a\\"', 0, True, False),
    ('"a\\\\"', 0, False, False),
    ('"a\\\\\\"', 0, True, False),
    ('"\\u00e9"', 0, False, False),
    ("]", -1, False, False),
    ("}}}[", -2, False, False),
    ("[}", 0, False, False),
    ("\\", 0, False, True),
    ('\\"[', 1, False, False),  # a backslash escapes outside of strings too
    ("\\[", 1, False, False),  # but only quotes and backslashes
    ("\\\\]", -1, False, False),
    ("\\" + "[\\}" * 50, 0, False, False),
    ('"\\[', 0, True, False),
    ('"é€\U0001f600[', 0, True, False),
    ('{"é\\', 1, True, True),
    ("[" * 3000 + "]" * 1000, 2000, False, False),
    ("not json at all {", 1, False, False),
]


@pytest.mark.parametrize(("text", "depth", "in_string", "escape"), STATES)
def test_state(engine, text, depth, in_string, escape):
    for way, pieces in ways(text):
        tracker = feed_all(engine.JsonTracker(), pieces)
        assert (tracker.depth, tracker.in_string, tracker.escape) == (depth, in_string, escape), way
        assert type(tracker.in_string) is bool
        assert type(tracker.escape) is bool


def test_lone_halves_are_characters_like_others(engine):
    tracker = feed_all(engine.JsonTracker(), ['["\ud83d', '\\"\ude00"', "["])
    assert (tracker.depth, tracker.in_string, tracker.escape) == (2, False, False)


def test_reset(engine):
    tracker = feed_all(engine.JsonTracker(), ['[["\\'])
    tracker.reset()
    assert (tracker.depth, tracker.in_string, tracker.escape) == (0, False, False)
    tracker.feed('"[')
    assert (tracker.depth, tracker.in_string) == (0, True)


@pytest.mark.parametrize("name", ["depth", "in_string", "escape"])
def test_facts_are_read_only(engine, name):
    with pytest.raises(AttributeError):
        setattr(engine.JsonTracker(), name, 1)


# ---------------------------------------------------------------- scan_bytes


def numpy_arrays(texts):
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return data, offsets, np.full(len(texts), 99, np.int32), np.full(len(texts), 99, np.uint8)


def plain_arrays(texts):
    offsets = [0]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    return b"".join(texts), array("q", offsets), array("i", [99] * len(texts)), bytearray([99] * len(texts))


@pytest.mark.parametrize("arrays", [numpy_arrays, plain_arrays])
def test_scan_of_many_texts(engine, arrays):
    texts = [text.encode() for text, *_ in STATES]
    data, offsets, depth, flags = arrays(texts)
    assert engine.scan_bytes(data, offsets, depth, flags) is None
    assert list(depth) == [state[1] for state in STATES]
    assert [bool(flag & 1) for flag in flags] == [state[2] for state in STATES]
    assert [bool(flag & 2) for flag in flags] == [state[3] for state in STATES]
    assert all(flag < 4 for flag in flags)


def test_scan_of_no_text(engine):
    data, offsets, depth, flags = plain_arrays([])
    engine.scan_bytes(data, offsets, depth, flags)
    data, offsets, depth, flags = plain_arrays([b"", b""])
    engine.scan_bytes(data, offsets, depth, flags)
    assert (list(depth), list(flags)) == ([0, 0], [0, 0])


def test_offsets_may_leave_gaps_at_the_ends(engine):
    depth, flags = array("i", [0]), bytearray(1)
    engine.scan_bytes(b"xx[[x]", array("q", [2, 4]), depth, flags)
    assert (list(depth), list(flags)) == ([2], [0])


@pytest.mark.parametrize(
    "offsets",
    [[0, 3, 2], [-1, 3, 4], [0, 2, 7], [0, 7, 7], [3, 2, 1], [0, 1], [0, 1, 2, 3], []],
)
def test_offsets_that_do_not_fit(engine, offsets):
    depth, flags = array("i", [7, 7]), bytearray([7, 7])
    with pytest.raises(ValueError, match="offsets"):
        engine.scan_bytes(b"[[[[[[", array("q", offsets), depth, flags)
    assert (list(depth), list(flags)) == ([7, 7], [7, 7])  # nothing is written


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"data": np.zeros(12, np.uint8)[::2]}, "not non-contiguous ndarray of format 'B'"),
        ({"data": memoryview(bytes(12))[::2]}, "not non-contiguous memoryview of format 'B'"),
        ({"depth": np.zeros((2, 1), np.int32)}, "not ndarray of format '.' in 2 dimensions"),
        ({"offsets": array("i", [0, 2, 6])}, "not array of format 'i'"),
        ({"flags": 5}, "not int"),
    ],
)
def test_a_wrong_buffer_is_told_as_what_it_is(engine, wrong, named):
    right = {"data": bytes(6), "offsets": array("q", [0, 2, 6]), "depth": array("i", [0, 0]), "flags": bytearray(2)}
    with pytest.raises((TypeError, ValueError), match=f"^{next(iter(wrong))} .*, {named}$"):
        engine.scan_bytes(**{**right, **wrong})


@pytest.mark.parametrize(
    "wrong",
    [
        {"offsets": array("i", [0, 2, 6])},
        {"offsets": [0, 2, 6]},
        {"depth": array("q", [0, 0])},
        {"depth": array("i", [0])},
        {"flags": bytearray(3)},
        {"flags": bytes(2)},
        {"flags": array("i", [0, 0])},
        {"data": "[[[[[["},
        {"data": None},
        {"data": np.zeros(12, np.uint8)[::2]},
        {"depth": np.zeros(4, np.int32)[::2]},
        {"data": array("i", [0] * 6)},
    ],
)
def test_wrong_buffers(engine, wrong):
    arguments = {
        "data": b"[[[[[[",
        "offsets": array("q", [0, 2, 6]),
        "depth": array("i", [7, 7]),
        "flags": bytearray(2),
        **wrong,
    }
    with pytest.raises((TypeError, ValueError, BufferError)) as caught:
        engine.scan_bytes(**arguments)
    assert str(caught.value)
    assert next(iter(wrong)) in str(caught.value) or "depth and flags" in str(caught.value)
