"""The application, which connects all parts of the service."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property, partial
from types import ModuleType
from typing import Any

from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send

from kit.engines.base import Engine
from kit.engines.configured.place import ModelSource
from kit.engines.registry import list_engines
from kit.errors import ConfigError, KitError, require_extra
from kit.private import make_private
from kit.service.databases import open_database
from kit.service.domain import catalog, queue
from kit.service.domain.upkeep import Readiness, Sweeper
from kit.service.domain.writing import Writer
from kit.service.http import (
    account,
    docs,
    events,
    generations,
    health,
    media,
    models,
    scripts,
    webhooks,
)
from kit.service.http.context import Context
from kit.service.http.deliveries import Deliveries
from kit.service.http.rate_limits import RateLimiter
from kit.service.http.request_handler import RequestHandler
from kit.service.http.routing import RouteTable
from kit.service.machine import clock as read_clock
from kit.service.metrics import ServiceMetrics
from kit.service.settings import ServiceSettings
from kit.service.storage import Storage
from kit.service.storage.local import LocalStorage
from kit.service.storage.signing import Signer
from kit.service.storage.sigv4 import parse_bucket
from kit.service.store import ids
from kit.service.worker.dispatcher import Dispatcher
from kit.service.worker.inspection import Inspectors
from kit.service.worker.pool import Pool
from kit.service.worker.renderer import Renderer
from kit.service.worker.worker_lock import FOLDER, is_any_alive
from kit.service.writer import create_writer
from kit.version import __version__

_log = logging.getLogger("kit.service")
_ROUTERS = (account, models, media, generations, events, scripts, webhooks, health, docs)


def create_app(
    settings: ServiceSettings,
    *,
    engines: Mapping[str, Engine] | None = None,
    writer: Writer | None = None,
    dedicated: bool = False,
) -> Application:
    """Return the service as an ASGI application.

    By default, engines are the installed ones, and the writer is the one of the settings. Settings
    of a writer that are wrong raise `ConfigError`; other errors at the start are stored as
    `state.failure`. `dedicated`: the process does nothing else, and a render process starts at the
    same time; otherwise one starts after the service.
    """
    writer = create_writer(settings) if writer is None else writer

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                context = await _assemble(settings, engines, writer, dedicated, stack)
            except (KitError, OSError, KeyboardInterrupt) as error:  # e.g. an unusable setting
                app.state.failure = error
                raise
            app.state.context = context
            facts = {
                "event": "started",
                "version": __version__,
                "models": len(context.catalog.models),
            }
            _log.info("started %(version)s with %(models)d models", facts)
            yield
            _log.info("%(event)s", {"event": "stopping", "instance": context.dispatcher.name})

    return Application(lifespan=lifespan)


class Application(Starlette):
    """The service: its operations, between start and stop."""

    def __init__(self, **facts: Any) -> None:
        super().__init__(**facts)
        self.operations = [it for module in _ROUTERS for it in module.router.operations]
        self._handle = RequestHandler(RouteTable(self.operations))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or start and stop."""
        scope["app"] = self
        if scope["type"] == "http":
            await self._handle(scope, receive, send)
        else:
            await super().__call__(scope, receive, partial(self._send_startup, send))

    async def _send_startup(self, send: Send, message: Message) -> None:
        """Omit the traceback if the message of `failure` is enough."""
        explained = message["type"] == "lifespan.startup.failed" and hasattr(self.state, "failure")
        await send({"type": message["type"]} if explained else message)

    @cached_property
    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document."""
        # Imported here: most services never need it.
        from kit.service.http.openapi import build_document

        return build_document(self.operations)

    @cached_property
    def docs(self) -> str:
        """The page of the document, with placeholders for a nonce and the base URL."""
        from kit.service.http.docs.page import render_page

        return render_page(self.openapi)


def load_cluster() -> ModuleType:
    """Return the module of the cluster, which needs an extra."""
    with require_extra("cluster", "a cluster"):
        from kit.service.worker import cluster
    return cluster


def create_pool(settings: ServiceSettings) -> Pool:
    """Return a pool of render processes according to the settings."""
    return Pool(
        settings.workers,
        seconds=settings.job_seconds,
        cpu_seconds=settings.job_cpu_seconds,
        memory=settings.job_memory_bytes,
        scratch=settings.scratch,
        log=settings.log,
    )


def is_running(settings: ServiceSettings) -> bool:
    """Whether a service of this machine uses a data folder, at any address."""
    return is_any_alive(settings.data / FOLDER)


def create_storage(
    settings: ServiceSettings, secret: bytes, clock: Callable[[], int] = read_clock
) -> Storage:
    """Return the storage according to the settings."""
    if not settings.storage_url.startswith("s3://"):
        return LocalStorage(settings.objects, Signer(secret))
    bucket = parse_bucket(settings.storage_url, settings.aws)
    with require_extra("s3", "a storage in S3"):
        from kit.service.storage.s3 import S3Storage
    return S3Storage(bucket, settings.sending, lambda: clock() / 1000)


async def _assemble(
    settings: ServiceSettings,
    engines: Mapping[str, Engine] | None,
    writer: Writer,
    dedicated: bool,
    stack: AsyncExitStack,
) -> Context:
    on_cluster = bool(settings.cluster and settings.workers)
    pool = create_pool(settings)
    stack.callback(pool.close)
    warm = partial(pool.warm, 0 if on_cluster else 1)  # so that the first job need not wait
    if dedicated:
        await warm()
    if engines is None:
        engines = list_engines(ModelSource(settings.engines_file, settings.engine_copies))
    offered = catalog.load_engines(engines)
    for path in filter(make_private, settings.private_paths()):
        _log.warning("others could read %s: now only its owner can", path)
    metrics = ServiceMetrics()
    database = open_database(settings, metrics)
    stack.push_async_callback(database.close)
    await database.read(queue.count_states())  # an unusable database fails at the start
    clock = database.clock
    metrics.ledger_read = ids.floor("led", clock())
    secret = settings.secret()
    storage = create_storage(settings, secret, clock)
    if not await storage.is_writable():
        place = settings.storage_url.partition("?")[0] or settings.objects
        raise ConfigError(f"the storage {place} cannot be written; the log says why")
    inspectors = Inspectors(settings)
    stack.push_async_callback(inspectors.close)
    renderer = (
        load_cluster().Cluster(settings, frozenset(engines))
        if on_cluster
        else Renderer(storage, pool, settings)
    )
    dispatcher = Dispatcher(database, storage, renderer, settings, clock, metrics, offered.engines)
    stack.push_async_callback(dispatcher.stop)
    await dispatcher.start()
    readiness = Readiness(database, storage, clock, time.monotonic)
    stack.callback(readiness.stop)
    shared = database.shared
    if shared:
        # Services on the same database notify each other's watchers.
        dispatcher.watchers.notify_others = shared.notify
        stack.callback(asyncio.create_task(shared.exchange(dispatcher.handle_notice)).cancel)
    limits = {"requests": settings.requests_per_minute, "starts": settings.starts_per_minute}
    context = Context(
        settings=settings,
        secret=secret,
        database=database,
        storage=storage,
        signer=Signer(secret),
        catalog=offered,
        limiter=RateLimiter(limits, shared),
        writer=writer,
        dispatcher=dispatcher,
        inspectors=inspectors,
        readiness=readiness,
        metrics=metrics,
        clock=clock,
    )
    for work in Sweeper(database, storage, settings, readiness, clock), Deliveries(context):
        stack.callback(asyncio.create_task(work.run()).cancel)
    await warm()
    return context
