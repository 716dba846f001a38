"""Below a path, as a JupyterHub or Binder gives it: nothing needs a port of its own."""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cells import opened
from tests.browser.lab import BELOW, Lab
from tests.browser.notebook import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

CELLS = (
    "import kit\nstudio = kit.connect()",
    'studio.generate("poster", "a misty lake", size=256)',
    'studio.generate("drift", "a misty lake", duration=1, resolution="360p")',
    'studio.form("clay")',
)
PLAYING = """async video => {
    video.muted = true;
    await video.play();
    while (video.currentTime < 0.2) await new Promise(requestAnimationFrame);
    return video.currentSrc;
}"""


def test_pictures_videos_and_uploads_come_through_the_one_door(
    lab: Lab, browser: Browser, tmp_path: Path
) -> None:
    voice = tmp_path / "voice.wav"
    voice.write_bytes(os.urandom(12_000_000))
    asked: list[str] = []
    with opened(lab, browser, *CELLS) as notebook:
        page = notebook.page
        page.on("request", lambda request: asked.append(request.url))
        notebook.run_all()

        picture = notebook.output(1).locator("img")
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 256
        see_video(notebook)
        zone = notebook.output(3).get_by_role("group", name="Upload: voice")
        with page.expect_file_chooser() as chooser:
            zone.get_by_role("button", name="Choose").press("Enter")
        chooser.value.set_files(voice)
        expect(zone.get_by_role("status")).to_have_text("Arrived: voice.wav")

        notebook.save()
        saved = (lab.root / notebook.path).read_text(encoding="utf-8")
        service = json.loads((tmp_path / "data" / "service.json").read_text())["url"]
        port = f":{service.rpartition(':')[2]}"
        for told in ("127.0.0.1", port, BELOW, "signature=", "_xsrf="):
            assert told not in saved

        page.reload()
        see_video(notebook)

    assert [url for url in asked if not url.startswith((f"{lab.url}/", "data:", "blob:"))] == []


def see_video(notebook: Notebook) -> None:
    """See that the video plays, from beside the notebook and below the server's path."""
    video = notebook.output(2).locator("video")
    expect(video).to_be_visible()
    assert video.evaluate(PLAYING).startswith(f"{notebook.lab.url}/files/")
