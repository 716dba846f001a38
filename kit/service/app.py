"""The application: the one place where the parts of the service meet."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from fastapi import FastAPI

from kit.engines.base import Engine
from kit.engines.registry import installed
from kit.errors import ConfigError
from kit.service.domain import catalog, idempotency, uploads
from kit.service.domain.writers import OfflineWriter
from kit.service.domain.writing import Writer
from kit.service.http import (
    account,
    document,
    errors,
    generations,
    health,
    media,
    models,
    scripts,
    usage,
)
from kit.service.http import uploads as upload_routes
from kit.service.http.context import Context, clock
from kit.service.http.gate import Gate
from kit.service.http.limits import MemoryLimiter
from kit.service.settings import Settings, prepare
from kit.service.storage.local import UPLOADS, LocalStorage
from kit.service.storage.signing import Signer
from kit.service.store.sqlite import SQLite
from kit.service.worker.dispatcher import Dispatcher
from kit.service.worker.pool import Pool
from kit.version import __version__

_log = logging.getLogger("kit.service")
_ROUTERS = (account, models, upload_routes, generations, scripts, usage, media, health)
_SWEEP_SECONDS = 600.0
_OLD_SCRATCH_SECONDS = 24 * 3600


def create_app(
    settings: Settings,
    *,
    engines: Mapping[str, Engine] | None = None,
    writer: Writer | None = None,
    clock: Callable[[], int] = clock,
) -> FastAPI:
    """Return the service as an ASGI application.

    Parameters
    ----------
    settings : Settings
        See `kit.service.settings.load`.
    engines : mapping of str to Engine, optional
        The installed ones when left out.
    writer : Writer, optional
        The offline one when left out.
    clock : callable
        Milliseconds since 1970.

    Raises
    ------
    ConfigError
        The settings or a model's price rule make no sense.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kit.service import settings
    >>> app = create_app(settings.load({}, data=Path(tempfile.mkdtemp())), engines={})
    >>> app.title
    'Creative Studio'
    """
    engines = installed() if engines is None else engines
    offered = catalog.load(engine.definition for engine in engines.values())
    writer = OfflineWriter(settings.speech_rate) if writer is None else writer

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            app.state.context = await _assemble(settings, offered, writer, clock, stack)
            yield

    app = FastAPI(
        title="Creative Studio",
        version=__version__,
        lifespan=lifespan,
        redoc_url=None,
        redirect_slashes=False,
    )
    errors.install(app)
    document.install(app)
    for module in _ROUTERS:
        app.include_router(module.router)
    app.add_middleware(Gate, context=lambda: app.state.context)
    return app


def open_database(settings: Settings) -> SQLite:
    """Return the database that the settings name."""
    prepare(settings.data)
    url = settings.database_url
    return SQLite(Path(url.removeprefix("sqlite:///")) if url else settings.database_path)


async def _assemble(
    settings: Settings,
    offered: catalog.Catalog,
    writer: Writer,
    clock: Callable[[], int],
    stack: AsyncExitStack,
) -> Context:
    database = open_database(settings)
    stack.push_async_callback(database.close)
    secret = settings.secret()
    url = settings.storage_url
    folder = Path(url.removeprefix("file://")) if url else settings.objects
    storage = LocalStorage(folder, Signer(secret))
    if not await storage.ready():
        raise ConfigError(f"the storage folder {folder} cannot be written")
    inspectors = _pool(settings, 1)
    stack.callback(inspectors.close)
    dispatcher = Dispatcher(database, storage, _pool(settings, settings.workers), settings, clock)
    dispatcher.start()
    stack.push_async_callback(dispatcher.stop)
    context = Context(
        settings=settings,
        secret=secret,
        database=database,
        storage=storage,
        catalog=offered,
        limiter=MemoryLimiter(
            {"requests": settings.requests_per_minute, "starts": settings.starts_per_minute}
        ),
        writer=writer,
        dispatcher=dispatcher,
        inspectors=inspectors,
        clock=clock,
    )
    sweeper = asyncio.create_task(_sweep_forever(context))
    stack.callback(sweeper.cancel)
    return context


def _pool(settings: Settings, slots: int) -> Pool:
    return Pool(slots, seconds=settings.job_seconds, memory=settings.job_memory_bytes)


async def _sweep_forever(context: Context) -> None:
    while True:
        try:
            await sweep(context)
        except Exception:  # noqa: BLE001 - logged; the next round may go better
            _log.exception("the sweeper failed")
        await asyncio.sleep(_SWEEP_SECONDS)


async def sweep(context: Context) -> None:
    """Remove what has had its time: unused uploads, kept answers, left-over scratch files."""
    now = context.clock()
    for upload_id in await context.database.write(uploads.sweep(now)):
        await context.storage.remove(UPLOADS + upload_id)
    await context.database.write(idempotency.prune(now))
    await asyncio.to_thread(_sweep_scratch, context.settings.scratch, now / 1000)


def _sweep_scratch(folder: Path, now: float) -> None:
    for path in folder.glob("*"):
        if now - path.stat().st_mtime > _OLD_SCRATCH_SECONDS:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
