"""What the compiled engine alone has to promise: that it is memory-safe, and honest where it was broken off."""

import contextlib
import gc
import subprocess
import sys
from pathlib import Path

import pytest
from cutting import pieces_of

from toolstream import LimitExceededError, _engine_c, _rules
from toolstream.types import MISSING


def test_allocations_that_fail():
    pytest.importorskip("_testcapi", reason="the allocator that fails is among the tests of CPython")
    command = [sys.executable, Path(__file__).with_name("failing_allocations.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout.split()[0]) > 5000


def test_a_parser_that_is_used_while_it_reads():
    """The collector can run code of anybody in the middle of a piece: it is told no, and nothing is lost."""
    text = '[{"a":[1,{"b":"c"}]},' * 50
    parser, told = _engine_c.StreamingJsonParser(), []

    def intrude(*_):
        for use in (lambda: parser.append(""), lambda: parser.feed(b""), parser.snapshot):
            try:
                told.append(repr(use()))
            except RuntimeError as error:
                told.append(str(error))
        told.append((parser.complete, parser.open_path))

    before = gc.get_threshold()
    gc.callbacks.append(intrude)
    gc.set_threshold(1)
    try:
        changes = [change for piece in pieces_of(text, 300) for change in parser.append(piece)]
        parser.snapshot()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(intrude)
    whole = _engine_c.StreamingJsonParser()
    assert changes == whole.append(text)
    assert (parser.snapshot(), parser.position) == (whole.snapshot(), len(text))
    assert {"MISSING", (False, ())} < set(told)
    assert sum("the parser is reading" in str(answer) for answer in told) > 100


def test_an_exception_in_the_middle_of_a_piece(monkeypatch):
    """Such as a KeyboardInterrupt, which comes out wherever Python code runs."""

    def interrupted(_):
        raise KeyboardInterrupt

    parser = _engine_c.StreamingJsonParser()
    parser.append('{"a":1,')
    shown = parser.snapshot()
    monkeypatch.setattr(_rules, "parse_integer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        parser.append('"b":' + "2" * 30 + ",")
    monkeypatch.undo()
    for take in (parser.append, parser.feed):
        with pytest.raises(RuntimeError, match="broke off an earlier piece"):
            take('"c":3}')
    assert parser.snapshot() is shown
    assert shown == {"a": 1}
    assert (parser.complete, parser.root_end, parser.open_path) == (False, None, ())


def test_a_new_parser_knows_nothing_of_one_that_was_dropped():
    """Their memory is used again."""
    texts = [
        '{"a":["x\\u00',
        "[1,[2,[3,[4,[5,[6,[7,[8,[9",
        "{'a':1 /*",
        b"[\xe2\x82",
        "\ud83d",
        "[1e400,1 2]x",
        '{"a":1,"a":2}',
    ]
    facts = [name for name in dir(_engine_c.StreamingJsonParser) if not name.startswith("_")]

    def seen(parser):
        return [getattr(parser, name) for name in facts if not callable(getattr(parser, name))]

    new = seen(_engine_c.StreamingJsonParser())
    for text in texts:
        for options in ({"lenient": True, "report_ends": True, "max_depth": 3}, {"pending_scalars": "withhold"}):
            many = [_engine_c.StreamingJsonParser(**options) for _ in range(20)]
            for parser in many:
                for method in (parser.append, parser.feed):
                    with contextlib.suppress(LimitExceededError):
                        method(text)
                parser.snapshot()
            del many, parser, method
            for _ in range(20):
                parser = _engine_c.StreamingJsonParser()
                assert (seen(parser), parser.snapshot()) == (new, MISSING)
                assert parser.append("[" * 9 + '"x') == [
                    *(("set", (0,) * depth, []) for depth in range(9)),
                    ("set", (0,) * 9, "x"),
                ]
                assert parser.append("y") == [("append", (0,) * 9, "y")]


def test_parsers_of_a_subclass():
    """They have attributes and finalizers, and go the way of all objects."""
    gone = []

    class Parser(_engine_c.StreamingJsonParser):
        def __del__(self):
            gone.append((self.note, self.append('"]}'), self.snapshot()))

    for number in range(30):
        parser = Parser(lenient=True)
        parser.note = number
        parser.append('{"a":["x')
        del parser
    plain = [_engine_c.StreamingJsonParser() for _ in range(30)]
    assert not any(hasattr(parser, "note") for parser in plain)
    assert [note for note, _, _ in gone] == list(range(30))
    assert all(value == {"a": ["x"]} for _, _, value in gone)
