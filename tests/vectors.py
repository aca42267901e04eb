"""The examples in data/vectors, one JSON object a line, and how values are compared with them."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "data" / "vectors"


def vectors(name):
    """Parameters for a test, one for each example in a file."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [pytest.param(vector, id=vector["id"]) for vector in map(json.loads, lines)]


def exact(value):
    """Something equal for equal JSON values of equal types only: `True` is not 1, and 1 is not 1.0."""
    return json.dumps(value, sort_keys=True)
