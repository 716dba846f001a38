"""How painters of streets, skies, liquids and lines keep to a scene at every size."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting import city, flow, liquid, space
from kit.engines.prompt.brief import Brief, read

PAINTERS: dict[str, Callable[[Brief, Progress], np.ndarray]] = {
    "city": city.paint,
    "space": space.paint,
    "liquid": liquid.paint,
    "flow": flow.paint,
}
families = pytest.mark.parametrize("family", PAINTERS)


def painted(
    family: str, prompt: str = "", *, seed: int = 1, size: int = 128, **values: str
) -> np.ndarray:
    settings = {"aspect_ratio": "1:1", "size": size, "family": family, **values}
    return PAINTERS[family](read(prompt, settings, seed), Progress())


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one.astype(float) - other.astype(float)).mean())


@families
@pytest.mark.parametrize("words", ["", "galaxy stroke rain", "planet wave", "contour night"])
def test_a_larger_picture_shows_the_same_scene(family: str, words: str) -> None:
    small = painted(family, words, seed=7, size=128)
    large = cv2.resize(painted(family, words, seed=7, size=256), (128, 128), interpolation=3)
    other = painted(family, words, seed=8, size=128)

    soft = [cv2.GaussianBlur(pixels, (0, 0), 4.0) for pixels in (small, large, other)]
    assert difference(soft[0], soft[1]) < 0.6 * difference(soft[0], soft[2])


@pytest.mark.parametrize("family", ["city", "space", "liquid"])
def test_low_detail_shows_the_same_scene_softer(family: str) -> None:
    def fine(pixels: np.ndarray) -> float:
        return float(np.abs(np.diff(pixels.astype(float), axis=1)).mean())

    low, high = (painted(family, seed=7, size=192, detail=detail) for detail in ("low", "high"))

    assert low.shape == high.shape
    assert fine(low) != fine(high)
    soft = [cv2.GaussianBlur(pixels, (0, 0), 5.0) for pixels in (low, high)]
    assert difference(*soft) < 14.0
