import cv2
import numpy as np

from kit.engines.video.animate.layers import found, separated, sheet_of
from tests.engines.video.showing import with_disc


def disc_alpha(width: int = 480, height: int = 360) -> np.ndarray:
    alpha = np.zeros((height, width), np.uint8)
    cv2.circle(alpha, (width // 2, height // 2), height // 4, 255, -1, cv2.LINE_AA)
    return alpha


def test_the_background_is_made_up_from_what_surrounds_the_subject() -> None:
    pixels = with_disc()

    background = separated(pixels, disc_alpha()).background.astype(int)

    inside = background[disc_alpha() > 128]
    assert np.abs(inside.mean(axis=0) - (122, 130, 128)).max() < 14
    assert (inside[:, 0] - inside[:, 1]).max() < 40
    far = np.hypot(*np.mgrid[-180:180, -240:240]) > 130
    assert np.array_equal(background[far], pixels[far])


def test_a_subject_keeps_its_own_colors_to_its_edge() -> None:
    layers = separated(with_disc(), disc_alpha())
    rim = (layers.alpha > 20) & (layers.alpha < 235)

    red = layers.subject[rim].astype(int)
    assert (red[:, 0] - red[:, 1]).mean() > 120


def test_a_sheet_holds_planes_of_full_and_half_size() -> None:
    sheet = sheet_of(separated(with_disc(), disc_alpha()), np.random.default_rng(1))

    assert [plane.shape for plane in sheet.color] == [(360, 480), (180, 240), (180, 240)]
    assert (sheet.alpha.shape, sheet.half.shape) == ((360, 480), (180, 240))
    assert not sheet.color[0][:60].any()


def test_nothing_and_everything_are_no_subject() -> None:
    empty = np.zeros((60, 80), np.uint8)

    assert not found(empty)
    assert not found(empty + 255)
    assert found(disc_alpha())
