"""Looks, manners and titles on a picture: what a word or a setting does to its colors."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from kit.engines.media.stills import info_of
from kit.engines.registry import engine_for
from kit.errors import EngineError
from kit.pricing import price
from tests.engines.drawn import ball
from tests.engines.rendering import edit, parameters_of, pixels_of, saved

RAMP = np.linspace(20, 235, 160)[None, :, None] + np.array([20, 0, -20])
RAMP = np.repeat(RAMP, 120, axis=0).astype(np.uint8)


def styled(
    folder: Path, prompt: str = "", pixels: np.ndarray = RAMP, **values: object
) -> np.ndarray:
    how = {"strength": 1, **values}
    return pixels_of(edit("restyle", folder, pixels, prompt, **how))  # type: ignore[arg-type]


def test_warm_is_warmer_than_cold_and_noir_and_sepia_have_one_tone(tmp_path: Path) -> None:
    warm, cold, noir = (styled(tmp_path, look=look) for look in ("warm", "cold", "noir"))
    # Red and green of one light: a toned print tells them no longer apart.
    two = np.zeros((40, 80, 3), np.uint8)
    two[:, :40], two[:, 40:] = (200, 20, 20), (20, 112, 20)
    sepia = styled(tmp_path, pixels=two, look="sepia", strength=0.8)

    assert (warm[..., 0] - warm[..., 2]).mean() > (cold[..., 0] - cold[..., 2]).mean()
    assert np.ptp(noir, axis=2).max() <= 2
    assert np.abs(sepia[20, 20] - sepia[20, 60]).max() <= 4


def test_a_way_to_redraw_costs_the_same_whether_a_sentence_or_a_setting_asks_for_it() -> None:
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
    assert np.array_equal(styled(tmp_path, prompt), styled(tmp_path, look=look))


@pytest.mark.parametrize("look", ["none", "cold", "vintage"])
def test_darker_brighter_and_contrast_do_what_they_say_to_any_look(
    tmp_path: Path, look: str
) -> None:
    word = "" if look == "none" else look
    plain = RAMP if look == "none" else styled(tmp_path, word)
    darker, brighter, harder = (
        styled(tmp_path, f"{word} {more}") for more in ("a bit darker", "brighter", "more contrast")
    )

    assert darker.mean() < plain.mean() < brighter.mean()
    assert harder.std() > plain.std()


def test_strength_mixes_the_old_picture_in(tmp_path: Path) -> None:
    none, some, full = (
        np.abs(styled(tmp_path, pixels=ball(), look="noir", strength=s) - ball()).mean()
        for s in (0, 0.2, 1)
    )

    assert none == 0
    assert none < some < full
    usual = styled(tmp_path, "a black and white photo", ball(), strength=0.5)
    assert np.ptp(usual, axis=2).max() <= 1


def test_a_look_takes_the_memory_of_few_pictures(tmp_path: Path) -> None:
    pixels = np.zeros((1200, 1200, 3), np.uint8)
    edit("restyle", tmp_path, pixels[:50], look="neon")  # what is made once

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
    clear = styled(tmp_path, "", hole, text="Every letter shows")

    assert (asset.metadata["lines"], asset.metadata["position"]) == (["HELLO"], "top")
    assert (pixels_of(asset)[:90].min(axis=2) > 240).sum() > 100
    assert clear.shape == (180, 240, 3), "letters stand where nothing was"


def test_nothing_to_do_is_an_error_that_names_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="choose a look") as told:
        edit("restyle", tmp_path, ball(), "make it better")

    assert told.value.code == "nothing_to_do"


@pytest.mark.parametrize(("came", "text", "coarse"), [(2, "", 1), (2, "A", 0), (0, "", 0)])
def test_colors_stay_as_they_came(tmp_path: Path, came: int, text: str, coarse: int) -> None:
    how = {"look": "warm", "text": text, "format": "jpeg"}
    given = saved(ball(), tmp_path / "in.jpg", subsampling=came)
    assert info_of(edit("restyle", tmp_path, given, **how).path).coarse == coarse
