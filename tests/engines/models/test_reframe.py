"""Reframing a picture: what is kept, and where."""

from pathlib import Path

import numpy as np
import pytest

from tests.engines.drawings import ball
from tests.engines.rendering import edit, pixels_of, save

MODES = ("smart_crop", "blurred_fill", "stretch_edges")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(1, 1), (3, 400), (400, 2)])
def test_pictures_of_extreme_shapes_can_be_reframed(
    tmp_path: Path, mode: str, size: tuple[int, int]
) -> None:
    out = pixels_of(edit("reframe", tmp_path, np.full((*size, 3), 99, np.uint8), mode=mode))

    assert np.abs(out[(out.shape[0] - 1) // 2, (out.shape[1] - 1) // 2] - 99).max() < 6


def test_a_blurred_fill_keeps_the_whole_picture_in_the_middle(tmp_path: Path) -> None:
    pixels = ball(256, 144)

    how = {"mode": "blurred_fill", "aspect_ratio": "1:1", "size": 256}
    out = pixels_of(edit("reframe", tmp_path, pixels, **how))

    assert np.array_equal(out[56:200], pixels)
    assert out[:50].mean() < pixels.mean()


@pytest.mark.parametrize("mode", MODES)
def test_transparency_is_kept_except_with_a_fill(tmp_path: Path, mode: str) -> None:
    alpha = np.full((90, 120), 255, np.uint8)
    alpha[:45] = 0

    path = save(np.dstack([ball(120, 90), alpha]), tmp_path / "in.png")
    out = pixels_of(edit("reframe", tmp_path, path, mode=mode, aspect_ratio="1:1"))

    if mode == "blurred_fill":
        assert out.shape == (256, 256, 3)
    else:
        assert out[:100, :, 3].max() == 0
        assert out[160:, :, 3].min() == 255
