import cv2
import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.editing.picture.printing import printed


def landscape() -> np.ndarray:
    """A sky with dark corners over a green field, with a red ball and a little noise."""
    rows, columns = np.mgrid[-1:1:200j, -1:1:300j]
    shade = 1.0 - 0.28 * np.clip(rows**2 + columns**2 - 0.4, 0, 2)
    pixels = np.array([140, 190, 230]) * shade[..., None]
    pixels[120:] = np.array([70, 130, 60]) * shade[120:, :, None]
    pixels += np.random.default_rng(2).normal(0, 4, pixels.shape)
    pixels = pixels.clip(0, 255).astype(np.uint8)
    cv2.circle(pixels, (150, 70), 34, (220, 40, 30), -1, cv2.LINE_AA)
    return pixels


def inks(pixels: np.ndarray, least: int = 60) -> int:
    _, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    return int((counts > least).sum())


def test_a_print_has_few_inks_and_keeps_what_is_there() -> None:
    out = printed(landscape(), Progress())

    assert out.shape == (200, 300, 3)
    assert 3 <= inks(out) <= 8
    ball, sky, field = (out[at].astype(int) for at in ((70, 150), (60, 60), (180, 150)))
    assert ball[0] > ball[1] + 90
    assert sky[2] > sky[0] + 30
    assert field[1] > field[0] + 25


def test_dark_corners_of_a_sky_do_not_become_stripes() -> None:
    out = printed(landscape(), Progress())[:90]

    assert inks(out[:, :100]) == 1
    assert inks(out[:, 200:]) == 1


def test_specks_are_given_to_what_is_around_them() -> None:
    pixels = landscape()
    rng = np.random.default_rng(5)
    for x, y in rng.integers(8, 110, (12, 2)):
        pixels[y : y + 2, x : x + 2] = (170, 200, 220)

    assert inks(printed(pixels, Progress())[:40, :100], least=3) == 1


def test_outlines_are_smooth_and_crisp() -> None:
    pixels = np.full((240, 240, 3), (240, 220, 180), np.uint8)
    cv2.circle(pixels, (120, 120), 70, (40, 60, 140), -1, cv2.LINE_AA)

    out = printed(pixels, Progress())
    dark = out.max(axis=2)
    colors, counts = np.unique(out.reshape(-1, 3), axis=0, return_counts=True)
    pure = (out[120][:, None] == colors[counts > 200]).all(axis=2).any(axis=1)
    outline = cv2.findContours((dark < 190).astype(np.uint8), cv2.RETR_EXTERNAL, 2)[0][0]

    assert (~pure).sum() <= 12
    radii = np.linalg.norm(outline[:, 0] - 120, axis=1)
    assert np.ptp(radii) < 4
    assert abs(radii.mean() - 70) < 3


def test_a_fine_dark_line_is_drawn() -> None:
    pixels = np.full((200, 300, 3), (230, 200, 170), np.uint8)
    cv2.line(pixels, (40, 100), (260, 104), (60, 40, 40), 3, cv2.LINE_AA)

    out = printed(pixels, Progress())

    assert (out.max(axis=2).min(axis=0)[60:240] < 110).mean() > 0.9


@pytest.mark.parametrize("shape", [(9, 70), (64, 8), (40, 40)])
def test_plain_and_tiny_pictures_are_printed_too(shape: tuple[int, int]) -> None:
    plain = np.full((*shape, 3), (90, 140, 200), np.uint8)

    out = printed(plain, Progress())

    assert out.shape == plain.shape
    assert inks(out, least=0) == 1


def test_the_same_picture_gives_the_same_print() -> None:
    assert np.array_equal(printed(landscape(), Progress()), printed(landscape(), Progress()))


def test_a_canceled_print_stops() -> None:
    stopped = Progress(lambda done: stopped.cancel() if done > 0.4 else None)

    with pytest.raises(CanceledError):
        printed(landscape(), stopped)
