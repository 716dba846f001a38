"""Previews of generations whose media cannot be shown."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import kit
from kit.studio import Studio
from tests.client.third_party import Answer, Server


@pytest.fixture
def huge_output(media: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first output is larger than what Pillow opens and than what is shown whole."""
    rng = np.random.default_rng(1)
    buffer = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (400, 400), dtype=np.uint8)).save(buffer, "PNG")
    media.script("GET", "/out/job-1.png", *[Answer(200, buffer.getvalue())] * 5)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 200 * 400 - 1)


@pytest.mark.usefixtures("huge_output")
def test_a_picture_that_is_too_large_is_shown_as_its_caption(studio: Studio) -> None:
    made = studio.generate("paint", "a lake")

    html = made._repr_mimebundle_()["text/html"]

    assert "no preview (too large)" in html
    assert "a lake" in html
    assert "<img" not in html


@pytest.mark.usefixtures("huge_output")
def test_a_picture_that_is_too_large_does_not_hide_others(studio: Studio) -> None:
    made = [studio.generate("paint", f"lake {number}") for number in range(2)]

    html = kit.compare(made).html()

    assert "no preview (too large)" in html
    assert html.count("<img") == 1


@pytest.mark.usefixtures("huge_output")
def test_a_form_reports_that_its_picture_is_too_large(studio: Studio) -> None:
    run = studio.form("paint", "a lake").submit()
    run.result(30)

    assert "no preview (too large)" in run.html


def test_a_studio_is_displayed_with_account_models_and_next_calls(studio: Studio) -> None:
    shown = studio._repr_mimebundle_()

    assert shown["text/plain"].endswith(": Ada, 2 models>")
    for text in ("Ada", "2 for images", "studio.form(&quot;paint&quot;)"):
        assert text in shown["text/html"]


def test_a_studio_of_an_unavailable_service_shows_its_repr(studio: Studio, api: Server) -> None:
    api.script("GET", "/v1/account", Answer(503, {}))
    api.script("GET", "/v1/creative-studio/models", *[Answer(401, {})] * 5)

    assert studio._repr_mimebundle_()["text/plain"] == repr(studio)
    assert "client" not in dir(studio)
