import cv2
import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.film.animate.layers import Layers, separated, sheet_of
from tests.engines.video.showing import with_disc


def disc_alpha(width: int = 480, height: int = 360) -> np.ndarray:
    alpha = np.zeros((height, width), np.uint8)
    cv2.circle(alpha, (width // 2, height // 2), height // 4, 255, -1, cv2.LINE_AA)
    return alpha


@pytest.fixture(scope="module")
def parted() -> Layers:
    """Return the disc and the wall behind it."""
    return separated(with_disc(), disc_alpha(), 3, Progress())


def test_the_background_is_made_up_from_what_surrounds_the_subject(parted: Layers) -> None:
    pixels = with_disc()

    background = parted.background.astype(int)

    inside = background[disc_alpha() > 128]
    assert np.abs(inside.mean(axis=0) - (122, 130, 128)).max() < 14
    assert (inside[:, 0] - inside[:, 1]).max() < 40
    far = np.hypot(*np.mgrid[-180:180, -240:240]) > 130
    assert np.array_equal(background[far], pixels[far])


def test_behind_a_subject_the_texture_goes_on() -> None:
    rows = np.random.default_rng(5).integers(60, 200, 45).repeat(4).astype(np.uint8)
    wall = np.broadcast_to(rows[:, None, None], (180, 240, 3))
    alpha = disc_alpha(240, 180)
    pixels = np.where(alpha[..., None] > 128, np.uint8([230, 40, 30]), wall)

    behind = separated(pixels, alpha, 3, Progress()).background[60:120, 90:150].astype(float)

    # As rough as the wall itself; a blur would leave next to nothing of it.
    assert behind[..., 1].std(axis=0).mean() > 0.5 * wall[60:120, 0, 1].std()
    assert np.abs(behind[..., 0] - behind[..., 1]).max() < 12


def test_the_same_seed_makes_up_the_same_background() -> None:
    pixels, alpha = with_disc(120, 90), disc_alpha(120, 90)
    one, other = (separated(pixels, alpha, 3, Progress()).background for _ in range(2))

    assert np.array_equal(one, other)


def test_making_up_a_background_can_be_canceled() -> None:
    progress = Progress()
    progress.cancel()

    with pytest.raises(CanceledError):
        separated(with_disc(), disc_alpha(), 3, progress)


def test_a_subject_keeps_its_own_colors_to_its_edge(parted: Layers) -> None:
    rim = (parted.alpha > 20) & (parted.alpha < 235)

    red = parted.subject[rim].astype(int)
    assert (red[:, 0] - red[:, 1]).mean() > 120


def test_a_sheet_holds_planes_of_full_and_half_size(parted: Layers) -> None:
    sheet = sheet_of(parted, np.random.default_rng(1))

    assert [plane.shape for plane in sheet.color] == [(360, 480), (180, 240), (180, 240)]
    assert (sheet.alpha.shape, sheet.half.shape) == ((360, 480), (180, 240))
    assert not sheet.color[0][:60].any()


def together(parts: Layers) -> np.ndarray:
    """Return a subject over its background, where it has always been."""
    cover = parts.alpha[..., None] / 255
    return np.asarray(parts.subject * cover + parts.background * (1 - cover))


def test_nothing_changes_outside_of_a_narrow_rim_around_the_subject(parted: Layers) -> None:
    near = cv2.dilate((disc_alpha() > 0).astype(np.uint8), np.ones((15, 15))) > 0

    assert np.array_equal(parted.background[~near], with_disc()[~near])


def test_a_subject_that_has_not_moved_gives_the_picture_again(parted: Layers) -> None:
    off = np.abs(together(parted) - with_disc()).max(axis=2)

    assert off[disc_alpha() == 255].max() == 0
    assert off.max() < 40
    assert off.mean() < 0.2


def test_a_subject_that_has_moved_leaves_no_second_edge(parted: Layers) -> None:
    behind = parted.background.astype(int)

    # What is left of the disc's red along its outline, in the background.
    rim = cv2.morphologyEx(disc_alpha(), cv2.MORPH_GRADIENT, np.ones((9, 9))) > 0
    assert (behind[..., 0] - behind[..., 1])[rim].max() < 25


def test_a_rim_that_the_cutout_missed_moves_with_the_subject() -> None:
    pixels, alpha = with_disc(), disc_alpha()
    cv2.circle(pixels, (240, 180), 96, (250, 250, 250), 6, cv2.LINE_AA)
    away = np.hypot(*np.mgrid[-180:180, -240:240])
    rim = (away > 94) & (away < 98)

    parts = separated(pixels, alpha, 3, Progress())

    assert parts.alpha[rim].mean() > 220
    assert parts.background[rim].mean() < 160
    assert np.abs(together(parts) - pixels)[rim].mean() < 6
