import cv2
import numpy as np
import pytest

from kit.engines.editing.title.inks import (
    DARK,
    LEAST,
    LIGHT,
    Tone,
    contrast_on,
    luminance,
    tints_of,
)
from kit.engines.editing.title.scrims import Box, Need, ground_of, scrimmed

BOX: Box = (40, 20, 200, 90)


def checkers() -> np.ndarray:
    rows, columns = np.mgrid[0:180, 0:320]
    return np.repeat(((rows // 15 + columns // 15) % 2 * 255).astype(np.uint8)[..., None], 3, 2)


def sunset() -> np.ndarray:
    down = np.linspace(0, 1, 180)[:, None, None]
    sky = np.array([120, 60, 130]) * (1 - down) + np.array([250, 150, 70]) * down
    sky = np.repeat(sky, 320, axis=1).astype(np.uint8)
    cv2.circle(sky, (120, 60), 24, (255, 248, 225), -1, cv2.LINE_AA)
    return sky


PICTURES = {
    "white": np.full((180, 320, 3), 255, np.uint8),
    "black": np.zeros((180, 320, 3), np.uint8),
    "yellow": np.full((180, 320, 3), (255, 255, 0), np.uint8),
    "blue": np.full((180, 320, 3), (0, 0, 255), np.uint8),
    "checkers": checkers(),
    "noise": np.random.default_rng(1).integers(0, 256, (180, 320, 3), np.uint8),
    "sunset": sunset(),
}


def shaded(pixels: np.ndarray, tone: Tone, **other: bool) -> tuple[np.ndarray, float]:
    left, top, right, bottom = BOX
    tints = tints_of(pixels, pixels[top:bottom, left:right])
    ink = float(luminance(np.array(tone.ink, np.float32)))
    return scrimmed(pixels, BOX, Need(tone, tints, ink, 0.0, **other))


@pytest.mark.parametrize("tone", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("sparing", [False, True])
@pytest.mark.parametrize("name", PICTURES)
def test_letters_stand_out_on_any_picture(name: str, tone: Tone, sparing: bool) -> None:
    out, ground = shaded(PICTURES[name], tone, sparing=sparing)

    assert contrast_on(tone.ink, ground) >= LEAST
    assert ground == ground_of(out, BOX, tone)
    left, top, right, bottom = BOX
    light = luminance(cv2.blur(out[top:bottom, left:right], (6, 6)).astype(np.float32))
    worst = np.percentile(light, 98 if tone.light else 2)
    assert contrast_on(tone.ink, float(worst)) >= LEAST


def test_what_is_dark_enough_is_left_as_it_is() -> None:
    night = np.full((180, 320, 3), (20, 26, 60), np.uint8)

    assert np.abs(shaded(night, LIGHT)[0].astype(int) - night).max() <= 2


def test_a_shade_fades_out_and_leaves_the_far_corner_alone() -> None:
    out, _ = shaded(PICTURES["sunset"], LIGHT)

    change = np.abs(out.astype(int) - PICTURES["sunset"]).max(axis=2)
    assert change[-1, -1] == 0
    assert change[55, 60] > 12
    assert np.abs(np.diff(change[150].astype(int))).max() <= 6


def test_a_sun_behind_the_text_takes_the_color_of_the_sky_and_is_no_gray_disc() -> None:
    out, _ = shaded(PICTURES["sunset"], LIGHT)

    sun, sky = out[60, 120].astype(int), out[60, 60].astype(int)
    assert np.ptp(sun) > 28
    assert sun.argmax() == sky.argmax()
    assert sun.sum() < 1.8 * sky.sum()


def test_a_sun_beside_the_text_keeps_shining_where_it_may() -> None:
    pixels = np.full((180, 320, 3), (120, 160, 200), np.uint8)
    cv2.circle(pixels, (240, 60), 18, (255, 248, 225), -1, cv2.LINE_AA)

    spared, dimmed = (shaded(pixels, LIGHT, sparing=kept)[0][60, 240] for kept in (True, False))

    assert spared.min() > 215
    assert dimmed.min() < spared.min() - 25
