"""The gate against slower code: instructions counted by valgrind, which do not depend on how busy the machine is.

    python benchmarks/instructions.py                   count, compare; fails when a rule below is broken
    python benchmarks/instructions.py --renew           write the new levels to instructions.json
    python benchmarks/instructions.py --only WORD       cases whose name has the word
    python benchmarks/instructions.py --profile         also the functions that spend them, case by case

Rules, for every case (operation, shape of the text, characters a piece) on the back end of TOOLSTREAM_BACKEND:

* growth: four times the text costs at most 5 % more than four times the instructions, and the exponent from the
  smallest to the largest text is at most 1.05. This holds on any machine.
* credit: a live view of many records is fresh at every piece, and costs more and more, until its credit is used up.
  At that length a character costs the constant C of the promise, cost(n) <= C * n: no other text, smaller or larger,
  may cost more than 5 % above it, and beyond it a doubling adds at most 5 % more a character than the doubling
  before. C is the level of these cases.
* level: instructions a character, as a ratio to a fixed workload counted in the same run, are at most 5 % above
  those stored in instructions.json. Levels are stored by back end, version of Python and the compiler that built it,
  since all three move them, and compared only where these are the same.

One process under `valgrind --tool=callgrind` runs everything. A call of getpgid(), which nothing else makes, stands
before and after each measured run and lets callgrind write what it counted since the last one. What is no property of
the library is kept out: the cyclic garbage collector is off, and each call of the allocator counts the same, since the
layout of the heap, which the length of a folder's name is enough to change, decides what it does; only the exponent is
that of all instructions, lest copies made by the allocator outgrow the text.
"""

from __future__ import annotations

import argparse
import functools
import gc
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from common import OPERATIONS, SHAPES, cut, library, slope

from toolstream import BACKEND, StreamingJsonParser

STORE = Path(__file__).with_name("instructions.json")
TOLERANCE = 1.05
KB = 1024
SIZES = [32 * KB, 128 * KB, 512 * KB]
ONE_CHARACTER = [32 * KB, 128 * KB]

ALLOCATOR = re.compile(r"_?(Py(Object|Mem)_(Raw)?)?([mM]alloc|[cC]alloc|[rR]ealloc|[fF]ree)\b")
AN_ALLOCATION = 40  # instructions
NEVER_FOUND, DIGITS = re.compile("[0-9]{100}x"), "1234567890" * 1000

COSTLY = ("escapes", "unicode", "deep", "wide")  # their views cost all the credit at each piece; so fewer pieces

CASES = [
    *(("feed", shape, 0) for shape in SHAPES),
    *(("live", shape, 64 if shape in COSTLY else 16) for shape in SHAPES),
    *(("append", shape, 4) for shape in ("string", "escapes", "records")),
    *(("live", shape, 1) for shape in ("string", "records", "word")),
    *(("tracker", "records", size) for size in (0, 4)),
    ("scan_bytes", "records", 64),
    *(("read_object", shape, 0) for shape in ("string", "records", "wide")),
    *(("write_object", shape, 0) for shape in ("string", "records", "wide")),
    ("apply_changes", "string", 16),
    *(("arguments", shape, 64) for shape in ("string", "records")),
    ("accumulator", "string", 64),
    *(("call_parser", shape, 64) for shape in ("string", "records")),
    *(("stream", shape, 64) for shape in ("string", "records")),
    *((operation, "string", 64) for operation in ("stream_parallel", "stream_sse")),
    ("stream_calls", "string", 256),
    *((decoder, "string", 64) for decoder in ("sse", "sse_one_event", "ndjson", "json_array")),
]


