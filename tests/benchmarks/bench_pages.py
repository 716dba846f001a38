"""What a page of the history costs when there are a thousand generations, and a million.

    python tests/benchmarks/bench_pages.py [SMALL] [LARGE]

Two services run side by side; both are asked for the same kinds of pages in turn, each time for
another page and by another name, so that nothing kept from before answers. Client and services
share a process, whose processor time is compared; the ratio of the medians is printed.
"""

import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx

from kit.service import server, settings
from kit.service.app import open_database
from kit.service.domain import accounts, keys
from kit.service.http.context import clock
from kit.service.store import generations, ids
from kit.service.store.database import Transaction

ASKED = 300
DAY_MS = 24 * 3600 * 1000
STATES = ("completed",) * 18 + ("failed", "canceled")


def rows(count: int, account: str, first: int) -> Iterator[dict[str, object]]:
    """Yield generations of the year before `first`, oldest first."""
    draw = random.Random(1)
    for number in range(count):
        moment = first + number * 365 * DAY_MS // count
        yield {
            "id": ids.floor("gen", moment)[:-8] + f"{number:08d}",
            "account_id": account,
            "key_id": "",
            "state": draw.choice(STATES),
            "asset_type": draw.choice(("image", "video")),
            "generation_type": "text-to-image",
            "model_id": draw.choice(("poster", "drift")),
            "model_name": "Poster",
            "prompt": "a lake between mountains, golden hour",
            "parameters": '{"size":1024,"seed":7}',
            "media": "{}",
            "seed": 7,
            "millicredits": 20,
            "refunded": 0,
            "progress": 1.0,
            "attempt": 1,
            "losses": 0,
            "queue_round": 0,
            "owner": None,
            "lease_until": None,
            "error": None,
            "error_code": None,
            "output": None,
            "created_at": moment,
            "updated_at": moment + 900,
            "started_at": moment + 100,
            "completed_at": moment + 900,
        }


async def filled(folder: Path, count: int) -> str:
    """Make a data folder with a history and return a key for it."""
    config = settings.load({}, data=folder)
    database = open_database(config)
    account = await database.write(accounts.create("Bench", "bench@localhost", 10**6, clock()))
    wish = keys.Wish(account_id=account.id, name="bench", scopes=("creative:generate",))
    made = await database.write(keys.create(wish, config.secret(), clock()))

    def add() -> Transaction[None]:
        for row in rows(count, account.id, clock() - 365 * DAY_MS):
            yield generations.ADD(**row)

    await database.write(add())
    await database.close()
    return str(made.text)


def seconds(http: httpx.Client, kind: dict[str, str], last: list[str], turn: int) -> float:
    """Return the processor time of one page; `last` holds where the next begins.

    Each turn calls the service at another port: answers that were kept hold other addresses.
    """
    cursor = {"cursor": last[0]} if last[0] else {}
    called = {"Host": f"localhost:{turn}"}
    begun = time.process_time()
    answer = http.get(
        "/v1/creative-studio/generations",
        params={**kind, **cursor},
        headers=called,
    )
    took = time.process_time() - begun
    found = answer.raise_for_status().json()
    last[0] = found[-1]["id"] if answer.links.get("next") else ""
    return took


def main(small: int = 1_000, large: int = 1_000_000) -> None:
    """Print a line for each kind of page."""
    kinds = {
        "all": {},
        "failed": {"status": "failed"},
        "one model": {"modelId": "drift"},
        "videos": {"assetType": "video"},
    }
    with tempfile.TemporaryDirectory() as folder:
        services = []
        for count in (small, large):
            data = Path(folder) / str(count)
            key = asyncio.run(filled(data, count))
            config = settings.load({"KIT_REQUESTS_PER_MINUTE": "1000000"}, data=data, workers=0)
            running = server.start(config)
            head = {"Authorization": f"Bearer {key}"}
            services.append((running, httpx.Client(base_url=running.url, headers=head)))
        print(f"page of 50            {small:>12,} {large:>12,}  ratio")
        for name, kind in kinds.items():
            took: list[list[float]] = [[], []]
            cursors = [[""], [""]]
            for turn in range(ASKED):
                for number, (_, http) in enumerate(services):
                    took[number].append(seconds(http, kind, cursors[number], turn))
            few, many = (statistics.median(times) * 1000 for times in took)
            print(f"{name:<20} {few:>10.2f} ms {many:>9.2f} ms  x{many / few:.2f}")
        for running, http in services:
            http.close()
            running.stop()


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
