"""One object a stream; objects that belong to different threads share no state that can be seen."""

import threading
from contextlib import suppress

import pytest
from chat import call, finish
from cutting import pieces_of

from toolstream import ToolCallArgumentsStream, ToolCallStream, apply_changes
from toolstream.types import MISSING

THREADS = 8


def in_threads(work):
    """`work(number)` in each of some threads that start together; what they returned."""
    start, results, errors = threading.Barrier(THREADS), [None] * THREADS, []

    def run(number):
        start.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not errors
    return results


@pytest.fixture(autouse=True)
def switch_often():
    """Threads take turns every 10 microseconds."""
    import sys

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def text_of(number):
    names = ["shared", f"own{number}", "shared", "\u00e9" * (number + 1)]
    return "[" + ",".join(f'{{"{name}":["v{number}\\n",{number}.5,true]}}' for name in names * 60) + "]"


def value_of(number):
    names = ["shared", f"own{number}", "shared", "\u00e9" * (number + 1)]
    return [{name: [f"v{number}\n", number + 0.5, True]} for name in names * 60]


def test_parsers_share_nothing(engine):
    """Keys and words that all threads meet at once go through the same caches."""

    def work(number):
        seen = []
        for size in (1, 3, 17, 1 << 20):
            parser, written = engine.StreamingJsonParser(report_ends=True), MISSING
            for piece in pieces_of(text_of(number), size):
                written = apply_changes(written, parser.append(piece))
                if size > 1:
                    parser.snapshot()
            assert written == parser.snapshot()
            seen.append(parser.snapshot())
        return seen

    assert in_threads(work) == [[value_of(number)] * 4 for number in range(THREADS)]


def test_trackers_share_nothing(engine):
    def work(number):
        tracker = engine.JsonTracker()
        for _ in range(2000):
            tracker.feed('{"' + "[" * number)
            tracker.feed('"[')
        return tracker.depth, tracker.in_string

    assert in_threads(work) == [(4000, False)] * THREADS


def test_streams_and_arguments_share_nothing():
    def work(number):
        stream = ToolCallStream("openai-chat", new_id=lambda: f"id{number}")
        arguments = ToolCallArgumentsStream()
        text = f'{{"a":{value_of(number)[0]["shared"][1]},"b":"' + "x" * 500 + '"}'
        stream.feed(call(0, None, f"f{number}", ""))
        for piece in pieces_of(text, 4):
            stream.feed(call(0, arguments=piece))
            arguments.append(piece)
        stream.feed(finish())
        stream.close()
        (one,) = stream.completion.executable_calls
        assert arguments.finish().arguments == one.arguments
        return one.id, one.name, one.arguments["a"]

    assert in_threads(work) == [(f"id{number}", f"f{number}", number + 0.5) for number in range(THREADS)]


def test_an_object_may_move_from_thread_to_thread(engine):
    parser, pieces = engine.StreamingJsonParser(), pieces_of(text_of(1), 50)
    for piece in pieces:
        thread = threading.Thread(target=parser.feed, args=(piece,))
        thread.start()
        thread.join()
    assert parser.snapshot() == value_of(1)


def test_one_object_in_many_threads_does_not_crash(engine):
    """Not allowed, and what it reads is anybody's guess; but the interpreter's lock keeps it from worse."""
    parser = engine.StreamingJsonParser(lenient=True)

    def work(number):
        for piece in pieces_of(text_of(number), 9):
            with suppress(RuntimeError):  # the compiled one says so where it finds itself reading
                parser.append(piece)
                parser.snapshot()

    try:
        in_threads(work)
    except AssertionError:
        assert engine.__name__.endswith("_py")
    assert isinstance(parser.position, int)
