"""What of a generation is shown where its media cannot be."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import kit
from kit.studio import Studio
from tests.client.third_party import Answer, Server


@pytest.fixture
def huge(media: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first output is past what Pillow opens, and too many bytes to be shown whole."""
    dice = np.random.default_rng(1)
    buffer = io.BytesIO()
    Image.fromarray(dice.integers(0, 255, (400, 400), dtype=np.uint8)).save(buffer, "PNG")
    media.script("GET", "/out/job-1.png", *[Answer(200, buffer.getvalue())] * 5)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 200 * 400 - 1)


@pytest.mark.usefixtures("huge")
def test_a_picture_that_is_too_large_leaves_the_caption(studio: Studio) -> None:
    made = studio.generate("paint", "a lake")

    html = made._repr_mimebundle_()["text/html"]

    assert "no preview (too large)" in html
    assert "a lake" in html
    assert "<img" not in html


@pytest.mark.usefixtures("huge")
def test_a_picture_that_is_too_large_takes_no_other_away(studio: Studio) -> None:
    made = [studio.generate("paint", f"lake {number}") for number in range(2)]

    html = kit.compare(made).html()

    assert "no preview (too large)" in html
    assert html.count("<img") == 1


@pytest.mark.usefixtures("huge")
def test_a_form_ends_with_the_sentence(studio: Studio) -> None:
    run = studio.form("paint", "a lake").submit()
    run.result(30)

    assert "no preview (too large)" in run.html


def test_a_studio_is_a_card_with_account_balance_models_and_the_next_calls(studio: Studio) -> None:
    shown = studio._repr_mimebundle_()

    assert shown["text/plain"].endswith(": Ada, 2 models>")
    for text in ("Ada", "2 for images", "studio.form(&quot;paint&quot;)"):
        assert text in shown["text/html"]


def test_a_studio_whose_service_is_away_says_where_it_would_be(studio: Studio, api: Server) -> None:
    api.script("GET", "/v1/account", Answer(503, {}))
    api.script("GET", "/v1/creative-studio/models", *[Answer(401, {})] * 5)

    assert studio._repr_mimebundle_()["text/plain"] == repr(studio)
    assert "client" not in dir(studio)
