"""``kit worker``: renders for the services of a cluster."""

from __future__ import annotations

import asyncio
import secrets
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from kit.commands.options import Data, LogFormat, LogStyle
from kit.errors import ConfigError
from kit.service import logs, settings
from kit.service.app import create_pool, create_storage, load_cluster
from kit.service.domain import upkeep
from kit.service.settings import prepare
from kit.service.storage import Storage
from kit.service.worker.renderer import Renderer

_GPUS = Path("/proc/driver/nvidia/gpus")


def command(
    cluster: Annotated[
        str, typer.Option(help="Address of the Dask scheduler.", envvar="KIT_CLUSTER")
    ],
    data: Data = None,
    storage: Annotated[
        str | None, typer.Option(help="Storage URL of the services.", envvar="KIT_STORAGE_URL")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Jobs at a time.", envvar="KIT_WORKERS", min=1)
    ] = None,
    gpu: Annotated[
        bool | None,
        typer.Option(
            "--gpu/--no-gpu", help="Take jobs of neural models; default: if there is a GPU."
        ),
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on, for the scheduler and other workers.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for a free one.")] = 0,
    name: Annotated[str | None, typer.Option(help="Name on the scheduler's dashboard.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Log every step of a job.")] = False,
    log_format: LogFormat = LogStyle.TEXT,
) -> None:
    """Render for the services on a Dask cluster.

    It needs the same storage as the services, but neither their database nor their secret. It takes
    jobs of the models installed or configured here (KIT_ENGINES), with API keys from its own
    environment. Run one worker per GPU; choose it with CUDA_VISIBLE_DEVICES.
    """
    logs.configure(log_format.value, verbose=verbose)
    given = settings.load(cluster=cluster, data=data, storage_url=storage, workers=workers)
    prepare(given.data)
    has_gpu = any(_GPUS.glob("*")) if gpu is None else gpu
    asyncio.run(_work(given, gpu=has_gpu, host=host, port=port, name=name))


async def _work(
    given: settings.ServiceSettings, *, gpu: bool, host: str | None, port: int, name: str | None
) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):  # event loops on Windows cannot handle signals
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop.set))
    # A random secret: a worker signs no URLs, so it does not need the services' own.
    storage = create_storage(given, secrets.token_bytes(32))
    if not await storage.is_writable():
        raise ConfigError("the storage cannot be written; see KIT_STORAGE_URL")
    pool = create_pool(given)
    renderer = Renderer(storage, pool, given)
    await pool.warm()
    typer.echo(
        f"Rendering {renderer.max_slots} job(s) at a time for {given.cluster}. Ctrl-C stops it."
    )
    cleaning = asyncio.create_task(_remove_old(storage, given.scratch))
    try:
        await load_cluster().work(renderer, given, stop, gpu=gpu, host=host, port=port, name=name)
    finally:
        cleaning.cancel()
        await renderer.close()


async def _remove_old(storage: Storage, scratch: Path) -> None:
    """Remove inputs and results of jobs that are older than a day."""
    while True:
        with suppress(OSError):  # the next round may succeed
            await upkeep.tidy(storage, scratch, time.time())
        await asyncio.sleep(upkeep.ROUND_SECONDS)
