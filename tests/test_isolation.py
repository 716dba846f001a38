"""Tests and tutorials do not touch the user's settings and data."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[1]
USES_AN_EMPTY_FOLDER = """
import os
import tempfile
from pathlib import Path

data = Path(os.environ["KIT_DATA"])
assert "KIT_API_KEY" not in os.environ
data.mkdir()
(data / "made-here").touch()
assert str(data) != os.environ["USERS_DATA"]
tempfile.mkstemp()
import matplotlib.pyplot
"""


def test_a_notebook_run_alone_has_its_own_data_folder_and_leaves_no_files(tmp_path: Path) -> None:
    data, temporary, home = folders = [tmp_path / name for name in ("data", "tmp", "home")]
    for folder in folders:
        folder.mkdir()
    for name in ("one.ipynb", "two.ipynb"):
        nbformat.write(new_notebook(cells=[new_code_cell(USES_AN_EMPTY_FOLDER)]), tmp_path / name)
    environment = {
        **os.environ,
        "KIT_DATA": str(data),
        "KIT_API_KEY": "cs_test_of_the_user",
        "USERS_DATA": str(data),
        "TMPDIR": str(temporary),
        "HOME": str(home),
    }

    command = ["pytest", "-q", "-p", "no:cacheprovider"]
    command += [f"--config-file={ROOT}/pyproject.toml", f"--rootdir={ROOT}"]
    ended = subprocess.run(
        [sys.executable, "-m", *command, str(tmp_path)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout
    assert "2 passed" in ended.stdout
    assert [path for folder in folders for path in folder.iterdir()] == []
