"""What the compiled engine alone has to promise: that it is memory-safe, and honest where it was broken off."""

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from toolstream import _engine_c, _rules


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
        for use in (lambda: parser.append("]"), lambda: parser.feed(b"]"), parser.snapshot):
            try:
                told.append(repr(use()))
            except RuntimeError as error:
                told.append(str(error))
        told.append((parser.complete, parser.open_path))

    before = gc.get_threshold()
    gc.callbacks.append(intrude)
    gc.set_threshold(1)
    try:
        parser.append(text)
        parser.snapshot()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(intrude)
    whole = _engine_c.StreamingJsonParser()
    whole.append(text)
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
