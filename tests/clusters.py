"""A Dask cluster on this machine: its scheduler, and workers started by their commands."""

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from distributed import Scheduler

from kit.engines.configured.place import ModelSource
from kit.engines.registry import list_engines
from kit.service import settings
from kit.service.app import create_storage
from kit.service.worker.cluster import Cluster, work
from kit.service.worker.pool import Pool, RenderProcess
from kit.service.worker.renderer import Renderer
from tests.ports import free_port


class Daemon:
    """A process that is restarted whenever it ends, as a process manager does."""

    def __init__(self, command: list[str], log: Path, **environment: str) -> None:
        self._command, self._log = command, log
        self._environment = os.environ | environment
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Ask the process to end; it is restarted."""
        assert self._process is not None
        self._process.terminate()

    def ensure_running(self) -> None:
        """Start the process unless it runs."""
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                with self._log.open("ab") as log:
                    self._process = subprocess.Popen(
                        self._command, env=self._environment, stdout=log, stderr=log
                    )

    @contextmanager
    def run(self) -> Iterator[None]:
        """Keep the process running in a block."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(0.2):
                self.ensure_running()

        self.ensure_running()
        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self.kill()


def scheduler(port: int, log: Path, *options: str) -> Daemon:
    """Return a scheduler without its dashboard."""
    place = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    module = ["-m", "distributed.cli.dask_scheduler", "--dashboard-address", ":0"]
    return Daemon([sys.executable, *module, *place, *options], log)


def worker(cluster: str, data: Path, storage: str, *options: str, **environment: str) -> Daemon:
    """Return a worker, started by its command."""
    places = ["--cluster", cluster, "--data", str(data), "--storage", storage]
    command = [sys.executable, "-m", "kit", "worker", *places, "--host", "127.0.0.1", *options]
    return Daemon(command, data.with_suffix(".log"), **environment)


def service(port: int, data: Path, **environment: str) -> Daemon:
    """Return a service, started by its command, without rate limits."""
    limits = {"KIT_REQUESTS_PER_MINUTE": "100000000", "KIT_STARTS_PER_MINUTE": "100000000"}
    command = [sys.executable, "-m", "kit", "serve", "--port", str(port), "--data", str(data)]
    return Daemon(command, data.with_suffix(".log"), **limits, **environment)


@contextmanager
def serve_cluster(
    folder: Path, *options: str, environment: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Run a scheduler and a worker; yield the settings of services on them."""
    port = free_port()
    given = {"cluster": f"tcp://127.0.0.1:{port}", "storage_url": f"file://{folder / 'objects'}"}
    places = given["cluster"], folder / "worker", given["storage_url"]
    with (
        scheduler(port, folder / "scheduler.log").run(),
        worker(*places, *options, **environment).run(),
    ):
        yield given


def any_pool(slots: int) -> pytest.MarkDecorator:
    """Run a test of a service with its own pool, and with a cluster of so many slots.

    The pool uses SQLite and the cluster PostgreSQL; other tests run the pool on both.
    """
    return pytest.mark.parametrize(
        ("storage_settings", "database_url"),
        [pytest.param(0, "sqlite", id="pool"), pytest.param(slots, "postgresql", id="cluster")],
        indirect=True,
    )


class ClusterPool:
    """A pool behind a cluster of one worker, all in this event loop.

    Parameters
    ----------
    data : Path
        The data folder of the worker; results are stored in its folder ``objects``.
    """

    def __init__(self, pool: Pool, data: Path) -> None:
        self._pool, self._data = pool, data
        self._ends = AsyncExitStack()

    async def __aenter__(self) -> "ClusterPool":
        # Without this address it would listen at Dask's default port, which may be in use.
        place = Scheduler(host="127.0.0.1", port=0, dashboard=False, dashboard_address=":0")
        scheduler = await self._ends.enter_async_context(place)
        given = settings.load({}, data=self._data, cluster=scheduler.address)
        renderer = Renderer(create_storage(given, bytes(32)), self._pool, given)
        engines = list_engines(ModelSource(given.engines_file, given.engine_copies))
        stop = asyncio.Event()
        worker = asyncio.create_task(work(renderer, given, stop, gpu=True, host="127.0.0.1"))
        self._cluster = Cluster(given, frozenset(engines))
        self._ends.push_async_callback(lambda: worker)
        self._ends.callback(stop.set)
        self._ends.push_async_callback(self._cluster.close)
        while not self._cluster.slots:
            await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._ends.aclose()

    @property
    def idle(self) -> list[RenderProcess]:
        return self._pool.idle

    async def run(
        self, name: str, task: Mapping[str, Any], report: Callable[[float], None], **needs: bool
    ) -> dict[str, Any]:
        return await self._cluster.run(name, {"environment": [], **task}, report, **needs)

    def cancel(self, name: str) -> bool:
        return self._cluster.cancel(name)
