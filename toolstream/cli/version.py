"""`toolstream --version`: it works too where another distribution has put its `__init__.py` in place of ours."""

from __future__ import annotations

import argparse
import platform

from toolstream._engine import BACKEND, REASON
from toolstream.cli.output import say, write_json

__all__ = ["own_version", "version"]

OWN = "toolstream-parser"
OTHER = "toolstream"  # an unrelated distribution on the public index, with the same import name as ours


def version(options: argparse.Namespace) -> int:
    """Print the version, the back end with the reason for it, and Python; warn if another package is in the way."""
    clash = _installed(OTHER)
    facts = {
        "version": own_version(),
        "backend": BACKEND,
        "reason": REASON,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "clash": clash,
    }
    if options.json:
        write_json(facts)
    else:
        print(f"toolstream {facts['version']}")
        print(f"back end: {BACKEND} ({REASON})")
        print(f"Python {facts['python']} ({facts['implementation']})")
    if clash is not None:
        say(
            f"the distribution {OTHER!r} {clash} is installed too, and owns the same import name: "
            f"`pip uninstall {OTHER} {OWN}`, then install {OWN} again"
        )
    return 0


def own_version() -> str:
    """The version as it is installed; of a source tree that is not, what the package itself says."""
    found = _installed(OWN)
    if found is not None:
        return found
    from toolstream import __version__

    return __version__


def _installed(distribution: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
