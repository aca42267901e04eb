"""StreamWatchdog: limits by a clock of the test's own, the guards around real iterators, and cancellation."""

import asyncio
import gc
import subprocess
import sys
import time
from array import array
from contextlib import aclosing, closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vectors import vectors

from toolstream import LimitExceededError, StreamStalledError, StreamWatchdog


class Clock:
    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def stalled(watchdog):
    try:
        watchdog.check()
    except StreamStalledError:
        return True
    return False


# ---------------------------------------------------------------- by hand


@pytest.mark.parametrize("vector", vectors("stream_watchdog"))
def test_vectors(vector, clock):
    timeout, events, fires_at = vector["timeout"], vector["events"], vector["fires_at"]
    watchdog = StreamWatchdog(idle_timeout=timeout, clock=clock)
    fired = None
    for now, what in [*events, (events[-1][0] + 100 * timeout, None)]:
        deadline = watchdog.deadline
        if fired is None and deadline is not None and deadline < now:
            clock.now = deadline - timeout / 1000
            assert not stalled(watchdog)
            clock.now = fired = deadline
            assert stalled(watchdog)
        clock.now = now
        if what is not None:
            {"start": watchdog.start, "chunk": watchdog.beat, "stop": watchdog.stop}[what]()
        assert stalled(watchdog) == (fired is not None)
    assert fired == fires_at


