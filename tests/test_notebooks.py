"""The tutorials in the repository: small, clean, short, and with outputs that are all compared."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))
PER_NOTEBOOK = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
#: Code that every process except pytest runs first.
LATER = """
import sys
if "pytest" not in sys.orig_argv:
    import time_machine
    time_machine.travel("2028-02-29T23:59:50+00:00").start()
"""
#: The tutorial about a history that ends today.
_FIGURES = "notebooks/20_costs.ipynb"
#: Words per minute of a reader who tries the examples.
READING = 130


@PER_NOTEBOOK
def test_all_outputs_except_pictures_are_compared(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        tags = cell.metadata.get("tags", [])
        assert "NBVAL" not in cell.source
        assert not tags or (tags == ["nbval-ignore-output"] and "<img" in str(cell.outputs))


@PER_NOTEBOOK
def test_a_tutorial_has_no_keys_paths_times_or_widget_state(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(text, as_version=4)

    assert len(text) < 500_000
    assert not re.search(r"cs_(test|live)_\w{8}|signature=|/tmp/|/home/|/root/|/Users/", text)
    assert "widgets" not in notebook.metadata
    assert all("execution" not in cell.metadata for cell in notebook.cells)
    numbers = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert numbers == [*range(1, len(numbers) + 1)], "it was run from its first cell"


@PER_NOTEBOOK
def test_paths_in_shell_commands_are_quoted(path: Path) -> None:
    for cell in nbformat.read(path, as_version=4).cells:
        assert not re.search(r'!.*(?<!")\{(sys\.executable|folder)\}', cell.source)


@PER_NOTEBOOK
def test_a_tutorial_can_be_read_in_five_minutes(path: Path) -> None:
    cells = nbformat.read(path, as_version=4).cells

    assert sum(len(cell.source.split()) for cell in cells) < 5 * READING


@pytest.mark.slow
def test_the_figures_are_the_same_on_another_day_elsewhere(tmp_path: Path) -> None:
    pytest.importorskip("time_machine", reason="needs time-machine, of the extra test")
    (tmp_path / "sitecustomize.py").write_text(LATER)
    variables = {"PYTHONPATH": str(tmp_path), "TZ": "Pacific/Auckland"}

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", _FIGURES],
        cwd=NOTEBOOKS[0].parents[1],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )

    assert done.returncode == 0, done.stdout
