"""Trees and other growth: polygons that stand on a crest.

A whole stand of one kind is drawn at once: a forest has hundreds of trees, and numbers that are
worked out one by one would cost more than the drawing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes
from kit.engines.media.noise import line
from kit.engines.painting.poster.crests import Crest
from kit.engines.painting.poster.plane import Stage, disc, discs, fill, fill_all

_Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stand:
    """Plants of one kind, in pixels of the stage.

    Parameters
    ----------
    x, y, tall : ndarray of float64
        Their feet and their heights, each of shape (n,).
    """

    x: _Numbers
    y: _Numbers
    tall: _Numbers

    def part(self, chosen: NDArray[np.bool_]) -> Stand:
        """Return some of the plants."""
        return Stand(self.x[chosen], self.y[chosen], self.tall[chosen])


@dataclass(frozen=True, slots=True)
class Ground:
    """Where plants are drawn.

    Parameters
    ----------
    mask : ndarray of uint8
        What is covered, shape (rows, columns).
    top : float
        The row of the stage where it begins.
    snow : ndarray of uint8 or None
        In winter: what lies on large plants, of the same shape.
    """

    mask: Bytes
    top: float
    snow: Bytes | None = None


#: Draws a stand: random numbers, where to, the plants.
Plant: TypeAlias = Callable[[np.random.Generator, Ground, Stand], None]

#: Outline of a slender tree: from the foot up, and how wide it is there.
_UP = np.linspace(0.0, 1.0, 12)
_FLAME = np.sin(np.pi * _UP**0.62) ** 0.8
_SIDES = np.array([1.0, -1.0])[:, None]
_FEW_LEAVES, _LEAVES = 7, 15  # small balls around a crown
_LADEN = 75  # pixels: on firs as tall as this, snow lies on each bough


def conifers(rng: np.random.Generator, ground: Ground, stand: Stand) -> None:
    """Draw firs: tiers of boughs that hang outward, no two trees alike."""
    # An even number, so that more of them are alike enough to be drawn together.
    tiers = np.clip(2 * np.rint(stand.tall / 10), 4, 14).astype(int)
    for count in np.unique(tiers).tolist():
        part = stand.part(tiers == count)
        outlines = _firs(rng, part, count)
        fill_all(ground.mask, outlines, top=ground.top)
        if ground.snow is not None:
            laden = outlines[part.tall >= _LADEN]
            fill_all(ground.snow, _wedges(laden, count), top=ground.top, convex=True)


def _wedges(firs: _Numbers, tiers: int) -> _Numbers:
    """Return the snow on the boughs of firs, each a wedge, shape (n, 3, 2)."""
    end = 2 * tiers
    wedges = np.empty((2, len(firs), tiers, 3, 2))
    high, tip, low = (wedges[..., corner, :] for corner in range(3))
    high[0], tip[0] = firs[:, :end:2], firs[:, 1:end:2]
    high[1, :, 0], high[1, :, 1:] = firs[:, 0], firs[:, -2 : end + 3 : -2]
    tip[1] = firs[:, : end + 2 : -2]
    # It hangs down from the middle of the bough, toward the trunk.
    low[:] = 0.62 * high + 0.38 * tip
    low[..., 0] += 0.08 * (firs[:, :1, 0] - low[..., 0])
    low[..., 1] += 0.42 * (tip[..., 1] - high[..., 1])
    return wedges.reshape(-1, 3, 2)


def broadleaves(rng: np.random.Generator, ground: Ground, stand: Stand) -> None:
    """Draw round trees: a few overlapping balls of leaves on short trunks."""
    x, y, tall = stand.x[:, None], stand.y[:, None], stand.tall[:, None]
    angles = np.linspace(0.0, 2 * np.pi, _LEAVES, endpoint=False) + rng.random(x.shape)
    far = tall * rng.uniform(0.20, 0.26, angles.shape)
    # Balls: the crown, and around it the leaves, small and flatter below.
    balls = np.empty((len(x), 1 + _LEAVES, 3))
    balls[:, :1, 0], balls[:, :1, 1], balls[:, :1, 2] = x, y - tall * 0.62, tall * 0.25
    balls[:, 1:, 0] = x + 1.18 * far * np.cos(angles)
    balls[:, 1:, 1] = y - tall * 0.62 - 0.92 * far * np.sin(angles)
    balls[:, 1:, 2] = tall * rng.uniform(0.075, 0.135, angles.shape)
    few = np.r_[0, 1 : 1 + _LEAVES : _LEAVES // _FEW_LEAVES]
    small = stand.tall < 24
    fill_all(ground.mask, _trunks(stand), top=ground.top, convex=True)
    discs(ground.mask, balls[small][:, few].reshape(-1, 3), top=ground.top)
    discs(ground.mask, balls[~small].reshape(-1, 3), top=ground.top)
    if ground.snow is not None:
        leaves = balls[~small, 1:]
        upper = np.sin(angles[~small]) > rng.uniform(-0.3, 0.5, leaves.shape[:2])
        caps = leaves[upper] * (1.0, 1.0, 0.8)
        caps[:, 1] -= 0.45 * caps[:, 2]
        discs(ground.snow, caps, top=ground.top)


def _trunks(stand: Stand) -> _Numbers:
    """Return the outlines of short trunks, shape (n, 4, 2)."""
    half = np.maximum(0.6, stand.tall * 0.035)
    left, right, foot, middle = (
        stand.x - half,
        stand.x + half,
        stand.y + 2,
        stand.y - stand.tall / 2,
    )
    corners = [left, foot, left, middle, right, middle, right, foot]
    return np.stack(corners, axis=1).reshape(-1, 4, 2)


def poplars(rng: np.random.Generator, ground: Ground, stand: Stand) -> None:
    """Draw slender trees, like flames: cypresses or poplars."""
    count, rows = len(stand.x), len(_FLAME)
    x, tall = stand.x[:, None], stand.tall[:, None]
    width = tall * rng.uniform(0.075, 0.105, (count, 1)) * _FLAME
    rough = rng.uniform(0.85, 1.15, (2, count, rows))
    outlines = np.empty((count, 2, rows, 2))
    outlines[:, 0, :, 0] = x + width * rough[0] + 0.4
    outlines[:, 1, :, 0] = (x - width * rough[1] - 0.4)[:, ::-1]
    outlines[:, 0, :, 1] = stand.y[:, None] + 2.0 - tall * _UP
    outlines[:, 1, :, 1] = outlines[:, 0, ::-1, 1]
    fill_all(ground.mask, outlines.reshape(count, 2 * rows, 2), top=ground.top)


def cacti(rng: np.random.Generator, ground: Ground, stand: Stand) -> None:
    """Draw saguaros: columns with arms that bend upward."""
    mask, top = ground.mask, ground.top
    for x, y, tall in zip(stand.x.tolist(), stand.y.tolist(), stand.tall.tolist(), strict=True):
        thick = tall * 0.055
        _limb(mask, top, [(x, y + 4), (x, y - tall)], thick)
        for side in rng.permutation([-1.0, 1.0])[: int(rng.integers(1, 3))]:
            start, reach = y - tall * rng.uniform(0.32, 0.52), tall * rng.uniform(0.15, 0.2)
            arm = x + side * reach
            end = start - tall * rng.uniform(0.2, 0.34)
            bend = [(x, start), (arm - side * thick, start), (arm, start - thick * 1.2)]
            _limb(mask, top, [*bend, (arm, end)], thick * 0.78)


PLANTS: dict[str, Plant] = {
    "conifer": conifers,
    "broadleaf": broadleaves,
    "poplar": poplars,
    "cactus": cacti,
}


def grow(
    rng: np.random.Generator,
    ground: Ground,
    stage: Stage,
    crest: Crest,
    *,
    kind: str,
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
    # As far apart as the thinnest tree is wide: groves and sizes change slowly.
    at = np.arange(0.0, stage.columns + tall, max(1.0, tall * 0.1))
    groves = line(rng, at, tall * 9.0, octaves=3) + 2.2 * density - 1.0
    sizes = line(rng, at, tall * 4.0, octaves=2)
    # Trees stand in clumps: many short steps, a few long ones.
    shortest = tall * 0.09 / min(1.0, 0.35 + density)
    most = int(stage.columns / shortest) + 2
    steps = shortest * (1.0 + 0.42 / 0.09 * rng.random(most) ** 2.2)
    x = rng.uniform(0.0, tall) + np.cumsum(steps) - steps[0]
    x = x[x < stage.columns]
    if density < 1.0:
        x = x[np.interp(x, at, groves) > 0.0]
    share = 0.62 + 0.30 * np.interp(x, at, sizes) + rng.uniform(-0.3, 0.3, len(x))
    feet = crest.y[x.astype(int)].astype(np.float64) + tall * 0.05
    PLANTS[kind](rng, ground, Stand(x, feet, tall * np.clip(share, 0.22, 1.25)))


def frame_trees(
    rng: np.random.Generator,
    ground: Ground,
    stage: Stage,
    crest: Crest,
    *,
    kind: str,
    tall: float,
) -> None:
    """Set large trees at both sides of the frame, so that the eye goes between them."""
    strong = int(rng.integers(2))
    for side in (0, 1):
        count, reach, scale = (5, 0.24, 1.0) if side == strong else (3, 0.13, 0.66)
        shares = np.sort(rng.uniform(-0.03, reach, count))
        x = stage.margin_x + stage.width * (shares if side == 0 else 1 - shares)
        sizes = tall * scale * (1.0 - 0.62 * np.arange(count) / count)
        sizes *= rng.uniform(0.82, 1.1, count)
        columns = np.clip(x, 0, stage.columns - 1).astype(int)
        PLANTS[kind](rng, ground, Stand(x, crest.y[columns] + 0.06 * sizes, sizes))


def _firs(rng: np.random.Generator, stand: Stand, tiers: int) -> _Numbers:
    """Return the outlines of firs with as many tiers, shape (n, points, 2)."""
    count, end = len(stand.x), 2 * tiers
    x, y, tall = stand.x[:, None], stand.y[:, None], stand.tall[:, None]
    step = np.arange(1, tiers + 1) / tiers
    dice = rng.random((3, count, 2, tiers))
    middle = x + tall * rng.uniform(-0.015, 0.015, (count, 1))
    width = tall * rng.uniform(0.15, 0.215, (count, 1)) * (0.14 + 0.86 * step**0.9)
    out = (0.74 + 0.38 * dice[0]) * width[:, None] * _SIDES
    inner = out * (0.36 + 0.20 * dice[1])
    head = 0.93 * (step - 0.5 / tiers)
    hung = 1.0 - head - (0.30 + 0.32 * dice[2]) / tiers
    trunk = np.maximum(0.5, tall * 0.012)
    # From the crown down one side, across the trunk, and up the other: each tier goes out along a
    # bough and back in.
    outlines = np.empty((count, 4 * tiers + 3, 2))
    across, down = outlines[..., 0], outlines[..., 1]
    across[:, :1], down[:, :1] = middle, y - tall
    rims = (
        (slice(1, end, 2), slice(2, end + 1, 2)),
        (slice(None, end + 2, -2), slice(-2, end + 2, -2)),
    )
    for side, (tips, inside) in enumerate(rims):
        across[:, tips], across[:, inside] = middle + out[:, side], middle + inner[:, side]
        down[:, tips] = y - tall * hung[:, side]
        down[:, inside] = y - tall * (1.0 - head - 0.16 / tiers)
    across[:, end + 1 : end + 2], across[:, end + 2 : end + 3] = x + trunk, x - trunk
    down[:, end + 1 : end + 3] = y + 2.0
    return outlines


def _limb(mask: Bytes, top: float, points: list[tuple[float, float]], radius: float) -> None:
    for (x0, y0), (x1, y1) in pairwise(points):
        along = np.array([x1 - x0, y1 - y0])
        across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-6) * radius
        a, b = np.array([x0, y0]), np.array([x1, y1])
        fill(mask, [a + across, b + across, b - across, a - across], top=top)
        disc(mask, x1, y1, radius, top=top)
