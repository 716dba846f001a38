"""A plug-in of pytest that keeps tests and notebooks off what is the user's: settings and data.

`pyproject.toml` names it, so that it also holds for `pytest notebooks/01_quickstart.ipynb` alone.
"""

import os
import tempfile
from pathlib import Path

import pytest

FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()
NOTEBOOK = pytest.StashKey[Path]()

# Before anything reads it: what the user has set is not what is tested.
for _name in [name for name in os.environ if name.startswith("KIT_") and "TEST" not in name]:
    del os.environ[_name]


def pytest_configure(config: pytest.Config) -> None:
    """Let everything work on a folder that is thrown away."""
    config.stash[FOLDER] = folder = tempfile.TemporaryDirectory(
        prefix="kit-tests-", ignore_cleanup_errors=True
    )
    os.environ["KIT_DATA"] = folder.name
    os.environ["IPYTHONDIR"] = str(Path(folder.name, "ipython"))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Throw it away."""
    config.stash[FOLDER].cleanup()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give each notebook a data folder of its own, before its kernel starts."""
    if item.path.suffix == ".ipynb" and item.path != item.config.stash.get(NOTEBOOK, None):
        item.config.stash[NOTEBOOK] = item.path
        os.environ["KIT_DATA"] = tempfile.mkdtemp(dir=item.config.stash[FOLDER].name)
