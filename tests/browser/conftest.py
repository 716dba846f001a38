"""A JupyterLab and a browser for the tests that look at what a person sees."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.lab import CHROMIUM, Lab, Notebook, browsing, serving

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a browser where there is none, unless one was promised."""
    if CHROMIUM or os.environ.get("KIT_TEST_BROWSER") == "required":
        return
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(pytest.mark.skip(reason="there is no Chromium here"))


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Variables of the kernels: a data folder of their own, none of the tests' plug-ins."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return {"KIT_DATA": str(tmp_path / "data")}


@pytest.fixture
def lab(tmp_path: Path, environment: dict[str, str]) -> Iterator[Lab]:
    """A JupyterLab on a copy of the tutorials."""
    root = tmp_path / "root"
    root.mkdir()
    for path in NOTEBOOKS.glob("*.ipynb"):
        shutil.copy(path, root)
    with serving(root, tmp_path / "jupyter", environment) as lab:
        yield lab


@pytest.fixture
def quickstart(lab: Lab, tmp_path: Path) -> Iterator[Notebook]:
    """The first tutorial, open in a browser that may not leave this machine."""
    with browsing(tmp_path / "profile") as (context, refused):
        yield Notebook(context, lab, "01_quickstart.ipynb")
        assert refused == []
