from itertools import pairwise

import cv2
import numpy as np

from kit.engines.film.snow import Drift, drifts
from kit.engines.film.weather import Weather
from kit.engines.media.clip import views

SIZE = (640, 360)


def made(seed: int = 3) -> list[Drift]:
    return list(drifts(np.random.default_rng(seed), SIZE))


def flakes(tile: np.ndarray) -> np.ndarray:
    """Return how many pixels each flake covers."""
    seen = (tile > 40).astype(np.uint8)
    return cv2.connectedComponentsWithStats(seen)[2][1:, cv2.CC_STAT_AREA]


def test_flakes_of_one_size_fall_at_several_speeds_and_cross_each_other() -> None:
    sheets = made()
    sizes = [np.quantile(flakes(sheet.tile), (0.2, 0.8)) for sheet in sheets]
    speeds = [sheet.speed[1] for sheet in sheets]
    leans = [sheet.speed[0] * SIZE[0] / (sheet.speed[1] * SIZE[1]) for sheet in sheets]

    # What is large for its sheet is larger than what is small for the next one.
    assert all(far[1] > near[0] for far, near in pairwise(sizes))
    assert all(near > 1.15 * far for far, near in pairwise(speeds))
    assert all(abs(one - other) > 0.08 for one, other in pairwise(leans))


def test_nearer_flakes_are_larger_faster_and_fewer() -> None:
    far, *_, near = made()

    assert np.median(flakes(near.tile)) > 2 * np.median(flakes(far.tile))
    assert near.speed[1] > 2 * far.speed[1]
    assert len(flakes(near.tile)) < 0.5 * len(flakes(far.tile))


def test_sheets_go_on_at_their_opposite_edges() -> None:
    for sheet in made():
        tile = sheet.tile.astype(int)
        for axis in (0, 1):
            inside = np.abs(np.diff(tile, axis=axis)).max()
            seam = np.abs(tile.take(0, axis=axis) - tile.take(-1, axis=axis)).max()
            assert seam <= inside


def test_the_same_seed_gives_the_same_flakes() -> None:
    one, same, other = (made(seed)[0].tile for seed in (3, 3, 4))

    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_snowfall_in_a_loop_ends_as_it_begins_and_no_frame_before_does() -> None:
    air = Weather("snow", SIZE, np.random.default_rng(5), 3.0, True)

    def drawn(moment: float) -> np.ndarray:
        frame = np.full((540, 640), 90, np.uint8)
        air.draw(views(frame, *SIZE), moment)
        return frame.astype(int)

    off = [np.abs(drawn(number / 24) - drawn(0.0)).mean() for number in range(1, 25)]
    assert off[-1] < 0.01
    assert min(off[:-1]) > 0.3


def test_a_short_loop_does_not_repeat_its_flakes_one_above_the_other() -> None:
    air = Weather("snow", SIZE, np.random.default_rng(5), 1.0, True)
    frame = np.full((540, 640), 90, np.uint8)
    air.draw(views(frame, *SIZE), 0.3)
    flakes = frame[:360].astype(float) - frame[:360].mean()

    alike = [float((flakes[:-down] * flakes[down:]).mean()) for down in range(20, 300)]

    assert max(alike) < 0.25 * flakes.var()
