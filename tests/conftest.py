"""The fixture for tests of the engines: each test that takes it runs on both, side by side in one process."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator
from types import ModuleType

import pytest
from engines import ENGINES, MISSING, WANTED

collect_ignore = [] if "cython" in WANTED else ["test_compiled.py", "test_parity.py"]
not_built = pytest.param(
    "cython", marks=pytest.mark.skip("the extension is not built: no compiler, or TOOLSTREAM_BUILD")
)


@pytest.fixture(params=[*WANTED, not_built] if MISSING else WANTED, scope="session")
def engine(request: pytest.FixtureRequest) -> ModuleType:
    """One engine. With TOOLSTREAM_BACKEND=cython a missing extension is an error."""
    return importlib.import_module(ENGINES[request.param])


@pytest.fixture(autouse=True, scope="module")
def nothing_old_to_collect() -> Iterator[None]:
    """What was loaded before is no concern of the collector, which many tests of cost and of memory call."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
