"""Weather: what falls or flies between the camera and the land."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.media.color import Floats
from kit.engines.painting.falling import fallen, kind_of
from kit.engines.painting.looks import Look
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import Brief


def draw_weather(
    planes: Floats, brief: Brief, look: Look, horizon: float, rng: np.random.Generator
) -> None:
    """Draw what falls or flies in a brief, in place; `horizon` is its row."""
    _, height, width = planes.shape
    kind = kind_of(brief)
    if kind == "fireflies" or (kind and brief.falling):
        cover = fallen(kind, rng, (width, height)).astype(np.float32) * np.float32(1 / 255)
        # Drops bend light of all directions: hardly more than a hint of a color is left.
        lightness, chroma, hue = look.shade
        bright = light((lightness, 0.25 * chroma, hue), 0.45 + 0.75 * look.shade_power)
        if kind == "fireflies":
            planes += light((0.90, 0.17, 105), 2.4) * (cover * cover)
        else:
            planes += (bright - planes) * (0.8 * cover)
    if "birds" in brief.things:
        _draw_birds(planes, horizon, rng)


def _draw_birds(planes: Floats, horizon: float, rng: np.random.Generator) -> None:
    """Draw a flock far away, each a pair of bent wings."""
    _, height, width = planes.shape
    layer = np.zeros((height, width), np.uint8)
    middle = np.array([rng.uniform(0.25, 0.75) * width, rng.uniform(0.35, 0.65) * horizon])
    for _ in range(int(rng.integers(7, 14))):
        spot = middle + width * np.array([0.09, 0.045]) * rng.standard_normal(2)
        lift = rng.uniform(0.25, 0.6)
        wing = [(-1, -0.6 * lift), (-0.45, -lift), (0, 0), (0.45, -lift), (1, -0.6 * lift)]
        points = spot + width * rng.uniform(0.006, 0.012) * np.array(wing)
        fixed = np.round(points * 8).astype(np.int32)
        cv2.polylines(layer, [fixed], False, 255, max(1, width // 600), cv2.LINE_AA, 3)
    planes *= 1.0 - np.float32(0.85 / 255) * layer
