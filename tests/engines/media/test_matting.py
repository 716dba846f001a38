import cv2
import numpy as np

from kit.engines.media.backdrops import backdrop
from kit.engines.media.matting import edged, keyed
from tests.engines.media.test_backdrops import studio


def tufted() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A dark disc with hairs before a wall, how far each pixel is the disc's, and the disc."""
    wall, found = studio()
    wall = cv2.resize(wall, (720, 540), interpolation=cv2.INTER_CUBIC)
    truth = cv2.resize(found, (720, 540), interpolation=cv2.INTER_NEAREST) * np.uint8(255)
    for angle in np.linspace(0, 2 * np.pi, 40):
        end = (round(360 + 165 * np.cos(angle)), round(270 + 165 * np.sin(angle)))
        cv2.line(truth, (360, 270), end, 255, 2, cv2.LINE_AA)
    share = truth[..., None] / np.float32(255)
    pixels = wall * (1 - share) + np.array([50, 35, 25]) * share
    return pixels.round().astype(np.uint8), truth, found


def test_hairs_before_a_wall_are_kept_and_the_wall_between_them_is_not() -> None:
    pixels, truth, found = tufted()
    small = cv2.resize(pixels, (240, 180), interpolation=cv2.INTER_AREA)
    back = backdrop(small, found)
    assert back is not None
    share = edged(pixels, small, found)

    fine = keyed(pixels, found, back, share)

    def off(mask: np.ndarray) -> float:
        ring = cv2.dilate(found, np.ones((13, 13), np.uint8)) > found
        ring = cv2.resize(ring.astype(np.uint8), truth.shape[::-1]) > 0
        return float(np.abs(mask.clip(0, 1) - truth / 255)[ring].mean())

    assert off(fine) < 0.5 * off(share)
    inside = cv2.erode(found, np.ones((25, 25), np.uint8))
    assert fine[cv2.resize(inside, truth.shape[::-1]) > 0].min() > 0.9


def test_before_a_rough_wall_nothing_is_told_by_color() -> None:
    pixels, _, found = tufted()
    rough = np.random.default_rng(5).normal(0, 14, (180, 240, 3))
    small = cv2.resize(pixels, (240, 180), interpolation=cv2.INTER_AREA)
    back = backdrop((small + rough).clip(0, 255).astype(np.uint8), found)
    share = edged(pixels, small, found)

    assert back is None or keyed(pixels, found, back, share) is share
