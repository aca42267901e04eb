"""What `import toolstream` costs a process. `python benchmarks/bench_import.py` prints it beside `import json`."""

import os
import statistics
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from common import BACKENDS, library


def process(statement: str) -> float:
    """Seconds of CPU time, which leaves out what a shared machine gives to others; alone on one it is the clock's."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def import_costs(rounds: int = 20) -> dict[str, float]:
    """Milliseconds of a whole process beyond a bare interpreter, median of the rounds, taken in turn."""
    statements = {
        "bare": "pass",
        "json": "import json",
        "toolstream": "import toolstream",
        "everything": "from toolstream import *",
    }
    for statement in statements.values():
        process(statement)  # compiles what is not compiled yet
    times = {name: [] for name in statements}
    for _ in range(rounds):
        for name, statement in statements.items():
            times[name].append(process(statement) * 1000)
    bare = statistics.median(times.pop("bare"))
    return {name: statistics.median(row) - bare for name, row in times.items()}


def allowed(costs: dict[str, float]) -> float:
    return 1.5 * costs["json"] + 10


class Import:
    params = (BACKENDS,)
    param_names = ("backend",)

    def setup(self, backend):
        library(backend)  # skips where there is no such back end

    def timeraw_import(self, backend):
        return f"import os; os.environ['TOOLSTREAM_BACKEND'] = {backend!r}; import toolstream"

    def track_import(self, backend):
        return import_costs()["toolstream"]

    track_import.unit = "ms"

    def track_share_of_allowed(self, backend):
        costs = import_costs()
        return costs["toolstream"] / allowed(costs)


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    costs = import_costs()
    print(f"import json {costs['json']:.1f} ms, import toolstream {costs['toolstream']:.1f} ms", end=", ")
    print(f"allowed {allowed(costs):.1f} ms; with every name {costs['everything']:.1f} ms")
    sys.exit(costs["toolstream"] > allowed(costs))
