import numpy as np
import pytest

from kit.engines.film.sheets import backdrop, lay, sheet
from kit.engines.media.clip import rgb_of, views
from kit.engines.painting.poster.plane import Plane, Stage, over, solid

STAGE = Stage(64, 48)
STILL = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def ridge(top: int = 20) -> Plane:
    alpha = np.full((48 - top, 64), 255, np.uint8)
    alpha[:4] = 120
    return Plane("ridge", 0.5, top, solid(np.array([0.2, 0.5, 0.3], np.float32)), alpha)


def test_a_sheet_that_does_not_move_looks_like_its_plane() -> None:
    sky = np.full((3, 48, 64), 0.7, np.float32)
    frame = backdrop(sky, STAGE, rng())

    lay(views(frame, 64, 48), sheet([ridge()], STAGE, rng()), STILL, stop=48)
    over(sky, ridge())

    assert rgb_of(frame).transpose(2, 0, 1) == pytest.approx(sky * 255, abs=4)


@pytest.mark.parametrize("shift", [-6.0, 5.0, 7.5])
def test_a_moved_sheet_goes_on_to_the_bottom_of_the_frame(shift: float) -> None:
    frame = backdrop(np.full((3, 48, 64), 0.9, np.float32), STAGE, rng())
    matrix = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, shift]])

    lay(views(frame, 64, 48), sheet([ridge()], STAGE, rng()), matrix, stop=48)
    green = rgb_of(frame)[..., 1]

    assert green[: int(20 + shift) - 2].min() > 220
    assert green[int(20 + shift) + 6 :].max() < 135


def test_rows_that_something_nearer_hides_are_left_alone() -> None:
    frame = backdrop(np.full((3, 48, 64), 0.9, np.float32), STAGE, rng())
    before = frame.copy()

    lay(views(frame, 64, 48), sheet([ridge()], STAGE, rng()), STILL, stop=20)

    assert np.array_equal(frame, before)


def test_a_sheet_knows_from_which_row_it_hides_everything() -> None:
    assert sheet([ridge(top=20)], STAGE, rng()).solid == 24


def test_where_a_sheet_is_empty_the_frame_does_not_change() -> None:
    frame = backdrop(np.full((3, 48, 64), 0.4, np.float32), STAGE, rng())
    before = frame.copy()
    empty = Plane("cloud", 0.1, 0, solid(np.ones(3, np.float32)), np.zeros((30, 64), np.uint8))

    lay(views(frame, 64, 48), sheet([empty], STAGE, rng()), STILL, stop=48)

    assert np.array_equal(frame, before)
