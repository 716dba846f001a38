"""Seconds, memory and bytes of cost queries on a long history, beside DuckDB on a plain file.

    python tests/benchmarks/bench_costs.py [GENERATIONS]

Each line is a fresh process, and the two candidates take turns: the kit on its archive, and DuckDB
queried directly on one Parquet file of the same rows, which it wrote itself. The memory is the
peak of the process, with the 130 MiB that importing takes. The ratio is one of processor seconds,
which other work on the machine changes least.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from kit.explore.arrow import GENERATIONS, TIME, USAGE
from kit.explore.store import Listing, Manifest, Store

#: Rows of a part, as a sync and its merging leave them.
PART = 200_000
ROUNDS = 3
_PHRASE = "a red fox in the snow at golden hour beside an old copper tower with light and smoke"
WORDS = np.array(sorted(set(_PHRASE.split())))
LETTERS = np.frombuffer(b"0123456789ABCDEFGHJKMNPQRSTVWXYZ", np.uint8)


def parts(rows: int) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Yield generations and the entries that paid them, each part newest first."""
    random = np.random.default_rng(1)
    start = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1e6)
    step = 31_536_000_000_000 // rows
    balance = 0
    for bottom in range(0, rows, PART):
        numbers = np.arange(bottom, min(bottom + PART, rows))
        count = len(numbers)
        moments = start + numbers * step + random.integers(0, step, count)
        paid = random.choice([20, 50, 120, 400, 820], count)
        failed = random.random(count) < 0.05
        refunded = np.where(failed, paid, 0)
        ids = pa.array(_ids("gen_", moments, random))
        words = WORDS[random.integers(0, len(WORDS), (count, 9))]
        size = random.choice(["360p", "480p", "720p", "1080p"], count)
        seeds, steps = random.integers(0, 2**31, count), random.integers(10, 50, count)
        campaigns = random.choice(["winter", "spring", "summer", "autumn"], count)
        models = pa.array(np.char.add("model-", random.integers(0, 12, count).astype(str)))
        tags = pa.array(f'{{"campaign": "{name}"}}' for name in campaigns)
        created = pa.array(moments).cast(pa.timestamp("us")).cast(TIME)
        facts: dict[str, Any] = {
            "id": ids,
            "status": pa.array(np.where(failed, "failed", "completed")),
            "model_id": models,
            "asset_type": pa.array(np.where(paid > 100, "video", "image")),
            "generation_type": pa.array(np.where(paid > 100, "text-to-video", "text-to-image")),
            "prompt": pa.array([" ".join(row) for row in words]),
            "credits": pa.array(paid / 1000),
            "credits_refunded": pa.array(refunded / 1000),
            "net": pa.array((paid - refunded) / 1000),
            "credits_source": pa.array(["service"] * count),
            "seconds": pa.array(np.round(random.random(count) * 60, 3)),
            "width": pa.array(np.full(count, 1280)),
            "height": pa.array(np.full(count, 720)),
            "size_bytes": pa.array(random.integers(50_000, 900_000, count)),
            "content_type": pa.array(["video/mp4"] * count),
            "parameters": pa.array(
                f'{{"seed": {seed}, "resolution": "{name}", "steps": {n}}}'
                for seed, name, n in zip(seeds, size, steps, strict=True)
            ),
            "tags": tags,
            "error": pa.array(np.where(failed, "the render process ended", None).tolist()),
            "created_at": created,
            "completed_at": created,
        }
        # each is paid, and a failed one is refunded at once; a grant comes first of all
        place = np.repeat(np.arange(count), 1 + failed)
        refund = np.append(False, place[1:] == place[:-1])
        amounts = np.where(refund, paid[place], -paid[place])
        kinds = np.where(refund, "refund", "generation").tolist()
        paid_for = ids.take(pa.array(place))
        if not bottom:
            place, amounts = np.append(0, place), np.append(1000 * rows, amounts)
            kinds, paid_for = ["grant", *kinds], pa.array([None, *paid_for.to_pylist()])
        after = balance + np.cumsum(amounts)
        balance = int(after[-1])
        when = moments[place] + np.arange(len(place)) % 2
        usage = pa.table(
            {
                "id": pa.array(_ids("led_", when, random)),
                "created_at": pa.array(when).cast(pa.timestamp("us")).cast(TIME),
                "kind": pa.array(kinds),
                "credits": pa.array(amounts / 1000),
                "balance_after": pa.array(after / 1000),
                "model_id": models.take(pa.array(place)),
                "generation_id": paid_for,
                "key_prefix": pa.array(["cs_live_Ab"] * len(place)),
                "tags": tags.take(pa.array(place)),
                "note": pa.nulls(len(place), pa.string()),
            }
        )
        columns = [facts.get(f.name, pa.nulls(count, f.type)) for f in GENERATIONS]
        table = pa.Table.from_arrays(columns, schema=GENERATIONS)
        back = pa.array(np.arange(len(place))[::-1])
        yield table.take(back.slice(len(place) - count)), usage.cast(USAGE).take(back)


