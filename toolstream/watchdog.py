"""StreamWatchdog: a stream that has gone silent, or never ends, is noticed and stopped.

What is limited: the silence between two pieces (`idle_timeout`), the life of the stream (`total_timeout`), and how much
comes (`max_bytes`, `max_pieces`), because a limit of silence alone does not bound a fast stream without end.

The two times are for waiting on the provider. A guard therefore stops the clock while the consumer works on a piece: a
slow consumer is not the provider's silence, and the piece that follows may have been there for long. With `start`,
`beat` and `check` alone it is the host that says what happens when, and the clock never stops.

A deadline is exclusive: a piece that comes just then is in time, and `check` raises from then on. What has run out
stays so: a late piece revives nothing, and every later `check` raises the same error.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Generator, Iterable
from time import monotonic
from typing import Any, TypeVar

from toolstream import _sources
from toolstream.errors import LimitExceededError, StreamStalledError

__all__ = ["StreamWatchdog"]

Piece = TypeVar("Piece")


class StreamWatchdog:
    """Watches one stream at a time, by a clock that is asked and never waits.

        >>> watchdog = StreamWatchdog(idle_timeout=30, total_timeout=600, max_bytes=10_000_000)
        >>> for piece in watchdog.guard(iter([b"what comes from a client"])):
        ...     print(piece)
        b'what comes from a client'

    `idle_timeout`, `total_timeout`: seconds of the clock, above 0. `max_bytes`: of all pieces together (of a text its
    characters count, of decoded events nothing); `max_pieces`: their number. `None`: no such limit. `clock`: returns
    the time in seconds and never goes back.

    A host with a loop of its own calls `start`, then `beat` for each piece, `check` whenever it likes (at `deadline` at
    the latest), and `stop` at the end.
    """

    __slots__ = (
        "_begun",
        "_bytes",
        "_clock",
        "_failure",
        "_heard",
        "_idle_timeout",
        "_max_bytes",
        "_max_pieces",
        "_paused",
        "_pieces",
        "_running",
        "_total_timeout",
    )

    def __init__(
        self,
        *,
        idle_timeout: float | None = None,
        total_timeout: float | None = None,
        max_bytes: int | None = None,
        max_pieces: int | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        for name, timeout in (("idle_timeout", idle_timeout), ("total_timeout", total_timeout)):
            if timeout is not None and not _number(name, timeout) > 0:
                raise ValueError(f"{name} must be above 0 seconds, or None, not {timeout!r}")
        for name, limit in (("max_bytes", max_bytes), ("max_pieces", max_pieces)):
            if limit is not None and not _number(name, limit) >= 0:
                raise ValueError(f"{name} must be at least 0, or None, not {limit!r}")
        if not callable(clock):
            raise TypeError(f"clock must be callable, not {type(clock).__name__}")
        self._idle_timeout = idle_timeout
        self._total_timeout = total_timeout
        self._max_bytes = max_bytes
        self._max_pieces = max_pieces
        self._clock = clock
        self._failure: tuple[type[StreamStalledError | LimitExceededError], str] | None = None
        self._running = False
        self._paused: float | None = None  # since when the consumer has been at work
        self._begun = self._heard = 0.0  # when the stream and its present silence began, the consumer's time left out
        self._bytes = self._pieces = 0

    def start(self) -> None:
        """Watch a stream from now on, from zero. Does nothing once a limit was passed."""
        if self._failure is None:
            self._begun = self._heard = self._clock()
            self._bytes = self._pieces = 0
            self._paused = None
            self._running = True

    def beat(self, size: int = 0) -> None:
        """A piece of `size` bytes has come. Does nothing when not running, or too late."""
        if _number("size", size) < 0:
            raise ValueError(f"size must be at least 0, not {size!r}")
        if not self._running or self._is_late():
            return
        self._heard = self._clock()
        self._bytes += size
        self._pieces += 1
        if self._max_bytes is not None and self._bytes > self._max_bytes:
            self._fail(LimitExceededError, f"{self._bytes} bytes have come, the limit is {self._max_bytes}")
        elif self._max_pieces is not None and self._pieces > self._max_pieces:
            self._fail(LimitExceededError, f"{self._pieces} pieces have come, the limit is {self._max_pieces}")

    def stop(self) -> None:
        """The stream has ended: nothing is watched any more. Too late does not count as an end."""
        if self._running and not self._is_late():
            self._running = False

    def check(self) -> None:
        """Raise `StreamStalledError` or `LimitExceededError` if a limit is passed; the same one ever after."""
        deadline = self.deadline
        if deadline is not None and self._clock() >= deadline:
            self._stall()
        self._raise_failure()

    @property
    def deadline(self) -> float | None:
        """The time of the clock from which on `check` raises if nothing comes; `None` if nothing is waited for."""
        if not self._running or self._paused is not None:
            return None
        deadlines = []
        if self._idle_timeout is not None:
            deadlines.append(self._heard + self._idle_timeout)
        if self._total_timeout is not None:
            deadlines.append(self._begun + self._total_timeout)
        return min(deadlines, default=None)

    def _is_late(self) -> bool:
        """Whether the deadline has passed without anyone asking; it counts as passed from now on."""
        deadline = self.deadline
        if deadline is None or self._clock() <= deadline:
            return False
        self._stall()
        return True

    def _stall(self) -> None:
        idle = self._idle_timeout
        if idle is not None and self.deadline == self._heard + idle:
            self._fail(StreamStalledError, f"the stream was silent for {idle:g} seconds, after {self._pieces} pieces")
        else:
            self._fail(StreamStalledError, f"the stream did not end within {self._total_timeout:g} seconds")

    def _fail(self, kind: type[StreamStalledError | LimitExceededError], message: str) -> None:
        self._failure = kind, message
        self._running = False

    def _raise_failure(self) -> None:
        if self._failure is not None:
            kind, message = self._failure
            raise kind(message)

    def _pause(self) -> None:
        self._paused = self._clock()

    def _resume(self) -> None:
        """The consumer is back: its time counts neither as silence nor as life of the stream."""
        if self._paused is not None:
            away = self._clock() - self._paused
            self._begun += away
            self._heard += away
            self._paused = None

    def _heard_piece(self, piece: object) -> None:
        """Count a piece, and raise if it passes a limit or came too late."""
        self.beat(_size(piece))
        self._raise_failure()

    def guard(self, pieces: Iterable[Piece]) -> Generator[Piece, None, None]:
        """The pieces of `pieces`, as long as all limits are kept; the clock starts when the first one is asked for.

        It cannot interrupt a source that blocks: silence is noticed when the next piece, or the end, comes at last. So
        give the HTTP client a read timeout as well, or use `guard_async`. The piece that passes a limit is not handed
        on. The source is closed (`close()`, where it has one) unless it has been read to its end: after an error, and
        when the consumer stops early (at once with `close()` on the guard or `contextlib.closing`, otherwise when the
        guard is collected).
        """
        source = iter(pieces)
        self.start()
        ended = False
        try:
            self.check()
            while True:
                try:
                    piece = next(source)
                except StopIteration:
                    ended = True
                    break
                self._heard_piece(piece)
                self._pause()
                yield piece
                self._resume()
            self._finish()
        finally:
            self._running = False
            if not ended:
                _sources.close(source, None if source is pieces else pieces)

    async def guard_async(self, pieces: AsyncIterable[Piece]) -> AsyncGenerator[Piece, None]:
        """The pieces of `pieces`, as long as all limits are kept; the clock starts when the first one is asked for.

        A silent source is interrupted at the deadline: the task is cancelled inside the source's `__anext__`, as
        `asyncio.timeout` does it, and the cancellation becomes a `StreamStalledError`. A cancellation from elsewhere
        stays one. The source is closed (`aclose()` or `close()`, where it has one) unless it has been read to its end:
        after an error or a cancellation, and when the consumer stops early (at once with `contextlib.aclosing`,
        otherwise when the event loop collects the guard). The piece that passes a limit is not handed on.

        Needs asyncio.
        """
        source = aiter(pieces)
        self.start()
        ended = False
        alarm = _Alarm(self)
        try:
            self.check()
            while True:
                try:
                    piece = await alarm.wait_for(source)
                except StopAsyncIteration:
                    ended = True
                    break
                self._heard_piece(piece)
                self._pause()
                yield piece
                self._resume()
            self._finish()
        finally:
            self._running = False
            alarm.cancel()
            if not ended:
                await _sources.aclose(source, None if source is pieces else pieces)

    def _finish(self) -> None:
        """The source has ended: in time, or not."""
        self.stop()
        self._raise_failure()


class _Alarm:
    """Cancels the task that waits for a piece when the watchdog's deadline comes.

    One timer serves many pieces: it is set for a deadline, and when it rings too early, because pieces have moved the
    deadline on, it is set again. A deadline never comes nearer, so it cannot ring too late.
    """

    __slots__ = ("_rung", "_task", "_timer", "_watchdog")

    def __init__(self, watchdog: StreamWatchdog) -> None:
        self._watchdog = watchdog
        self._timer: Any = None
        self._task: Any = None  # the task that is waiting
        self._rung = False

    async def wait_for(self, source: AsyncIterator[Piece]) -> Piece:
        """The next piece of `source`, or the watchdog's error, whatever the source makes of the cancellation."""
        deadline = self._watchdog.deadline
        if deadline is None:
            return await anext(source)
        import asyncio

        self._task = asyncio.current_task()
        cancelling = getattr(self._task, "cancelling", int)()  # since Python 3.11; before it, always 0
        if self._timer is None:
            self._set(deadline)
        try:
            piece = await anext(source)
        except BaseException:
            self._settle(cancelling)
            raise
        else:
            self._settle(cancelling)  # the source has kept the cancellation to itself
            return piece
        finally:
            self._task = None

    def _settle(self, cancelling: int) -> None:
        """If the alarm has rung, take its cancellation back; raise, unless somebody else has cancelled the task too."""
        if self._rung:
            uncancel: Callable[[], int] | None = getattr(self._task, "uncancel", None)
            if uncancel is None or uncancel() <= cancelling:
                self._watchdog.check()

    def _set(self, deadline: float) -> None:
        import asyncio

        delay = max(deadline - self._watchdog._clock(), 0)
        self._timer = asyncio.get_running_loop().call_later(delay, self._ring)

    def _ring(self) -> None:
        self._timer = None
        deadline = self._watchdog.deadline
        if self._task is None or deadline is None:
            return  # the consumer is at work; the next wait sets the timer
        if self._watchdog._clock() < deadline:
            self._set(deadline)
            return
        self._rung = True
        self._task.cancel()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _number(name: str, given: float) -> float:
    """What was given, if it is a number."""
    if not isinstance(given, (int, float)) or isinstance(given, bool):
        raise TypeError(f"{name} must be a number, not {type(given).__name__}")
    return given


def _size(piece: object) -> int:
    """The size of a piece: the bytes of any buffer, or the characters of a text; anything else has none."""
    if isinstance(piece, (bytes, str)):
        return len(piece)
    try:
        return memoryview(piece).nbytes  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):
        return 0
