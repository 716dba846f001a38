"""The panel as a Voilà page: an application of one cell, without the notebook interface."""

import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.lab import START
from tests.browser.notebook import open_window
from tests.ports import free_port

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_spec("voila") is None, reason="Voilà is not installed"),
]

CELL = "import kit\nkit.connect().panel()"
_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")


@contextmanager
def serve(cell: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Serve a notebook of one cell and yield the URL of its page."""
    variables = {**os.environ, **environment}
    for name in _FOLDERS:
        variables[name] = str(folder / name.lower())
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(notebook, folder / "app.ipynb")
    port = free_port()
    command = [
        *(sys.executable, "-c", START.format("voila.app"), "app.ipynb"),
        *("--no-browser", f"--port={port}", "--Voila.ip=127.0.0.1", "--theme=dark"),
    ]
    with (folder / "voila.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        _await_answer(f"{url}/voila/static/voila.js", process, folder / "voila.log")
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _await_answer(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline, pause = time.monotonic() + 60, threading.Event()
    while True:
        try:
            with urllib.request.urlopen(url, timeout=30):
                return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text()) from None
            pause.wait(0.1)


#: A video by itself, and as the result of a form.
VIDEOS = """
import kit

studio = kit.connect()
form = studio.form("drift", "dunes at dusk", duration=2, resolution="360p", seed=3)
form.submit().result().show()
form
"""


#: Script that plays a video and returns its size.
PLAY_VIDEO = """async video => {
    video.muted = true;
    await video.play();
    while (video.currentTime < 0.2) await new Promise(requestAnimationFrame);
    return [video.videoWidth, video.videoHeight];
}"""


@pytest.fixture
def cell() -> str:
    """The code of the page's cell."""
    return CELL


@pytest.fixture
def page(
    cell: str, tmp_path: Path, browser: Browser, environment: dict[str, str]
) -> Iterator[Page]:
    """The page, in a browser that can only reach this machine."""
    with serve(cell, tmp_path, environment) as url, open_window(browser) as (context, external):
        page = context.new_page()
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(url, timeout=90_000)
        yield page
        # Voilà's own template requests icons; without them buttons still have their labels.
        assert [address for address in external if "/fontawesome-free@" not in address] == []
        assert errors == []


def test_the_panel_generates_a_picture_on_a_voila_page(page: Page) -> None:
    here = page.locator(".kit-page:visible")
    expect(here).to_contain_text("Poster Landscape", timeout=60_000)
    expect(page.locator(".kit-top")).to_contain_text("1,000 credits")
    expect(page.locator("[class^=kit-snapshot]")).to_be_hidden()
    expect(page.get_by_text("import kit")).to_have_count(0)

    page.get_by_role("tab", name="Create", exact=True).click()
    form = page.locator(".kit-form")
    page.get_by_label("Model", exact=True).select_option(label="Poster Landscape (image)")
    expect(form).to_contain_text("Poster Landscape")
    form.get_by_label("prompt").fill("a misty lake at dawn")
    expect(form).to_contain_text("balance afterwards")
    form.get_by_role("button", name="Generate").click()
    picture = here.locator("img").first
    expect(picture).to_be_visible(timeout=30_000)
    assert picture.evaluate("image => image.naturalWidth") >= 320

    page.get_by_role("tab", name="Account", exact=True).click()
    expect(here).to_contain_text("Demo")
    expect(here).to_contain_text("This is the account of this page.")
    expect(here.get_by_role("button", name="Create key")).to_have_count(0)
    here.get_by_role("button", name="Sign in with a key").click()
    expect(here.get_by_label("API key")).to_have_attribute("type", "password")
    save_screenshot(page)


@pytest.mark.parametrize("cell", [VIDEOS])
def test_videos_play_on_a_voila_page(page: Page, tmp_path: Path) -> None:
    videos = page.locator("video:visible")
    expect(videos).to_have_count(2, timeout=60_000)

    for video in videos.all():
        assert video.evaluate(PLAY_VIDEO) == [640, 360]
    page.locator(".kit-form").get_by_role("button", name="Enlarge").click()
    expect(page.locator("dialog video")).to_be_visible()
    assert not (tmp_path / "outputs").exists()
    save_screenshot(page)


def save_screenshot(page: Page) -> None:
    """Save a screenshot of the page if ``KIT_TEST_SCREENSHOTS`` names a folder."""
    folder = os.environ.get("KIT_TEST_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / "voila.png"))
