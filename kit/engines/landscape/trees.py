"""Trees and other growth: polygons that stand on a crest."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from kit.engines.landscape.crests import Crest
from kit.engines.landscape.plane import Stage, disc, fill
from kit.engines.media.color import Bytes
from kit.engines.media.noise import line

#: Draws one plant: random numbers, mask, first row of the mask, foot (x, y), height.
Plant: TypeAlias = Callable[[np.random.Generator, Bytes, float, tuple[float, float], float], None]


def conifer(
    rng: np.random.Generator, mask: Bytes, top: float, foot: tuple[float, float], tall: float
) -> None:
    """Draw a fir: tiers of boughs that hang outward, no two alike."""
    x, y = foot
    tiers = max(4, min(15, int(tall / 5)))
    step = np.arange(1, tiers + 1) / tiers
    width = tall * rng.uniform(0.15, 0.215) * (0.14 + 0.86 * step**0.9)
    heads = y - tall * (1.0 - 0.93 * (step - 0.5 / tiers))
    lean = tall * rng.uniform(-0.015, 0.015)
    chance = rng.random((2, 3, tiers))
    trunk = max(0.5, tall * 0.012)
    # From the crown down one side, across the trunk, and up the other.
    outline = np.empty((4 * tiers + 3, 2))
    outline[0] = x + lean, y - tall
    outline[1 : 2 * tiers + 1] = _boughs(chance[0], x + lean, heads, width, tall / tiers)
    outline[2 * tiers + 1 : 2 * tiers + 3] = (x + trunk, y + 2.0), (x - trunk, y + 2.0)
    outline[:2:-1][: 2 * tiers] = _boughs(chance[1], x + lean, heads, -width, tall / tiers)
    fill(mask, outline, top=top)


def broadleaf(
    rng: np.random.Generator, mask: Bytes, top: float, foot: tuple[float, float], tall: float
) -> None:
    """Draw a round tree: a few overlapping balls of leaves on a short trunk."""
    x, y = foot
    trunk = max(0.6, tall * 0.035)
    fill(
        mask,
        [
            (x - trunk, y + 2),
            (x - trunk, y - tall / 2),
            (x + trunk, y - tall / 2),
            (x + trunk, y + 2),
        ],
        top=top,
    )
    disc(mask, x, y - tall * 0.62, tall * 0.25, top=top)
    # The leaves: small balls around the crown, flatter below.
    count = 7 if tall < 24 else 15
    for angle in np.linspace(0.0, 2 * np.pi, count, endpoint=False) + rng.uniform(0.0, 1.0):
        far = tall * rng.uniform(0.20, 0.26)
        rise = 0.62 + 0.92 * far / tall * np.sin(angle)
        radius = tall * rng.uniform(0.075, 0.135)
        disc(mask, x + 1.18 * far * np.cos(angle), y - tall * rise, radius, top=top)


def poplar(
    rng: np.random.Generator, mask: Bytes, top: float, foot: tuple[float, float], tall: float
) -> None:
    """Draw a slender tree, like a flame: cypress or poplar."""
    x, y = foot
    share = np.linspace(0.0, 1.0, 12)
    width = tall * rng.uniform(0.075, 0.105) * np.sin(np.pi * share**0.62) ** 0.8
    rough = rng.uniform(0.85, 1.15, (2, 12))
    ys = y + 2.0 - tall * share
    right = np.stack([x + width * rough[0] + 0.4, ys], axis=1)
    left = np.stack([x - width * rough[1] - 0.4, ys], axis=1)
    fill(mask, np.concatenate([right, left[::-1]]), top=top)


def cactus(
    rng: np.random.Generator, mask: Bytes, top: float, foot: tuple[float, float], tall: float
) -> None:
    """Draw a saguaro: a column with arms that bend upward."""
    x, y = foot
    thick = tall * 0.055
    _limb(mask, top, [(x, y + 4), (x, y - tall)], thick)
    for side in rng.permutation([-1.0, 1.0])[: int(rng.integers(1, 3))]:
        start, reach = y - tall * rng.uniform(0.32, 0.52), tall * rng.uniform(0.15, 0.2)
        arm = x + side * reach
        end = start - tall * rng.uniform(0.2, 0.34)
        bend = [(x, start), (arm - side * thick, start), (arm, start - thick * 1.2), (arm, end)]
        _limb(mask, top, bend, thick * 0.78)


PLANTS: dict[str, Plant] = {
    "conifer": conifer,
    "broadleaf": broadleaf,
    "poplar": poplar,
    "cactus": cactus,
}


def grow(
    rng: np.random.Generator,
    mask: Bytes,
    stage: Stage,
    crest: Crest,
    *,
    kind: str,
    top: float,
    tall: float,
    density: float,
) -> None:
    """Plant a crest: groves and clearings, large and small side by side.

    Parameters
    ----------
    tall : float
        Height of a large plant, in pixels.
    density : float
        1 for a closed forest, 0.3 for groves, less for single plants.
    """
    at = np.arange(stage.columns, dtype=np.float64)
    groves = line(rng, at, tall * 9.0, octaves=3) + 2.2 * density - 1.0
    sizes = line(rng, at, tall * 4.0, octaves=2)
    x = rng.uniform(0.0, tall)
    while x < stage.columns:
        column = int(x)
        if groves[column] > 0.0 or density >= 1.0:
            share = 0.62 + 0.30 * float(sizes[column]) + rng.uniform(-0.3, 0.3)
            size = tall * min(1.25, max(0.22, share))
            PLANTS[kind](rng, mask, top, (x, float(crest.y[column]) + tall * 0.05), size)
        # Trees stand in clumps: many short steps, a few long ones.
        x += tall * (0.09 + 0.42 * rng.random() ** 2.2) / min(1.0, 0.35 + density)


def frame_trees(
    rng: np.random.Generator,
    mask: Bytes,
    stage: Stage,
    crest: Crest,
    *,
    kind: str,
    top: float,
    tall: float,
) -> None:
    """Set large trees at both sides of the frame, so that the eye goes between them."""
    strong = int(rng.integers(2))
    for side in (0, 1):
        count, reach = (5, 0.24) if side == strong else (3, 0.13)
        shares = np.sort(rng.uniform(-0.03, reach, count))
        for number, share in enumerate(shares):
            column = stage.x(share if side == 0 else 1 - share)
            size = tall * (1.0 - 0.62 * number / count) * rng.uniform(0.82, 1.1)
            size *= 1.0 if side == strong else 0.66
            row = float(crest.y[int(np.clip(column, 0, stage.columns - 1))])
            PLANTS[kind](rng, mask, top, (column, row + 0.06 * size), float(size))


def _boughs(
    chance: np.ndarray, x: float, heads: np.ndarray, width: np.ndarray, tier: float
) -> np.ndarray:
    """Outline one side of a fir from the crown down: out along a bough, back in, and out again."""
    points = np.empty((2 * len(heads), 2))
    out = width * (0.74 + 0.38 * chance[0])
    points[0::2, 0] = x + out
    points[0::2, 1] = heads + tier * (0.30 + 0.32 * chance[1])
    points[1::2, 0] = x + out * (0.36 + 0.20 * chance[2])
    points[1::2, 1] = heads + tier * 0.16
    return points


def _limb(mask: Bytes, top: float, points: list[tuple[float, float]], radius: float) -> None:
    for (x0, y0), (x1, y1) in pairwise(points):
        along = np.array([x1 - x0, y1 - y0])
        across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-6) * radius
        a, b = np.array([x0, y0]), np.array([x1, y1])
        fill(mask, [a + across, b + across, b - across, a - across], top=top)
        disc(mask, x1, y1, radius, top=top)
