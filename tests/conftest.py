"""The fixture for tests of the engines: each test that takes it runs on both, side by side in one process."""

from __future__ import annotations

import importlib
import os
from types import ModuleType

import pytest

ENGINES = {"python": "toolstream._engine_py", "cython": "toolstream._engine_c"}
WANTED = [name for name in ENGINES if name == "python" or os.environ.get("TOOLSTREAM_BACKEND") != "python"]
collect_ignore = [] if "cython" in WANTED else ["test_parity.py"]  # nothing to compare with


@pytest.fixture(params=WANTED, scope="session")
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """One engine. A missing extension is an error, unless TOOLSTREAM_BACKEND=python says that it is not wanted."""
    return importlib.import_module(ENGINES[request.param])
