"""What `import toolstream` costs a process. `python benchmarks/bench_import.py` prints it beside `import json`."""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from common import BACKENDS, library


def process(statement: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
    return time.perf_counter() - start


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


if __name__ == "__main__":
    os.chdir(Path(__file__).parent.parent)
    costs = import_costs()
    allowed = 1.5 * costs["json"] + 10
    print(f"import json {costs['json']:.1f} ms, import toolstream {costs['toolstream']:.1f} ms", end=", ")
    print(f"allowed {allowed:.1f} ms; with every name {costs['everything']:.1f} ms")
    sys.exit(costs["toolstream"] > allowed)
