"""Rendering on a Dask cluster: orders are tasks, and each Dask worker has its own render processes.

The database is the only source of truth: Dask executes tasks and does not retry. A task runs the
same render process as the service would. Orders name files by storage key and contain no secrets:
credentials for the storage and for engines are in the environment of each worker.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from distributed import Client, Security, Status, Worker, WorkerPlugin, get_worker

from kit.engines.configured.place import ModelSource
from kit.engines.registry import list_engines
from kit.errors import ConfigError
from kit.service.settings import ServiceSettings
from kit.service.worker.pool import JobError, LostError
from kit.service.worker.renderer import Renderer, has_room

_log = logging.getLogger("kit.worker")

#: Dask resources: a slot for a job, a slot for large weights, and a model.
RENDER, GPU, _MODEL = "RENDER", "GPU", "model:"
#: Seconds between checks of a working cluster, and of a failed one; and time limit of a check.
_CHECK_SECONDS, _RETRY_SECONDS, _TIMEOUT_SECONDS = 5.0, 0.5, 10.0
#: Seconds between two reports of a worker, which counts as lost without them.
_REPORT_SECONDS = 0.25
#: Seconds that a job waits on a worker whose disk is full.
_ROOM_SECONDS = 20
#: The name of services at the scheduler, and of the plugin of Dask workers.
_NAME = "kit"


def security(settings: ServiceSettings) -> Security | None:
    """Return the certificates for any side of the cluster; None if none are set."""
    if not settings.cluster_ca:
        return None
    cert, key = settings.cluster_cert, settings.cluster_key
    pairs = {f"tls_{role}_cert": cert for role in ("client", "worker")}
    pairs |= {f"tls_{role}_key": key for role in ("client", "worker")}
    certificates = Security(tls_ca_file=settings.cluster_ca, require_encryption=True, **pairs)
    try:
        certificates.get_connection_args("client")
    except OSError as error:  # its message does not name the file
        files = ", ".join((settings.cluster_ca, cert, key))
        raise ConfigError(f"one of the cluster's files {files} cannot be used: {error}") from None
    return certificates


class Cluster:
    """Renders orders on a cluster, which all services of a database share.

    `own_models` are the models of the service: those that no worker offers are logged.
    """

    def __init__(self, settings: ServiceSettings, own_models: frozenset[str]) -> None:
        self._settings, self._security, self._own_models = settings, security(settings), own_models
        self._client: Any = None
        #: Waiting tasks by job name.
        self._jobs: dict[str, asyncio.Task[Any]] = {}
        #: Progress callbacks by key of the Dask task.
        self._reports: dict[str, Callable[[float | None], None]] = {}
        self._shares = {RENDER: 0, GPU: 0}
        #: The models of the service that a worker offers; jobs of other models wait for one.
        self.models: frozenset[str] = frozenset()
        #: Whether the outage was logged; and how many workers use another storage.
        self._outage_logged, self._foreign_workers = False, 0
        self._watch = asyncio.create_task(self._check_repeatedly())

    @property
    def slots(self) -> int:
        """The service's share of the cluster's concurrent jobs; 0 during an outage."""
        return self._shares[RENDER] if self._is_connected else 0

    @property
    def resident_slots(self) -> int:
        """The service's share of the slots for large weights."""
        return self._shares[GPU] if self._is_connected else 0

    @property
    def _is_connected(self) -> bool:
        return self._client is not None and self._client.status == "running"

    async def run(
        self,
        name: str,
        order: Mapping[str, Any],
        on_progress: Callable[[float], None],
        *,
        resident: bool = False,
    ) -> dict[str, Any]:
        """Render an order on the cluster and return the facts of its files; see `Renderer.run`.

        Raises `LostError` also if the worker or the scheduler is lost or does not respond.
        """
        if not self._is_connected:
            raise LostError("the cluster does not answer")
        model = order["model_id"]
        if model not in self.models:
            raise JobError("the model is not offered any more", "model_gone")
        key = f"render-{name}-{secrets.token_hex(4)}"
        future = self._client.submit(
            _render,
            key,
            order,
            self._client.id,
            resident,
            key=key,
            resources=dict.fromkeys(
                [RENDER, _storage_url(self._settings), _MODEL + model, *[GPU] * resident], 1
            ),
            retries=0,
            pure=False,
        )
        waiting = self._jobs[name] = asyncio.ensure_future(future.result())
        try:
            answer = await self._wait(waiting, key, on_progress)
        finally:
            waiting.cancel()
            self._jobs.pop(name, None)
            self._reports.pop(key, None)
            # A worker that is still rendering it ends its process; see `Node.transition`.
            future.release()
        if "error" in answer:
            raise JobError(answer["error"], answer["code"])
        if "result" not in answer:
            raise LostError("it ended during its job")
        result: dict[str, Any] = answer["result"]
        return result

    async def _wait(
        self, waiting: asyncio.Task[Any], key: str, on_progress: Callable[[float], None]
    ) -> dict[str, Any]:
        """Return the result of a task as long as it reports; it may wait long before it starts."""
        clock = asyncio.get_running_loop().time
        reported_at = math.inf

        def report(fraction: float | None) -> None:
            nonlocal reported_at
            reported_at = math.inf if fraction is None else clock()
            on_progress(fraction or 0.0)

        self._reports[key] = report
        timeout = self._settings.lease_seconds
        while not (await asyncio.wait([waiting], timeout=timeout / 4))[0]:
            if clock() - reported_at > timeout:
                raise LostError("the worker is silent")
        if waiting.cancelled():
            raise LostError("the job was canceled")
        if error := waiting.exception():
            _log.warning("a job was lost on the cluster: %s", type(error).__name__)
            raise LostError("the worker or the scheduler is gone") from None
        answer: dict[str, Any] = waiting.result()
        return answer

    def cancel(self, name: str) -> bool:
        """Cancel a job: its Dask task is released, and the worker ends the process."""
        waiting = self._jobs.get(name)
        return waiting.cancel() if waiting else False

    async def close(self) -> None:
        """Release all tasks and disconnect."""
        self._watch.cancel()
        await self._disconnect()

    async def _disconnect(self) -> None:
        for waiting in self._jobs.values():
            waiting.cancel()
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                await client.close()

    async def _check_repeatedly(self) -> None:
        """Check the cluster regularly, and reconnect after an outage."""
        while True:
            try:
                async with asyncio.timeout(_TIMEOUT_SECONDS):
                    await self._check()
            except Exception as error:  # noqa: BLE001 - a scheduler may fail in many ways
                if not self._outage_logged:
                    _log.warning("the cluster does not answer: %s", type(error).__name__)
                self._shares, self._outage_logged = {RENDER: 0, GPU: 0}, True
                if not self._is_connected:  # a client that cannot connect would stay otherwise
                    await self._disconnect()
            await asyncio.sleep(_CHECK_SECONDS if self.slots else _RETRY_SECONDS)

    async def _check(self) -> None:
        if self._client is None:
            self._client = _connect(self._settings, self._security, name=_NAME)
            await self._client
        # Repeatedly: a restarted scheduler does not know the topic. It is the client's own, which
        # the scheduler empties when the client has been gone for a while.
        self._client.subscribe_topic(self._client.id, self._receive_report)
        storage_url = _storage_url(self._settings)
        found = await self._client.run_on_scheduler(_make_reader(storage_url, self._client.id))
        if self._is_connected and not found["known"]:  # for it, half the connection is broken
            await self._disconnect()
            raise LostError("the scheduler no longer knows this service")
        if found[RENDER] and not self._shares[RENDER]:
            _log.info("the cluster renders %d jobs at a time", found[RENDER])
        if found["elsewhere"] > self._foreign_workers:
            sentence = "%d workers of the cluster get no jobs: their KIT_STORAGE_URL is not %s"
            _log.warning(sentence, found["elsewhere"], storage_url)
        self._foreign_workers = found["elsewhere"]
        models = frozenset(found["models"]) & self._own_models
        if found[RENDER] and (missing := self._own_models - models) and models != self.models:
            sentence = "jobs of these models wait for a worker of the cluster that has them: %s"
            _log.warning(sentence, ", ".join(sorted(missing)))
        self.models = models
        services, self._outage_logged = max(1, found["services"]), False
        self._shares = {name: math.ceil(found[name] / services) for name in (RENDER, GPU)}

    def _receive_report(self, event: tuple[float, Any]) -> None:
        if not isinstance(event[1], dict):  # an event of Dask itself
            key, fraction = event[1]
            if report := self._reports.get(key):
                report(fraction)


