import cv2
import numpy as np
import pytest

from kit.engines.film.animate.standing import found, stands_free
from tests.engines.video.showing import textured, with_disc

SIZE = (480, 360)


def disc(radius: int = 90, soft: float = 0.0) -> np.ndarray:
    alpha = np.zeros((SIZE[1], SIZE[0]), np.uint8)
    cv2.circle(alpha, (SIZE[0] // 2, SIZE[1] // 2), radius, 255, -1, cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(alpha, (0, 0), soft) if soft else alpha)


def test_a_disc_before_a_wall_stands_free() -> None:
    assert stands_free(with_disc(), disc())


def test_two_clear_things_stand_free_together() -> None:
    pixels = np.full((360, 480, 3), 240, np.uint8)
    alpha = np.zeros((360, 480), np.uint8)
    for x in (60, 300):
        cv2.rectangle(alpha, (x, 100), (x + 110, 280), 255, -1)
    pixels[alpha > 0] = (200, 30, 40)

    assert stands_free(pixels, alpha)


def test_what_has_no_sharp_edge_does_not_stand_free() -> None:
    assert not stands_free(with_disc(), disc(soft=12.0))


def test_an_outline_through_an_even_place_is_no_thing() -> None:
    assert not stands_free(textured(*SIZE) // 8 + 100, disc())


def test_a_ragged_patch_does_not_stand_free() -> None:
    alpha = np.zeros((360, 480), np.uint8)
    for column in range(120, 360, 24):
        cv2.rectangle(alpha, (column, 120), (column + 9, 260), 255, -1)
    cv2.rectangle(alpha, (120, 180), (350, 200), 255, -1)
    pixels = np.where(alpha[..., None] > 0, np.uint8([230, 40, 30]), np.uint8(120))

    assert not stands_free(pixels, alpha)


@pytest.mark.parametrize("value", [0, 255])
def test_nothing_and_everything_are_no_subject(value: int) -> None:
    alpha = np.full((60, 80), value, np.uint8)

    assert not found(alpha)
    assert not stands_free(np.full((60, 80, 3), 90, np.uint8), alpha)
    assert found(disc())
