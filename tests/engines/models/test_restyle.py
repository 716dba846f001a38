"""Looks, redrawing and titles on a picture, chosen by words or settings."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from kit.engines.media.stills import info_of
from kit.engines.registry import engine_for
from kit.errors import EngineError
from kit.pricing import price
from tests.engines.drawings import ball
from tests.engines.rendering import edit, parameters_of, pixels_of, save

RAMP = np.linspace(20, 235, 160)[None, :, None] + np.array([20, 0, -20])
RAMP = np.repeat(RAMP, 120, axis=0).astype(np.uint8)


def style(
    folder: Path, prompt: str = "", pixels: np.ndarray = RAMP, **values: object
) -> np.ndarray:
    how = {"strength": 1, **values}
    return pixels_of(edit("restyle", folder, pixels, prompt, **how))  # type: ignore[arg-type]


def test_looks_have_their_colors(tmp_path: Path) -> None:
    warm, cold, noir = (style(tmp_path, look=look) for look in ("warm", "cold", "noir"))
    # Red and green of the same lightness: sepia makes them equal.
    two = np.zeros((40, 80, 3), np.uint8)
    two[:, :40], two[:, 40:] = (200, 20, 20), (20, 112, 20)
    sepia = style(tmp_path, pixels=two, look="sepia", strength=0.8)

    assert (warm[..., 0] - warm[..., 2]).mean() > (cold[..., 0] - cold[..., 2]).mean()
    assert np.ptp(noir, axis=2).max() <= 2
    assert np.abs(sepia[20, 20] - sepia[20, 60]).max() <= 4


def test_redrawing_costs_the_same_by_a_prompt_or_a_setting() -> None:
    engine = engine_for("restyle")
    rule = engine.definition.pricing
    costs = {
        name: price(rule, parameters_of(engine, stylize=name)).total
        for name in ("auto", "painting", "none")
    }

    assert costs["auto"] == costs["painting"] == 2 * costs["none"]


@pytest.mark.parametrize(
    ("prompt", "look"),
    [
        ("make it movie please", "cinematic"),
        ("retro", "vintage"),
        ("Black  &  White, please", "noir"),
        ("teal and orange", "cinematic"),
        ("low contrast", "matte"),
    ],
)
def test_words_choose_a_look_and_a_setting_overrules_them(
    tmp_path: Path, prompt: str, look: str
) -> None:
    assert edit("restyle", tmp_path, RAMP, prompt).metadata["look"] == look
    assert edit("restyle", tmp_path, RAMP, prompt, look="cold").metadata["look"] == "cold"
    assert np.array_equal(style(tmp_path, prompt), style(tmp_path, look=look))


@pytest.mark.parametrize("look", ["none", "cold", "vintage"])
def test_words_for_light_and_contrast_change_any_look(tmp_path: Path, look: str) -> None:
    word = "" if look == "none" else look
    plain = RAMP if look == "none" else style(tmp_path, word)
    darker, brighter, harder = (
        style(tmp_path, f"{word} {more}") for more in ("a bit darker", "brighter", "more contrast")
    )

    assert darker.mean() < plain.mean() < brighter.mean()
    assert harder.std() > plain.std()


def test_strength_blends_with_the_original_picture(tmp_path: Path) -> None:
    none, some, full = (
        np.abs(style(tmp_path, pixels=ball(), look="noir", strength=s) - ball()).mean()
        for s in (0, 0.2, 1)
    )

    assert none == 0
    assert none < some < full
    usual = style(tmp_path, "a black and white photo", ball(), strength=0.5)
    assert np.ptp(usual, axis=2).max() <= 1


def test_a_look_uses_the_memory_of_a_few_pictures(tmp_path: Path) -> None:
    pixels = np.zeros((1200, 1200, 3), np.uint8)
    edit("restyle", tmp_path, pixels[:50], look="neon")  # what is created once

    tracemalloc.start()
    try:
        edit("restyle", tmp_path, pixels, look="neon")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most < 8 * pixels.nbytes


def test_a_title_is_set_on_the_picture(tmp_path: Path) -> None:
    asset = edit("restyle", tmp_path, ball(), text="Hello", position="top")
    hole = np.dstack([ball(), np.zeros((180, 240), np.uint8)])
    hole[50:130, 70:170, 3] = 255
    clear = style(tmp_path, "", hole, text="Every letter shows")

    assert (asset.metadata["lines"], asset.metadata["position"]) == (["HELLO"], "top")
    assert (pixels_of(asset)[:90].min(axis=2) > 240).sum() > 100
    assert clear.shape == (180, 240, 3), "transparent parts are filled"


def test_an_error_about_nothing_to_do_names_the_choices(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="choose a look") as caught:
        edit("restyle", tmp_path, ball(), "make it better")

    assert caught.value.code == "nothing_to_do"


@pytest.mark.parametrize(("kind", "text", "coarse"), [(2, "", 1), (2, "A", 0), (0, "", 0)])
def test_color_subsampling_is_kept(tmp_path: Path, kind: int, text: str, coarse: int) -> None:
    how = {"look": "warm", "text": text, "format": "jpeg"}
    given = save(ball(), tmp_path / "in.jpg", subsampling=kind)
    assert info_of(edit("restyle", tmp_path, given, **how).path).coarse == coarse
