"""The cost of a thousand generations and of ten million: pages of every filter, a start, a sweep.

    python tests/benchmarks/bench_pages.py [SMALL] [LARGE]

Two services run side by side; both get the same kinds of page requests in turn, each time for
another page and with another host name, so that no cached response is used. Client and services
share a process, whose processor time is compared; the ratio of the medians is printed. What a
filter finds is always the oldest of the history, behind all that it leaves out. Ten million take
12 GB and a quarter of an hour to write.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import httpx

from kit.service import server, settings
from kit.service.databases import open_database
from kit.service.domain import accounts, keys
from kit.service.domain.upkeep import Readiness, Sweeper
from kit.service.machine import clock
from kit.service.storage.local import LocalStorage
from kit.service.storage.signing import Signer
from kit.service.store import ids

#: A path and its query.
Query = tuple[str, dict[str, str]]
TURNS = 300
DAY_MS = 24 * 3600 * 1000
GENERATIONS = "/v1/creative-studio/generations"
#: How many there are of each kind that is not the usual one, at the beginning of a history.
RARE = 60
_KIND = f"CASE WHEN n < 6 * {RARE} THEN n / {RARE} ELSE 6 END"
_GENERATIONS = f"""
INSERT INTO generations (id, account_id, key_id, state, asset_type, generation_type, model_id,
    model_name, prompt, parameters, media, seed, millicredits, refunded, progress, attempt, losses,
    created_at, updated_at, started_at, completed_at)
WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < :count),
kinds AS (SELECT n, {_KIND} AS kind, :first + n * :span / :count AS moment FROM numbers)
SELECT made_id('gen', moment, n), :account, '',
    CASE kind WHEN 0 THEN 'failed' WHEN 1 THEN 'canceled' WHEN 4 THEN 'failed' ELSE 'completed' END,
    CASE kind WHEN 2 THEN 'video' WHEN 4 THEN 'video' ELSE 'image' END, 'text-to-image',
    CASE kind WHEN 3 THEN 'drift' WHEN 4 THEN 'drift' ELSE 'poster' END, 'Poster',
    'a lake between mountains, golden hour', '{{"size":1024,"seed":7}}', '{{}}',
    7, 20, 0, 1.0, 1, 0, moment, moment + 900, moment + 100, moment + 900
FROM kinds
"""
_LEDGER = """
INSERT INTO ledger (id, account_id, kind, subject, millicredits, balance_after, generation_id,
    model_id, created_at, charged_after, refunded_after)
SELECT replace(id, 'gen_', 'led_'), account_id, 'generation', id, -20,
    :balance - 20 * row_number() OVER (ORDER BY id), id, model_id, created_at,
    20 * row_number() OVER (ORDER BY id), 0
