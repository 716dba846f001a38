import numpy as np
import pytest

from kit.engines.media import color


def test_white_and_black_are_the_ends_of_lightness() -> None:
    assert color.paint((1.0, 0.0, 0.0)) == pytest.approx([1, 1, 1], abs=0.002)
    assert color.paint((0.0, 0.0, 0.0)) == pytest.approx([0, 0, 0], abs=0.002)


def test_oklab_there_and_back_is_the_same_color() -> None:
    encoded = np.random.default_rng(1).random((50, 3))

    back = color.encode(color.linear(color.lab_of(encoded)))

    assert back == pytest.approx(encoded, abs=1e-4)


@pytest.mark.parametrize("hue", range(0, 360, 30))
def test_a_color_too_strong_for_a_screen_keeps_its_lightness_and_hue(hue: int) -> None:
    lab = color.oklab((0.7, 0.4, hue))

    assert lab[0] == 0.7
    assert np.degrees(np.arctan2(lab[2], lab[1])) % 360 == pytest.approx(hue, abs=0.01)
    assert 0.05 < np.hypot(lab[1], lab[2]) < 0.4


def test_a_ramp_meets_its_stops_at_both_ends_and_rises_between() -> None:
    stops = [(0.0, (0.2, 0.05, 260.0)), (0.5, (0.5, 0.10, 300.0)), (1.0, (0.9, 0.05, 80.0))]

    shades = color.ramp(stops, np.linspace(0, 1, 101))

    assert shades[:, 0] == pytest.approx(color.paint(stops[0][1]), abs=0.01)
    assert shades[:, -1] == pytest.approx(color.paint(stops[2][1]), abs=0.01)
    assert (np.diff(color.lab_of(shades.T)[:, 0]) > 0).all()


def test_dither_keeps_the_mean_that_8_bits_cannot_hold() -> None:
    flat = np.full((3, 256, 256), 100.4 / 255, np.float32)

    pixels = color.dithered(flat, np.random.default_rng(2))

    assert len(np.unique(pixels)) > 1
    assert pixels.mean() == pytest.approx(100.4, abs=0.05)


def test_mixing_half_way_lies_between() -> None:
    lightness, chroma, _ = color.mix((0.4, 0.08, 20.0), (0.6, 0.08, 20.0), 0.5)

    assert (lightness, chroma) == pytest.approx((0.5, 0.08))