def sizes(case: tuple[str, str, int]) -> list[int]:
    if uses_credit(case):
        return [used_up(case[2]) * quarters // 4 for quarters in (1, 4, 8, 16)]
    return ONE_CHARACTER if case[2] == 1 else SIZES


def uses_credit(case: tuple[str, str, int]) -> bool:
    """Whether the view stops being fresh at every piece at a length that is worth measuring."""
    return case[1] == "records" and case[0] in ("live", "arguments", "stream")


@functools.cache
def used_up(size: int) -> int:
    """Characters of records in pieces of `size` at which a change is not shown at once for the first time."""
    parser, last = StreamingJsonParser(), None
    for number, piece in enumerate(cut(SHAPES["records"](1 << 20), size)):
        changes, shown = parser.append(piece), parser.snapshot()
        if changes and shown is last:
            return number * size
        last = shown
    raise AssertionError("the credit was never used up")


def title(case: tuple[str, str, int]) -> str:
    return " ".join(map(str, case))


def workload() -> None:
    """What the levels are relative to: some C and some bytecode of the interpreter, nothing of this library, and
    nothing that takes much memory, since the state of the allocator would move the count."""
    NEVER_FOUND.search(DIGITS)
    total = 0
    for number in range(20_000):
        total = (total + number) & 127


def child(cases: list[tuple[str, str, int]]) -> None:
    """Run everything, with a mark before and after what is measured."""
    toolstream = library(os.environ["TOOLSTREAM_BACKEND"])
    gc.disable()
    workload()
    os.getpgid(0)
    workload()
    os.getpgid(0)
    for case in cases:
        operation = OPERATIONS[case[0]]
        for size in [KB, *sizes(case)]:  # the first one warms up
            data = operation.prepare(cut(SHAPES[case[1]](size), case[2]))
            os.getpgid(0)
            operation.run(toolstream, data)
            os.getpgid(0)


class Run(NamedTuple):
    functions: Counter[str]
    """Instructions by function, those of the functions that it calls left out."""
    steady: int
    """Instructions, with a fixed number of them for each call of the allocator."""


def read(profile: str) -> Run:
    functions: Counter[str] = Counter()
    function, callee, saved = "", "", 0
    calls = None
    with open(profile) as file:
        for line in file:
            if line.startswith("fn="):
                function = line[3:].strip()
            elif line.startswith("cfn="):
                callee = line[4:].strip()
            elif line.startswith("calls="):
                calls = int(line[6:].split()[0])
            elif line[0].isdigit() or line[0] in "+-*":
                cost = int(line.split()[1])
                if calls is None:
                    functions[function] += cost
                elif ALLOCATOR.match(callee) and not ALLOCATOR.match(function):
                    saved += cost - calls * AN_ALLOCATION
                calls = None  # the line after this word says what the calls cost, callees included
    return Run(functions, functions.total() - saved)


def count(cases: list[tuple[str, str, int]], folder: str) -> list[Run]:
    """What the fixed workload cost, then each case by size."""
    valgrind = ["valgrind", "--quiet", "--tool=callgrind", "--compress-strings=no", "--dump-before=getpgid"]
    profile = os.path.join(folder, "profile")
    command = [*valgrind, f"--callgrind-out-file={profile}", sys.executable, __file__, "--child", json.dumps(cases)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONHASHSEED": "0"})
    runs = 1 + sum(1 + len(sizes(case)) for case in cases)
    return [read(f"{profile}.{2 * number}") for number in range(1, runs + 1)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--renew", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child([tuple(case) for case in json.loads(options.child)])
        return 0
    if not shutil.which("valgrind"):
        print("instructions.py: valgrind is not installed, nothing was counted")
        return 0

    os.environ["TOOLSTREAM_BACKEND"] = BACKEND
    cases = [case for case in CASES if options.only in title(case)]
    key = f"{BACKEND}, {platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}"
    stored = json.loads(STORE.read_text()) if STORE.exists() else {}
    levels = stored.setdefault(key, {})
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        runs = iter(count(cases, folder))
    fixed = next(runs).steady
    print(f"{key}; fixed workload: {fixed:,} instructions")
    print(f"{'case':28} {'a character':>12} {'growth':>9} {'exponent':>9} {'level':>8} {'stored':>8}")
    for case in cases:
        name, lengths = title(case), [len(SHAPES[case[1]](size)) for size in sizes(case)]
        profiles = [next(runs) for _ in [KB, *lengths]][1:]
        row = [profile.functions.total() for profile in profiles]
        steady = [profile.steady for profile in profiles]
        if uses_credit(case):
            added = [(b - a) / (m - n) for a, b, n, m in zip(steady, steady[1:], lengths, lengths[1:], strict=False)]
            level = steady[1] / lengths[1]
            growth = [added[-1] / added[-2], *(cost / n / level for cost, n in zip(steady, lengths, strict=True))]
        else:
            level = (steady[1] - steady[0]) / (lengths[1] - lengths[0])
            growth = [b / a / (m / n) for a, b, n, m in zip(steady, steady[1:], lengths, lengths[1:], strict=False)]
        exponent = slope(zip(lengths, row, strict=True))
        level = float(f"{level / fixed * 1e6:.4g}")
        before = levels.get(name)
        print(
            f"{name:28} {row[-1] / lengths[-1]:12,.1f} {max(growth):9.3f} {exponent:9.3f} {level:8.4g} "
            + (f"{before:8.4g} {(level / before - 1) * 100:+.1f} %" if before else f"{'none':>8}")
        )
        if options.profile:
            for function, cost in profiles[-1].functions.most_common(12):
                print(f"{cost / lengths[-1]:41,.1f}   {function}")
        if max(growth) > TOLERANCE or (exponent > 1.05 and not uses_credit(case)):
            failures.append(f"{name}: grows faster than its text")
        if options.renew:
            levels[name] = level
        elif before and level > before * TOLERANCE:
            failures.append(f"{name}: {level} is more than 5 % above the stored {before}")
    if options.renew:
        known = {title(case) for case in CASES}
        stored[key] = {name: levels[name] for name in sorted(levels) if name in known}
        STORE.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
    elif not levels:
        print(f"no levels are stored for {key}: only growth was checked (--renew stores them)")
    for failure in failures:
        print("FAILED", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
