import numpy as np
import pytest

from kit.engines.video.flythrough.eye import Seen
from kit.engines.video.flythrough.near import Near
from kit.engines.video.flythrough.route import Station

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
        np.full(SIZE, 1 / away, np.float32),
        x,
        np.full(SIZE, 100 + away, np.float32),
        height,
        np.zeros(SIZE, np.bool_),
        (none, none, np.zeros(0, np.float32)),
    )


def at(x: float = 0.0) -> Station:
    return Station(x=x, y=100.0, height=1.0, heading=0.0, horizon=0.5, bank=0.0)


def laid(kind: str, seen: Seen, place: Station) -> np.ndarray:
    colors = np.full((*SIZE, 4), 120, np.uint8)
    Near(kind, np.random.default_rng(1)).lay(colors, seen, place)
    return colors


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_near_gets_structure_and_stays_as_bright(kind: str) -> None:
    colors = laid(kind, wall(10.0, step=0.07), at())

    assert colors[..., :3].std() > 3
    assert colors[..., :3].mean() == pytest.approx(120, abs=8)
    assert (colors[..., 3] == 120).all()


def test_what_is_far_is_left_alone() -> None:
    assert (laid("forest", wall(120.0), at()) == 120).all()


def test_what_is_finer_than_a_row_is_left_alone() -> None:
    assert (laid("forest", wall(10.0, step=2.0), at()) == 120).all()


def test_structure_stays_where_it_is_when_the_camera_moves() -> None:
    seen = wall(10.0, right=5.0)

    assert (laid("forest", seen, at(0.0)) == laid("forest", seen, at(37.5))).all()


def test_structure_does_not_run_up_a_wall_in_streaks() -> None:
    luma = laid("forest", wall(10.0), at())[..., 0].astype(float)

    assert np.abs(np.diff(luma, axis=0)).mean() > 0.5 * np.abs(np.diff(luma, axis=1)).mean()


def test_what_lies_under_water_is_left_alone() -> None:
    colors = np.full((*SIZE, 4), 120, np.uint8)
    colors[30:, :, 3] = 255
    Near("forest", np.random.default_rng(1)).lay(colors, wall(10.0, step=0.07), at())

    assert colors[:30, :, 0].std() > 3
    assert (colors[32:, :, 0] == 120).all()
