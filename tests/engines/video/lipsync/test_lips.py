import math

import numpy as np
import pytest

from kit.engines.editing.lipsync.lips import Hint, Lips, curve_at, find_lips
from kit.engines.editing.lipsync.pose import Pose, pose_by_mouth, pose_of
from kit.engines.media.faces import find
from tests.engines.drawn import LINE, face, place

AT = {"x": 160.0, "y": 175.0, "size": 115.0}


def mouth(pixels: np.ndarray) -> tuple[Pose, Lips]:
    pose = pose_of(find(pixels)[0])
    return pose, find_lips(pixels, pose)


@pytest.mark.parametrize("tilt", [0.0, 0.12, -0.12])
def test_the_line_between_the_lips_is_found(tilt: float) -> None:
    pose, lips = mouth(face(**AT, tilt=tilt))

    found = pose.to_pixels((lips.x, lips.y))
    assert math.dist(found, place(0, LINE, **AT, tilt=tilt)) < 5
    assert not lips.toothy
    assert lips.upper == lips.lower
    assert lips.gap == 0


def test_a_smile_that_shows_teeth_opens_below_them() -> None:
    pose, lips = mouth(face(**AT, smile=True))

    assert lips.toothy
    assert 8 < lips.gap < 25
    lower = pose.to_pixels((lips.x, lips.lower[0]))[1]
    upper = pose.to_pixels((lips.x, lips.upper[0]))[1]
    middle = AT["y"] + (LINE + 0.01) * AT["size"]
    assert upper < middle < lower
    # At the corners there is nothing left between the lips.
    corner = curve_at(lips.lower, 1.0) - curve_at(lips.upper, 1.0)
    assert corner < 0.5 * lips.gap


def test_the_width_is_that_of_a_mouth() -> None:
    pose, lips = mouth(face(**AT))

    assert 0.36 < 2 * lips.half * pose.unit / AT["size"] < 0.75
    assert abs(lips.x) < 5


def test_hints_win_and_the_line_is_looked_for_near_them() -> None:
    pixels = face(**AT)
    pose, free = mouth(pixels)

    told = find_lips(pixels, pose, Hint(x=3.0, y=free.y + 5, width=90.0))

    assert (told.x, told.half) == (3.0, 45.0)
    assert told.y == pytest.approx(free.y, abs=2.5)


@pytest.mark.parametrize("value", [0, 128, 255])
def test_a_blank_picture_gives_some_mouth_near_the_usual_place(value: int) -> None:
    pixels = np.full((200, 200, 3), value, np.uint8)

    lips = find_lips(pixels, pose_by_mouth((100, 120), 60))

    assert 84 <= lips.y <= 132
    assert 33 <= lips.half <= 56
    assert np.isfinite([*lips.upper, *lips.lower]).all()


def test_a_mouth_at_the_border_of_the_picture_does_no_harm() -> None:
    pixels = face(**AT)

    for center in ((0.0, 0.0), (319.0, 359.0), (160.0, 358.0)):
        lips = find_lips(pixels, pose_by_mouth(center, 50))
        assert np.isfinite([lips.x, lips.half, *lips.lower]).all()
