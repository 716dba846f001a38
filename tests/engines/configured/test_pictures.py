"""What models see of a picture that does not cover."""

from pathlib import Path

import numpy as np
from PIL import Image

from kit.engines.configured.pictures import opaque


def test_see_through_parts_are_white(tmp_path: Path) -> None:
    pixels = np.zeros((4, 6, 4), np.uint8)
    pixels[..., 0] = 200
    pixels[:, :2, 3] = 255
    pixels[:, 2:4, 3] = 128
    path = tmp_path / "a"
    Image.fromarray(pixels).save(path, "PNG")

    seen = opaque(path, most=100)
    assert seen.shape == (4, 6, 3)
    assert seen[0, 0].tolist() == [200, 0, 0]
    assert seen[0, 2].tolist() == [227, 127, 127]
    assert seen[0, 5].tolist() == [255, 255, 255]


def test_a_large_picture_is_scaled_down(tmp_path: Path) -> None:
    path = tmp_path / "a"
    Image.new("RGB", (300, 100), "red").save(path, "JPEG")

    assert opaque(path, most=30).shape == (10, 30, 3)
