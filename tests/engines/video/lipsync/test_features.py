import math
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines import samples
from kit.engines.editing.lipsync.features import aside, closer, glance_of, open_eyes
from kit.engines.editing.lipsync.pose import pose_of
from kit.engines.media import stills
from kit.engines.media.faces import Face, find
from tests.engines.drawn import EYES, LINE, MOUTH_HALF, face, place

AT = {"x": 160.0, "y": 180.0, "size": 115.0}


def off(found: Face, tilt: float = 0.0) -> float:
    """Return how far the eyes are from where they were drawn, on average, in pixels."""
    spots = [place(side * EYES[0], EYES[1], **AT, tilt=tilt) for side in (-1, 1)]
    return sum(map(math.dist, found.sight(), spots)) / 2


@pytest.mark.parametrize("tilt", [0.0, 0.2, -0.2])
def test_eyes_and_mouth_are_placed_where_they_were_drawn(tilt: float) -> None:
    pixels = face(**AT, tilt=tilt)

    found = closer(pixels, find(pixels)[0])

    assert off(found, tilt) < 6
    assert found.mouth is not None
    for corner, side in zip(found.mouth, (-1, 1), strict=True):
        assert math.dist(corner, place(side * MOUTH_HALF, LINE, **AT, tilt=tilt)) < 10


def test_closer_looks_correct_a_rough_one() -> None:
    pixels = face(**AT)
    sure = closer(pixels, find(pixels)[0])
    rough = replace(sure, eyes=((118.0, 158.0), (196.0, 168.0)))

    assert off(closer(pixels, rough)) < min(off(rough), off(sure) + 3)


def test_a_large_face_is_placed_like_a_small_one() -> None:
    small = face(**AT)
    large = cv2.resize(small, None, fx=5, fy=5, interpolation=cv2.INTER_CUBIC)

    (ax, ay), (bx, by) = closer(small, find(small)[0]).sight()
    one, other = closer(large, find(large)[0]).sight()

    assert one == pytest.approx((5 * ax, 5 * ay), abs=18)
    assert other == pytest.approx((5 * bx, 5 * by), abs=18)


def test_where_nothing_is_seen_again_the_face_stays_as_it_was() -> None:
    blank = np.full((200, 200, 3), 130, np.uint8)
    told = Face(60, 60, 80, 80)

    assert closer(blank, told) == told


@pytest.mark.parametrize(
    ("nose", "hidden"), [(50.0, False), (58.0, False), (32.0, False), (95.0, True), (0.0, True)]
)
def test_a_nose_beyond_the_eyes_is_that_of_a_profile(nose: float, hidden: bool) -> None:
    seen = Face(0, 0, 100, 100, ((30.0, 40.0), (70.0, 40.0)), ((35.0, 80.0), (65.0, 80.0)))

    assert aside(replace(seen, nose=(nose, 60.0))) is hidden


def test_a_face_without_a_nose_is_taken_to_look_here() -> None:
    assert not aside(Face(0, 0, 100, 100))
    assert glance_of(Face(0, 0, 100, 100), pose_of(Face(0, 0, 100, 100))) is None


def test_eyes_behind_dark_glasses_do_not_count_as_open(tmp_path: Path) -> None:
    pixels = stills.opened(samples.portrait(tmp_path)).pixels
    found = closer(pixels, find(pixels)[0])
    assert open_eyes(pixels, found) == found.sight()

    for x, y in found.sight():
        cv2.circle(pixels, (round(x), round(y)), round(0.17 * found.width), (20, 20, 22), -1)

    (behind,) = find(pixels)
    assert open_eyes(pixels, closer(pixels, behind)) is None
