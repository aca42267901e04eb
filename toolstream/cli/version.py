"""`toolstream --version`."""

from __future__ import annotations

import argparse
import os
import platform

from toolstream._engine import BACKEND
from toolstream.cli.output import say, write_json

__all__ = ["version"]

OTHER = "toolstream"  # an unrelated distribution on the public index, with the same import name as ours


def version(options: argparse.Namespace) -> int:
    """Print the version, the back end with the reason for it, and Python; warn if another package is in the way."""
    from toolstream import __version__

    clash = _other_version()
    facts = {
        "version": __version__,
        "backend": BACKEND,
        "reason": _reason(),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "clash": clash,
    }
    if options.json:
        write_json(facts)
    else:
        print(f"toolstream {__version__}")
        print(f"back end: {BACKEND} ({facts['reason']})")
        print(f"Python {facts['python']} ({facts['implementation']})")
    if clash is not None:
        say(
            f"the distribution {OTHER!r} {clash} is installed too, and owns the same import name: "
            f"`pip uninstall {OTHER} toolstream-parser`, then install toolstream-parser again"
        )
    return 0


def _reason() -> str:
    asked = os.environ.get("TOOLSTREAM_BACKEND")
    if asked:
        return f"TOOLSTREAM_BACKEND={asked}"
    return "the compiled extension is installed" if BACKEND == "cython" else "no compiled extension is installed"


def _other_version() -> str | None:
    from importlib import metadata

    try:
        return metadata.version(OTHER)
    except metadata.PackageNotFoundError:
        return None
