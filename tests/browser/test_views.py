"""Gallery and comparison in JupyterLab, also in an untrusted notebook."""

import json
import re

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.cells import check_part, open_cells
from tests.browser.lab import Lab
from tests.browser.notebook import Notebook

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("plugins")]

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


def check_gallery(notebook: Notebook) -> None:
    """Check the tiles, that an opened one is larger, and that the video is loaded."""
    shown = notebook.output(1)
    pictures = shown.locator("summary img:visible")
    expect(pictures).to_have_count(2)
    before = width(pictures.first)
    tops = [tile.bounding_box() for tile in shown.locator("li > div").all()]
    assert len({tile["y"] for tile in tops if tile}) == 1, "three columns are one row"

    pictures.first.click()

    expect(shown.get_by_text("aspect_ratio").first).to_be_visible()
    assert width(pictures.first) > 1.5 * before
    film = shown.locator("video")
    notebook.page.wait_for_function(
        "() => { const film = document.querySelector('li video');"
        " film.preload = 'metadata'; return film.videoWidth === 640; }"
    )
    assert width(film) == pytest.approx(before, abs=2)


def test_gallery_and_comparison_work_with_and_without_trust(lab: Lab, browser: Browser) -> None:
    with open_cells(lab, browser, *CELLS) as notebook:
        notebook.run_all()
        assert notebook.errors() == []
        check_gallery(notebook)
        compared = notebook.output(2)
        shown = compared.locator("th img:visible, th video")
        shapes = [part.bounding_box() for part in shown.all()[:2]]
        assert len({shape["height"] for shape in shapes if shape}) == 1
        expect(compared.get_by_text("≠ prompt")).to_be_visible()
        check_part(notebook, "gallery", ".jp-OutputArea details")

        # a notebook that was changed elsewhere is not trusted
        sent = notebook.save()
        assert (lab.root / notebook.path).stat().st_size < 500_000
        sent["cells"][0]["source"] += "\n# changed"
        (lab.root / "sent.ipynb").write_text(json.dumps(sent))
        notebook.open(lab, "sent.ipynb")
        assert notebook.page.locator(".jp-mod-trusted").count() == 0
        check_gallery(notebook)
        expect(notebook.output(2).get_by_text("≠ prompt")).to_be_visible()


OPENED = (
    "import kit\nstudio = kit.connect()\n"
    'sweep = studio.sweep("flat", ["a lake", "a hill"], count=[1, 2])\nsweep.run()',
    "kit.gallery(sweep, columns=4)",
    "sweep.sheet(size=120)",
    "kit.compare(*sweep[:2])",
)
_OPEN = re.compile(r"Open #\d")


def test_a_picture_of_a_gallery_sheet_or_comparison_opens_in_a_form(
    lab: Lab, browser: Browser
) -> None:
    with open_cells(lab, browser, *OPENED) as notebook:
        notebook.run_all()
        assert notebook.errors() == []
        for cell, words, count in ((1, "a hill", 4), (2, "a hill", 4), (3, "a hill", 2)):
            shown = notebook.output(cell)
            if cell == 1:
                shown.locator("summary").last.click()
            buttons = shown.get_by_role("button", name=_OPEN, include_hidden=True)
            expect(buttons).to_have_count(count)
            last = buttons.last
            expect(last).to_have_accessible_name(f"Open #{count - 1}")
            last.click()
            card = shown.locator(".kit-result")
            expect(card).to_contain_text(words if cell != 3 else "a lake")
            expect(last).to_have_attribute("aria-expanded", "true")
            card.get_by_role("button", name="Open in a form").click()
            form = shown.locator(".kit-form")
            expect(form.get_by_label("prompt")).to_have_value(words if cell != 3 else "a lake")
            expect(form.get_by_role("textbox", name="count")).to_have_text("2")
            check_part(notebook, f"opened-{cell}", f".jp-Cell:nth-of-type({cell + 1}) .kit-opener")
            last.click()
            expect(card).to_have_count(0)
        assert notebook.errors() == []

        # without its kernel there are no buttons
        notebook.save()
        notebook.open(lab, notebook.path)
        expect(notebook.output(2).get_by_role("button", name=_OPEN)).to_have_count(4)
        notebook.page.evaluate(
            "() => jupyterapp.shell.currentWidget.sessionContext.restartKernel()"
        )
        expect(notebook.output(2).get_by_role("button", name=_OPEN)).to_have_count(0)
        expect(notebook.output(2).locator("img")).to_have_count(4)
        notebook.open(lab, notebook.path)
        expect(notebook.output(2).locator("img")).to_have_count(4)
        expect(notebook.page.get_by_text("Error displaying widget")).to_be_hidden()
        notebook.wait_idle()
        notebook.drop_canceled_requests()
