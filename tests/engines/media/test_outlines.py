import cv2
import numpy as np
import pytest

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


@pytest.mark.parametrize(("color", "kept"), [((190, 90, 60), True), ((90, 140, 200), False)])
def test_a_corner_that_is_cut_off_is_the_subjects_if_it_has_its_colors(
    color: tuple[int, int, int], kept: bool
) -> None:
    small = np.full((120, 160, 3), (90, 140, 200), np.uint8)
    found = np.zeros((120, 160), np.uint8)
    found[40:120, 60:130] = found[40:80, 60:160] = 1
    small[found > 0] = (190, 90, 60)
    small[80:, 130:] = color

    solid = whole(small, found, sure=True)

    assert bool(solid[115, 155]) is kept
    assert not solid[10, 10]
