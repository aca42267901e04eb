"""`import toolstream` loads nothing heavy. (What it costs is measured by benchmarks/bench_import.py.)"""

import subprocess
import sys

HEAVY = """
    argparse ast asyncio concurrent ctypes dataclasses datetime decimal email hashlib http importlib.metadata inspect
    logging multiprocessing numpy openai pathlib pydantic random rich shutil socket ssl subprocess tempfile threading
    tokenize traceback unittest urllib uuid zipfile toolstream.cli toolstream.__main__
""".split()  # noqa: SIM905


def modules_after(statement: str) -> set[str]:
    """Names of the modules that a fresh interpreter has after a statement."""
    program = f"{statement}\nimport sys\nprint(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    )


def test_nothing_heavy_is_loaded():
    loaded = modules_after("import toolstream") - modules_after("pass")  # an interpreter's own start-up is not ours
    assert "toolstream" in loaded
    assert sorted(loaded & set(HEAVY)) == []


def test_one_engine_is_loaded():
    import toolstream

    loaded = modules_after("import toolstream")
    engines = {"cython": "toolstream._engine_c", "python": "toolstream._engine_py"}
    assert loaded & set(engines.values()) == {engines[toolstream.BACKEND]}
