"""What may be fed, what is refused, and what a limit leaves."""

import copy
import ctypes
import inspect
import mmap
import pickle
import sys
from array import array

import numpy as np
import pytest
from cutting import feed_all, ways

from toolstream import MISSING, LimitExceededError, ToolStreamError, parse_partial_json

TEXT = '{"é": ["x", 1.5]} '
DATA = TEXT.encode()
VALUE = {"é": ["x", 1.5]}


class Text(str):
    __slots__ = ()


class Data(bytes):
    __slots__ = ()


class Markup(str):
    """As template engines have it: what is made of it is of its own kind, and what is added is marked."""

    __slots__ = ()

    def __add__(self, other):
        return Markup(f"<{self:s}>{other}")

    def __radd__(self, other):
        return Markup(f"{other}<{self:s}>")

    def __getitem__(self, where):
        return Markup(str.__getitem__(self, where))


class Miscounted(bytes):
    def __len__(self):
        return 0


def mapped(data):
    memory = mmap.mmap(-1, len(data))
    memory.write(data)
    return memory


BUFFERS = {
    "str": lambda data: data.decode(),
    "subclass of str": lambda data: Text(data.decode()),
    "bytes": bytes,
    "subclass of bytes": Data,
    "bytearray": bytearray,
    "memoryview": memoryview,
    "read-only view": lambda data: memoryview(bytearray(data)).toreadonly(),
    "slice of a view": lambda data: memoryview(b"xx" + data + b"yy")[2:-2],
    "view cast": lambda data: memoryview(data).cast("b"),
    "view of characters": lambda data: memoryview(data).cast("c"),
    "subclass of bytes that miscounts": Miscounted,
    "numpy": lambda data: np.frombuffer(data, np.uint8),
    "array": lambda data: array("B", data),
    "array of signed": lambda data: array("b", [byte - 256 if byte > 127 else byte for byte in data]),
    "array of ctypes": lambda data: (ctypes.c_ubyte * len(data)).from_buffer_copy(data),
    "characters of ctypes": lambda data: (ctypes.c_char * len(data)).from_buffer_copy(data),
    "mmap": mapped,
}


@pytest.mark.parametrize("kind", BUFFERS)
def test_every_kind_of_piece(engine, kind):
    make = BUFFERS[kind]
    parser = feed_all(engine.StreamingJsonParser(), [make(DATA)])
    assert (parser.snapshot(), parser.complete, parser.valid, parser.position) == (VALUE, True, True, len(TEXT))
    cuts = [DATA[:4], DATA[4:7], DATA[7:]]  # between characters
    changes = []
    parser = engine.StreamingJsonParser()
    for piece in cuts:
        changes += parser.append(make(piece))
    assert parser.snapshot() == VALUE
    assert changes == [("set", (), {}), ("set", ("é",), []), ("set", ("é", 0), "x"), ("set", ("é", 1), 1.5)]
    tracker = feed_all(engine.JsonTracker(), [make(DATA[:8])])
    assert (tracker.depth, tracker.in_string) == (2, False)


def test_a_subclass_of_str_is_read_as_the_text_that_it_is(engine):
    parser = engine.StreamingJsonParser()
    changes = []
    for piece in ('["a', "b", "\\n", "é\ud83d", '\ude00","', 'c"', ", 1", "2", "]"):
        changes += parser.append(Markup(piece))
    assert parser.snapshot() == ["ab\né\U0001f600", "c", 12]
    assert parser.valid
    assert parser.position == 18
    assert {type(value) for _, _, value in changes} == {list, str, int}
    assert [type(value) for value in parser.snapshot()] == [str, str, int]
    parser = feed_all(engine.StreamingJsonParser(lenient=True), [Markup("{'k"), Markup("ey': Tr"), Markup("ue}")])
    assert parser.snapshot() == {"key": True}
    assert [type(key) for key in parser.snapshot()] == [str]
    tracker = feed_all(engine.JsonTracker(), [Markup('{"a": ["x')])
    assert (tracker.depth, tracker.in_string) == (2, True)


def test_a_view_without_dimensions_is_one_byte(engine):
    parser = feed_all(
        engine.StreamingJsonParser(), [b"[", memoryview(b"1").cast("B", []), np.array(50, np.uint8), b"]"]
    )
    assert parser.snapshot() == [12]


def test_kinds_can_be_mixed(engine):
    parser = engine.StreamingJsonParser()
    for piece in (
        '{"é',
        b"\xc3",
        memoryview(b"\xa9"),
        np.frombuffer(b'": "', np.uint8),
        "\U0001f600",
        bytearray(b'"}'),
    ):
        parser.feed(piece)
    assert parser.snapshot() == {"éé": "\U0001f600"}
    assert parser.valid


