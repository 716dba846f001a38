import math
from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from kit.engines.media.faces import Face, find
from tests.engines.media.drawn import EYES, face, place

AT = {"x": 150.0, "y": 190.0, "size": 110.0}


@pytest.mark.parametrize("tilt", [0.0, 0.1, -0.1])
def test_a_face_and_its_eyes_are_found_where_they_are(tilt: float) -> None:
    found = find(face(**AT, tilt=tilt))

    assert len(found) == 1
    assert found[0].eyes is not None
    for eye, side in zip(found[0].eyes, (-1, 1), strict=True):
        assert math.dist(eye, place(side * EYES[0], EYES[1], **AT, tilt=tilt)) < 6
    assert math.dist(found[0].center, (AT["x"], AT["y"])) < 25


def test_a_large_picture_is_measured_in_its_own_pixels() -> None:
    small = face(**AT)
    large = cv2.resize(small, None, fx=4, fy=4, interpolation=cv2.INTER_CUBIC)

    (one,), (other,) = find(small), find(large)

    assert other.center == pytest.approx((4 * one.center[0], 4 * one.center[1]), rel=0.05)
    assert other.width == pytest.approx(4 * one.width, rel=0.12)


def test_heads_on_one_side_are_found_when_asked_for() -> None:
    leaning = face(**AT, tilt=0.42)

    assert find(face(**AT), tilted=True) == find(face(**AT))
    (found,) = find(leaning, tilted=True)[:1]
    assert found.eyes is not None
    (ax, ay), (bx, by) = found.eyes
    assert math.atan2(by - ay, bx - ax) == pytest.approx(0.42, abs=0.12)


def test_the_larger_face_comes_first() -> None:
    crowd = np.hstack([face(200, 360, size=60), face(320, 360, size=125)])

    found = find(crowd)

    assert len(found) == 2
    assert found[0].width > found[1].width
    assert found[0].x > 200 > found[1].center[0]


@pytest.mark.parametrize("shape", [(360, 480, 3), (1, 1, 3), (4, 900, 3), (900, 3, 3), (30, 30)])
def test_where_there_is_no_face_none_is_found(shape: tuple[int, ...]) -> None:
    noise = np.random.default_rng(3).integers(0, 255, shape).astype(np.uint8)

    assert find(np.full(shape, 128, np.uint8), tilted=True) == []
    assert find(noise) == []


def test_gray_pictures_do_as_well() -> None:
    pixels = face(**AT)

    assert find(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)) == find(pixels)


def test_many_threads_find_the_same() -> None:
    pixels = face(**AT)
    first = find(pixels)

    with ThreadPoolExecutor(4) as pool:
        assert all(found == first for found in pool.map(lambda _: find(pixels), range(8)))


def test_eyes_that_were_not_found_are_where_faces_have_them() -> None:
    left, right = Face(100, 50, 200, 200).sight()

    assert left == (162, 128)
    assert right == (238, 128)
