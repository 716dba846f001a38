"""What words of mood, light and camera do to streets, skies, liquids and drawings of lines.

Mood and camera keep the seed of a picture, so that each is compared with itself.
"""

from functools import cache

import cv2
import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.families import paint
from kit.engines.prompt.brief import read

_PROMPTS = {
    "city": "city street at noon",
    "space": "nebula",
    "liquid": "silk",
    "flow": "brush stroke",
}
_SEEDS = range(3)
families = pytest.mark.parametrize("family", list(_PROMPTS))


@cache
def _painted(family: str, word: str, seed: int) -> np.ndarray:
    settings = {"aspect_ratio": "16:9", "size": 128, "family": family, "detail": "low"}
    brief = read(f"{word} {_PROMPTS[family]}".strip(), settings, seed)
    return paint(brief, Progress()).astype(np.float32)


def _measured(family: str, word: str, measure) -> np.ndarray:
    return np.array([measure(_painted(family, word, seed)) for seed in _SEEDS])


def _light(pixels: np.ndarray) -> float:
    return float(pixels.mean())


def _color(pixels: np.ndarray) -> float:
    return float((pixels.max(axis=2) - pixels.min(axis=2)).mean())


def _contrast(pixels: np.ndarray) -> float:
    gray = pixels.mean(axis=2)
    low, high = np.percentile(gray, (5, 95))
    return float((high - low) / max(_light(pixels), 12.0))


def _busy(pixels: np.ndarray) -> float:
    """Return the share of a picture's small parts in which anything happens."""
    gray = cv2.GaussianBlur(pixels.mean(axis=2), (0, 0), 0.8)
    parts = gray.reshape(9, 8, 16, 8).transpose(0, 2, 1, 3).reshape(144, 64)
    return float((np.ptp(parts, axis=1) > 22.0).mean())


def _fine(pixels: np.ndarray) -> float:
    """Return how much of what happens is small."""
    gray = pixels.mean(axis=2)
    soft = cv2.GaussianBlur(gray, (0, 0), 2.2)
    return float(np.abs(gray - soft).mean() / (gray.std() + 4.0))


@families
def test_gloom_is_darker_and_grayer(family: str) -> None:
    assert (_measured(family, "gloomy", _light) < 0.88 * _measured(family, "", _light)).all()
    assert (_measured(family, "gloomy", _color) < 0.70 * _measured(family, "", _color)).all()


@families
def test_what_threatens_is_darker_still(family: str) -> None:
    assert (_measured(family, "menacing", _light) < _measured(family, "gloomy", _light)).all()


@families
def test_pastel_is_light_and_of_little_contrast(family: str) -> None:
    pastel, plain = (_measured(family, word, _contrast) for word in ("pastel", ""))

    assert (_measured(family, "pastel", _light) > _measured(family, "", _light) - 6.0).all()
    assert _measured(family, "pastel", _light).mean() > 1.05 * _measured(family, "", _light).mean()
    assert (pastel < 0.9 * plain).all()


@families
def test_vivid_is_colorful_and_calm_is_not(family: str) -> None:
    vivid, plain, calm = (_measured(family, word, _color) for word in ("vivid", "", "calm"))

    assert (vivid > 1.2 * plain).all()
    assert (calm < 0.95 * plain).all()


@pytest.mark.parametrize("family", ["city", "liquid", "flow"])
def test_dramatic_light_leaves_the_corners_dark(family: str) -> None:
    def corners(pixels: np.ndarray) -> float:
        gray = pixels.mean(axis=2)
        ends = [gray[:11, :11], gray[:11, -11:], gray[-11:, :11], gray[-11:, -11:]]
        return float(np.mean(ends) / gray[16:-16, 32:-32].mean())

    assert _measured(family, "epic", corners).mean() < 0.85 * _measured(family, "", corners).mean()


@families
@pytest.mark.parametrize("word", ["minimalist", "negative space"])
def test_minimal_pictures_are_mostly_empty(family: str, word: str) -> None:
    few, plain = _measured(family, word, _busy), _measured(family, "", _busy)

    assert (few < 0.5 * plain).all()
    assert (few > 0.0).all()


@pytest.mark.parametrize("family", ["liquid", "flow"])
def test_what_is_near_is_coarse_and_what_is_far_is_fine(family: str) -> None:
    close, plain, wide = (_measured(family, word, _fine) for word in ("close-up", "", "wide"))

    assert (close < wide).all()
    assert close.mean() < 0.92 * plain.mean()
    assert wide.mean() > 1.02 * plain.mean()


@pytest.mark.parametrize(("word", "tone"), [("high key", 1.1), ("low key", 0.9)])
@families
def test_keys_of_light_are_heard(family: str, word: str, tone: float) -> None:
    lights = _measured(family, word, _light) / _measured(family, "", _light)

    assert (lights > tone).all() if tone > 1.0 else (lights < tone).all()


@families
def test_contrast_is_heard(family: str) -> None:
    hard, soft = (_measured(family, word, _contrast) for word in ("high contrast", "soft light"))

    assert (hard > 1.1 * soft).all()


@pytest.mark.parametrize("family", ["liquid", "flow"])
def test_from_a_low_angle_the_far_end_is_out_of_focus(family: str) -> None:
    def softer(pixels: np.ndarray) -> float:
        gray = pixels.mean(axis=2)
        edges = np.abs(np.diff(gray, axis=1))
        return float(edges[:10].mean() / edges[-24:].mean())

    assert (_measured(family, "low angle", softer) < 0.6 * _measured(family, "", softer)).all()
