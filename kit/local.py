"""The embedded service: the one already running on the data folder, or one in this process.

Its demo account and key are stored in the data folder, readable by their owner only, so that
notebooks, scripts and the command line on one machine share one history. It ends with its host
process; the next process that needs it hosts it again.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import sys
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kit.errors import ApiError, ConfigError, NotFoundError
from kit.pricing import UNITS_PER_CREDIT
from kit.private import Lock, write_private
from kit.service import logs, machine
from kit.service import settings as service_settings
from kit.service.address import accepts_key, find, proof_of, read_note
from kit.service.domain import accounts, keys
from kit.service.machine import clock
from kit.service.settings import ServiceSettings, prepare
from kit.service.store import Database
from kit.service.store.database import Transaction
from kit.widgets.account import Key

if TYPE_CHECKING:
    from kit.service.domain.credits import Payer
    from kit.service.server import RunningService

T = TypeVar("T")

#: Runs before `atexit`, which comes only when threads cannot be started any more.
_at_exit = getattr(threading, "_register_atexit", atexit.register)

#: Credits of a new demo account.
DEMO_CREDITS = 1000
_DEMO_FILE = "demo.json"
#: Rate limits that are not set: they protect a shared service, and here they would slow a batch.
_LIMITS = {"requests_per_minute": 60_000, "starts_per_minute": 6_000}
_DAY_MS = 24 * 3600 * 1000
_GRACE_SECONDS = 1.0  # a restarting kernel does not wait; running jobs are returned to the queue

#: Maximum of seconds to wait while another process starts the service.
_LOCK_SECONDS = 15.0
_LOCK_FILE, _LOG_FILE = "service.lock", "service.log"

_BEGIN = time.time()  # of this session
#: The services hosted by this process, by data folder.
hosted: dict[Path, RunningService] = {}
_lock = threading.Lock()
#: Folders whose service was stopped deliberately: only `kit.connect()` starts it again.
_stopped: set[Path] = set()
_exiting = threading.Event()


def start_embedded(data: Path | str | None = None) -> tuple[str, str]:
    """Return the address of the embedded service and a key for it.

    The default data folder is ``KIT_DATA``, or the platform's.

    Raises `ConfigError` if the folder cannot be used, or the service does not start.
    """
    settings = service_settings.load(data=data, defaults=_LIMITS)
    with _lock:
        _stopped.discard(settings.data)
        return _find_or_start(settings)


def make_follower(data: Path | str | None, key: str) -> Callable[[str], str]:
    """Return a function that finds the embedded service after a refusal, or starts it again.

    It uses this folder whatever the environment is later; and the service must know the key.
    """
    folder = service_settings.load(data=data).data

    def follow(refused: str) -> str:
        settings = service_settings.load(data=folder, defaults=_LIMITS)
        with _lock:
            running = hosted.get(folder)
            if running is not None and running.url == refused:
                # its thread has ended, or belongs to the parent process of a fork
                hosted.pop(folder).stop()
            url, current_key = _find_or_start(settings)
        if current_key != key:
            raise ConfigError(f"{folder} has another demo key by now")
        return url

    return follow


def make_prover(data: Path | str | None) -> Callable[[str, str], str]:
    """Return a function that computes the response of a data folder's service to a challenge."""
    return partial(proof_of, service_settings.load(data=data).data)


def _find_or_start(settings: ServiceSettings) -> tuple[str, str]:
    _stop_at_exit()
    prepare(settings.data)
    if not os.access(settings.data, os.W_OK):
        why = "cannot be written; set KIT_DATA or data= to another"
        raise ConfigError(f"the data folder {settings.data} {why}")
    running = hosted.get(settings.data)
    url = running.url if running else find(settings.data)
    if url is None and (obstacle := _find_obstacle(settings.data)):
        quiet = _exiting.is_set() and threading.current_thread().daemon
        raise SystemExit if quiet else ConfigError(obstacle)
    saved = str(read_note(settings.data / _DEMO_FILE).get("key", ""))
    key = saved if url and saved and accepts_key(url, saved) else demo_key(settings)
    return url or _start_service(settings), key


