import math

import numpy as np
import pytest

from kit.engines.editing.lipsync.pose import MOUTH, Pose, Window, pose_by_mouth, pose_of
from kit.engines.media.faces import Face


def test_eyes_are_fifty_units_from_the_middle() -> None:
    pose = pose_of(Face(0, 0, 200, 200, ((60.0, 80.0), (140.0, 100.0))))

    assert pose.to_pixels((-50, 0)) == pytest.approx((60, 80))
    assert pose.to_pixels((50, 0)) == pytest.approx((140, 100))
    assert pose.angle == pytest.approx(math.atan2(20, 80))


def test_units_and_pixels_are_each_other_s_inverse() -> None:
    pose = Pose(120, 90, 1.7, 0.3)

    assert pose.to_units(pose.to_pixels((12, 110))) == pytest.approx((12, 110))
    small = pose.scaled(0.5)
    assert small.to_pixels((12, 110)) == pytest.approx(
        tuple(value / 2 for value in pose.to_pixels((12, 110)))
    )


def test_a_pose_by_mouth_has_the_mouth_where_it_was_told() -> None:
    assert pose_by_mouth((70, 90), 41).to_pixels((0, MOUTH)) == pytest.approx((70, 90))


def test_a_window_cuts_out_what_it_shows() -> None:
    rows, columns = np.mgrid[0:100, 0:120]
    pixels = np.stack([columns, rows, rows], axis=2).astype(np.uint8)
    window = Window(-10, 5, 20, 10, 2)

    patch = window.cut(pixels, Pose(60, 40, 1.0))

    assert patch.shape == (20, 40, 3)
    x, y = window.grid()
    assert np.abs(patch[:, :, 0] - (60 + x)).max() <= 1
    assert np.abs(patch[:, :, 1] - (40 + y)).max() <= 1
