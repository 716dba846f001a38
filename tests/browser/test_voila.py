"""The panel as a page of Voilà: an application of one cell, without a notebook around it."""

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
from tests.browser.notebook import browsing
from tests.ports import free_port

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_spec("voila") is None, reason="Voilà is not installed"),
]

CELL = "import kit\nkit.connect().panel()"
_FOLDERS = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")


@contextmanager
def page_of(cell: str, folder: Path, environment: dict[str, str]) -> Iterator[str]:
    """Serve a notebook of one cell and yield the address of its page."""
    variables = {**os.environ, **environment}
    for name in _FOLDERS:
        variables[name] = str(folder / name.lower())
    made = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell)],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    )
    nbformat.write(made, folder / "app.ipynb")
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


#: Plays a video, and once it does tells its size.
PLAYS = """async video => {
    video.muted = true;
    await video.play();
    while (video.currentTime < 0.2) await new Promise(requestAnimationFrame);
    return [video.videoWidth, video.videoHeight];
}"""


@pytest.fixture
def cell() -> str:
    """What the page shows."""
    return CELL


@pytest.fixture
def page(
    cell: str, tmp_path: Path, browser: Browser, environment: dict[str, str]
) -> Iterator[Page]:
    """The page, in a browser that may not leave this machine."""
    with page_of(cell, tmp_path, environment) as url, browsing(browser) as (context, refused):
        page = context.new_page()
        broken: list[str] = []
        page.on("pageerror", lambda error: broken.append(str(error)))
        page.goto(url, timeout=90_000)
        yield page
        # Voilà's own template asks for icons; without them buttons still have their words.
        assert [address for address in refused if "/fontawesome-free@" not in address] == []
        assert broken == []


def test_a_picture_is_made_on_a_page_without_a_notebook(page: Page) -> None:
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
    keep(page)


@pytest.mark.parametrize("cell", [VIDEOS])
def test_videos_play(page: Page, tmp_path: Path) -> None:
    videos = page.locator("video:visible")
    expect(videos).to_have_count(2, timeout=60_000)

    for video in videos.all():
        assert video.evaluate(PLAYS) == [640, 360]
    page.locator(".kit-form").get_by_role("button", name="Enlarge").click()
    expect(page.locator("dialog video")).to_be_visible()
    assert not (tmp_path / "outputs").exists()
    keep(page)


def keep(page: Page) -> None:
    """Keep a picture of the page where somebody wants to look at it."""
    folder = os.environ.get("KIT_TEST_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / "voila.png"))