def _find_obstacle(folder: Path) -> str:
    """Return why this process cannot host a service; empty if it can."""
    gevent = sys.modules.get("gevent.monkey")
    instead = "start `kit serve` and kit.connect() to it, or with the same data folder"
    reasons = {
        "the program's main thread has ended, and the service with it": _exiting.is_set(),
        "it was stopped here": folder in _stopped,
        # each render process would be the whole program again
        f"a frozen program, as of PyInstaller, has no Python to render with: {instead}": (
            getattr(sys, "frozen", False)
        ),
        f"gevent has replaced the threads that the service needs: {instead}": (
            gevent and gevent.is_module_patched("threading")
        ),
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _start_service(settings: ServiceSettings) -> str:
    """Start the service, unless another process is starting it; return its address."""
    with _wait_for_turn(settings.data):
        if (url := find(settings.data)) is None:
            running = hosted[settings.data] = _host(settings)
            url = running.url
        return url


def _host(settings: ServiceSettings) -> RunningService:
    # imported here, as a running service is found without them
    from kit.engines import plugins, registry
    from kit.engines.configured.place import ModelSource
    from kit.service.server import THREAD, start

    file = settings.data / _LOG_FILE
    stop_logging = logs.log_to_file(file, THREAD)
    registry.survey.cache_clear()
    for point in entry_points(group=registry.GROUP):
        if not plugins.is_built_in(point):
            _forget_changed(point.value.partition(":")[0])
    try:
        running = start(
            replace(settings, grace_seconds=_GRACE_SECONDS, log=file, webhook_loopback=True)
        )
    except ConfigError as error:
        stop_logging()
        raise ConfigError(f"{error} ({file})") from None
    models = ModelSource(settings.engines_file, settings.engine_copies)
    for broken in registry.survey(models).left_out:
        warnings.warn_explicit(str(broken), UserWarning, "kit.connect", 1)

    def stop() -> None:
        running.stop()
        stop_logging()

    return replace(running, stop=stop)


def _forget_changed(name: str) -> None:
    """Let the package of a module be imported anew if its author has changed it in this session."""
    modules = sys.modules.copy()
    is_package = hasattr(modules.get(name), "__path__")
    package = name if is_package else name.rpartition(".")[0] or name
    found = [each for each in modules if f"{each}.".startswith(f"{package}.")]
    files = [Path(getattr(modules[each], "__file__", None) or "") for each in found]
    if any(file.is_file() and file.stat().st_mtime > _BEGIN for file in files):
        for each in found:
            del sys.modules[each]


@contextmanager
def _wait_for_turn(folder: Path) -> Iterator[None]:
    """Wait for a lock, so that notebooks do not create several services or accounts."""
    lock = Lock(folder / _LOCK_FILE)
    ends = time.monotonic() + _LOCK_SECONDS
    while not lock.acquire() and time.monotonic() < ends:
        time.sleep(0.05)
    try:
        yield
    finally:
        lock.release()


@cache
def _stop_at_exit() -> None:
    def stop_all() -> None:
        _exiting.set()  # background requests must not start it again
        stop()

    _at_exit(stop_all)


class LocalKeys:
    """The API keys of the account that owns a key, managed in the service's own database."""

    def __init__(self, data: Path | str | None, key: str) -> None:
        self._settings = service_settings.load(data=data)
        self._key = key

    def list_all(self) -> list[Key]:
        """Return all keys, oldest first."""
        now, payer = clock(), self._payer
        rows = self._write(keys.list_keys(payer.account_id))
        return [_describe_key(row, now, row.id == payer.key_id) for row in rows]

    def create(self, name: str, scopes: Sequence[str], days: int | None) -> str:
        """Create a key valid for some days, or until it is revoked; return its text."""
        now = clock()
        secret = self._settings.secret()
        request = keys.KeyRequest(
            account_id=self._write(keys.find_caller(self._key, secret, now)).account_id,
            name=name,
            scopes=scopes,
            expires_at=None if days is None else now + days * _DAY_MS,
            live=False,
        )
        return self._write(keys.create(request, secret, now, actor=_actor())).text

    def revoke(self, key_id: str) -> None:
        """Revoke a key, effective immediately."""
        if key_id not in {key.id for key in self.list_all()}:
            raise NotFoundError(f"there is no key {key_id!r}")
        self._write(keys.revoke(key_id, clock(), actor=_actor()))

    @cached_property
    def _payer(self) -> Payer:
        """The owner of the key; raises `InvalidApiKeyError` if it is revoked."""
        return self._write(keys.find_caller(self._key, self._settings.secret(), clock())).payer

    def _write(self, work: Transaction[T]) -> T:
        return _with_database(self._settings, lambda database: database.write(work))


def _actor() -> str:
    return f"embedded:{machine.user()}"  # for the audit log


def _describe_key(row: Any, now: int, in_use: bool) -> Key:
    state, scopes = keys.state_of(row, now), tuple(row.scopes.split())
    moments = (_moment(row.expires_at), _moment(row.last_used_at))
    return Key(row.id, row.prefix, row.name, scopes, state, *moments, in_use)


def _moment(milliseconds: int | None) -> datetime | None:
    return None if milliseconds is None else datetime.fromtimestamp(milliseconds / 1000, UTC)


def stop() -> None:
    """Stop all services started in this process; `start_embedded` starts them again."""
    with _lock:
        for running in hosted.values():
            running.stop()
        _stopped.update(hosted)
        hosted.clear()


def demo_key(settings: ServiceSettings) -> str:
    """Return the demo account's key, created on first use or if it is not valid any more."""
    path = settings.data / _DEMO_FILE

    async def find_or_create(database: Database) -> str:
        note = read_note(path)
        if saved := str(note.get("key", "")):
            with suppress(ApiError):
                await database.read(keys.find_caller(saved, settings.secret(), clock()))
                return saved
        new = await database.write(_create_key(settings.secret(), str(note.get("accountId", ""))))
        write_private(path, json.dumps(new))
        return new["key"]

    with _wait_for_turn(settings.data):
        return _with_database(settings, find_or_create)


def _with_database(settings: ServiceSettings, work: Callable[[Database], Awaitable[T]]) -> T:
    from kit.service.databases import with_database

    # A notebook cell has a running event loop already, and this needs its own.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(with_database(settings, work))).result()


def _create_key(secret: bytes, account_id: str) -> Transaction[dict[str, str]]:
    """Create a key of an account if it exists, else of a new one."""
    now, credits = clock(), DEMO_CREDITS * UNITS_PER_CREDIT
    try:
        account = yield from accounts.get(account_id)
    except NotFoundError:
        account = yield from accounts.create("Demo", "demo@localhost", credits, now, actor=_actor())
    scopes = ("scripts:generate", "creative:generate")
    request = keys.KeyRequest(account_id=account.id, name="demo", scopes=scopes, live=False)
    created = yield from keys.create(request, secret, now, actor=_actor())
    return {"accountId": account.id, "key": created.text}
