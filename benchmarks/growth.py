"""Growth by the clock: what a text of twice the length costs, next to a call that does nothing, in the same run.

    python benchmarks/growth.py                    exponents of the back end of TOOLSTREAM_BACKEND; fails above a limit
    python benchmarks/growth.py --svg FILE         only the chart: cost of a live tool call against the alternatives

Texts of up to 8 MB in pieces of 64 characters and up to 1 MB in pieces of one. The clock is CPU time, the least of
some rounds. The exponent is the slope of the logarithms, at most 0.15 above that of the call that does nothing: the
memory of a machine gets slower with its size too. `instructions.py` is the exact form of this.
"""

from __future__ import annotations

import argparse
import sys
from collections import deque
from functools import partial
from pathlib import Path

from common import OPERATIONS, SHAPES, cut, least_seconds, slope

KB, MB = 1 << 10, 1 << 20
SIZES = {64: [128 * KB, 512 * KB, 2 * MB, 8 * MB], 1: [64 * KB, 256 * KB, MB]}
MARGIN = 0.15
CASES = [
    *(("live", shape, size) for size in SIZES for shape in SHAPES),
    *((operation, "string", 64) for operation in OPERATIONS if operation != "live"),
    *((operation, "string", 1) for operation in ("append", "arguments", "accumulator", "call_parser", "stream")),
]


def do_nothing(pieces: list[str]) -> None:
    call = deque(maxlen=0).append
    for piece in pieces:
        call(piece)


def exponents(rounds: int) -> bool:
    """Print the table; whether every exponent is within its limit."""
    import toolstream

    floor = {}
    for size, lengths in SIZES.items():
        texts = [cut(SHAPES["string"](length), size) for length in lengths]
        costs = [least_seconds(do_nothing, pieces, rounds) for pieces in texts]
        floor[size] = slope(zip(lengths, costs, strict=True))
        print(f"{'a call that does nothing':28} {'':10} {size:6} {floor[size]:20.2f}")
    print(f"{'operation':28} {'shape':10} {'piece':>6} {'ns a piece, longest':>20} {'exponent':>9}")
    good = True
    for operation, shape, size in CASES:
        run = partial(OPERATIONS[operation].run, toolstream)
        points = []
        for length in SIZES[size]:
            data = OPERATIONS[operation].prepare(cut(SHAPES[shape](length), size))
            points.append((length, least_seconds(run, data, rounds)))
        exponent = slope(points)
        within = exponent <= floor[size] + MARGIN
        good = good and within
        each = points[-1][1] / (points[-1][0] / size) * 1e9
        print(
            f"{operation:28} {shape:10} {size:6} {each:20,.0f} {exponent:9.2f} {'' if within else 'TOO STEEP'}",
            flush=True,
        )
    return good


def chart(budget: float = 4.0, size: int = 4) -> str:
    """One `write_file` call, decoded events in, live arguments read after each; peers as far as the budget goes."""
    import peers
    from charts import lines

    for group in peers.GROUPS:
        group()
    series: dict[str, list[tuple[int, float]]] = {}
    for peer, name in (
        (peers.OWN, "toolstream"),
        ("anthropic SDK", "anthropic SDK"),
        ("openai SDK", "openai SDK (no live value)"),
    ):
        if peer not in peers.ADAPTERS["assemble"]:
            continue
        row = series.setdefault(name, [])
        for power in range(10, 22):
            events = peers.EVENTS[peer](cut(SHAPES["string"](1 << power), size))
            run = peers.ADAPTERS["assemble"][peer]
            rounds = 1 if row and row[-1][1] >= 0.1 else 3  # the first run of all warms up
            row.append((1 << power, least_seconds(run, events, rounds)))
            if row[-1][1] > budget / 3:
                break
    return lines(f"CPU time to receive one tool call in pieces of {size} characters", series)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    if options.svg:
        options.svg.write_text(chart())
        return 0
    return 0 if exponents(options.rounds) else 1


if __name__ == "__main__":
    sys.exit(main())
