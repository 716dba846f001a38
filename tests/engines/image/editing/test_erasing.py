from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines import samples
from kit.engines.base import Progress
from kit.engines.image.editing import erasing
from kit.engines.media import faces, stills
from tests.engines.media.drawn import face


def test_what_only_looks_like_a_face_is_copied_like_anything_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = stills.opened(samples.picture(tmp_path), most=480).pixels
    mask = np.zeros(pixels.shape[:2], np.uint8)
    height, width = mask.shape
    mask[height // 3 : height // 2, width // 3 : width // 2] = 255
    filled = erasing.erased(pixels, mask, 1, Progress())

    monkeypatch.setattr(faces, "find", lambda _: [])

    assert np.array_equal(filled, erasing.erased(pixels, mask, 1, Progress()))


def test_no_face_is_copied_into_a_hole() -> None:
    person = face(160, 180, size=57)
    wall = np.full((180, 160, 3), (150, 165, 180), np.uint8)
    pixels = np.hstack([wall, person])
    mask = np.zeros(pixels.shape[:2], np.uint8)
    cv2.circle(mask, (80, 90), 40, 255, -1)

    filled = erasing.erased(pixels, mask, 1, Progress())

    assert np.abs(filled[50:130, 40:120].astype(int) - (150, 165, 180)).max() < 40