def test_an_unfinished_character_before_text_is_replaced(engine):
    parser = feed_all(engine.StreamingJsonParser(), [b'["\xe2\x82', '"]'])
    assert parser.snapshot() == ["\ufffd"]
    parser = feed_all(engine.StreamingJsonParser(), ['["\ud83d', b'\xe9"]'])
    assert parser.snapshot() == ["\ufffd\ufffd"]


@pytest.mark.parametrize(
    "empty", ["", b"", bytearray(), memoryview(b""), np.zeros(0, np.uint8)], ids=lambda piece: type(piece).__name__
)
def test_an_empty_piece_is_nothing(engine, empty):
    parser = feed_all(engine.StreamingJsonParser(), [b'["\xc3', empty, b"\xa9\\", empty, b'n"', empty, "]"])
    assert parser.snapshot() == ["é\n"]
    assert list(parser.append(empty)) == []


def test_a_buffer_is_not_kept(engine):
    data = bytearray(b'["abc", "d\xc3')
    parser = engine.StreamingJsonParser()
    parser.feed(data)
    data[:] = b"#" * 20  # resizing would fail if it were still exported
    parser.feed(b'\xa9"]')
    assert parser.snapshot() == ["abc", "dé"]


def test_a_piece_is_released_at_once(engine):
    piece = Text('["' + "x" * 100)
    before = sys.getrefcount(piece)
    parser = engine.StreamingJsonParser()
    parser.feed(piece)
    assert sys.getrefcount(piece) == before


WRONG = [
    (None, "NoneType"),
    (5, "int"),
    (1.5, "float"),
    (["a"], "list"),
    ({"a": 1}, "dict"),
    (object(), "object"),
    (array("i", [1, 2]), "array"),
    (array("d", [1.0]), "array"),
    (np.zeros(3, np.int32), "ndarray"),
    (np.zeros(3, np.float64), "ndarray"),
    (np.zeros(6, np.uint8)[::2], "non-contiguous"),
    (memoryview(b"abcdef")[::2], "non-contiguous"),
    (memoryview(b"abcdef")[::-1], "non-contiguous"),
    (memoryview(array("i", [1])), "memoryview"),
]


@pytest.mark.parametrize(("wrong", "named"), WRONG, ids=[f"{i} {named}" for i, (_, named) in enumerate(WRONG)])
def test_a_wrong_piece_is_named_and_changes_nothing(engine, wrong, named):
    parser = feed_all(engine.StreamingJsonParser(), ['{"a": "x\\'])
    for method in (parser.feed, parser.append, engine.JsonTracker().feed):
        with pytest.raises(TypeError, match=named) as caught:
            method(wrong)
        assert "str" in str(caught.value)
        assert "bytes" in str(caught.value)
    assert parser.position == 9
    parser.feed('n"}')
    assert parser.snapshot() == {"a": "x\n"}
    with pytest.raises(TypeError, match=named):
        parse_partial_json(wrong)


def test_a_released_view_is_an_error(engine):
    view = memoryview(b"[1]")
    view.release()
    parser = engine.StreamingJsonParser()
    with pytest.raises((TypeError, ValueError)):
        parser.feed(view)
    assert parser.snapshot() is MISSING


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"pending_scalars": "hide"}, ValueError),
        ({"pending_scalars": None}, TypeError),
        ({"lenient": 1}, TypeError),
        ({"report_ends": "yes"}, TypeError),
        ({"max_depth": 0}, ValueError),
        ({"max_depth": -1}, ValueError),
        ({"max_depth": True}, TypeError),
        ({"max_depth": 1.5}, TypeError),
        ({"max_depth": "5"}, TypeError),
    ],
)
def test_options_are_checked(engine, options, error):
    with pytest.raises(error, match=next(iter(options))):
        engine.StreamingJsonParser(**options)


def test_options_are_keywords(engine):
    with pytest.raises(TypeError):
        engine.StreamingJsonParser("show")
    with pytest.raises(TypeError, match="unknown"):
        engine.StreamingJsonParser(unknown=True)
    with pytest.raises(TypeError):
        engine.JsonTracker(1)


READ_ONLY = [
    "complete", "valid", "error", "repairs", "repair_count", "duplicate_keys", "overflow_count", "position",
    "root_end", "depth", "in_string", "escape", "open_path",
]  # fmt: skip


