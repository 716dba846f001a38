from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines import samples
from kit.engines.media import stills
from kit.engines.media.crops import attention, cut, window
from tests.engines.drawn import face


def with_dot(x: int, y: int, width: int = 300, height: int = 120) -> np.ndarray:
    pixels = np.full((height, width, 3), (90, 110, 120), np.uint8)
    cv2.circle(pixels, (x, y), 18, (240, 90, 20), -1)
    return pixels


@pytest.mark.parametrize("aspect", [0.5, 9 / 16, 1.0, 16 / 9, 3.0])
@pytest.mark.parametrize("size", [(300, 120), (120, 300), (1, 1), (7, 50)])
def test_a_window_has_its_aspect_and_lies_inside(aspect: float, size: tuple[int, int]) -> None:
    width, height = size
    pixels = np.random.default_rng(1).integers(0, 255, (height, width, 3), np.uint8)

    x, y, wide, tall = window(pixels, aspect)

    assert 0 <= x <= x + wide <= width
    assert 0 <= y <= y + tall <= height
    assert wide == width or tall == height
    assert abs(wide - tall * aspect) <= max(1.0, aspect)


@pytest.mark.parametrize("x", [60, 150, 240])
def test_a_crop_keeps_what_stands_out(x: int) -> None:
    left, _, wide, _ = window(with_dot(x, 60), 0.6)

    assert left + 18 <= x <= left + wide - 18


@pytest.mark.parametrize("y", [50, 150, 250])
def test_a_wide_crop_of_a_tall_picture_does_so_too(y: int) -> None:
    _, top, _, tall = window(with_dot(60, y, 120, 300), 1.6)

    assert top + 18 <= y <= top + tall - 18


def test_a_plain_picture_is_cut_in_its_middle() -> None:
    x, y, wide, _ = window(np.full((100, 300, 3), 128, np.uint8), 1.0)

    assert y == 0
    assert abs(x + wide / 2 - 150) <= 4


def test_the_same_shape_is_left_alone() -> None:
    pixels = with_dot(100, 50)

    assert cut(pixels, 300 / 120).shape == pixels.shape


def test_attention_peaks_where_the_dot_is() -> None:
    weights = attention(with_dot(220, 60))

    row, column = np.unravel_index(weights.argmax(), weights.shape)
    assert abs(column / weights.shape[1] - 220 / 300) < 0.1
    assert abs(row / weights.shape[0] - 0.5) < 0.2


def test_a_face_draws_the_eye_and_a_pattern_like_one_does_not(tmp_path: Path) -> None:
    portrait, lake = face(), stills.opened(samples.picture(tmp_path)).pixels

    assert attention(portrait).max() > attention(portrait, people=False).max() + 1
    assert np.array_equal(attention(lake), attention(lake, people=False))
