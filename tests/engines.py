"""Which engines the tests run on."""

import importlib.util
import os

ENGINES = {"python": "toolstream._engine_py", "cython": "toolstream._engine_c"}
ASKED = os.environ.get("TOOLSTREAM_BACKEND")
MISSING = ASKED is None and importlib.util.find_spec(ENGINES["cython"]) is None
"""Nobody asked for the compiled engine, and it is not there: its tests are skipped, and pytest says so."""
WANTED = ["python"] if MISSING or ASKED == "python" else ["python", "cython"]