def _ids(prefix: str, moments: np.ndarray[Any, Any], random: np.random.Generator) -> list[str]:
    """Return ids that can be sorted by their time, as the service makes them."""
    digits = (moments[:, None] // 1000) >> np.arange(45, -1, -5)[None, :]
    text = LETTERS[np.hstack([digits & 31, random.integers(0, 32, (len(moments), 16))])]
    return [f"{prefix}{row.tobytes().decode()}" for row in text]


def build(folder: Path, rows: int) -> None:
    """Make the archive and the plain file, and print what a row takes on disk."""
    import duckdb

    store, held, booked = Store(folder / "archive"), {}, {}
    for generations, usage in parts(rows):
        held |= store.write(generations)
        booked |= store.write(usage)
    store.commit(Manifest(Listing(held), Listing(booked)))
    with duckdb.connect() as base:
        for name, files in ((name, store.files(name)) for name in ("generations", "usage")):
            listed = [str(file) for file in files]
            base.execute(
                f"copy (from read_parquet({listed})) to '{folder / name}.parquet' "
                "(format parquet, compression zstd)"
            )
    for name, files in ((name, store.files(name)) for name in ("generations", "usage")):
        kit = sum(file.stat().st_size for file in files)
        plain = (folder / f"{name}.parquet").stat().st_size
        print(f"{name}: {kit / rows:.0f} bytes a row, {kit / plain:.2f} of the plain file")


def kit(folder: Path, task: str) -> Callable[[], Any]:
    """Return a function that runs a query with the kit."""
    from kit.explore import costs
    from kit.explore.archive import Archive

    archive = Archive(Store(folder / "archive"))
    if task == "reconcile":
        return lambda: costs.reconcile(archive)
    if task == "sql by model":
        query = "select model_id, count(*), sum(net) from generations group by all"
        return lambda: archive.sql(query)
    if task == "sql by parameter":
        query = 'select "parameters.resolution" r, sum(net) from generations group by all'
        return lambda: archive.sql(query)
    return lambda: costs.by(costs.Spending(archive), *task.removeprefix("by ").split(", "))


#: The same queries for DuckDB: titles and scripts are only in the ledger.
_SUMS = (
    "count(*), sum(round(credits * 1000)::bigint), "
    "sum(coalesce(round(credits_refunded * 1000)::bigint, 0)) from ("
    "select model_id, created_at, parameters, tags, credits, credits_refunded from generations "
    "union all select kind, created_at, null, null, -credits, 0 from usage "
    "where kind in ('title', 'script')) group by all"
)
_PAID = "select generation_id id, sum(-round(credits * 1000)::bigint) paid from usage group by 1"
PLAIN = {
    "by model": f"select model_id, {_SUMS}",
    "by day": f"select date_trunc('day', created_at), {_SUMS}",
    "by model, day": f"select model_id, date_trunc('day', created_at), {_SUMS}",
    "by parameters.resolution": f"select parameters->>'resolution', {_SUMS}",
    "by tag.campaign": f"select tags->>'campaign', {_SUMS}",
    "sql by model": "select model_id, count(*), sum(net) from generations group by all",
    "sql by parameter": (
        "select parameters->>'resolution' r, sum(net) from generations group by all"
    ),
    "reconcile": (
        f"select count(*) from generations left join ({_PAID}) using (id) "
        "where paid is distinct from round(credits * 1000)::bigint"
    ),
}


def plain(folder: Path, task: str) -> Callable[[], Any]:
    """Return a function that runs a query with DuckDB on one file of each table."""
    import duckdb

    def ask() -> Any:
        with duckdb.connect() as base:
            for name in ("generations", "usage"):
                base.execute(f"create view {name} as from '{folder / name}.parquet'")
            base.execute("set timezone = 'UTC'")
            return base.sql(PLAIN[task]).df()

    return ask


def run_once(folder: Path, who: str, task: str) -> None:
    """Run a query once in this process, and print wall and CPU seconds and peak MiB."""
    import pandas as pd

    ask = (kit if who == "kit" else plain)(folder, task)
    wall, cpu = time.perf_counter(), time.process_time()
    found = ask()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert isinstance(found, pd.DataFrame)
    print(json.dumps([wall, cpu, _peak()]))


def _peak() -> float:
    """Return the largest size of this process so far, in MiB; its parent's does not count."""
    text = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", text)[0]) / 1024


def measure(folder: Path, who: str, task: str) -> list[float]:
    command = [sys.executable, __file__, "--one", str(folder), who, task]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: list[float] = json.loads(answer)
    return found


def main(rows: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{rows:,} generations and their entries")
        build(folder, rows)
        heads = ("wall s", "CPU s", "MiB", "plain s", "CPU s", "MiB", "ratio")
        print(" " * 26 + "".join(f"{head:>8}" for head in heads))
        for task in PLAIN:
            rounds = [
                (measure(folder, "kit", task), measure(folder, "plain", task))
                for _ in range(ROUNDS)
            ]
            figures = [
                statistics.median(each)
                for side in zip(*rounds, strict=True)
                for each in zip(*side, strict=True)
            ]
            ratio = statistics.median(ours[1] / theirs[1] for ours, theirs in rounds)
            print(
                f"{task:26}" + "".join(f"{figure:8.2f}" for figure in (*figures, ratio)), flush=True
            )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run_once(Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
