"""Ways of cutting bytes, shared by the tests of the transport and of the providers."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product

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


def inside_envelope(decoder, piece):
    """What the envelope says is the JSON of the piece, as `ToolCallStream.feed` asks for it; else `None`."""
    size, front, start, end, back = decoder.envelope
    inner = piece[start:end]
    fits = piece[:size] == front and piece[end:] == back and 10 not in inner and 13 not in inner
    return inner if fits else None


def envelopes_hold(make, pieces):
    """Whether an envelope never says anything else than `payload`, after any three of the pieces; all that it said."""
    said = set()
    for before in product(pieces, repeat=3):
        decoder = make()
        for piece in before:
            with suppress(LimitExceededError):
                if decoder.payload(piece) is None:
                    decoder.feed(piece)
        for piece in pieces:
            inner = inside_envelope(decoder, piece)
            envelope = decoder.envelope
            if inner is not None:
                assert decoder.payload(piece) == inner
                decoder.envelope = envelope
                said.add(inner)
    return said
