"""JupyterLab with a path prefix, as on JupyterHub or Binder: nothing needs another port."""

import json
import os
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.cells import open_cells
from tests.browser.lab import PREFIX, Lab
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


def test_pictures_videos_and_uploads_use_only_the_server_s_url(
    lab: Lab, browser: Browser, tmp_path: Path
) -> None:
    voice = tmp_path / "voice.wav"
    voice.write_bytes(os.urandom(12_000_000))
    urls: list[str] = []
    with open_cells(lab, browser, *CELLS) as notebook:
        page = notebook.page
        page.on("request", lambda request: urls.append(request.url))
        notebook.run_all()

        picture = notebook.output(1).locator("img")
        assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 256
        check_video(notebook)
        zone = notebook.output(3).get_by_role("group", name="Upload: voice")
        with page.expect_file_chooser() as chooser:
            zone.get_by_role("button", name="Choose").press("Enter")
        chooser.value.set_files(voice)
        expect(zone.get_by_role("status")).to_have_text("Arrived: voice.wav")

        notebook.save()
        saved = (lab.root / notebook.path).read_text(encoding="utf-8")
        service = json.loads((tmp_path / "data" / "service.json").read_text())["url"]
        port = f":{service.rpartition(':')[2]}"
        for text in ("127.0.0.1", port, PREFIX, "signature=", "_xsrf="):
            assert text not in saved

        page.reload()
        check_video(notebook)

    assert [url for url in urls if not url.startswith((f"{lab.url}/", "data:", "blob:"))] == []


def check_video(notebook: Notebook) -> None:
    """Check that the video plays, from a file beside the notebook and below the server's path."""
    video = notebook.output(2).locator("video")
    expect(video).to_be_visible()
    assert video.evaluate(PLAYING).startswith(f"{notebook.lab.url}/files/")
