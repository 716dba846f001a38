import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.media.color import lab_of
from kit.engines.painting.families import paint
from kit.engines.painting.land.look import look_for
from kit.engines.prompt.brief import Brief, read

FAMILIES = ["lake", "sea", "desert"]


def brief(prompt: str, family: str, seed: int = 1) -> Brief:
    settings = {"aspect_ratio": "1:1", "size": 128, "detail": "low", "family": family}
    return read(prompt, settings, seed)


def lab(prompt: str, family: str, seed: int = 1) -> np.ndarray:
    return lab_of(paint(brief(prompt, family, seed), Progress()) / 255)


@pytest.mark.parametrize(("family", "step"), [("lake", 0.04), ("sea", 0.04), ("desert", 0.12)])
def test_dense_fog_leaves_neither_blue_sky_nor_a_skyline(family: str, step: float) -> None:
    foggy, clear = (lab(f"{word} x at noon", family) for word in ("dense fog", "clear"))
    blue = [np.hypot(one[8:40, :, 1], one[8:40, :, 2]).mean() for one in (foggy, clear)]

    assert blue[0] < 0.25 * blue[1]
    # From the sky to the distance no step between rows that one would see, but to near dunes.
    assert _largest_step(foggy) < step < _largest_step(clear)


def _largest_step(picture: np.ndarray) -> float:
    rows = picture[8:60, 20:108, 0]
    return float(np.percentile(np.abs(np.diff(rows, axis=0)).max(axis=0), 40))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_foggy_night_shows_neither_moon_nor_stars(family: str) -> None:
    foggy, clear = (lab(f"{word} x by night", family, 2)[:50, :, 0] for word in ("foggy", "clear"))

    assert foggy.max() - np.median(foggy) < 0.12 < 0.5 * (clear.max() - np.median(clear))


def test_dense_fog_is_thicker_than_fog_and_fog_than_mist() -> None:
    dense, fog, mist = (
        look_for(brief(f"{word} lake at noon", "lake")) for word in ("dense fog", "fog", "misty")
    )

    assert dense.haze > 1.5 * fog.haze > 4 * mist.haze
    assert mist.disc
    assert not fog.disc
    assert mist.mist > 0.5
    assert fog.clouds == 0.0


@pytest.mark.parametrize("family", ["forest", "city", "poster"])
def test_every_other_place_takes_fog(family: str) -> None:
    foggy, clear = (lab(f"{word} x at noon", family) for word in ("foggy", "clear"))
    chroma = [np.hypot(one[:, :, 1], one[:, :, 2]).mean() for one in (foggy, clear)]

    assert chroma[0] < 0.85 * chroma[1]
