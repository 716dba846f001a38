"""Streets and views of space hand out how far things are, what is sky and what shines."""

from __future__ import annotations

import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.painting.families import paint
from kit.engines.painting.painting import Painting
from kit.engines.prompt.reading import read

SMALL = {"size": 192, "aspect_ratio": "3:2", "detail": "standard"}


def painted(prompt: str, seed: int = 3) -> Painting:
    return paint(read(prompt, SMALL, seed), Progress())


@pytest.mark.parametrize(
    "prompt",
    ["a neon city street at night", "city street from above", "a ringed planet", "a nebula"],
)
def test_depth_is_infinite_in_the_sky_and_nowhere_else(prompt: str) -> None:
    painting = painted(prompt)
    assert painting.depth is not None
    assert painting.sky is not None
    assert painting.emitters is not None
    assert painting.light.shape[1:] == painting.depth.shape == painting.sky.shape
    assert np.isinf(painting.depth[painting.sky == 1]).all()
    assert np.isfinite(painting.depth[painting.sky == 0]).all()
    assert 0 <= painting.emitters.min() <= painting.emitters.max() <= 1
    assert painting.emitters.max() > 0


def test_a_street_is_near_below_and_far_in_its_middle() -> None:
    depth = painted("a city street at noon").depth
    assert depth is not None
    lowest, middle = np.median(depth[-1]), np.median(depth[round(0.6 * len(depth))])
    assert 2 < lowest < middle


def test_a_black_hole_hides_the_stars_behind_it() -> None:
    painting = painted("a black hole, centered")
    assert painting.sky is not None
    height, width = painting.sky.shape
    assert painting.sky[height // 2, width // 2] == 0


@pytest.mark.parametrize("prompt", ["a city street", "a spiral galaxy"])
def test_a_seed_paints_the_same_again_and_another_one_does_not(prompt: str) -> None:
    first, again, other = (painted(prompt, seed).pixels() for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


@pytest.mark.parametrize("prompt", ["a city street", "a planet"])
def test_a_painter_stops_when_it_is_canceled(prompt: str) -> None:
    progress = Progress(lambda done: progress.cancel() if done > 0.3 else None)
    with pytest.raises(CanceledError):
        paint(read(prompt, SMALL, 1), progress)