@given(
    st.integers(1, 20),
    st.lists(st.tuples(st.integers(0, 25), st.sampled_from(["beat", "check", "stop"])), max_size=12),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_it_fires_when_a_silence_was_too_long_and_never_otherwise(timeout, events, total):
    clock = Clock()
    options = {"total_timeout": 3 * timeout} if total else {}
    watchdog = StreamWatchdog(idle_timeout=timeout, clock=clock, **options)
    watchdog.start()
    end, fired, running = timeout, False, True
    for step, what in events:
        clock.now += step
        late = running and (clock.now > end or (what == "check" and clock.now == end))
        fired = fired or late
        running = running and not late
        if what == "beat":
            watchdog.beat()
            if running:
                end = min(clock.now + timeout, 3 * timeout) if total else clock.now + timeout
        elif what == "stop":
            watchdog.stop()
            running = False
        else:
            assert stalled(watchdog) == fired
        assert watchdog.deadline == (end if running else None)
    assert stalled(watchdog) == (fired or (running and clock.now >= end))


def test_without_limits_nothing_is_waited_for(clock):
    watchdog = StreamWatchdog(clock=clock)
    watchdog.start()
    clock.now = 10**9
    watchdog.beat(10**12)
    watchdog.check()
    assert watchdog.deadline is None


def test_before_the_start_nothing_happens(clock):
    watchdog = StreamWatchdog(idle_timeout=1, max_pieces=0, clock=clock)
    assert watchdog.deadline is None
    watchdog.beat()
    clock.now = 100
    watchdog.check()
    watchdog.stop()
    watchdog.check()


def test_the_total_time_is_not_extended_by_pieces(clock):
    watchdog = StreamWatchdog(idle_timeout=10, total_timeout=25, clock=clock)
    watchdog.start()
    assert watchdog.deadline == 10
    clock.now = 9
    watchdog.beat()
    clock.now = 18
    watchdog.beat()
    assert watchdog.deadline == 25
    clock.now = 24
    watchdog.beat()
    assert watchdog.deadline == 25
    clock.now = 25
    with pytest.raises(StreamStalledError, match="did not end within 25 seconds"):
        watchdog.check()


def test_the_error_says_how_long_and_after_how_much(clock):
    watchdog = StreamWatchdog(idle_timeout=0.5, clock=clock)
    watchdog.start()
    watchdog.beat()
    clock.now = 0.5
    with pytest.raises(StreamStalledError, match=r"silent for 0\.5 seconds, after 1 pieces"):
        watchdog.check()
    assert issubclass(StreamStalledError, TimeoutError)


@pytest.mark.parametrize(("limit", "sizes", "match"), [
    ({"max_bytes": 10}, [4, 6, 1], "11 bytes have come, the limit is 10"),
    ({"max_pieces": 2}, [0, 0, 0], "3 pieces have come, the limit is 2"),
    ({"max_bytes": 0}, [0, 0, 1], "1 bytes have come, the limit is 0"),
])  # fmt: skip
def test_a_limit_may_be_reached_and_not_passed(clock, limit, sizes, match):
    watchdog = StreamWatchdog(**limit, clock=clock)
    watchdog.start()
    for size in sizes[:-1]:
        watchdog.beat(size)
        watchdog.check()
    watchdog.beat(sizes[-1])
    for again in (lambda: None, watchdog.beat, watchdog.stop, watchdog.start):
        again()
        with pytest.raises(LimitExceededError, match=match):
            watchdog.check()


def test_what_has_run_out_stays_so(clock):
    watchdog = StreamWatchdog(idle_timeout=10, clock=clock)
    watchdog.start()
    clock.now = 11
    watchdog.stop()  # too late, though nobody has asked yet
    for again in (watchdog.check, watchdog.beat, watchdog.stop, watchdog.start):
        if again != watchdog.check:
            again()
        assert stalled(watchdog)
        assert watchdog.deadline is None


def test_start_begins_from_zero_after_a_stop(clock):
    watchdog = StreamWatchdog(idle_timeout=10, total_timeout=20, max_pieces=1, clock=clock)
    watchdog.start()
    watchdog.beat()
    watchdog.stop()
    clock.now = 1000
    watchdog.start()
    assert watchdog.deadline == 1010
    watchdog.beat()
    watchdog.check()


@pytest.mark.parametrize("options", [
    {"idle_timeout": 0}, {"idle_timeout": -1}, {"total_timeout": 0}, {"idle_timeout": float("nan")},
    {"max_bytes": -1}, {"max_pieces": -1},
], ids=repr)  # fmt: skip
def test_limits_that_make_no_sense_are_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        StreamWatchdog(**options)


@pytest.mark.parametrize("options", [
    {"idle_timeout": "5"}, {"total_timeout": b"5"}, {"idle_timeout": True}, {"max_bytes": "10"}, {"max_pieces": [1]},
    {"max_pieces": False}, {"clock": 5}, {"clock": None},
], ids=repr)  # fmt: skip
def test_what_is_no_limit_is_told_as_what_it_is(options):
    [(name, given)] = options.items()
    with pytest.raises(TypeError, match=f"^{name} must be .*, not {type(given).__name__}$"):
        StreamWatchdog(**options)


def test_a_size_is_a_number_from_0_up(clock):
    watchdog = StreamWatchdog(max_bytes=10, max_pieces=2, clock=clock)
    watchdog.start()
    with pytest.raises(TypeError, match=r"^size must be a number, not bytes$"):
        watchdog.beat(b"ab")
    with pytest.raises(ValueError, match=r"^size must be at least 0, not -1$"):
        watchdog.beat(-1)
    watchdog.beat(10)
    watchdog.beat()
    watchdog.check()  # what was refused has not been counted


def test_a_piece_that_can_no_longer_be_measured_has_no_size(clock):
    piece = memoryview(b"ab")
    piece.release()
    assert list(StreamWatchdog(max_bytes=0, clock=clock).guard([piece])) == [piece]


# ---------------------------------------------------------------- around an iterator


class Source:
    """Pieces with silences before them, by the clock; remembers whether it was closed."""

    def __init__(self, clock, *pieces):
        self.clock, self.pieces, self.closed = clock, list(pieces), 0

    def __iter__(self):
        return self

    def __next__(self):
        if not self.pieces:
            raise StopIteration
        silence, piece = self.pieces.pop(0)
        self.clock.now += silence
        if isinstance(piece, BaseException):
            raise piece
        return piece

    def close(self):
        self.closed += 1


def test_guard_hands_the_pieces_on(clock):
    source = Source(clock, (1, b"ab"), (9, b"cd"), (9, "ef"), (9, {"g": 1}))
    assert list(StreamWatchdog(idle_timeout=10, clock=clock).guard(source)) == [b"ab", b"cd", "ef", {"g": 1}]
    assert source.closed == 0


def test_guard_notices_silence_when_the_next_piece_comes(clock):
    source = Source(clock, (1, "a"), (10, "b"), (11, "c"), (0, "d"))
    got = []
    with pytest.raises(StreamStalledError, match="after 2 pieces"):
        got.extend(StreamWatchdog(idle_timeout=10, clock=clock).guard(source))
    assert (got, source.closed) == (["a", "b"], 1)


def test_guard_notices_a_late_end(clock):
    class Late(Source):
        def __next__(self):
            if not self.pieces:
                self.clock.now += 11
            return super().__next__()

    with pytest.raises(StreamStalledError):
        list(StreamWatchdog(idle_timeout=10, clock=clock).guard(Late(clock, (0, "a"))))


def test_the_consumers_time_counts_neither_as_silence_nor_as_life(clock):
    watchdog = StreamWatchdog(idle_timeout=10, total_timeout=25, clock=clock)
    got = []
    for piece in watchdog.guard(Source(clock, (8, "a"), (8, "b"), (8, "c"))):
        assert watchdog.deadline is None
        clock.now += 1000
        watchdog.check()
        got.append(piece)
    assert got == ["a", "b", "c"]
    with pytest.raises(StreamStalledError, match="within 25 seconds"):
        list(StreamWatchdog(total_timeout=25, clock=clock).guard(Source(clock, (8, "a"), (8, "b"), (8, "c"), (2, "d"))))


def test_a_piece_that_passes_a_limit_is_not_handed_on(clock):
    pieces = [b"12345", bytearray(b"12"), memoryview(bytes(3)), "", {"big": "x" * 100}, "1"]
    source = Source(clock, *((0, piece) for piece in pieces))
    got = []
    with pytest.raises(LimitExceededError, match="11 bytes"):
        got.extend(StreamWatchdog(max_bytes=10, clock=clock).guard(source))
    assert got == pieces[:5]
    assert source.closed == 1
    with pytest.raises(LimitExceededError, match="3 pieces"):
        list(StreamWatchdog(max_pieces=2, clock=clock).guard("abc"))


@pytest.mark.parametrize("wide", [memoryview(bytes(16)).cast("Q"), bytearray(16), array("Q", [1, 2]), "é" * 16])
def test_a_buffer_has_its_size_in_bytes_and_a_text_in_characters(clock, wide):
    assert list(StreamWatchdog(max_bytes=16, clock=clock).guard([wide, {}])) == [wide, {}]
    with pytest.raises(LimitExceededError, match="16 bytes"):
        list(StreamWatchdog(max_bytes=15, clock=clock).guard([wide]))


def test_guard_closes_the_source_on_early_exit_and_on_errors(clock):
    watchdog = StreamWatchdog(idle_timeout=10, clock=clock)
    source = Source(clock, (0, "a"), (0, "b"))
    with closing(watchdog.guard(source)) as pieces:
        assert next(pieces) == "a"
    assert source.closed == 1
    assert watchdog.deadline is None

    source = Source(clock, (0, "a"), (0, OSError("gone")))
    with pytest.raises(OSError, match="gone"):
        list(watchdog.guard(source))
    assert source.closed == 1

    source = Source(clock, (0, "a"), (0, "b"))
    for _ in watchdog.guard(source):
        break
    gc.collect()
    assert source.closed == 1


def test_guard_closes_what_the_iterator_comes_from_too(clock):
    class Response:
        closed = 0

        def __iter__(self):
            try:
                yield from "ab"
            finally:
                self.inner_closed = True

        def close(self):
            self.closed += 1
            raise OSError("already gone")

    response = Response()
    with closing(StreamWatchdog(clock=clock).guard(response)) as pieces:
        next(pieces)
    assert response.closed == 1
    assert response.inner_closed is True


def test_guard_of_a_watchdog_that_has_fired_asks_for_nothing(clock):
    watchdog = StreamWatchdog(max_pieces=0, clock=clock)
    with pytest.raises(LimitExceededError):
        list(watchdog.guard("a"))
    source = Source(clock, (0, "a"))
    with pytest.raises(LimitExceededError):
        list(watchdog.guard(source))
    assert source.pieces == [(0, "a")]
    assert source.closed == 1


def test_one_watchdog_may_guard_one_stream_after_the_other(clock):
    watchdog = StreamWatchdog(idle_timeout=10, total_timeout=10, max_pieces=2, clock=clock)
    for _ in range(3):
        assert list(watchdog.guard(Source(clock, (5, "a"), (4, "b")))) == ["a", "b"]
        clock.now += 100


# ---------------------------------------------------------------- around an asynchronous iterator


class AsyncSource:
    """Pieces with silences in seconds before them; the last silence may be for ever (`None`)."""

    def __init__(self, *pieces):
        self.pieces, self.closed, self.cancelled = list(pieces), 0, 0

    def __aiter__(self):
        return self

    async def __anext__(self):
        if not self.pieces:
            raise StopAsyncIteration
        silence, piece = self.pieces.pop(0)
        try:
            await asyncio.sleep(60 if silence is None else silence)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return piece

    async def aclose(self):
        await asyncio.sleep(0)
        self.closed += 1


async def collect(pieces, into=None):
    into = [] if into is None else into
    async for piece in pieces:
        into.append(piece)
    return into


def test_guard_async_hands_the_pieces_on():
    source = AsyncSource((0, "a"), (0.001, "b"), (0, "c"))
    guarded = StreamWatchdog(idle_timeout=30, total_timeout=30).guard_async(source)
    assert asyncio.run(collect(guarded)) == ["a", "b", "c"]
    assert source.closed == 0


def test_guard_async_interrupts_a_silent_stream_in_time_and_closes_it():
    async def main():
        source = AsyncSource((0, "a"), (0.01, "b"), (None, "c"))
        got = []
        began = asyncio.get_running_loop().time()
        with pytest.raises(StreamStalledError, match=r"silent for 0\.05 seconds, after 2 pieces"):
            await collect(StreamWatchdog(idle_timeout=0.05).guard_async(source), got)
        assert 0.05 <= asyncio.get_running_loop().time() - began < 5
        assert (got, source.cancelled, source.closed) == (["a", "b"], 1, 1)
        assert getattr(asyncio.current_task(), "cancelling", int)() == 0
        await asyncio.sleep(0)  # the task itself goes on

    asyncio.run(main())


def test_guard_async_keeps_the_total_time_although_pieces_come():
    async def endless():
        while True:
            await asyncio.sleep(0.01)
            yield "x"

    async def main():
        with pytest.raises(StreamStalledError, match=r"did not end within 0\.1 seconds"):
            await collect(StreamWatchdog(idle_timeout=10, total_timeout=0.1).guard_async(endless()))

    asyncio.run(main())


def test_guard_async_gives_the_consumer_its_time():
    async def main():
        source = AsyncSource((0.01, "a"), (0.01, "b"), (0, "c"))
        got = []
        async for piece in StreamWatchdog(idle_timeout=0.1, total_timeout=0.15).guard_async(source):
            await asyncio.sleep(0.12)
            got.append(piece)
        assert got == ["a", "b", "c"]

    asyncio.run(main())


def test_guard_async_counts_like_guard():
    async def main():
        source = AsyncSource((0, b"123"), (0, "4567"), (0, "890"))
        got = []
        with pytest.raises(LimitExceededError, match="10 bytes"):
            await collect(StreamWatchdog(max_bytes=9).guard_async(source), got)
        assert (got, source.closed) == ([b"123", "4567"], 1)

    asyncio.run(main())


def test_a_cancellation_from_elsewhere_stays_one_and_closes_the_source():
    async def main():
        source = AsyncSource((0, "a"), (None, "b"))
        task = asyncio.ensure_future(collect(StreamWatchdog(idle_timeout=30).guard_async(source)))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (source.cancelled, source.closed) == (1, 1)

    asyncio.run(main())


def test_a_cancellation_from_elsewhere_wins_over_the_alarm():
    async def main():
        source = AsyncSource((None, "b"))
        task = asyncio.ensure_future(collect(StreamWatchdog(idle_timeout=0.02).guard_async(source)))
        await asyncio.sleep(0)
        counts = hasattr(task, "cancelling")  # before Python 3.11 the two cannot be told apart
        cancellations = []

        def cancel_too():
            cancellations.append(task.cancelling() if counts else 1)
            task.cancel()

        loop = asyncio.get_running_loop()
        loop.call_at(loop.time() + 0.01, time.sleep, 0.03)  # so that both are due in one turn of the loop
        loop.call_at(loop.time() + 0.021, cancel_too)
        with pytest.raises(asyncio.CancelledError if counts else StreamStalledError):
            await task
        assert cancellations == [1]
        assert source.closed == 1
        assert not counts or task.cancelling() == 1

    asyncio.run(main())


def test_an_outer_timeout_stays_a_timeout():
    async def main():
        source = AsyncSource((None, "a"))
        with pytest.raises(asyncio.TimeoutError) as caught:
            await asyncio.wait_for(collect(StreamWatchdog(idle_timeout=30).guard_async(source)), 0.02)
        assert not isinstance(caught.value, StreamStalledError)
        assert source.closed == 1

    asyncio.run(main())


@pytest.mark.parametrize("makes", ["another error", "an end", "a piece"])
def test_whatever_a_source_makes_of_the_cancellation_it_is_a_stalled_stream(makes):
    class Source(AsyncSource):
        async def __anext__(self):
            try:
                return await super().__anext__()
            except asyncio.CancelledError:
                if makes == "another error":
                    raise OSError("connection lost") from None
                if makes == "an end":
                    raise StopAsyncIteration from None
                return "late"

    async def main():
        source = Source((0, "a"), (None, "b"))
        got = []
        with pytest.raises(StreamStalledError):
            await collect(StreamWatchdog(idle_timeout=0.03).guard_async(source), got)
        assert (got, source.closed) == (["a"], 1)
        await asyncio.sleep(0.01)

    asyncio.run(main())


def test_an_error_of_the_source_comes_through():
    async def failing():
        yield "a"
        raise OSError("gone")

    async def main():
        with pytest.raises(OSError, match="gone"):
            await collect(StreamWatchdog(idle_timeout=30).guard_async(failing()))

    asyncio.run(main())


def test_guard_async_closes_the_source_on_early_exit():
    async def main():
        source = AsyncSource((0, "a"), (0, "b"))
        async with aclosing(StreamWatchdog(idle_timeout=30).guard_async(source)) as pieces:
            async for _ in pieces:
                break
        assert source.closed == 1

        source = AsyncSource((0, "a"), (0, "b"))
        async for _ in StreamWatchdog(idle_timeout=30).guard_async(source):
            break
        gc.collect()
        for _ in range(5):
            await asyncio.sleep(0)
        assert source.closed == 1

    asyncio.run(main())


def test_a_close_that_is_no_coroutine_and_one_that_fails():
    class Source(AsyncSource):
        aclose = None

        def close(self):
            self.closed += 1
            raise OSError("already gone")

    async def main():
        source = Source((0, "a"), (None, "b"))
        with pytest.raises(StreamStalledError):
            await collect(StreamWatchdog(idle_timeout=0.02).guard_async(source))
        assert source.closed == 1

    asyncio.run(main())


def test_the_alarm_follows_the_watchdogs_clock_not_the_loops(clock):
    async def main():
        watchdog = StreamWatchdog(idle_timeout=0.02, clock=clock)
        source = AsyncSource((0.1, "a"), (None, "b"))
        got = []
        task = asyncio.ensure_future(collect(watchdog.guard_async(source), got))
        await asyncio.sleep(0.2)
        assert got == ["a"]  # the clock stands still: no time has passed
        clock.now = 0.02
        with pytest.raises(StreamStalledError):
            await task

    asyncio.run(main())


def test_many_pieces_share_few_timers():
    async def main():
        loop = asyncio.get_running_loop()
        timers = []
        call_later = loop.call_later
        loop.call_later = lambda *args: timers.append(args) or call_later(*args)

        async def pieces():
            for _ in range(10_000):
                yield "x"

        assert len(await collect(StreamWatchdog(idle_timeout=60).guard_async(pieces()))) == 10_000
        assert len(timers) == 1

    asyncio.run(main())


def test_asyncio_is_imported_only_where_it_is_needed():
    code = "import sys, toolstream.watchdog; list(toolstream.watchdog.StreamWatchdog(idle_timeout=1).guard('ab'));"
    code += "sys.exit('asyncio' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
