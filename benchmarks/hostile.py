"""Time per character of hostile texts, next to `records_100k` in the same pieces and the same run: below 20 times.

    python benchmarks/hostile.py        the table for the back end of TOOLSTREAM_BACKEND; fails above the limit

Append and snapshot for every piece, CPU time, the least of some rounds.
"""

from __future__ import annotations

import sys

from common import cut, least_seconds
from corpora import corpora

LIMIT = 20
SIZE = 100_000
HEADS_AND_UNITS = {
    "nested arrays": ("", "["),
    "nested objects": ("", '{"a":'),
    "nested, too deep to report": ("[" * 40, "[],"),
    "keys whose numbers collide": ("{", '"2305843009213693951":1,'),
    "other keys": ("{", None),
    "number": ("[", "1"),
    "fraction": ("[0.", "3"),
    "large numbers": ("[", "9" * 400 + ","),
    "exponents": ("[", "1e-300,"),
    "floats that are hard to round": ("[", "2.2250738585072011e-308,"),
    "word": ("[", "w"),
    "words": ("[", "w "),
    "escapes": ('["', "\\u00e9"),
    "invalid escapes": ('["', "\\x"),
    "high halves": ('["', "\\ud83d"),
    "control characters": ('["', "\n"),
    "NUL": ('["', "\0"),
    "long name": ('{"', "k"),
    "strings": ("[", '"",'),
    "commas": ("[", ","),
    "colons": ("{", ":"),
    "closers": ("", "]"),
    "open and close": ("[", "[]"),
    "mismatched": ("[", "[}"),
    "no commas": ("[", "1 "),
    "byte order marks": ("[", "\ufeff"),
    "beyond ASCII": ('["', "\u4e2d\U0001f600"),
    "single quotes": ("[", "'a',"),
    "comments": ("[", "/**/"),
    "fences": ("", "```\n"),
    "tags": ("", "<a>"),
    "one member again": ("{", '"a":[],'),
}


def text_of(head: str, unit: str | None) -> str:
    if unit is None:
        return head + ",".join(f'"{number:x}":1' for number in range(SIZE // 8))
    return head + unit * ((SIZE - len(head)) // len(unit))


def main() -> int:
    import toolstream

    def read(pieces: list[str]) -> None:
        parser = toolstream.StreamingJsonParser(lenient=True, report_ends=True)
        for piece in pieces:
            parser.append(piece)
            parser.snapshot()

    usual = corpora()["records_100k"]
    worst = 0.0
    print(f"{'text (' + toolstream.BACKEND + ')':32}" + "".join(f"{'pieces of ' + str(size):>16}" for size in (4, 64)))
    ordinary = {size: least_seconds(read, cut(usual, size), 3) / len(usual) for size in (4, 64)}
    for name, (head, unit) in HEADS_AND_UNITS.items():
        text = text_of(head, unit)
        ratios = [least_seconds(read, cut(text, size), 2) / len(text) / ordinary[size] for size in (4, 64)]
        worst = max(worst, *ratios)
        print(f"{name:32}" + "".join(f"{ratio:16.2f}" for ratio in ratios), flush=True)
    print(f"worst: {worst:.1f} times")
    return 0 if worst < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
