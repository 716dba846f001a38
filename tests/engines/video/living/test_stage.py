import numpy as np
import pytest

from kit.engines.film.filming import Take
from kit.engines.film.living.stage import Stage, add, around, inside
from kit.engines.painting.land.voxel import FAR

TAKE = Take(width=160, height=90, fps=24, frames=96)


def stage(away: np.ndarray | None = None) -> Stage:
    return Stage(320, 180, (90, 160), away, TAKE)


def test_a_window_is_even_and_holds_its_part_at_every_scale() -> None:
    rows, columns = stage().window((slice(11, 20), slice(31, 55)))

    assert rows.start <= 22
    assert rows.stop >= 40
    assert columns.start <= 62
    assert columns.stop >= 110
    assert all(end % 2 == 0 for side in (rows, columns) for end in (side.start, side.stop))


def test_a_window_stays_within_the_planes() -> None:
    rows, columns = stage().window((slice(0, 90), slice(158, 160)), 4)

    assert (rows.start, rows.stop) == (0, 180)
    assert columns.stop == 320
    assert columns.stop - columns.start >= 8


@pytest.mark.parametrize("step", [1, 2])
def test_a_part_is_found_where_it_was_painted(step: int) -> None:
    part = np.zeros((30, 40), np.float32)
    part[10:20, 20:30] = 1
    at = (slice(40, 70), slice(60, 100))
    window = (slice(0, 180), slice(0, 320))

    found = stage().found(part, at, window, step)

    rows, columns = np.nonzero(found > 0.5)
    assert (rows.min() * step, rows.max() * step) == pytest.approx((100, 118), abs=2)
    assert (columns.min() * step, columns.max() * step) == pytest.approx((160, 178), abs=2)
    assert found[: 70 // step].max() == 0


def test_what_stands_before_the_sky_hides_it() -> None:
    away = np.full((90, 160), FAR, np.float32)
    away[45:] = 80
    shown = stage(away).shown((slice(0, 180), slice(0, 320)))

    assert shown[:86].min() == 1
    assert shown[94:].max() == 0
    assert stage().shown((slice(0, 8), slice(0, 8))).min() == 1


def test_a_mask_is_framed_by_what_it_shows() -> None:
    mask = np.zeros((20, 30), np.float32)
    mask[4:7, 9:22] = 0.5

    assert around(mask, 0.1) == (slice(4, 7), slice(9, 22))
    assert around(mask, 0.6) is None


def test_a_change_is_added_within_8_bits_whatever_its_size() -> None:
    plane = np.full((8, 12), 250, np.uint8)
    add(plane, np.full((4, 6), 4.0, np.float32), 2.0)
    assert (plane == 255).all()
    add(plane, np.full((8, 12), -300.0, np.float32))
    assert (plane == 0).all()


def test_views_of_a_window_can_be_written_to() -> None:
    planes = (
        np.zeros((20, 30), np.uint8),
        np.zeros((10, 15), np.uint8),
        np.zeros((10, 15), np.uint8),
    )
    for part in inside(planes, (slice(4, 8), slice(10, 16))):
        part[...] = 1

    assert [int(plane.sum()) for plane in planes] == [24, 6, 6]
    assert planes[1][2:4, 5:8].min() == 1
