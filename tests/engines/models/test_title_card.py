"""Titles: all words are readable on any background, at the given or a quiet position."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.engines.base import Asset
from kit.engines.registry import engine_for
from kit.errors import EngineError
from tests.engines.rendering import pixels_of, render, save

STYLES = (
    next(p.enum for p in engine_for("title-card").definition.settings if p.name == "style") or []
)


def card(folder: Path, prompt: str = "Saturn is losing its rings", **values: Any) -> Asset:
    number = sum(1 for _ in folder.iterdir())
    how = {"size": 320, "background": "navy", "format": "png", **values}
    return render("title-card", folder / f"card{number}", prompt, **how)


def light(pixels: np.ndarray) -> np.ndarray:
    """Return the relative luminance of sRGB. Source: WCAG 2.2."""
    linear = (pixels / 255) ** 2.2
    return np.asarray(linear @ (0.2126, 0.7152, 0.0722))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("background", ["white", "black", "gray", "yellow to purple"])
def test_styles_are_readable_on_any_background(tmp_path: Path, style: str, background: str) -> None:
    asset = card(tmp_path, style=style, background=background, subtitle="A short story")

    low, high = np.percentile(light(pixels_of(asset)), (1, 99.8))
    assert (high + 0.05) / (low + 0.05) > 4.5
    assert asset.metadata["contrast"] >= 4.45


@pytest.mark.parametrize("aspect", ["16:9", "1:1", "9:16", "4:5"])
@pytest.mark.parametrize("style", STYLES)
def test_all_words_are_set_in_every_aspect_ratio(tmp_path: Path, style: str, aspect: str) -> None:
    lines = card(tmp_path, style=style, aspect_ratio=aspect).metadata["lines"]

    assert " ".join(lines).lower() == "saturn is losing its rings"


@pytest.mark.parametrize(("position", "rows"), [("top", (0, 90)), ("bottom", (90, 180))])
def test_the_title_is_at_the_given_position(
    tmp_path: Path, position: str, rows: tuple[int, int]
) -> None:
    bright = pixels_of(card(tmp_path, "Up", position=position, accent="white")).min(axis=2) > 230

    assert bright[rows[0] : rows[1]].sum() > 10 * bright.sum() / 11


@pytest.mark.parametrize(("place", "busy"), [("top", slice(90, 180)), ("bottom", slice(0, 90))])
def test_auto_position_is_the_quietest_part(tmp_path: Path, place: str, busy: slice) -> None:
    pixels = np.full((180, 320, 3), (30, 60, 90), np.uint8)
    noise = np.random.default_rng(1).integers(0, 255, (15, 54, 3), np.uint8)
    pixels[busy] = noise.repeat(6, 0).repeat(6, 1)[:, :320]

    asset = card(tmp_path, "Quiet", media={"image": save(pixels, tmp_path / "in.png")})

    assert asset.metadata["position"] == place


def test_emoji_are_left_out_and_listed_in_the_metadata(tmp_path: Path) -> None:
    plain = card(tmp_path, "Good morning", subtitle="at home")
    asset = card(tmp_path, "Good morning 🌅", subtitle="at home 🏡")

    assert asset.metadata["left_out"] == ["🌅", "🏡"]
    assert asset.path.read_bytes() == plain.path.read_bytes()
    assert "left_out" not in plain.metadata


@pytest.mark.parametrize("style", STYLES)
def test_unusual_texts_are_set_in_every_style(tmp_path: Path, style: str) -> None:
    texts = ("12345678901234567890 1", ".", "A\u0301 b", "tabs\tand\nlines\n\n", "w" * 40)
    for text in texts:
        assert card(tmp_path, text, style=style, subtitle=text, size=256).width == 256


@pytest.mark.parametrize(
    ("prompt", "values", "code"),
    [
        ("日本", {}, "no_letters"),
        ("word " * 170, {}, "text_too_long"),
        ("a b", {"accent": "blurple"}, "unknown_color"),
        ("a b", {"background": "somehow"}, "unknown_background"),
    ],
)
def test_a_title_that_cannot_be_set_is_refused_with_its_code(
    tmp_path: Path, prompt: str, values: dict[str, object], code: str
) -> None:
    with pytest.raises(EngineError) as caught:
        card(tmp_path, prompt, **values)

    assert caught.value.code == code
