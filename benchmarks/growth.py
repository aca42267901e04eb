"""Growth by the clock: what a text of twice the length costs, next to a call that does nothing, in the same run.

    python benchmarks/growth.py                    exponents of the back end of TOOLSTREAM_BACKEND; fails above a limit
    python benchmarks/growth.py --only WORD        rows whose name has the word

Texts of up to 8 MB in pieces of 64 characters (2 MB of nesting), and of up to 1 MB in pieces of one; a quarter of that
for the plain engine. The clock is CPU time, without the collector, which is no part of the library. In each round every
length of a row is measured once, and beside it two controls: a call that does nothing on the same pieces, and the
interpreter alone joining them and making the same values. The least of the rounds counts, since noise only adds. The
exponent is the slope of the logarithms, at most 0.15 above that of the steeper control: memory gets slower with its
size, for `json.loads` too. A row above the limit gets more rounds before it fails. `instructions.py` is the exact form
of this.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections import deque
from functools import partial
from typing import Any

from common import OPERATIONS, SHAPES, cut, seconds, slope

KB, MB = 1 << 10, 1 << 20
SIZES = {1: [64 * KB, 256 * KB, MB], 64: [128 * KB, 512 * KB, 2 * MB, 8 * MB]}
PLAIN = 4  # the plain engine is measured to this part of the lengths
MARGIN = 0.15
ROUNDS, SPENT = 5, 3.0  # rounds of a row; fewer, at least two, once so many seconds are spent
SHORTEST = 0.002  # seconds: what is over sooner is repeated within a round
TEXTS = ("string", "escapes", "items", "deep", "wide", "number", "word")
VALUES = ("string", "items", "deep", "wide")  # what the interpreter can read, or make
CASES = [
    *((operation, shape, 64) for shape in TEXTS for operation in ("live", "append")),
    *((operation, shape, 1) for shape in TEXTS for operation in ("live", "append")),
    *((operation, "string", 64) for operation in OPERATIONS if operation not in ("live", "append")),
    *((operation, "string", 1) for operation in ("arguments", "accumulator", "call_parser", "stream")),
]


def do_nothing(pieces: Any) -> None:
    call = deque(maxlen=0).append
    for piece in pieces:
        call(piece)


def make_values(pieces: list[str]) -> Any:
    """The values of a text, made by the interpreter alone."""
    text = "".join(pieces)
    levels = text.count('[{"a":')
    if not levels:
        return json.loads(text)
    value: Any = 1  # of nesting that json.loads would not read
    for _ in range(levels):
        value = [{"a": value}]
    return value


class Row:
    """The least costs by length: of an operation, of a call that does nothing, of making the values."""

    def __init__(self, toolstream: Any, case: tuple[str, str, int]) -> None:
        operation, shape, size = case
        part = PLAIN if toolstream.BACKEND == "python" else 1
        longest = 2 * MB if shape == "deep" else 8 * MB  # containers that are open weigh a hundred times their text
        texts = [SHAPES[shape](length // part) for length in SIZES[size] if length <= longest]
        pieces = [cut(text, size) for text in texts]
        self.lengths = [len(text) for text in texts]
        self.pieces = len(pieces[-1])
        run, prepare = OPERATIONS[operation]
        self.measured = [
            (partial(run, toolstream), [prepare(row) for row in pieces]),
            (do_nothing, pieces),
            (make_values, pieces if shape in VALUES else []),
        ]
        self.costs = [[float("inf")] * len(inputs) for _, inputs in self.measured]

    def measure(self) -> None:
        gc.collect()
        gc.disable()
        begin = time.process_time()
        for number in range(ROUNDS):
            if number >= 2 and time.process_time() - begin > SPENT:
                break
            for (run, inputs), costs in zip(self.measured, self.costs, strict=True):
                costs[:] = (min(cost, repeated(run, data)) for cost, data in zip(costs, inputs, strict=True))
        gc.enable()

    def exponents(self) -> list[float]:
        return [slope(zip(self.lengths, costs, strict=True)) if costs else 0.0 for costs in self.costs]


def repeated(run: Any, data: Any) -> float:
    """The least of as many times as fit into a short while, at least one."""
    least, spent = float("inf"), 0.0
    while spent < SHORTEST:
        cost = seconds(run, data)
        least, spent = min(least, cost), spent + cost
    return least


def exponents(only: str) -> bool:
    """Print the table; whether every exponent is within its limit."""
    import toolstream

    head = f"operation ({toolstream.BACKEND})"
    print(
        f"{head:20} {'text':8} {'piece':>6} {'to':>8} {'ns a piece':>11} {'exponent':>9} {'nothing':>8} {'values':>7}"
    )
    good, begin = True, time.perf_counter()
    for case in CASES:
        if only not in " ".join(map(str, case)):
            continue
        row = Row(toolstream, case)
        for _ in range(3):
            row.measure()
            exponent, *controls = row.exponents()
            within = exponent <= max(controls) + MARGIN
            if within:
                break
        good = good and within
        print(
            f"{case[0]:20} {case[1]:8} {case[2]:6} {row.lengths[-1] / MB:5.2f} MB"
            f" {row.costs[0][-1] / row.pieces * 1e9:11,.0f} {exponent:9.3f} {controls[0]:8.3f}"
            + (f" {controls[1]:7.3f}" if controls[1] else "")
            + ("" if within else "  TOO STEEP"),
            flush=True,
        )
    print(f"{time.perf_counter() - begin:.0f} s")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    return 0 if exponents(options.only) else 1


if __name__ == "__main__":
    sys.exit(main())
