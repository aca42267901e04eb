"""Benchmarks: suites for asv (`bench_*.py`), and scripts that each begin by saying how to run them.

`common.py` has the inputs and the operations, `corpora.py` realistic texts; everything else only measures.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # siblings import each other alike under asv and as plain scripts
