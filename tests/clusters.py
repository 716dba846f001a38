"""A Dask cluster on this machine: its scheduler, and workers as anybody starts them."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def process(*command: str, log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a module of Python until the end of the block."""
    with log.open("ab") as errors:
        running = subprocess.Popen(
            [sys.executable, "-m", *command],
            env=os.environ | environment,
            stdout=errors,
            stderr=errors,
        )
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def scheduler_command(port: int, *options: str) -> list[str]:
    """Return the command of a scheduler without pages."""
    place = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    return ["distributed.cli.dask_scheduler", *place, "--dashboard-address", ":0", *options]


def worker_command(cluster: str, data: Path, storage: str, *options: str) -> list[str]:
    """Return the command of a worker."""
    places = ["--cluster", cluster, "--data", str(data), "--storage", storage]
    return ["kit", "worker", *places, "--host", "127.0.0.1", *options]


@contextmanager
def serve_cluster(
    folder: Path, *options: str, environment: Mapping[str, str]
) -> Iterator[dict[str, str]]:
    """Run a scheduler and a worker; yield the settings of services on them."""
    port = free_port()
    given = {"cluster": f"tcp://127.0.0.1:{port}", "storage_url": f"file://{folder / 'objects'}"}
    scheduler = process(*scheduler_command(port), log=folder / "scheduler.log")
    command = worker_command(given["cluster"], folder / "worker", given["storage_url"], *options)
    with scheduler, process(*command, log=folder / "worker.log", **environment):
        yield given


def any_pool(slots: int) -> pytest.MarkDecorator:
    """Run a test of a service in its own pool, and on a cluster for so many jobs at a time."""
    cluster = pytest.param(slots, id="cluster")
    return pytest.mark.parametrize(
        "storage_settings", [pytest.param(0, id="pool"), cluster], indirect=True
    )
