import cv2
import numpy as np
import pytest

from kit.engines.media.certainty import LEAST, certainty
from kit.engines.media.cutout import judged, subject
from tests.engines.image.editing.pictures import ball, busy


def test_a_clear_thing_is_certain_and_cut_out_as_ever() -> None:
    alpha, sure = judged(ball())

    assert sure > 0.95
    assert np.array_equal(alpha, subject(ball()))


@pytest.mark.parametrize("seed", range(3))
def test_what_has_the_colors_of_all_the_rest_is_uncertain(seed: int) -> None:
    assert judged(busy(seed))[1] < LEAST


def test_who_says_where_to_look_need_not_be_doubted() -> None:
    near = np.zeros((180, 240), np.uint8)
    cv2.ellipse(near, (120, 95), (56, 50), 0, 0, 360, 255, -1)

    assert judged(busy(0), near=near)[1] == 1.0


def test_where_nothing_is_found_there_is_nothing_to_doubt() -> None:
    alpha, sure = judged(np.full((60, 80, 3), 120, np.uint8))

    assert (alpha.max(), sure) == (0, 1.0)


def test_the_ground_alone_is_no_subject_but_a_thing_that_stands_on_it_is() -> None:
    rng = np.random.default_rng(1)
    pixels = np.full((180, 240, 3), (150, 190, 230), np.float64)
    pixels[90:] = (120, 90, 40)
    small = (pixels + rng.normal(0, 6, pixels.shape)).clip(0, 255).astype(np.uint8)
    ground = np.zeros((180, 240), np.uint8)
    ground[90:] = 1
    heap = ground.copy()
    cv2.circle(heap, (120, 90), 80, 1, -1)
    small[heap > ground] = (200, 40, 30)

    assert certainty(small, ground, person=False) == 0.0
    assert certainty(small, heap, person=False) > LEAST


def test_a_small_thing_is_certain_where_others_would_find_it_as_well() -> None:
    pixels = np.full((180, 240, 3), (60, 110, 190), np.uint8)
    cv2.circle(pixels, (60, 60), 12, (210, 60, 40), -1)
    cv2.circle(pixels, (150, 110), 46, (240, 220, 90), -1)
    found = [np.zeros((180, 240), np.uint8) for _ in range(2)]
    cv2.circle(found[0], (60, 60), 12, 1, -1)
    alone = np.full((180, 240, 3), (60, 110, 190), np.uint8)
    cv2.circle(alone, (60, 60), 12, (210, 60, 40), -1)

    assert certainty(alone, found[0], person=False) > 0.8
    assert certainty(pixels, found[0], person=False) < LEAST
