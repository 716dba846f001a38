import numpy as np
import pytest

from kit.engines.editing.title.inks import (
    LEAST,
    Tints,
    accent_for,
    contrast_on,
    luminance,
    tints_of,
)


def tints(*color: int) -> Tints:
    pixels = np.full((40, 40, 3), color, np.uint8)
    return tints_of(pixels, pixels)


def test_tints_take_the_hue_of_the_picture() -> None:
    blue, red, gray = tints(30, 60, 160), tints(150, 40, 40), tints(128, 128, 128)

    assert blue.dark.argmax() == 2
    assert red.dark.argmax() == 0
    assert np.ptp(gray.dark) < 0.08
    assert blue.light.min() > 0.85


def test_a_tint_is_no_stronger_than_what_is_behind_the_text() -> None:
    picture = np.full((40, 40, 3), 180, np.uint8)
    picture[20:] = (120, 10, 10)

    assert np.ptp(tints_of(picture, picture[:20]).dark) < np.ptp(tints_of(picture, picture).dark)


@pytest.mark.parametrize("color", [(10, 20, 90), (90, 10, 10), (0, 0, 0), (255, 255, 255)])
def test_dark_letters_are_dark_in_any_picture(color: tuple[int, int, int]) -> None:
    assert contrast_on(tints(*color).ink, 0.5) > LEAST


@pytest.mark.parametrize(
    ("ground", "strongest"), [((190, 220, 245), 0), ((240, 215, 170), 2), ((225, 225, 225), 0)]
)
def test_an_accent_on_a_light_picture_is_a_deep_hue_apart_from_it(
    ground: tuple[int, int, int], strongest: int
) -> None:
    accent = accent_for(ground)

    assert int(np.argmax(accent)) == strongest
    assert max(accent) - min(accent) > 120
    assert float(luminance(np.array(accent, np.float32))) < 0.18
