"""What a synced history of a million generations costs to fill, to open and to ask.

    python tests/benchmarks/bench_history.py [ROWS]

Pages come from this process, so what is measured is the kit and not a service.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kit.explore.archive import Archive
from kit.explore.store import Store
from kit.explore.syncing import Page, Steps, sync_generations

PAGE = 1000
END = datetime(2026, 11, 1, tzinfo=UTC)


class Service:
    """Pages of generations, newest first, one a minute."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def page(self, query: dict[str, Any], path: str | None) -> Steps[Page]:
        """Return a page; nothing is waited for."""
        first = int(path or 0)
        content = json.dumps([self._row(n) for n in range(first, min(first + PAGE, self.rows))])
        following = first + PAGE
        return Page(content.encode(), str(following) if following < self.rows else None)
        yield

    def one(self, generation_id: str) -> Steps[bytes]:
        """There is nothing unfinished."""
        raise AssertionError(generation_id)

    def models(self) -> Steps[dict[str, Any]]:
        """There is nothing to estimate."""
        raise AssertionError

    def receipts(self) -> dict[str, Any]:
        """The service says what everything cost."""
        return {}

    def tags(self) -> dict[str, Any]:
        """Nothing is filed under anything."""
        return {}

    def starts(self, after: str | None = None) -> list[Any]:
        """Nothing was started here."""
        return []

    def usage(self, path: str | None) -> Steps[None]:
        """There is no ledger."""
        return None
        yield

    def rest(self, seconds: float) -> Steps[None]:
        """Nobody else syncs."""
        raise AssertionError(seconds)

    def _row(self, number: int) -> dict[str, Any]:
        made = END - timedelta(minutes=number)
        return {
            "id": f"gen_{self.rows - number:012d}",
            "status": "failed" if number % 29 == 0 else "completed",
            "modelId": f"model-{number % 12}",
            "assetType": "video" if number % 3 else "image",
            "prompt": f"a red fox in the snow, take {number}",
            "parameters": {"resolution": ("480p", "720p", "1080p")[number % 3], "seed": number},
            "creditsCharged": 0.05 * (1 + number % 7),
            "creditsRefunded": 0.05 * (1 + number % 7) if number % 29 == 0 else 0,
            "createdAt": made.isoformat(),
            "completedAt": (made + timedelta(seconds=2 + number % 50)).isoformat(),
        }


def run(steps: Steps[Any]) -> Any:
    """Drive a flow that waits for nothing."""
    try:
        while True:
            next(steps)
    except StopIteration as stop:
        return stop.value


QUERIES = {
    "credits by model": "select model_id, sum(net) from generations group by all",
    "credits by day": "select created_at::date d, sum(net) from generations group by d",
    "by a parameter": "select parameters->>'resolution' r, avg(net) from generations group by r",
    "failed by month": (
        "select date_trunc('month', created_at) m, count(*) from generations"
        " where status = 'failed' group by m"
    ),
}


def timed(work: Callable[[], Any]) -> Iterator[float]:
    """Yield the seconds and the processor seconds of some work."""
    begun, used = time.perf_counter(), time.process_time()
    work()
    yield time.perf_counter() - begun
    yield time.process_time() - used


def main(rows: int = 1_000_000) -> None:
    """Print a line for each step."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        steps: dict[str, Callable[[], Any]] = {
            "make the pages": lambda: [
                run(Service(rows).page({}, str(n))) for n in range(0, rows, PAGE)
            ],
            "first sync": lambda: run(sync_generations(store, Service(rows))),
            "second sync": lambda: run(sync_generations(store, Service(rows))),
            "open": lambda: Archive(store).sql("select count(*) from generations"),
            **{name: (lambda q=q: Archive(store).sql(q)) for name, q in QUERIES.items()},
            "a month as a frame": lambda: Archive(store).sql(
                "select * from generations where created_at >= '2026-10-01'"
            ),
        }
        for name, work in steps.items():
            wall, cpu = timed(work)
            print(f"{name:<22}{wall:>9.3f} s{cpu:>9.3f} s CPU", flush=True)
        size = sum(path.stat().st_size for path in store.files())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(
            f"{rows:,} generations in {len(store.files())} files, {size / 1e6:.0f} MB; {peak} MiB"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
