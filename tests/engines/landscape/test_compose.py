import numpy as np
import pytest

from kit.engines.painting.poster.compose import Look, Picture, compose, flat
from kit.engines.painting.poster.plane import Stage
from kit.engines.painting.poster.recipes import RECIPES
from kit.engines.prompt.landscape import read


def picture(prompt: str, look: Look | None = None, stage: Stage | None = None) -> Picture:
    return compose(read(prompt, seed=3), look or Look(), stage or Stage(200, 200))


@pytest.mark.parametrize("subject", RECIPES)
def test_planes_stand_inside_the_stage_and_go_from_far_to_near(subject: str) -> None:
    stage = Stage(180, 120, margin_x=10, margin_y=6)
    composed = picture(subject, stage=stage)
    ridges = [p for p in composed.back + composed.front if p.name == "ridge"]

    for plane in composed.back + composed.front:
        assert plane.alpha.shape[1] == stage.columns
        assert 0 <= plane.top <= plane.top + plane.alpha.shape[0] <= stage.rows
    assert [p.depth for p in ridges] == sorted(p.depth for p in ridges)
    assert len(ridges) == 7


@pytest.mark.parametrize("subject", RECIPES)
def test_no_sky_shows_below_the_land_and_all_is_within_range(subject: str) -> None:
    composed = picture(f"{subject} at night")
    canvas = flat(composed)
    ridges = [p for p in composed.back + composed.front if p.name == "ridge"]
    bottom = np.max([p.alpha[-1] for p in ridges if p.top + p.alpha.shape[0] == 200], axis=0)

    assert canvas.min() >= -1e-3
    assert canvas.max() <= 1.001
    assert composed.water is not None or bottom.min() == 255


def test_only_lakes_and_seas_have_water() -> None:
    wet = {subject for subject in RECIPES if picture(subject).water is not None}

    assert wet == {"lake", "sea"}


def test_a_lake_mirrors_the_sky() -> None:
    canvas = flat(picture("clear lake at sunset"))
    shore = round(0.665 * 200)
    sky, mirrored = canvas[:, 30:60].mean(axis=(1, 2)), canvas[:, shore + 30 : shore + 45]

    # A warm sky makes warm water: red before green, as above.
    assert sky[0] > sky[1]
    assert mirrored[0].mean() > mirrored[1].mean()


def test_changing_the_stars_leaves_the_mountains_alone() -> None:
    with_stars, without = (flat(picture("night", Look(stars=stars))) for stars in (True, False))

    assert np.array_equal(with_stars[:, 150:], without[:, 150:])
    assert not np.array_equal(with_stars[:, :60], without[:, :60])
