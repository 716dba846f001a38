from dataclasses import replace

import cv2
import numpy as np
import pytest

from kit.engines.film.filming import Take
from kit.engines.film.living.cascade import Cascade, Drifting
from kit.engines.film.living.stage import Stage
from kit.engines.painting.land.falls import fallen, looked_up, threads
from kit.engines.painting.land.fields import tile
from kit.engines.painting.land.motion import Fall, Spray

LOOP = Take(width=320, height=240, fps=24, frames=120, loop=True)
TOP, BOTTOM, LEFT, RIGHT = 40, 200, 130, 190
NOISE = tile(np.random.default_rng(7), cells=16, octaves=6, gain=0.66)


def fall() -> Fall:
    window = slice(TOP, BOTTOM), slice(LEFT, RIGHT)
    across = np.linspace(-1.5, 1.5, RIGHT - LEFT, dtype=np.float32)[None]
    down = np.linspace(0, 1, BOTTOM - TOP, dtype=np.float32)[:, None]
    across = np.broadcast_to(across, (BOTTOM - TOP, RIGHT - LEFT)).copy()
    return Fall(
        window=window, across=across, down=down, noise=NOISE, shift=0.0, seconds=2.5, away=170.0
    )


def painted() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return planes of white water before brown rock, as it is painted."""
    one = fall()
    looks = looked_up(one.noise, one.across, fallen(one.across, one.down), one.shift)
    cover, bright = threads(one.across, one.down, *looks)
    share = np.zeros((240, 320), np.float32)
    share[TOP:BOTTOM, LEFT:RIGHT] = cover * bright
    half = cv2.resize(share, (160, 120), interpolation=cv2.INTER_AREA)
    planes = (70 + 130 * share, 118 + 10 * half, 138 - 10 * half)
    luma, blue, red = (np.rint(plane).astype(np.uint8) for plane in planes)
    return luma, blue, red


def cascade(take: Take = LOOP, away: np.ndarray | None = None) -> Cascade:
    made = Cascade(fall(), Stage(320, 240, (240, 320), away, take))
    made.light_up(painted())
    return made


def drawn(moving: Cascade | Drifting, moment: float) -> tuple[np.ndarray, ...]:
    planes = painted()
    moving.draw(planes, moment)
    return planes


def fallen_by(water: Cascade, moment: float, rows: slice) -> float:
    """Return by how many rows water falls in a frame, in some rows."""
    part = rows, slice(142, 178)
    # What stays is no water that falls.
    usual = np.mean([drawn(water, at)[0][part] for at in np.linspace(0.02, 0.98, 25)], axis=0)
    looks = [
        np.asarray(drawn(water, at)[0][part] - usual, np.float32)
        for at in (moment, moment + 1 / 120)
    ]
    window = cv2.createHanningWindow(looks[0].shape[::-1], cv2.CV_32F)
    return cv2.phaseCorrelate(*looks, window)[0][1]


@pytest.mark.parametrize("moment", [0.2, 0.45, 0.7])
@pytest.mark.parametrize("loop", [True, False])
def test_water_falls(moment: float, loop: bool) -> None:
    water = cascade(replace(LOOP, loop=loop))

    # A frame is a sixtieth of the way of 160 rows: 2.7 rows on the whole.
    assert 1.2 < fallen_by(water, moment, slice(70, 130)) < 6.0


def test_water_falls_faster_the_farther_it_has_fallen() -> None:
    water = cascade()
    upper, lower = (
        np.median([fallen_by(water, moment, rows) for moment in (0.1, 0.3, 0.5, 0.7, 0.9)])
        for rows in (slice(46, 86), slice(120, 160))
    )

    assert lower > 1.3 * upper > 0


def test_a_film_begins_with_the_painting_and_a_loop_closes() -> None:
    water = cascade()

    first, still = drawn(water, 0.0), painted()
    part = slice(TOP + 10, 150), slice(145, 175)
    assert np.corrcoef(first[0][part].ravel(), still[0][part].ravel())[0, 1] > 0.9
    assert all(np.array_equal(*both) for both in zip(first, drawn(water, 1.0), strict=True))


def test_rock_keeps_still_and_takes_the_place_of_water_in_color_too() -> None:
    luma, blue, red = (
        shown.astype(int) - still
        for shown, still in zip(drawn(cascade(), 0.4), painted(), strict=True)
    )

    assert np.abs(luma[TOP + 10 : 150, 145:175]).mean() > 5
    assert np.abs(luma[: TOP - 2]).max() == 0
    assert np.abs(luma[:, : LEFT - 2]).max() == 0
    # Where rock shows, it is brown, and where water covers it, white.
    small = cv2.resize(luma.astype(np.float32), (160, 120), interpolation=cv2.INTER_AREA)
    assert np.corrcoef(small.ravel(), blue.ravel())[0, 1] > 0.6
    assert np.corrcoef(small.ravel(), red.ravel())[0, 1] < -0.6


def test_water_takes_the_light_of_the_hour() -> None:
    water = cascade()
    luma, *chroma = painted()
    water.light_up((luma // 3, chroma[0], chroma[1]))  # less light, less difference

    day, night = (
        np.abs(drawn(one, 0.4)[0].astype(int) - painted()[0]).mean() for one in (cascade(), water)
    )
    assert night < 0.5 * day


def test_water_as_much_as_ever_comes_down() -> None:
    water = cascade(replace(LOOP, loop=False))
    part = slice(TOP + 10, 150), slice(145, 175)
    light = [float(drawn(water, moment)[0][part].mean()) for moment in np.linspace(0, 1, 9)]

    assert min(light) > 0.75 * light[0]


def test_what_stands_before_a_fall_keeps_still() -> None:
    away = np.full((240, 320), 170.0, np.float32)
    away[:, :160] = 40
    changed = np.abs(drawn(cascade(away=away), 0.4)[0].astype(int) - painted()[0])

    assert changed[:, :157].max() == 0
    assert changed[:, 164:].max() > 5


def spray(take: Take = LOOP) -> Drifting:
    up, across = (np.asarray(part, np.float32) for part in np.mgrid[1.0:-0.5:80j, -1.5:1.5:120j])
    thick = np.asarray(0.7 * np.exp(-1.8 * (across**2 + up**2)), np.float32)
    window = slice(140, 220), slice(100, 220)
    mist = Spray(
        window=window, across=across, up=up, thick=thick, noise=NOISE, shift=0.0, away=110.0
    )
    made = Drifting(mist, Stage(320, 240, (240, 320), None, take))
    share = np.zeros((240, 320), np.float32)
    share[window] = thick * 0.62
    _, blue, red = painted()
    made.light_up((np.rint(60 + 150 * share).astype(np.uint8), blue, red))
    return made


def test_mist_drifts_over_the_foot_alone_and_comes_back_in_a_loop() -> None:
    mist = spray()
    changed = [
        np.abs(drawn(mist, moment)[0].astype(int) - painted()[0]) for moment in (0.0, 0.4, 1.0)
    ]

    assert changed[0].max() <= 1
    assert changed[1][150:215, 130:190].mean() > 1.5
    assert changed[1][:136].max() == 0
    assert changed[2].max() <= 1
