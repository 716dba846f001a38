import numpy as np
import pytest

from kit.engines.painting.tone import Film, blended, bloom, developed, gradient, light, softened

_PLAIN = Film(vignette=0.0, grain=0.0)


def _gray(level: float, size: int = 64) -> np.ndarray:
    return np.full((3, size, size), level, np.float32)


def test_more_light_is_never_darker_and_black_stays_black() -> None:
    levels = [
        developed(_gray(level), np.random.default_rng(1), _PLAIN).mean()
        for level in (0.0, 0.02, 0.1, 0.4, 1.0, 4.0, 16.0)
    ]

    assert levels == sorted(levels)
    assert levels[0] < 1.0
    assert levels[-1] > 250.0


def test_a_slow_gradient_has_no_bands() -> None:
    ramp = np.linspace(0.02, 0.03, 512, dtype=np.float32)
    picture = np.broadcast_to(ramp, (3, 64, 512)).copy()

    rows = developed(picture, np.random.default_rng(2), _PLAIN)[..., 1].astype(float)

    steps = np.abs(np.diff(np.convolve(rows.mean(axis=0), np.ones(16) / 16, "valid")))
    assert len(np.unique(rows)) > 2
    assert steps.max() < 0.5


def test_the_vignette_darkens_corners_and_leaves_the_middle() -> None:
    film = Film(vignette=0.5, grain=0.0)

    pixels = developed(_gray(0.3), np.random.default_rng(1), film)

    assert pixels[0, 0].mean() < 0.8 * pixels[32, 32].mean()


def test_saturation_moves_colors_from_gray_and_leaves_gray() -> None:
    red = _gray(0.2)
    red[0] = 0.5

    def spread(saturation: float) -> float:
        film = Film(vignette=0.0, grain=0.0, saturation=saturation)
        pixels = developed(red.copy(), np.random.default_rng(1), film).astype(float)
        return float((pixels[..., 0] - pixels[..., 2]).mean())

    assert spread(0.5) < spread(1.0) < spread(1.3)


def test_a_gradient_passes_through_its_ends_whatever_the_shape() -> None:
    stops = [(0.0, (0.2, 0.1, 30.0)), (1.0, (0.9, 0.05, 200.0))]

    found = gradient(stops, np.array([[-1.0, 0.0], [1.0, 2.0]]))

    assert found.shape == (3, 2, 2)
    assert found[:, 0, 0] == pytest.approx(light((0.2, 0.1, 30.0)).ravel(), abs=0.01)
    assert found[:, 1, 1] == pytest.approx(light((0.9, 0.05, 200.0)).ravel(), abs=0.02)


def test_a_bright_point_glows_over_its_surroundings() -> None:
    picture = _gray(0.0, 96)
    picture[:, 46:50, 46:50] = 5.0

    bloom(picture, threshold=0.5, strength=0.5)

    assert picture[:, 48, 56].min() > 0.0
    assert picture[0, 48, 54] > picture[0, 48, 70]


def test_what_is_darker_than_the_threshold_does_not_glow() -> None:
    picture = _gray(0.3, 48)

    bloom(picture, threshold=0.5, strength=1.0)

    assert picture == pytest.approx(0.3)


@pytest.mark.parametrize("sigma", [0.5, 3.0, 20.0])
def test_softening_keeps_the_amount_of_light(sigma: float) -> None:
    plane = np.random.default_rng(3).random((90, 120), np.float32)

    soft = softened(plane, sigma)

    assert soft.shape == plane.shape
    assert soft.mean() == pytest.approx(plane.mean(), rel=0.03)
    assert soft.std() < plane.std()


def test_a_blend_goes_from_one_to_the_other() -> None:
    share = np.array([[0.0, 0.5, 1.0]], np.float32)

    mixed = blended(light((0.0, 0.0, 0.0)), light((1.0, 0.0, 0.0)), share)

    assert mixed[:, 0, 0] == pytest.approx(0.0, abs=1e-4)
    assert mixed[:, 0, 2] == pytest.approx(1.0, abs=1e-3)