async def count_slots(settings: ServiceSettings) -> int:
    """Return how many jobs the cluster renders concurrently; fails without a scheduler."""
    trust = security(settings)
    try:
        async with (
            asyncio.timeout(2 * _TIMEOUT_SECONDS),  # a failing connection ends earlier
            _connect(settings, trust) as client,
        ):
            found = await client.run_on_scheduler(_make_reader(_storage_url(settings), client.id))
    except Exception as error:  # noqa: BLE001 - a scheduler may fail in many ways
        sentence = f"the scheduler {settings.cluster} does not answer ({type(error).__name__})"
        raise ConfigError(sentence) from None
    return int(found[RENDER])


def _connect(settings: ServiceSettings, trust: Security | None, **kwargs: Any) -> Any:
    options = {"asynchronous": True, "set_as_default": False, "timeout": _TIMEOUT_SECONDS}
    return Client(settings.cluster, security=trust, **options, **kwargs)


def _storage_url(settings: ServiceSettings) -> str:
    """Return the URL of the storage: services find only results of workers that use the same."""
    url = settings.storage_url
    return url.partition("?")[0] if url.startswith("s3:") else f"file://{settings.objects}"


def _make_reader(storage_url: str, client: str) -> Callable[..., dict[str, Any]]:
    """Return a function for the scheduler, which need not have this package installed."""

    def read_capacity(dask_scheduler: Any) -> dict[str, Any]:
        # Tasks of dead workers are retried by services only, so that attempts are counted once.
        dask_scheduler.allowed_failures = 0
        resources = [worker.resources for worker in dask_scheduler.workers.values()]
        matching = [one for one in resources if storage_url in one]
        found = {name: int(sum(one.get(name, 0) for one in matching)) for name in ("RENDER", "GPU")}
        names = {name for one in matching for name in one if name.startswith("model:")}
        return {
            **found,
            "models": [name.removeprefix("model:") for name in names],
            "elsewhere": sum("RENDER" in one for one in resources) - len(matching),
            "known": client in dask_scheduler.clients,
            "services": sum("-kit-" in name for name in dask_scheduler.clients),
        }

    return read_capacity


