"""Gallery and comparison in JupyterLab, also in a notebook that nobody has trusted."""

import json

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import look, opened
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook

pytestmark = pytest.mark.browser

CELLS = (
    "import kit\nstudio = kit.connect()\n"
    'lake, hill = (studio.generate("poster", p, size=512, seed=3) for p in ("a lake", "a hill"))\n'
    'film = studio.generate("drift", "a lake", seed=3, duration=1, resolution="360p")',
    "kit.gallery([lake, hill, film], columns=3)",
    "kit.compare(lake, hill, film)",
)


def width(picture: Locator) -> float:
    found = picture.bounding_box()
    assert found
    return found["width"]


def is_seen(notebook: Notebook) -> None:
    """Check the tiles, that one grows when it is opened, and that the video is found."""
    shown = notebook.output(1)
    pictures = shown.locator("summary img")
    expect(pictures).to_have_count(2)
    before = width(pictures.first)
    tops = [tile.bounding_box() for tile in shown.locator("details").all()]
    assert len({tile["y"] for tile in tops if tile}) == 1, "three columns are one row"

    pictures.first.click()

    expect(shown.get_by_text("aspect_ratio").first).to_be_visible()
    assert width(pictures.first) > 1.5 * before
    film = shown.locator("video")
    notebook.page.wait_for_function(
        "() => { const film = document.querySelector('summary video');"
        " film.preload = 'metadata'; return film.videoWidth === 640; }"
    )
    assert width(film) == pytest.approx(before, abs=2)


def test_they_work_with_and_without_trust(lab: Lab, browser: Browser) -> None:
    with opened(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        assert notebook.errors() == []
        is_seen(notebook)
        compared = notebook.output(2)
        shapes = [part.bounding_box() for part in compared.locator("th img, th video").all()[:2]]
        assert len({shape["height"] for shape in shapes if shape}) == 1
        expect(compared.get_by_text("≠ prompt")).to_be_visible()
        look(notebook, "gallery", ".jp-OutputArea details")

        # what somebody sent by mail is not trusted
        sent = notebook.save()
        assert (lab.root / notebook.path).stat().st_size < 500_000
        sent["cells"][0]["source"] += "\n# changed"
        (lab.root / "sent.ipynb").write_text(json.dumps(sent))
        notebook.page.goto(lab.address("sent.ipynb"))
        notebook.page.locator(".jp-NotebookPanel .jp-Notebook").wait_for()
        notebook.wait_idle()
        assert notebook.page.locator(".jp-mod-trusted").count() == 0
        is_seen(notebook)
        expect(notebook.output(2).get_by_text("≠ prompt")).to_be_visible()
