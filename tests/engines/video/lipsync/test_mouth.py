from typing import Any

import numpy as np
import pytest

from kit.engines.editing.lipsync.lips import Lips
from kit.engines.editing.lipsync.mouth import (
    Shape,
    inner_reach_of,
    inside,
    pull,
    reach_of,
    shape_of,
)
from kit.engines.editing.lipsync.pose import Window
from kit.engines.editing.lipsync.tints import Colors

CLOSED = Lips(2.0, 40.0, (108.0, 1.0, 2.0), (108.0, 1.0, 2.0))
SMILE = Lips(0.0, 46.0, (98.0, 0.0, -4.0), (112.0, 0.0, -15.0), toothy=True)
COLORS = Colors(*(np.array(c, np.float32) for c in ((50, 20, 20), (230, 220, 205), (170, 80, 85))))


def grid(lips: Lips, scale: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    left, top, right, bottom = reach_of(lips)
    return Window(left, top, right - left, bottom - top, scale).grid()


def shaped(lips: Lips, intensity: float = 1.0, **values: float) -> Shape:
    speech: dict[str, Any] = {"jaw": 0.0, "spread": 0.0, "hiss": 0.0, "closure": 0.0, **values}
    return shape_of(lips, intensity=intensity, **speech)


def opening(lips: Lips, shape: Shape) -> float:
    left, top, right, bottom = inner_reach_of(lips)
    x, y = Window(left, top, right - left, bottom - top).grid()
    shown = inside(x, y, lips, shape, COLORS, sharp=1.0)
    return 0.0 if shown is None else float(shown.cover.sum())


@pytest.mark.parametrize("lips", [CLOSED, SMILE])
def test_a_mouth_at_rest_leaves_the_picture_as_it_is(lips: Lips) -> None:
    x, y = grid(lips)

    moved = pull(x, y, lips, shaped(lips))

    assert np.abs(moved[0] - x).max() == 0
    assert np.abs(moved[1] - y).max() == 0
    assert opening(lips, shaped(lips)) == 0


@pytest.mark.parametrize("lips", [CLOSED, SMILE])
def test_a_lower_jaw_opens_the_mouth_more(lips: Lips) -> None:
    openings = [opening(lips, shaped(lips, jaw=jaw)) for jaw in (0.0, 0.2, 0.5, 1.0)]

    assert openings == sorted(openings)
    assert openings[1] > 20
    assert openings[3] > 2.5 * openings[1]


def test_no_intensity_is_no_motion_and_more_is_more() -> None:
    assert shaped(CLOSED, 0.0, jaw=1.0, spread=-1.0, hiss=1.0) == Shape(0.0, 1.0, 1.0)
    assert shaped(CLOSED, 1.5, jaw=1.0).opening > 1.3 * shaped(CLOSED, 1.0, jaw=1.0).opening
    assert shaped(CLOSED, 1.5, jaw=1.15).opening < 50


def test_round_lips_are_narrower_and_spread_ones_wider() -> None:
    left = grid(CLOSED)[0] < CLOSED.x
    line = np.abs(grid(CLOSED)[1] - 108) < 1

    def corner(spread: float) -> float:
        x, y = grid(CLOSED)
        source = pull(x, y, CLOSED, shaped(CLOSED, spread=spread))[0]
        # Where the corner of the mouth at rest is now.
        return float(x[line & left][np.argmin(np.abs(source[line & left] - (2 - 40)))])

    assert corner(-1.0) > corner(0.0) + 6
    assert corner(1.0) < corner(0.0) - 2


@pytest.mark.parametrize("lips", [CLOSED, SMILE])
@pytest.mark.parametrize(
    "values", [{"jaw": 1.15, "spread": -1.0}, {"jaw": 1.0, "spread": 1.0}, {"closure": 1.0}]
)
def test_skin_never_folds_over(lips: Lips, values: dict[str, float]) -> None:
    x, y = grid(lips)
    source_x, source_y = pull(x, y, lips, shaped(lips, 1.5, **values))

    assert np.diff(source_x, axis=1).min() > 0
    steps = np.diff(source_y, axis=0)
    # Only where the lips part does the source jump, and there from the upper lip to the lower.
    assert (steps < -0.05).sum(axis=0).max() <= 1


@pytest.mark.parametrize("lips", [CLOSED, SMILE])
def test_the_motion_ends_before_the_border_of_what_may_move(lips: Lips) -> None:
    x, y = grid(lips)
    source = pull(x, y, lips, shaped(lips, 1.5, jaw=1.15, spread=-1.0))

    for new, old in zip(source, (x, y), strict=True):
        moved = np.abs(new - old)
        assert moved.max() > 4
        border = [moved[0], moved[-1], moved[:, 0], moved[:, -1]]
        assert max(edge.max() for edge in border) < 0.35


def test_the_chin_follows_and_the_nose_stays() -> None:
    x, y = np.full((1, 1), 2, np.float32), np.full((1, 1), 175, np.float32)
    shape = shaped(CLOSED, jaw=1.0)

    chin = float(y[0, 0] - pull(x, y, CLOSED, shape)[1][0, 0])
    nose = pull(x, np.full((1, 1), 70, np.float32), CLOSED, shape)[1]

    assert 8 < chin < shape.opening
    assert nose[0, 0] == 70


def test_a_smile_keeps_its_upper_lip_and_closes_over_its_teeth() -> None:
    x, y = grid(SMILE)
    above = (y < 97) & (np.abs(x) < 30)
    opened = pull(x, y, SMILE, shaped(SMILE, jaw=1.0))[1]
    pressed = shaped(SMILE, closure=1.0)

    assert np.array_equal(opened[above], y[above])
    assert pressed.opening < -4
    lip = (np.abs(x) < 4) & (np.abs(y - 109) < 1)
    assert (pull(x, y, SMILE, pressed)[1][lip] > 112).all()


@pytest.mark.parametrize("step", [3, 5])
def test_working_at_every_few_places_gives_the_same_picture(step: int) -> None:
    x, y = grid(CLOSED, 2.0)
    shape = shaped(CLOSED, jaw=0.8, spread=-0.5)

    fine, coarse = pull(x, y, CLOSED, shape), pull(x, y, CLOSED, shape, step=step)

    for one, other in zip(fine, coarse, strict=True):
        off = np.abs(one - other)
        assert np.percentile(off, 99.8) < 0.35


def test_the_inside_is_dark_between_teeth_above_and_tongue_below() -> None:
    x, y = Window(-1, 90, 2, 60, 2).grid()
    shown = inside(x, y, CLOSED, shaped(CLOSED, jaw=1.0), COLORS, sharp=2.0)

    assert shown is not None
    bright = shown.color[:, 1].mean(axis=1)
    rows = np.flatnonzero(shown.cover[:, 1] > 0.9)
    upper, middle, lower = (
        bright[rows[round(share * (len(rows) - 1))]] for share in (0.12, 0.5, 0.85)
    )
    assert upper > 2 * middle
    assert lower > 1.3 * middle
    assert shown.color.min() >= 0
    assert shown.color.max() <= 255
