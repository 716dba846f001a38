"""How soon a page with 5,000 generations shows what is typed, sorted and filtered, in JupyterLab.

    python tests/benchmarks/bench_typing.py [ROWS]

Typed is into a form and into the table's search on the same page, from the key to the next frame;
sorting and filtering are from the click or the key until other rows are drawn, with the kernel's
part. Printed are the medians and the 95th percentiles, in ms.
"""

import statistics
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator

from tests.browser.cells import open_cells
from tests.browser.lab import lab_for_test, run_server
from tests.browser.notebook import Notebook, chromium

ROOT = Path(__file__).parents[2]
TURNS = 40
CELLS = (
    "import kit\nstudio = kit.connect()",
    "from tests.benchmarks.bench_table import history\n"
    "from kit.explore.archive import search_rows\nfrom kit.widgets.table import HistoryTable\n"
    "HistoryTable(history({rows}), search=search_rows)",
    'studio.form("poster", "a lake")',
)
# For a key the next frame counts, for the kernel's work the first frame with other rows.
WATCH = """() => {
    window.took = { key: [], rows: [] };
    let begun = 0;
    const frame = list => requestAnimationFrame(() =>
        setTimeout(() => list.push(performance.now() - begun)));
    const begin = () => (begun = performance.now());
    for (const kind of ['keydown', 'pointerdown']) addEventListener(kind, begin, true);
    addEventListener('input', () => frame(took.key), true);
    let rows = document.querySelector('.kit-table-page').textContent;
    new MutationObserver(() => {
        const now = document.querySelector('.kit-table-page')?.textContent;
        if (now && now !== rows) { rows = now; frame(took.rows); }
    }).observe(document.querySelector('.kit-table'), { childList: true, subtree: true });
}"""


def type_into(box: Locator) -> None:
    """Type as fast as a person does."""
    box.press_sequentially("misty lake at dawn, seen from the hills"[:TURNS], delay=80)


def take_times(notebook: Notebook, kind: str) -> list[float]:
    """Return the times measured since the last call."""
    found: list[float] = notebook.page.evaluate(f"() => took.{kind}.splice(0)")
    notebook.page.evaluate("() => { took.key = []; took.rows = []; }")
    return found


def measure(notebook: Notebook) -> dict[str, list[float]]:
    """Return the times of each kind of use."""
    page, table = notebook.page, notebook.output(1)
    search = table.get_by_placeholder("search words")
    page.evaluate(WATCH)
    found = {}
    for name, box in (
        ("typing in a form", notebook.output(2).get_by_label("prompt *", exact=True)),
        ("typing in the search", search),
    ):
        type_into(box)
        page.wait_for_timeout(500)
        found[name] = take_times(notebook, "key")
    search.fill("")
    search.press("Enter")
    page.wait_for_timeout(500)
    take_times(notebook, "rows")
    heads = [table.get_by_role("button", name=n) for n in ("credits", "prompt", "took", "model")]
    for turn in range(TURNS):
        heads[turn % len(heads)].click()
        page.wait_for_timeout(150)
    found["sorting"] = take_times(notebook, "rows")
    for turn in range(TURNS):
        search.fill(f"lake {1000 + turn}")
        search.press("Enter")
        page.wait_for_timeout(150)
    found["filtering"] = take_times(notebook, "rows")
    return found


def main() -> None:
    """Open the page, use it, and print the times."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        base, own = Path(folder) / "base", Path(folder) / "own"
        base.mkdir()
        environment = {"KIT_DATA": f"{folder}/data", "PYTHONPATH": str(ROOT)}
        with run_server(base, own) as server, lab_for_test(server, base, environment) as lab:
            cells = (cell.format(rows=rows) for cell in CELLS)
            with open_cells(lab, browser, *cells) as notebook:
                notebook.run_all()
                notebook.page.locator(".kit-table-row").first.wait_for()
                found = measure(notebook)
                assert notebook.errors() == [], notebook.errors()
    print(f"{rows:,} rows{'':<18}{'count':>7}{'median':>9}{'p95':>8}")
    for name, times in found.items():
        high = statistics.quantiles(times, n=20)[-1]
        print(f"{name:<28}{len(times):>7}{statistics.median(times):>9.0f}{high:>8.0f}")


if __name__ == "__main__":
    main()
