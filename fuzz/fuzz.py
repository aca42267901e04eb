#!/usr/bin/env python3
"""Fuzz one target with coverage guidance: fuzz.py TARGET [options of libFuzzer]. See README.md beside this file."""

import sys
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

with atheris.instrument_imports(include=["toolstream", "targets"]):
    import targets


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in targets.TARGETS:
        sys.exit(f"fuzz.py: no target {name!r}: one of {', '.join(targets.TARGETS)}")
    found = HERE / "found" / name  # new inputs go here, the first folder; the kept corpus is only read
    found.mkdir(parents=True, exist_ok=True)
    arguments = [sys.argv[0], str(found), str(HERE / "corpus" / name), f"-artifact_prefix={HERE}/found/{name}-"]
    atheris.Setup([*arguments, *sys.argv[2:]], targets.TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
