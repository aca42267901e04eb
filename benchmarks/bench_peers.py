"""One tool call received by toolstream and by the clients of two providers: the numbers of the README's chart.

    python benchmarks/bench_peers.py FILE    asv measures it, and the chart is drawn from the result that asv has stored

CPU time, decoded events in, the live arguments read after each where there are any.
"""

import itertools
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import peers
from charts import lines
from common import SHAPES, cut, library

KB, MB = 1 << 10, 1 << 20
PIECE = 4
PEERS = {  # what makes the adapter, and the longest text that takes no more than a second or two
    peers.OWN: (peers._toolstream, MB),
    "anthropic SDK": (peers._anthropic, 256 * KB),
    "openai SDK": (peers._openai, 64 * KB),
}


class ToolCall:
    """A call of `write_file`."""

    params = (list(PEERS), [KB, 4 * KB, 16 * KB, 64 * KB, 256 * KB, MB])
    param_names = ("peer", "chars")
    timer = time.process_time
    rounds, repeat = 1, (3, 20, 1.0)

    def setup(self, peer, chars):
        add, longest = PEERS[peer]
        if chars > longest:
            raise NotImplementedError("takes too long")
        if peer == peers.OWN:
            library("cython")
        add()
        if peer not in peers.EVENTS:
            raise NotImplementedError(peers.MISSING[-1])
        self.events = peers.EVENTS[peer](cut(SHAPES["string"](chars), PIECE))
        self.receive = peers.ADAPTERS["assemble"][peer]

    def time_receive(self, peer, chars):
        self.receive(self.events)


def chart(result: Path) -> str:
    """From a result file of asv, which has NaN for what was left out."""
    stored = json.loads(result.read_text())
    columns = stored["results"]["bench_peers.ToolCall.time_receive"]
    costs = dict(zip(stored["result_columns"], columns, strict=False))["result"]  # columns that are empty are not there
    series = {}
    for (peer, chars), cost in zip(itertools.product(*ToolCall.params), costs, strict=True):
        if not math.isnan(cost):
            series.setdefault("openai SDK (no live value)" if peer == "openai SDK" else peer, []).append((chars, cost))
    return lines(f"CPU time to receive one tool call in pieces of {PIECE} characters", series)


if __name__ == "__main__":
    root = Path(__file__).parents[1]
    run = ["asv", "run", "--python=same", "--set-commit-hash=HEAD", "--bench=bench_peers"]
    subprocess.run([sys.executable, "-m", *run], check=True, cwd=root)
    newest = max((root / ".asv/results").glob("*/*-*.json"), key=lambda path: path.stat().st_mtime)
    Path(sys.argv[1]).write_text(chart(newest))
