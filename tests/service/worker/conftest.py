"""What is true here is true on either database, and on a cluster where a test says so."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.clusters import serve_cluster
from tests.conftest import PLUGINS

OWN_PLUGINS = str(Path(__file__).parent / "plugins")


@pytest.fixture
def database_url(either_database: str) -> str:
    """Both."""
    return either_database


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], dict[str, str]]]:
    """Return the settings of a cluster that renders so many jobs at a time; it stays for all."""
    with ExitStack() as stack:

        @cache
        def start(slots: int) -> dict[str, str]:
            folder = tmp_path_factory.mktemp("cluster")
            environment = {
                "PYTHONPATH": os.pathsep.join((PLUGINS, OWN_PLUGINS)),
                "HEAVY_MARKER": str(folder / "marker"),
                "HEAVY_SPENT": str(folder / "spent"),
            }
            options = ("--workers", str(slots), "--gpu")
            return stack.enter_context(serve_cluster(folder, *options, environment=environment))

        yield start


@pytest.fixture
def storage_settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Where a service renders and keeps its files; see `any_pool`."""
    slots = getattr(request, "param", 0)
    return request.getfixturevalue("cluster")(slots) if slots else {}
