from dataclasses import replace

import cv2
import numpy as np
import pytest

from kit.engines.film.filming import Take
from kit.engines.film.living.smoke import Rising
from kit.engines.film.living.stage import Stage
from kit.engines.painting.land.motion import Smoke
from kit.engines.painting.land.voxel import FAR
from tests.engines.video.showing import textured

LOOP = Take(width=320, height=240, fps=24, frames=120, loop=True)
RIM = 200


def planes() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    pixels = textured(320, 240)
    half = cv2.resize(pixels, (160, 120))
    return pixels[..., 0].copy(), half[..., 1].copy(), half[..., 2].copy()


def rising(take: Take = LOOP, lean: float = 0.0) -> Rising:
    cover = np.zeros((110, 160), np.float32)
    cover[:, 60:100] = 1
    away = np.full((240, 320), FAR, np.float32)
    away[RIM:] = 500
    smoke = Smoke(
        cover=cover,
        step=2,
        crater=(160.0, float(RIM)),
        unit=24.0,
        tall=240.0,
        lean=lean,
        start=0.5,
        grown=1.0,
    )
    made = Rising(smoke, Stage(320, 240, (240, 320), away, take), np.random.default_rng(2))
    made.light_up(planes())
    return made


def drawn(smoke: Rising, moment: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    found = planes()
    smoke.draw(found, moment)
    return found


def flow(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return how far the heart of the plume goes from one picture to the next."""
    found = cv2.calcOpticalFlowFarneback(before, after, None, 0.5, 3, 25, 3, 7, 1.5, 0)
    return found[40:120, 140:180].mean(axis=(0, 1))


def test_a_film_begins_with_the_painting() -> None:
    for shown, painted in zip(drawn(rising(), 0.0), planes(), strict=True):
        assert np.abs(shown.astype(int) - painted).max() <= 1


def test_smoke_rises() -> None:
    smoke = rising()

    assert flow(drawn(smoke, 0.0)[0], drawn(smoke, 0.04)[0])[1] < -1.5


@pytest.mark.parametrize("side", [-1, 1])
def test_smoke_goes_with_the_wind(side: int) -> None:
    smoke = rising(lean=0.8 * side)

    assert side * flow(drawn(smoke, 0.0)[0], drawn(smoke, 0.04)[0])[0] > 0.3


def test_more_motion_makes_it_faster() -> None:
    slow, fast = (rising(replace(LOOP, motion=motion)) for motion in (0.1, 1.0))
    rises = [-flow(drawn(one, 0.0)[0], drawn(one, 0.03)[0])[1] for one in (slow, fast)]

    assert rises[1] > 1.5 * rises[0] > 0


def test_nothing_but_smoke_moves() -> None:
    luma, blue, _ = (
        np.abs(shown.astype(int) - painted)
        for shown, painted in zip(drawn(rising(), 0.3), planes(), strict=True)
    )

    assert luma[20:150, 130:190].mean() > 4
    assert blue[10:75, 65:95].mean() > 2
    assert luma[RIM:].max() == 0
    assert luma[:, :60].max() == 0
    assert luma[:, 260:].max() == 0


def test_a_loop_closes_without_a_jump() -> None:
    smoke = rising()

    assert np.array_equal(drawn(smoke, 1.0)[0], drawn(smoke, 0.0)[0])
    steps = [
        np.abs(
            drawn(smoke, number / 120)[0].astype(int) - drawn(smoke, (number - 1) / 120)[0]
        ).mean()
        for number in range(1, 121)
    ]
    assert max(steps) < 2.5 * np.median(steps)


def test_it_stays_as_rich_while_runs_take_turns() -> None:
    smoke = rising()
    spread = [float(drawn(smoke, moment)[0][40:140, 130:190].std()) for moment in (0.0, 0.07, 0.13)]

    assert min(spread) > 0.6 * spread[0]
