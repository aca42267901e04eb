"""`toolstream --version`."""

from __future__ import annotations

import argparse
import platform

from toolstream import __version__
from toolstream._engine import BACKEND, REASON
from toolstream.cli.output import say, write_json

__all__ = ["version"]

OTHER = "toolstream"  # an unrelated distribution on the public index, with the same import name as ours


def version(options: argparse.Namespace) -> int:
    """Print the version, the back end with the reason for it, and Python; warn if another package is in the way."""
    clash = _other_version()
    facts = {
        "version": __version__,
        "backend": BACKEND,
        "reason": REASON,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "clash": clash,
    }
    if options.json:
        write_json(facts)
    else:
        print(f"toolstream {__version__}")
        print(f"back end: {BACKEND} ({REASON})")
        print(f"Python {facts['python']} ({facts['implementation']})")
    if clash is not None:
        say(
            f"the distribution {OTHER!r} {clash} is installed too, and owns the same import name: "
            f"`pip uninstall {OTHER} toolstream-parser`, then install toolstream-parser again"
        )
    return 0


def _other_version() -> str | None:
    from importlib import metadata

    try:
        return metadata.version(OTHER)
    except metadata.PackageNotFoundError:
        return None
