"""Which engine runs, how it is chosen, and that nothing about it is silent."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest
from engines import ENGINES, WANTED

import toolstream
from toolstream import _engine

SHOW = (
    "import toolstream, toolstream._engine as e; print(toolstream.BACKEND, e.StreamingJsonParser.__module__, e.REASON)"
)
HIDE = "import sys; sys.modules['toolstream._engine_c'] = None\n"


def run(code, backend=None):
    command = [sys.executable, "-c", code]
    environment = {name: value for name, value in os.environ.items() if name != "TOOLSTREAM_BACKEND"}
    if backend is not None:
        environment["TOOLSTREAM_BACKEND"] = backend
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.strip(), done.stderr


def test_this_process_runs_what_was_asked_for():
    assert toolstream.BACKEND == _engine.BACKEND == WANTED[-1]
    for name in _engine.__all__[2:]:
        module = {"python": "toolstream._engine_py", "cython": "toolstream._engine_c"}[toolstream.BACKEND]
        found = getattr(_engine, name)
        assert found.__module__ == module
        assert name not in toolstream.__all__ or getattr(toolstream, name) is found


@pytest.mark.parametrize("backend", [None, *WANTED])
def test_choice(backend):
    code, out, err = run(SHOW, backend)
    built = importlib.util.find_spec(ENGINES["cython"]) is not None
    expected = backend or ("cython" if built else "python")
    assert (code, err) == (0, "")
    name, module, reason = out.split(" ", 2)
    assert name == expected
    assert module == {"python": "toolstream._engine_py", "cython": "toolstream._engine_c"}[expected]
    assert ("TOOLSTREAM_BACKEND" in reason) == (backend is not None)


def test_without_the_compiled_engine_the_plain_one_runs_and_says_why():
    code, out, err = run(HIDE + SHOW)
    assert (code, err) == (0, "")
    assert out.startswith("python toolstream._engine_py the compiled engine is missing: ")


def test_a_compiled_engine_that_was_asked_for_and_is_missing_is_an_error():
    code, out, err = run(HIDE + SHOW, "cython")
    assert (code, out) == (1, "")
    assert "ImportError: TOOLSTREAM_BACKEND='cython', but the compiled engine is missing: " in err.splitlines()[-1]


def test_an_unknown_choice_is_an_error():
    code, out, err = run(SHOW, "rust")
    assert (code, out) == (1, "")
    assert err.splitlines()[-1] == "ImportError: TOOLSTREAM_BACKEND='rust': expected 'cython', 'python' or nothing"