FROM generations WHERE account_id = :account
"""


def write_history(path: Path, account: str, count: int, until: int, days: int = 60) -> None:
    """Write a number of generations of the days before a time, with their charges.

    Parameters
    ----------
    until : int
        Milliseconds since 1970.
    """

    def made_id(prefix: str, moment: int, number: int) -> str:
        return f"{ids.floor(prefix, moment)[:-8]}{number:08d}"

    connection = apsw.Connection(str(path))
    connection.create_scalar_function("made_id", made_id, 3)
    connection.execute("BEGIN IMMEDIATE")
    values = {"account": account, "count": count, "span": days * DAY_MS}
    connection.execute(_GENERATIONS, {**values, "first": until - days * DAY_MS})
    find = "SELECT balance FROM accounts WHERE id = ?"
    ((balance,),) = connection.execute(find, (account,)).fetchall()
    connection.execute(_LEDGER, {"account": account, "balance": balance})
    spend = "UPDATE accounts SET balance = balance - ?1, charged = charged + ?1 WHERE id = ?2"
    connection.execute(spend, (20 * count, account))
    connection.execute("COMMIT")
    connection.close()


async def create_history(folder: Path, count: int) -> str:
    """Make a data folder with a history and return a key for it."""
    config = settings.load({}, data=folder)
    database = open_database(config)
    account = await database.write(accounts.create("Bench", "bench@localhost", 10**9, clock()))
    request = keys.KeyRequest(account_id=account.id, name="bench", scopes=("creative:generate",))
    key = await database.write(keys.create(request, config.secret(), clock()))
    await database.close()
    write_history(config.database_path, account.id, count, clock())
    return str(key.text)


def seconds(http: httpx.Client, query: Query, last: list[str], turn: int) -> float:
    """Return the processor time of one page; `last` is the cursor of the next one.

    Each turn names another port as the host: cached responses contain other URLs.
    """
    cursor = {"cursor": last[0]} if last[0] else {}
    called = {"Host": f"localhost:{turn + 1}"}
    started = time.process_time()
    answer = http.get(query[0], params={**query[1], **cursor}, headers=called)
    took = time.process_time() - started
    found = answer.raise_for_status().json()
    last[0] = found[-1]["id"] if answer.links.get("next") else ""
    return took


def list_queries() -> dict[str, Query]:
    """Return the queries by their names."""

    def ago(days: float) -> str:
        return (datetime.now(UTC) - timedelta(days=days)).isoformat()

    filters = {
        "all": {},
        "completed": {"status": "completed"},
        "failed": {"status": "failed"},
        "canceled": {"status": "canceled"},
        "processing": {"status": "processing"},
        "images": {"assetType": "image"},
        "videos": {"assetType": "video"},
        "usual model": {"modelId": "poster"},
        "rare model": {"modelId": "drift"},
        "no such model": {"modelId": "none"},
        "failed images": {"status": "failed", "assetType": "image"},
        "canceled videos": {"status": "canceled", "assetType": "video"},
        "failed of a model": {"status": "failed", "modelId": "drift"},
        "videos of a model": {"assetType": "video", "modelId": "drift"},
        "images of the other": {"assetType": "image", "modelId": "drift"},
        "all three": {"status": "failed", "assetType": "video", "modelId": "drift"},
        "created after": {"createdAfter": ago(30)},
        "created before": {"createdBefore": ago(30)},
        "failed before": {"status": "failed", "createdBefore": ago(1)},
        "videos in a week": {
            "assetType": "video",
            "createdAfter": ago(20),
            "createdBefore": ago(13),
        },
    }
    lists = {name: (GENERATIONS, kind) for name, kind in filters.items()}
    others = {"usage": "/v1/usage", "account": "/v1/account", "credits": "/v1/account/credits"}
    return {**lists, **{name: (path, {}) for name, path in others.items()}}


class Service:
    """A service with a history, and the requests beside pages."""

    def __init__(self, folder: Path, count: int) -> None:
        key = asyncio.run(create_history(folder, count))
        limits = {"KIT_REQUESTS_PER_MINUTE": "1000000", "KIT_STARTS_PER_MINUTE": "1000000"}
        self._config = settings.load(limits, data=folder, workers=0)
        self._running = server.start(self._config)
        head = {"Authorization": f"Bearer {key}"}
        self.http = httpx.Client(base_url=self._running.url, headers=head, timeout=60)
        oldest = {
            "limit": "50",
            "createdBefore": (datetime.now(UTC) - timedelta(days=59)).isoformat(),
        }
        self._known = [one["id"] for one in self.http.get(GENERATIONS, params=oldest).json()]

    def status(self, turn: int) -> float:
        """Return the processor time of one status."""
        path = f"{GENERATIONS}/{self._known[turn % len(self._known)]}"
        return seconds(self.http, (path, {}), [""], turn)

    def start(self, _turn: int) -> float:
        """Return the processor time of one start, which is charged and queued."""
        started = time.process_time()
        order = {"modelId": "poster", "prompt": "a lake"}
        self.http.post(GENERATIONS, json=order).raise_for_status()
        return time.process_time() - started

    def sweep(self, _turn: int) -> float:
        """Return the processor time of one round of the sweeper."""

        async def alone() -> float:
            database = open_database(self._config)
            storage = LocalStorage(self._config.objects, Signer(self._config.secret()))
            readiness = Readiness(database, storage, clock, time.monotonic)
            sweeper = Sweeper(database, storage, self._config, readiness, clock)
            started = time.process_time()
            await sweeper.sweep()
            took = time.process_time() - started
            readiness.stop()
            await database.close()
            return took

        return asyncio.run(alone())

    def close(self) -> None:
        """Close the client and stop the service."""
        self.http.close()
        self._running.stop()


def main(small: int = 1_000, large: int = 10_000_000) -> None:
    """Print a line for each kind of request."""
    with tempfile.TemporaryDirectory() as folder:
        services = [Service(Path(folder) / str(count), count) for count in (small, large)]
        print(f"                      {small:>12,} {large:>12,}  ratio")
        for name, query in list_queries().items():
            cursors = {service: [""] for service in services}
            compare(
                f"page: {name}",
                services,
                lambda service, turn, query=query, cursors=cursors: seconds(
                    service.http, query, cursors[service], turn
                ),
            )
        for ask in (Service.status, Service.start, Service.sweep):
            compare(ask.__name__, services, ask)
        for service in services:
            service.close()


def compare(name: str, services: list[Service], ask: Callable[[Service, int], float]) -> None:
    """Measure both services in turn and print the medians."""
    took: list[list[float]] = [[], []]
    for turn in range(TURNS):
        for number in (0, 1) if turn % 2 else (1, 0):
            took[number].append(ask(services[number], turn))
    few, many = (statistics.median(times) * 1000 for times in took)
    print(f"{name:<26} {few:>10.2f} ms {many:>9.2f} ms  x{many / few:.2f}", flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
