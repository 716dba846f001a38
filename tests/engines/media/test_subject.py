"""Crops of a picture keep its heads and its subject."""

import cv2
import numpy as np
import pytest

from kit.engines.media.subject import crop, find
from tests.engines.drawings import ball, face


@pytest.mark.parametrize("aspect", [16 / 9, 1.0, 9 / 16, 3.0])
@pytest.mark.parametrize("at", [(110.0, 150.0), (390.0, 150.0), (250.0, 420.0)])
def test_a_head_is_complete_in_every_crop_that_has_room_for_it(
    aspect: float, at: tuple[float, float]
) -> None:
    pixels = cv2.resize(face(320, 360, size=110), (160, 180), interpolation=cv2.INTER_AREA)
    scene = np.full((560, 500, 3), (150, 170, 160), np.uint8)
    left, top = round(at[0]) - 80, round(at[1]) - 90
    scene[top : top + 180, left : left + 160] = pixels

    seen = find(scene)
    x, y, wide, high = seen.window(aspect)

    assert wide / high == pytest.approx(aspect, rel=0.02)
    assert len(seen.faces) == 1
    head = seen.faces[0]
    assert x <= head.x
    assert head.x + head.width <= x + wide
    assert y <= head.y - 0.3 * head.height
    assert head.y + head.height <= y + high


def test_a_subject_without_a_face_is_found_and_kept_in_the_crop() -> None:
    scene = np.full((200, 640, 3), (90, 150, 90), np.uint8)
    scene[10:190, 380:620] = ball()

    seen = find(scene)

    assert seen.center[0] == pytest.approx(500 / 640, abs=0.1)
    assert (crop(scene, 1.0) == (210, 60, 40)).all(axis=2).sum() > 5000


def test_a_plain_picture_is_cropped_in_the_middle_and_has_no_subject() -> None:
    plain = np.full((100, 300, 3), 120, np.uint8)

    seen = find(plain)

    assert seen.certainty < 0.5
    assert seen.window(1.0) == (100, 0, 100, 100)
