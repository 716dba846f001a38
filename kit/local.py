"""The embedded service: the one that runs on the data folder already, or one in this process.

Its demo account and key lie in the data folder, readable by their owner only, so that notebooks,
scripts and the command line on one machine share one history.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from kit.errors import ApiError
from kit.pricing import MILLI
from kit.service import settings as service_settings
from kit.service.app import open_database
from kit.service.domain import accounts, keys
from kit.service.http.context import clock
from kit.service.server import Running, find, start
from kit.service.settings import Settings, prepare, write_private
from kit.service.store.sqlite import SQLite

#: Earlier than `atexit`, which only comes when no thread can be started any more.
_at_exit = getattr(threading, "_register_atexit", atexit.register)

#: What the demo account can spend.
DEMO_CREDITS = 1000
_DEMO = "demo.json"
_GRACE_SECONDS = 1.0  # a kernel that restarts does not wait; what runs is handed back

_running: dict[Path, Running] = {}
_lock = threading.Lock()


def embedded(data: Path | str | None = None) -> tuple[str, str]:
    """Return the address of the embedded service and a key for it.

    Parameters
    ----------
    data : Path, optional
        The data folder; ``KIT_DATA`` or the platform's when left out.

    Raises
    ------
    ConfigError
        The folder cannot be used, or the service does not start.

    Examples
    --------
    >>> import tempfile
    >>> url, key = embedded(tempfile.mkdtemp())
    >>> key[:8]
    'cs_test_'
    >>> stop()
    """
    settings = service_settings.load(data=data)
    prepare(settings.data)
    with _lock:
        key = demo_key(settings)
        running = _running.get(settings.data)
        if running is None:
            url = find(settings.data)
            if url is not None:
                return url, key
            running = _running[settings.data] = start(
                replace(settings, grace_seconds=_GRACE_SECONDS)
            )
            _at_exit(running.stop)
        return running.url, key


def stop() -> None:
    """Stop every service that was started in this process."""
    with _lock:
        for running in _running.values():
            running.stop()
        _running.clear()


def demo_key(settings: Settings) -> str:
    """Return the demo account's key, made on first use."""
    path = settings.data / _DEMO
    # A notebook's cell has an event loop already, and this needs one of its own.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, _demo_key(settings, path)).result()


async def _demo_key(settings: Settings, path: Path) -> str:
    database = open_database(settings)
    try:
        kept = _read(path)
        if kept is not None and await _works(database, settings, kept):
            return kept
        return await _make(database, settings, path)
    finally:
        await database.close()


async def _works(database: SQLite, settings: Settings, key: str) -> bool:
    try:
        await database.read(keys.caller(key, settings.secret(), clock()))
    except ApiError:
        return False
    return True


async def _make(database: SQLite, settings: Settings, path: Path) -> str:
    now = clock()
    credits = DEMO_CREDITS * MILLI
    account = await database.write(accounts.create("Demo", "demo@localhost", credits, now))
    scopes = ("scripts:generate", "creative:generate")
    wish = keys.Wish(account_id=account.id, name="demo", scopes=scopes, live=False)
    made = await database.write(keys.create(wish, settings.secret(), now))
    write_private(path, json.dumps({"accountId": account.id, "key": made.text}))
    return made.text


def _read(path: Path) -> str | None:
    try:
        return str(json.loads(path.read_text())["key"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
