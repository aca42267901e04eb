"""One loopback server for all tests with real clients; warnings of the packages themselves are not ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from server import StreamServer


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = str(__file__).rpartition("conftest.py")[0]
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.filterwarnings("ignore"))


@pytest.fixture(scope="session")
def server() -> Iterator[StreamServer]:
    with StreamServer() as server:
        yield server
