"""What a newcomer sees: the first tutorial in JupyterLab, all cells queued at once."""

import pytest
from playwright.sync_api import expect

from tests.browser.notebook import Notebook

pytestmark = pytest.mark.browser


def test_run_all_shows_a_form_and_a_picture_in_the_first_screen_and_a_video(
    quickstart: Notebook,
) -> None:
    page = quickstart.page
    page.set_viewport_size({"width": 1280, "height": 720})  # a laptop
    kept = page.locator(".jp-OutputArea img").first  # as a notebook is opened that was not run
    expect(kept).to_be_in_viewport(ratio=0.95)

    quickstart.run_all()
    page.locator(".jp-WindowedPanel-outer").evaluate("part => part.scrollTo(0, 0)")

    form = page.locator(".kit-form").first
    expect(form.get_by_label("prompt")).to_be_in_viewport(ratio=1)
    expect(form.locator("img").first).to_be_in_viewport(ratio=0.95)
    expect(kept).to_be_hidden()
    picture = page.locator(".jp-OutputArea img").first
    assert picture.evaluate("image => image.naturalWidth") >= 320
    video = quickstart.page.locator(".jp-OutputArea video").first
    video.evaluate("video => { video.muted = true; return video.play(); }")
    quickstart.page.wait_for_function(
        "() => document.querySelector('.jp-OutputArea video').currentTime > 0.2"
    )
    assert video.evaluate("video => [video.videoWidth, video.videoHeight]") == [640, 360]
    assert video.evaluate("video => video.duration") == pytest.approx(3, abs=0.1)
