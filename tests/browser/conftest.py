"""A JupyterLab and a browser for tests of the user interface."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.cells import open_cells
from tests.browser.lab import Lab, lab_for_test, run_server
from tests.browser.notebook import CHROMIUM, Notebook, chromium
from tests.client import third_party
from tests.client.fixtures import backend, media
from tests.client.third_party import KEY, Server, ThirdParty
from tests.isolation import notebook_variables

__all__ = ["backend", "media"]

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
PLUGINS = str(Path(__file__).parents[1] / "plugins")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests that need a browser if there is none, unless one is required."""
    if CHROMIUM or os.environ.get("KIT_TEST_BROWSER") == "required":
        return
    skip = pytest.mark.skip(reason="there is no Chromium here")
    for item in items:
        if "tests/browser" in item.path.as_posix():
            item.add_marker(skip)


# Both end with the tests of this folder: a browser runs an event loop in this thread, so that other
# tests could not run theirs.


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """The JupyterLab of this process; it serves the temporary folders of all its tests."""
    with run_server(tmp_path_factory.getbasetemp(), tmp_path_factory.mktemp("jupyter")) as server:
        yield server


@pytest.fixture(scope="package")
def browser_process() -> Iterator[Browser]:
    """The browser of this process."""
    with chromium() as browser:
        yield browser


@pytest.fixture
def browser(browser_process: Browser, request: pytest.FixtureRequest) -> Iterator[Browser]:
    """The browser of this process; windows of a failed test are closed."""
    failed = request.session.testsfailed
    yield browser_process
    if request.session.testsfailed > failed:
        for context in browser_process.contexts:
            context.close()


@pytest.fixture
def plugins() -> None:
    """Let the kernels of a test find the tests' plug-ins."""


@pytest.fixture
def environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> dict[str, str]:
    """Variables of the kernels: a data folder of their own, and the plug-ins with `plugins`."""
    if "plugins" in request.fixturenames:
        quiet = "ignore::UserWarning:kit.connect"
        data = str(tmp_path / "data")
        return {"KIT_DATA": data, "PYTHONPATH": PLUGINS, "PYTHONWARNINGS": quiet}
    monkeypatch.delenv("PYTHONPATH", raising=False)
    return notebook_variables(str(tmp_path))


@pytest.fixture
def api(backend: ThirdParty, environment: dict[str, str]) -> Iterator[Server]:
    """Another implementation of the API, for the studio in the cells."""
    with third_party.serve(backend) as server:
        environment |= {"KIT_BASE_URL": server.url, "KIT_API_KEY": KEY}
        yield server


@pytest.fixture
def lab(server: Lab, tmp_path: Path, environment: dict[str, str]) -> Iterator[Lab]:
    """A JupyterLab on a copy of the tutorials."""
    root = tmp_path / "root"
    root.mkdir()
    for path in NOTEBOOKS.glob("*.ipynb"):
        shutil.copy(path, root)
    with lab_for_test(server, root, environment) as lab:
        yield lab


@pytest.fixture
def notebook(lab: Lab, browser: Browser, request: pytest.FixtureRequest) -> Iterator[Notebook]:
    """A notebook with the cells of the module, all of them run."""
    with open_cells(lab, browser, *request.module.CELLS) as notebook:
        notebook.run_all()
        yield notebook
        assert notebook.errors() == []