class Node(WorkerPlugin):  # type: ignore[misc]
    """The plugin of a Dask worker: renders orders, and ends canceled jobs."""

    name = _NAME

    def __init__(self, renderer: Renderer) -> None:
        self.renderer = renderer
        self.running: dict[str, asyncio.Task[dict[str, Any]]] = {}
        #: Whether running tasks will be restarted on other workers.
        self.is_leaving = False

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        """End the process of a released task: it was canceled, or its service is gone."""
        if (start, finish) == ("executing", "released"):
            self._end(str(key))

    def teardown(self, worker: Worker) -> None:
        """End all jobs: no service waits for a worker that has left the cluster."""
        for key in self.running:
            self._end(key)

    def _end(self, key: str) -> None:
        # First a request: a process that ends its job by itself is kept, with its loaded weights.
        if key in self.running and not self.renderer.cancel(key):
            self.running[key].cancel()


async def _render(key: str, order: Mapping[str, Any], topic: str, resident: bool) -> dict[str, Any]:
    """Render an order on a worker; errors are returned, because Dask would log the order."""
    worker = get_worker()
    node: Node = worker.plugins[_NAME]
    fraction = [0.0]
    reporting = asyncio.create_task(_report(partial(worker.log_event, topic), key, fraction, node))
    progress = partial(fraction.__setitem__, 0)
    render = partial(node.renderer.run, key, order, progress, resident=resident)
    node.running[key] = asyncio.create_task(_render_with_room(worker, render))
    try:
        return {"result": await node.running[key]}
    except JobError as error:
        return {"error": str(error), "code": error.code}
    except (LostError, asyncio.CancelledError):
        return {}
    except Exception:  # noqa: BLE001 - logged
        _log.exception("%s could not be rendered", key)
        return {}
    finally:
        node.running.pop(key).cancel()
        reporting.cancel()


