import math
from dataclasses import replace

import numpy as np
import pytest

from kit.engines.painting.heightfield.detail import Near
from kit.engines.painting.heightfield.terrain import Station
from kit.engines.painting.heightfield.visible import Seen

KINDS = ["alps", "hills", "forest", "islands", "desert", "canyon"]
SIZE = (60, 80)


def wall(away: float, step: float = 0.03, right: float = 0.0) -> Seen:
    """Return what is seen of an upright wall at a distance, so many units to a pixel."""
    rows, columns = (np.arange(size, dtype=np.float32) for size in SIZE)
    x = np.broadcast_to(columns * np.float32(step) + np.float32(right), SIZE).copy()
    height = np.broadcast_to(rows[::-1, None] * np.float32(step), SIZE).copy()
    none = np.zeros(0, np.intp)
    return Seen(
        0,
        np.full(SIZE, away, np.float32),
        np.full(SIZE, 1 / away, np.float32),
        x,
        np.full(SIZE, 100 + away, np.float32),
        height,
        np.zeros(SIZE, np.bool_),
        (none, none, np.zeros(0, np.float32)),
    )


def at(x: float = 0.0) -> Station:
    return Station(x=x, y=100.0, height=1.0, heading=0.0, horizon=0.5, bank=0.0)


def laid(
    kind: str, seen: Seen, place: Station, *, wet: int = 0, woods: int = 255, heading: float = 0.0
) -> np.ndarray:
    luma = np.full(SIZE, 120, np.uint8)
    cover = np.full(SIZE, wet, np.uint8), np.full(SIZE, woods, np.uint8)
    Near(kind, np.random.default_rng(1), heading).lay(luma, cover, seen, place)
    return luma


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_near_gets_structure_and_stays_as_bright(kind: str) -> None:
    luma = laid(kind, wall(10.0, step=0.07), at())

    assert luma.std() > 3
    assert luma.mean() == pytest.approx(120, abs=8)


def test_what_is_far_is_left_alone() -> None:
    assert (laid("forest", wall(120.0), at()) == 120).all()


def test_what_is_finer_than_a_row_is_left_alone() -> None:
    assert (laid("forest", wall(10.0, step=2.0), at()) == 120).all()


def test_structure_stays_where_it_is_when_the_camera_moves() -> None:
    seen = wall(10.0, right=5.0)

    assert (laid("forest", seen, at(0.0)) == laid("forest", seen, at(37.5))).all()


def test_structure_does_not_run_up_a_wall_in_streaks() -> None:
    luma = laid("forest", wall(10.0), at()).astype(float)

    assert np.abs(np.diff(luma, axis=0)).mean() > 0.5 * np.abs(np.diff(luma, axis=1)).mean()


@pytest.mark.parametrize("slope", [0.5, 1.3, 2.4, 4.0])
@pytest.mark.parametrize("heading", [0.0, 2.0])
def test_whatever_rises_before_the_camera_shows_no_streaks(slope: float, heading: float) -> None:
    seen = wall(10.0)
    along, aside = seen.height / slope, seen.x
    x = aside * math.cos(heading) + along * math.sin(heading)
    y = 110 - aside * math.sin(heading) + along * math.cos(heading)
    hill = replace(seen, x=x.astype(np.float32), y=y.astype(np.float32))
    luma = laid("alps", hill, at(), heading=heading).astype(float)
    down, over = (np.abs(np.diff(luma, axis=axis)).mean() for axis in (0, 1))

    assert 0.5 * over < down < 4.0 * over


def test_what_is_closer_shows_finer_structure() -> None:
    def fine(away: float) -> float:
        luma = laid("alps", wall(away), at()).astype(float)
        return float(np.abs(np.diff(luma, axis=1)).mean() / luma.std())

    assert fine(8.0) > 1.3 * fine(24.0)


def test_open_ground_shows_less_than_woods() -> None:
    seen = wall(10.0, step=0.07)
    open_, wooded = (laid("alps", seen, at(), woods=woods).std() for woods in (0, 255))

    assert 0.3 * wooded < open_ < 0.6 * wooded


def test_water_beside_near_ground_is_left_alone() -> None:
    luma = np.full(SIZE, 120, np.uint8)
    wet, woods = np.zeros(SIZE, np.uint8), np.zeros(SIZE, np.uint8)
    wet[:, 40:] = 255
    seen = wall(10.0, step=0.07)
    Near("alps", np.random.default_rng(1), 0.0).lay(luma, (wet, woods), seen, at())

    assert luma[:, :38].std() > 3
    assert (luma[:, 43:] == 120).all()


def test_what_lies_under_water_is_left_alone() -> None:
    assert (laid("forest", wall(10.0, step=0.07), at(), wet=255) == 120).all()
