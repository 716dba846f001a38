"""Run the tutorials on an empty data folder and store their outputs in them.

    python tests/record.py [NOTEBOOK ...]

`pytest` compares with these outputs: they have no times, no widget state and no local paths.
"""

import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.isolation import environment, notebook_variables

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def record(path: Path) -> None:
    """Run a notebook and write it back with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder, environment(notebook_variables(folder)):
        resources = {"metadata": {"path": str(path.parent)}}
        client = NotebookClient(
            notebook, timeout=300, kernel_name="python3", store_widget_state=False
        )
        client.resources = resources
        client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.metadata.pop("widgets", None)
    nbformat.write(notebook, path)


def main(names: list[str]) -> None:
    for path in map(Path, names) if names else sorted(NOTEBOOKS.glob("*.ipynb")):
        record(path)
        print(path.name, path.stat().st_size, "bytes")  # noqa: T201 - the output of this script


if __name__ == "__main__":
    main(sys.argv[1:])