async def _render_with_room(
    worker: Worker, render: Callable[[], Awaitable[dict[str, Any]]]
) -> dict[str, Any]:
    """Render if the disk of a worker has room, at once or after a while.

    Otherwise a worker with a full disk would take and fail one job after another, faster than the
    others render theirs.
    """
    for second in range(_ROOM_SECONDS):
        if has_room(worker.local_directory):
            return await render()
        if second == 0:
            _log.warning("the disk of %s is full: jobs wait for room", worker.local_directory)
        await asyncio.sleep(1)
    raise LostError("the disk is full")


async def _report(send: Callable[[Any], None], key: str, fraction: list[float], node: Node) -> None:
    """Report the progress of a task regularly: without reports it counts as lost.

    None means that the task will restart on another worker when a slot is free.
    """
    while True:
        send((key, None if node.is_leaving else fraction[0]))
        await asyncio.sleep(_REPORT_SECONDS)


async def work(
    renderer: Renderer,
    settings: ServiceSettings,
    stop: asyncio.Event,
    *,
    gpu: bool,
    host: str | None = None,
    port: int = 0,
    name: str | None = None,
) -> None:
    """Run a worker of the cluster until `stop` is set, reconnecting whenever the scheduler is lost.

    With `gpu` it accepts jobs of engines that keep large weights.
    """
    source = ModelSource(settings.engines_file, settings.engine_copies)
    engines = await asyncio.to_thread(list_engines, source)
    names = [_MODEL + name for name, engine in engines.items() if gpu or not engine.resident]
    offered = dict.fromkeys([RENDER, _storage_url(settings), *names], renderer.max_slots)
    node = Node(renderer)
    stopping = asyncio.create_task(stop.wait())
    while not stop.is_set():
        worker = Worker(
            settings.cluster,
            nthreads=renderer.max_slots,
            resources={**offered, GPU: int(gpu)},
            memory_limit=0,  # otherwise Dask reactivates a worker that is retiring
            name=name,
            host=host,
            port=port,
            dashboard_address="127.0.0.1:0",
            local_directory=str(settings.data / "dask"),
            security=security(settings),
            plugins=(node,),
        )
        serving = asyncio.create_task(_serve(worker))
        await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set() and worker.status == Status.running:
            await _retire(worker, node, settings.grace_seconds)
        serving.cancel()  # first: otherwise it would register again after the end
        await worker.close()
        if not stop.is_set():
            _log.info("the scheduler is lost; reconnecting")
            await asyncio.wait([stopping], timeout=_RETRY_SECONDS)


async def _serve(worker: Worker) -> None:
    with suppress(Exception):  # no scheduler yet
        await worker
        _log.info("renders for the scheduler at %s", worker.scheduler.address)
        await worker.finished()


async def _retire(worker: Worker, node: Node, seconds: float) -> None:
    """Accept no more jobs, wait a while for running ones, leave the rest to other workers."""
    worker.status = Status.paused
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while node.running:
                await asyncio.sleep(0.05)
    node.is_leaving = True
    await asyncio.sleep(2 * _REPORT_SECONDS if node.running else 0)
    with suppress(Exception):  # the scheduler may be gone
        async with asyncio.timeout(_TIMEOUT_SECONDS):
            await worker.close_gracefully()
