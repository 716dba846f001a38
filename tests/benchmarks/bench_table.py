"""What the history's table costs when there are a thousand generations, and a million.

    python tests/benchmarks/bench_table.py [SMALL] [LARGE]

Each step is done by turns on both tables; the medians and their ratio are printed, with the bound
that the large one must keep.
"""

import gc
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from kit.explore import arrow
from kit.explore.archive import search_rows
from kit.widgets.background import BackgroundRunner
from kit.widgets.table import HistoryTable
from kit.widgets.table.rows import TableView

TURNS = 7
#: Thumbnails are not what is measured.
STILL = BackgroundRunner(begin=lambda _: None)


def history(count: int) -> pd.DataFrame:
    """Return a frame of generations, newest first."""
    draw = np.random.default_rng(1)
    prompts = np.array(
        [f"a {a} lake {b}" for a in ("misty", "deep", "wide") for b in range(3000)], dtype=object
    )
    began = pd.Timestamp("2026-01-01", tz="UTC").as_unit("us")
    columns = {
        "status": draw.choice(["completed", "failed", "canceled"], count, p=[0.9, 0.07, 0.03]),
        "model_id": draw.choice(["poster", "drift", "lip-sync"], count),
        "prompt": draw.choice(prompts, count),
        "credits": draw.integers(1, 50, count) / 100,
        "seconds": draw.gamma(2.0, 3.0, count),
        "created_at": began + pd.to_timedelta(np.arange(count)[::-1] * 30, unit="s"),
    }
    index = pd.Index([f"gen_{number:026d}" for number in range(count)], name="id", dtype="string")
    empty = arrow.frame(arrow.GENERATIONS.empty_table())
    typed = pd.DataFrame(columns, index=index)
    return typed.astype({name: empty[name].dtype for name in columns})


def show(frame: pd.DataFrame) -> HistoryTable:
    """Return a table with its widgets and its static snapshot, as a cell shows it."""
    table = HistoryTable(frame, search=search_rows, background=STILL)
    table.controls  # noqa: B018 - makes the widgets
    table.html()
    return table


def turn_page(table: HistoryTable) -> None:
    """Go to a page that was not shown before."""
    table.page = table.page % table.pages + 7


#: What is done -> how, and the most seconds that a million rows may take.
STEPS: dict[str, tuple[Callable[[HistoryTable], object], float | None]] = {
    "open": (lambda table: show(table._frame), 3.0),
    "turn a page": (turn_page, 0.3),
    "sort by credits": (
        lambda t: setattr(t, "view", TableView(sort="credits", descending=True)),
        None,
    ),
    "sort by prompt": (lambda t: setattr(t, "view", TableView(sort="prompt")), None),
    "only failed": (lambda t: setattr(t, "view", TableView(status="failed")), None),
    "search a word": (lambda t: setattr(t, "view", replace(TableView(), text="MISTY")), None),
}


def seconds(step: Callable[[HistoryTable], object], table: HistoryTable) -> float:
    """Return the processor time of one step."""
    gc.collect()
    started = time.process_time()
    step(table)
    return time.process_time() - started


def main(small: int = 1_000, large: int = 1_000_000) -> None:
    """Print a line for each step."""
    tables = [show(history(count)) for count in (small, large)]
    print(f"{'rows':<20} {small:>12,} {large:>12,}    ratio   bound")
    for name, (step, most) in STEPS.items():
        took: list[list[float]] = [[], []]
        for _ in range(TURNS):
            for number, table in enumerate(tables):
                table.view = TableView()
                took[number].append(seconds(step, table))
        few, many = (statistics.median(times) * 1000 for times in took)
        bound = f"{most * 1000:.0f} ms" if most else ""
        print(f"{name:<20} {few:>9.1f} ms {many:>9.1f} ms  x{many / few:>6.1f}   {bound}")
        if most and large <= 1_000_000 and many > most * 1000:
            sys.exit(f"{name}: {many:.0f} ms, but at most {bound} were promised")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
