import cv2
import numpy as np

from kit.engines.media.outlines import outlined, whole


def plain() -> tuple[np.ndarray, np.ndarray]:
    mask = np.zeros((90, 120), np.uint8)
    cv2.circle(mask, (60, 45), 20, 1, -1)
    return np.full((90, 120, 3), 120, np.uint8), mask


def test_a_thing_is_outlined_by_its_color_and_a_guess_is_not() -> None:
    pixels, mask = plain()
    assert outlined(pixels, mask) == 0.0

    pixels[mask > 0] = (220, 60, 40)
    assert outlined(pixels, mask) > 0.95
    assert outlined(pixels, np.zeros_like(mask)) == 0.0


def test_a_guess_is_dropped_unless_it_is_known_to_be_there() -> None:
    pixels, mask = plain()

    assert not whole(pixels, mask, sure=False).any()
    assert np.array_equal(whole(pixels, mask, sure=True), mask)


def test_crumbs_go_and_pinholes_close() -> None:
    pixels, mask = plain()
    pixels[mask > 0] = (220, 60, 40)
    rough = mask.copy()
    rough[45, 60] = 0
    rough[2:4, 2:4] = 1

    assert np.array_equal(whole(pixels, rough, sure=False), mask)
