import cv2
import numpy as np
import pytest

from kit.engines.editing.title.discs import found
from kit.engines.editing.title.inks import LIGHT, contrast_on, luminance, tints_of
from kit.engines.editing.title.scrims import Box, Need, scrimmed

SUN = (230, 70, 22)  # column, row, radius


def evening() -> np.ndarray:
    sky = np.zeros((180, 320, 3), np.uint8)
    sky[:] = (150, 80, 90)
    cv2.circle(sky, SUN[:2], SUN[2], (255, 244, 215), -1, cv2.LINE_AA)
    return sky


def under(box: Box) -> tuple[np.ndarray, float]:
    pixels = evening()
    left, top, right, bottom = box
    need = Need(LIGHT, tints_of(pixels, pixels[top:bottom, left:right]), 1.0, 0.3, sparing=True)
    return scrimmed(pixels, box, need)


def disc(pixels: np.ndarray) -> np.ndarray:
    """Return the luminance of pixels well inside of the sun."""
    rows, columns = np.indices(pixels.shape[:2])
    inside = (columns - SUN[0]) ** 2 + (rows - SUN[1]) ** 2 < (SUN[2] - 4) ** 2
    return luminance(pixels[inside].astype(np.float32))


@pytest.mark.parametrize(
    "box", [(20, 20, 205, 130), (20, 20, 300, 44), (20, 95, 300, 170)], ids=["left", "up", "down"]
)
def test_a_sun_beside_a_text_stays_whole_and_bright(box: Box) -> None:
    out, _ = under(box)

    light = disc(out)
    assert light.min() > 0.8
    assert light.max() - light.min() < 0.05


@pytest.mark.parametrize("box", [(20, 20, 230, 130), (20, 20, 300, 70), (20, 20, 300, 150)])
def test_a_sun_behind_a_text_is_lowered_as_a_whole(box: Box) -> None:
    out, ground = under(box)

    light = disc(out)
    assert light.max() - light.min() < 0.06
    assert contrast_on((255, 255, 255), ground) >= 4.5


def test_a_sun_behind_a_text_takes_the_color_of_its_sky() -> None:
    out, _ = under((20, 20, 300, 150))

    red, green, blue = (int(value) for value in out[SUN[1], SUN[0]])
    assert red > green + 25
    assert red > blue + 25


def test_a_bright_slope_or_horizon_is_no_disc() -> None:
    shining = np.zeros((180, 320), np.float32)
    shining[100:110] = 1.0
    cv2.fillConvexPoly(shining, np.array([[40, 30], [50, 40], [30, 40]]), 1.0)

    discs = found(shining, (0, 0, 320, 180), (180, 320))

    assert not discs.behind.any()
    assert not discs.beside.any()
