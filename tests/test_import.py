"""`import toolstream` loads the engine and no more, and all names together load nothing heavy.

What it costs is measured by benchmarks/bench_import.py.
"""

import subprocess
import sys

import toolstream

ENGINES = {"cython": "toolstream._engine_c", "python": "toolstream._engine_py"}
AT_ONCE = {"toolstream", "toolstream._engine", "toolstream._json_types", "toolstream._rules", "toolstream.errors"}

HEAVY = """
    argparse ast asyncio concurrent ctypes dataclasses datetime decimal email hashlib http importlib.metadata inspect
    logging multiprocessing numpy openai pathlib pydantic random rich shutil socket ssl subprocess tempfile threading
    tokenize traceback unittest urllib uuid zipfile toolstream.cli toolstream.__main__
""".split()  # noqa: SIM905


def run(program: str) -> str:
    """What a program prints in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def modules_after(statement: str) -> set[str]:
    """Names of the modules that a fresh interpreter has after a statement."""
    return set(run(f"{statement}\nimport sys\nprint(*sys.modules)").split())


def test_the_engine_is_loaded_and_no_more():
    foundation = modules_after("from __future__ import annotations; import re, typing")
    loaded = modules_after("import toolstream") - foundation
    accelerators = {name for name in loaded if name == "_json" or "cython" in name}  # written in C, and loaded at once
    assert loaded - accelerators == AT_ONCE | {ENGINES[toolstream.BACKEND]}


def test_all_names_together_load_nothing_heavy():
    loaded = modules_after("from toolstream import *") - modules_after("pass")  # an interpreter's own start is not ours
    assert "toolstream.stream" in loaded
    assert sorted(loaded & set(HEAVY)) == []


def test_one_engine_is_loaded():
    assert modules_after("from toolstream import *") & set(ENGINES.values()) == {ENGINES[toolstream.BACKEND]}


def test_a_name_is_found_once():
    program = (
        "import toolstream; toolstream.ToolCallStream; del toolstream.__getattr__; print(toolstream.ToolCallStream)"
    )
    assert run(program) == f"{toolstream.ToolCallStream}\n"


def test_names_can_be_listed_before_they_are_used():
    names = "print(*sorted(set(toolstream.__all__) - set(dir(toolstream))))"
    assert run(f"import toolstream; {names}") == "\n"


def test_a_module_of_the_package_is_an_attribute_of_it():
    assert run("import toolstream; print(toolstream.providers.__name__)") == "toolstream.providers\n"


def test_threads_that_ask_at_the_same_time_get_the_same_objects():
    program = """
import sys, threading
import toolstream
sys.setswitchinterval(1e-6)
names = toolstream.__all__
found = [{} for _ in range(8)]
start = threading.Barrier(len(found))
def ask(shift):
    start.wait()
    for name in names[shift:] + names[:shift]:
        found[shift // 7][name] = getattr(toolstream, name)
threads = [threading.Thread(target=ask, args=(7 * number,)) for number in range(len(found))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(all(each[name] is getattr(toolstream, name) for each in found for name in names))
"""
    assert run(program) == "True\n"
