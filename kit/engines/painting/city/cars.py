"""Cars: seen from behind with red lights, or coming with white ones."""

from __future__ import annotations

import numpy as np

from kit.engines.media.color import Oklch
from kit.engines.painting.city.stencil import Points, Stencil, curve, ellipse
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

TALL, WIDE = 1.75, 2.5
_PAINTS: tuple[Oklch, ...] = (
    (0.30, 0.01, 260), (0.88, 0.005, 90), (0.62, 0.01, 250), (0.45, 0.15, 27), (0.38, 0.09, 258),
    (0.80, 0.15, 88), (0.28, 0.03, 160), (0.50, 0.02, 60),
)  # fmt: skip
_TAXI = 5


def car(rng: np.random.Generator, stencil: Stencil, *, coming: bool, neon: float) -> None:
    """Draw a car on a stencil of `WIDE` by `TALL` meters.

    Parameters
    ----------
    neon : float
        The hour's strength of lights, by which its own are divided: they shine at any hour.
    """
    number = int(rng.integers(len(_PAINTS)))
    paint = light(_PAINTS[number])
    boxy = float(rng.uniform(0.0, 1.0))
    roof = 1.36 + 0.16 * boxy
    ground = ellipse(0.0, 0.03, 1.05, 0.05)
    stencil.fill(ground, light((0.05, 0.0, 0)), cover=0.8)
    for side in (-1.0, 1.0):
        wheel = [(side * 0.86, 0.0), (side * 0.60, 0.0), (side * 0.60, 0.40), (side * 0.86, 0.40)]
        stencil.fill(wheel, light((0.12, 0.0, 0)))
    stencil.fill(
        _both([(0.80, 0.22), (0.93, 0.34), (0.94, 0.72), (0.84, 0.98), (0.5, 1.03)]), paint
    )
    top = 0.60 + 0.10 * boxy
    stencil.fill(_both([(0.84, 0.93), (0.74, 1.18), (top, roof - 0.04), (0.35, roof)]), paint * 0.9)
    pane = [(0.74, 0.99), (0.66, 1.18), (top - 0.07, roof - 0.10), (0.3, roof - 0.07)]
    stencil.fill(_both(pane), light((0.26, 0.02, 240)))
    stencil.fill(_both([(0.88, 0.24), (0.90, 0.40), (0.5, 0.44)]), paint * 0.45)
    stencil.fill([(-0.88, 0.80), (0.88, 0.80), (0.84, 0.90), (-0.84, 0.90)], paint * 1.25)
    _lights(stencil, coming=coming, neon=max(neon, 0.05))
    stencil.fill([(-0.24, 0.46), (0.24, 0.46), (0.24, 0.57), (-0.24, 0.57)], light((0.7, 0.0, 0)))
    if number == _TAXI:
        box = [(-0.22, roof), (0.22, roof), (0.18, roof + 0.13), (-0.18, roof + 0.13)]
        stencil.fill(box, light((0.9, 0.05, 90)))
        stencil.glow(box, light((0.92, 0.10, 85)) * np.float32(1.2))


def _lights(stencil: Stencil, *, coming: bool, neon: float) -> None:
    for side in (-1.0, 1.0):
        if coming:
            lamp = ellipse(side * 0.70, 0.64, 0.13, 0.085)
            stencil.fill(lamp, light((0.92, 0.01, 90)))
            power = np.float32(2.0 + 7.0 * min(1.0, neon))
            stencil.glow(lamp, light((0.97, 0.03, 95)) * power)
            continue
        lamp = np.array([
            (side * 0.90, 0.62), (side * 0.62, 0.66), (side * 0.62, 0.78), (side * 0.89, 0.80),
        ])  # fmt: skip
        stencil.fill(lamp, light((0.42, 0.17, 27)))
        stencil.glow(lamp, light((0.60, 0.24, 27)) * np.float32(1.2 + 5.0 * min(1.0, neon)))


def _both(right: Points) -> Plane:
    """Return an outline from its right half, listed from the bottom up, mirrored to the left."""
    half = np.asarray(right, np.float64)
    left = half[::-1] * (-1.0, 1.0)
    return np.asarray(curve(np.concatenate([half, left]), steps=4))
