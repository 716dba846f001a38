"""Fixtures that run tests with a pool of render processes, or on a cluster."""

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kit.service.worker.pool import Pool
from tests.clusters import ClusterPool, serve_cluster
from tests.conftest import PLUGINS

OWN_PLUGINS = str(Path(__file__).parent / "plugins")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[int], dict[str, str]]]:
    """Return the settings of a cluster with some slots; it is shared by all tests."""
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
    """The settings of a service's pool and storage; see `any_pool`."""
    slots = getattr(request, "param", 0)
    return request.getfixturevalue("cluster")(slots) if slots else {}


BOUNDS: dict[str, Any] = {"seconds": 30, "cpu_seconds": 60, "memory": 4 << 30}
Work = Callable[[Any], Coroutine[Any, Any, Any]]


def use_pool(work: Work, scratch: Path, *, slots: int = 1, **bounds: Any) -> Any:
    """Run a coroutine function with a pool, of one process by default."""

    async def inside() -> Any:
        pool = Pool(slots, scratch=scratch, **{**BOUNDS, **bounds})
        try:
            return await work(pool)
        finally:
            pool.close()

    return asyncio.run(inside())


@pytest.fixture(params=["pool", "cluster"])
def with_pool(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    """Run a coroutine function with a pool, and with a cluster whose worker has that pool."""

    def run(work: Work, **bounds: Any) -> Any:
        async def on_cluster(pool: Pool) -> Any:
            async with ClusterPool(pool, tmp_path) as cluster:
                return await work(cluster)

        there = work if request.param == "pool" else on_cluster
        return use_pool(there, tmp_path / "scratch", **bounds)

    return run
