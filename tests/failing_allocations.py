"""Lets each allocation of the compiled engine fail in turn, alone and with all later ones; run by `test_compiled.py`.

Only a MemoryError comes out. Where it broke off the reading of a piece, the parser refuses to go on, keeps what it
showed last and is never complete; else nothing is lost: the rest can be read, and gives the same as without a failure.
"""

from __future__ import annotations

import _testcapi
import array
import contextlib
import faulthandler
import gc
import itertools
import json

from cutting import pieces_of
from test_leaks import TEXTS

from toolstream import _engine_c as engine
from toolstream.errors import LimitExceededError
from toolstream.types import MISSING

FACTS = (
    *("complete", "valid", "error", "repairs", "repair_count", "duplicate_keys", "overflow_count", "position"),
    *("root_end", "depth", "in_string", "escape", "open_path"),
)
OPTIONS = [{}, {"lenient": True, "report_ends": True}, {"max_depth": 9, "pending_scalars": "withhold"}]
MORE_TEXTS = [
    '[{"a":' * 40,
    '{"a":["' + "x" * 70_000 + '\\n"',
    "[" + "1" * 5000 + ",1e400," + "2" * 70 + ".5,",
    '["' + "\u20ac" * 90 + '"]',
    '"\ud83d"',
]


def seen(parser):
    return repr([getattr(parser, fact) for fact in FACTS]), repr(parser.snapshot())


def walk(attempt):
    """Call `attempt(fail)`, which calls `fail()` and reads, for each allocation that can fail."""
    failures = 0
    for is_alone in (True, False):
        for number in itertools.count(1):

            def fail(number=number, stop=number + 1 if is_alone else 0):
                gc.collect()  # empties the free lists
                _testcapi.set_nomemory(number, stop)

            if not attempt(fail):
                break
            failures += 1
    return failures


def raises_memory_error(read):
    try:
        read()
    except MemoryError:
        return True
    finally:
        _testcapi.remove_mem_hooks()
    return False


def is_refused(parser, piece):
    for take in (parser.append, parser.feed):
        try:
            take(piece)
        except RuntimeError:
            return True
        except LimitExceededError:
            return False
    return False


def walk_parser(pieces, options, method, looks):
    passes_limit = contextlib.suppress(LimitExceededError)
    whole = engine.StreamingJsonParser(**options)
    positions = [0]
    for piece in pieces:
        with passes_limit:
            getattr(whole, method)(piece)
        positions.append(whole.position)
    want = seen(whole)

    def attempt(fail):
        parser = engine.StreamingJsonParser(**options)
        take, look = getattr(parser, method), parser.snapshot
        shown = [MISSING]
        at = 0

        def read():
            nonlocal at
            fail()
            for at, piece in enumerate(pieces):  # noqa: B007
                with passes_limit:
                    take(piece)
                if looks:
                    shown.append(look())

        has_failed = raises_memory_error(read)
        before = repr(shown)
        if is_refused(parser, ""):
            assert has_failed
            assert all(is_refused(parser, piece) for piece in ("more", b"more", '"]}]}'))
            assert (parser.complete, parser.root_end, parser.open_path) == (False, None, ())
            if looks:
                assert parser.snapshot() is shown[-1]
            seen(parser)
        else:
            assert parser.position in positions[at : at + 2]
            if parser.position == positions[at + 1] != positions[at]:
                at += 1
            for piece in pieces[at:]:
                with passes_limit:
                    take(piece)
            for _ in range(5000):  # what it lags is paid for
                if seen(parser) == want:
                    break
                with passes_limit:
                    parser.feed("")
            assert seen(parser) == want
        assert repr(shown) == before
        return has_failed

    return walk(attempt)


def walk_tracker():
    pieces = ['[{"a', b'"b\\', bytearray(b"\x80{"), "\u20ac" * 300 + '"', None, memoryview(b"[[["), '"\\']
    plain = engine.JsonTracker()

    def state(tracker):
        return tracker.depth, tracker.in_string, tracker.escape

    states = [state(plain)]
    for piece in pieces:
        with contextlib.suppress(TypeError):
            plain.feed(piece)
        states.append(state(plain))

    def attempt(fail):
        tracker = engine.JsonTracker()
        at = 0

        def read():
            nonlocal at
            fail()
            for at, piece in enumerate(pieces):  # noqa: B007
                with contextlib.suppress(TypeError):
                    tracker.feed(piece)

        has_failed = raises_memory_error(read)
        assert state(tracker) in states[at : at + 2]
        return has_failed

    return walk(attempt)


def walk_scan():
    data, offsets = b'{"a[[' * 50, array.array("q", [0, 6, 150, 250])

    def attempt(fail):
        depth, flags = array.array("i", [7] * 3), bytearray(b"777")

        def read():
            fail()
            engine.scan_bytes(data, offsets, depth, flags)

        has_failed = raises_memory_error(read)
        if has_failed:
            assert (list(depth), flags) == ([7] * 3, b"777")
            engine.scan_bytes(data, offsets, depth, flags)
        assert all(mark < 4 for mark in flags)
        return has_failed

    return walk(attempt)


def walk_objects():
    """Objects read and written in one call: they are as without a failure, and nothing of them is left half written."""
    value = {"a": [1, -2.5, None, {"c": []}], "\u20ac": ["\u00e9\n" * 300, '"' * 200], "b": {"d": ["x" * 2000, [7]]}}
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    want = repr((text, value))
    failures = 0
    for call, wanted in (
        (lambda: engine.write_object(value, None), want),
        (lambda: engine.write_object({**value, "z": "\ud83d"}, None), "None"),
        (lambda: engine.read_object(text, None), repr(value)),
        (lambda: engine.read_object(text, 2), "None"),
        (lambda: engine.read_object(text + "x", None), "None"),
    ):

        def attempt(fail, call=call, wanted=wanted):
            given = []

            def read():
                fail()
                given.append(call())

            has_failed = raises_memory_error(read)
            assert has_failed or repr(given[0]) == wanted
            assert repr(call()) == wanted
            return has_failed

        failures += walk(attempt)
    assert repr((text, value)) == want
    return failures


def main():
    faulthandler.enable()
    gc.disable()
    gc.collect()
    gc.freeze()
    failures = walk_tracker() + walk_scan() + walk_objects()
    for text in [text for text in TEXTS if text] + MORE_TEXTS:
        for options in OPTIONS:
            for size in (5, 100_000):
                if len(text) < 2000 or size > 5:
                    for method, looks in (("append", True), ("feed", False)):
                        failures += walk_parser(pieces_of(text, size), options, method, looks)
        data = text.encode("utf-8", "surrogatepass")
        failures += walk_parser(pieces_of(data, 7 if len(data) < 2000 else 50_000), {}, "append", True)
    print(failures, "failed allocations")


if __name__ == "__main__":
    main()
