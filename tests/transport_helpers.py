"""Ways of cutting bytes, shared by the tests of the transport and of the providers."""

import time
from collections.abc import Callable, Iterator

import pytest

from toolstream.errors import LimitExceededError


def cuttings(data: bytes) -> Iterator[list[bytes]]:
    """The whole, every single byte, every cut in two, and every piece of a small size."""
    yield [data]
    for size in (1, 2, 3, 7):
        yield [data[i : i + size] for i in range(0, len(data), size)]
    for i in range(len(data) + 1):
        yield [data[:i], b"", data[i:]]


def decode(decoder, pieces) -> list:
    """All messages of a decoder, fed piece by piece and closed."""
    return [message for piece in pieces for message in decoder.feed(piece)] + decoder.close()


def decode_to_limit(decoder, data: bytes, size: int) -> list:
    """The messages that come before the decoder raises `LimitExceededError`; it must, and again in every later call."""
    messages: list = []

    def read() -> None:
        for i in range(0, len(data), size):
            messages.extend(decoder.feed(data[i : i + size]))
        decoder.close()

    for call in (read, decoder.close, lambda: decoder.feed(b"x")):
        with pytest.raises(LimitExceededError):
            call()
    return messages


def growth(work: Callable[[int], object], size: int) -> float:
    """How many times longer `work` takes for four times the size, in processor time: 4 is linear, 16 is quadratic."""
    best = {size: float("inf"), 4 * size: float("inf")}
    for _ in range(5):  # in turn, so that both have the same chance of a quiet moment
        for n in best:
            start = time.process_time()
            work(n)
            best[n] = min(best[n], time.process_time() - start)
    return best[4 * size] / best[size]