@pytest.mark.parametrize("name", READ_ONLY)
def test_facts_are_read_only(engine, name):
    with pytest.raises(AttributeError):
        setattr(engine.StreamingJsonParser(), name, 1)


def test_no_new_attributes(engine):
    with pytest.raises(AttributeError):
        engine.StreamingJsonParser().other = 1
    with pytest.raises(AttributeError):
        engine.JsonTracker().other = 1


# ---------------------------------------------------------------- max_depth


def test_a_passed_limit(engine):
    for way, pieces in ways('{"a": [1, "x", {"b": 2}, 3]}'):
        parser = engine.StreamingJsonParser(max_depth=2)
        with pytest.raises(LimitExceededError, match="max_depth=2") as caught:
            feed_all(parser, pieces)
        assert isinstance(caught.value, ToolStreamError), way
        assert isinstance(caught.value, ValueError), way
        # what was read before it stays readable
        assert parser.snapshot() == {"a": [1, "x"]}, way
        assert (parser.complete, parser.depth, parser.position, parser.repair_count) == (False, 2, 15, 0), way
        # later pieces are refused with the same error, and change nothing
        for later in ("", "]}", b"]", "x"):
            for method in (parser.feed, parser.append):
                with pytest.raises(LimitExceededError) as again:
                    method(later)
                assert str(again.value) == str(caught.value), way
        assert parser.snapshot() == {"a": [1, "x"]}, way
        assert parser.position == 15, way


def test_a_limit_counts_open_containers_of_every_kind(engine):
    feed_all(engine.StreamingJsonParser(max_depth=2), ['{"a": [], "b": {}, "c": [1]} [[[['])
    feed_all(engine.StreamingJsonParser(max_depth=1), ['["[[{{"]'])


@pytest.mark.parametrize("rest", [b"[[\xc2", "[[\ud83d"])
def test_what_is_kept_back_after_the_limit_is_no_deviation(engine, rest):
    parser = engine.StreamingJsonParser(max_depth=1)
    with pytest.raises(LimitExceededError):
        parser.feed(rest)
    assert (parser.valid, parser.error) == (True, None)
    for text in ("{[[", '{"a":[[', "{{{", "[{["):
        with pytest.raises(LimitExceededError):
            feed_all(engine.StreamingJsonParser(max_depth=2), [text])
    with pytest.raises(LimitExceededError):
        feed_all(engine.StreamingJsonParser(max_depth=1), ["[[]"])
    parser = engine.StreamingJsonParser(max_depth=100_000)
    parser.feed("[" * 100_000)
    with pytest.raises(LimitExceededError, match="100000"):
        parser.feed("[")


def test_changes_before_the_limit_are_in_the_snapshot(engine):
    parser = engine.StreamingJsonParser(max_depth=1)
    assert list(parser.append('["a')) == [("set", (), []), ("set", (0,), "a")]
    with pytest.raises(LimitExceededError):
        parser.append('b", [')
    assert parser.snapshot() == ["ab"]


@pytest.mark.parametrize(
    ("opener", "options"),
    [("[", {}), ('{"a":', {"lenient": True, "report_ends": True}), ("{[", {"pending_scalars": "withhold"})],
)
def test_a_million_open_brackets(engine, opener, options):
    """No crash: while they are read, in a snapshot, in changes, and when everything is dropped again."""
    brackets = 1_000_000 if opener == "[" else 200_000
    parser = engine.StreamingJsonParser(**options)
    half = opener * (brackets // 2 // len(opener.replace('"a":', "")))
    changes = [*parser.append(half)]
    assert parser.snapshot() is not MISSING
    changes += parser.append(half)
    assert parser.depth == brackets
    assert len(changes) <= 33
    value = parser.snapshot()
    assert value is not MISSING
    parser.feed("1" + "]" * brackets)
    assert parser.complete
    del parser
    del value


@pytest.mark.parametrize("name", ["StreamingJsonParser", "JsonTracker"])
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_reader_is_not_copied(engine, name, way):
    with pytest.raises(TypeError, match=f"a {name} cannot be copied or pickled"):
        way(getattr(engine, name)())


def test_readers_tell_their_signature(engine):
    options = "(*, pending_scalars='show', lenient=False, report_ends=False, max_depth=None)"
    bare = inspect.signature(engine.StreamingJsonParser)
    names = [part.replace(annotation=inspect.Parameter.empty) for part in bare.parameters.values()]
    assert str(bare.replace(parameters=names, return_annotation=inspect.Signature.empty)) == options
    assert list(inspect.signature(engine.JsonTracker).parameters) == []
