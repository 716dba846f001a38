"""Street furniture that grows and glows: trees along the curb, and lamps."""

from __future__ import annotations

import numpy as np

from kit.engines.media.color import Oklch
from kit.engines.painting.city.stencil import Stencil
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

TREE_TALL, TREE_WIDE = 7.4, 5.6
LAMP_TALL, LAMP_WIDE = 7.6, 4.4
_LEAVES: dict[str, tuple[Oklch, Oklch]] = {
    "spring": ((0.80, 0.09, 355), (0.62, 0.10, 350)),
    "summer": ((0.62, 0.13, 132), (0.38, 0.09, 142)),
    "autumn": ((0.74, 0.15, 68), (0.50, 0.14, 40)),
}


def tree(rng: np.random.Generator, stencil: Stencil, season: str) -> None:
    """Draw a tree on a stencil of `TREE_WIDE` by `TREE_TALL` meters; bare in winter."""
    bark = light((0.26, 0.025, 55))
    top = float(rng.uniform(5.2, 6.2))
    stencil.trace([(0.0, 0.0), (0.03, 1.4), (0.0, 2.6)], 0.24, bark)
    tips = _branches(rng, stencil, top)
    if season not in _LEAVES:
        return
    bright, deep = (light(color) for color in _LEAVES[season])
    count = round(min(900.0, max(110.0, 17.0 * stencil.pixels)))
    pick = tips[rng.integers(0, len(tips), count)]
    at = pick + rng.normal(0.0, (0.42, 0.36), (count, 2))
    # From the shaded inside to the sunlit top, so that lit leaves lie in front.
    order = np.argsort(at[:, 1] + rng.normal(0.0, 0.5, count))
    at = at[order]
    share = np.clip((at[:, 1] - 2.6) / (top - 1.8) + rng.normal(0.0, 0.22, count), 0.0, 1.0)
    dark = 0.75 * deep[:, 0, 0]
    colors = dark + (bright[:, 0, 0] - dark) * share[:, None]
    sizes = rng.uniform(2.1, 5.0, count) / np.sqrt(count)
    stencil.fill_all(_leaves(at, sizes, rng.uniform(0.0, np.pi, count)), colors)


def lamp(stencil: Stencil, side: int, *, on: bool) -> None:
    """Draw a lamp post whose arm reaches over the road, on `LAMP_WIDE` by `LAMP_TALL` meters."""
    iron = light((0.28, 0.015, 250))
    reach = -side * 1.7
    stencil.trace([(0.0, 0.0), (0.0, 0.9)], 0.20, iron)
    stencil.trace([(0.0, 0.8), (0.0, 6.6), (0.12 * reach, 7.05), (0.5 * reach, 7.3)], 0.10, iron)
    stencil.trace([(0.5 * reach, 7.3), (reach, 7.35)], 0.09, iron)
    head = [(0.72 * reach, 7.26), (1.1 * reach, 7.26), (1.06 * reach, 7.42), (0.76 * reach, 7.42)]
    stencil.fill(head, iron)
    if on:
        bulb = [
            (0.74 * reach, 7.16),
            (1.08 * reach, 7.16),
            (1.08 * reach, 7.27),
            (0.74 * reach, 7.27),
        ]
        stencil.fill(bulb, iron)
        stencil.glow(bulb, light((0.93, 0.08, 78)) * np.float32(7.0))


def _branches(rng: np.random.Generator, stencil: Stencil, top: float) -> Plane:
    """Draw boughs and twigs; return their ends, where leaves grow."""
    bark = light((0.24, 0.025, 50))
    tips = []
    for share in np.linspace(-1.0, 1.0, 9):
        bend = share + float(rng.normal(0.0, 0.08))
        high = top - 1.5 * bend**2 - float(rng.uniform(0.0, 0.5))
        end = (1.9 * bend, high)
        middle = (0.62 * bend + 0.1, 2.4 + 0.52 * (high - 2.4))
        stencil.trace([(0.0, float(rng.uniform(1.9, 2.5))), middle, end], 0.085, bark)
        tips += [end, middle]
        for _ in range(3):
            off = rng.normal((0.15 * bend, 0.25), (0.5, 0.35))
            start = (middle[0] * 0.4 + end[0] * 0.6, middle[1] * 0.4 + end[1] * 0.6)
            twig = (start[0] + float(off[0]), start[1] + float(off[1]))
            stencil.trace([start, twig], 0.035, bark)
            tips.append(twig)
    return np.array(tips)


def _leaves(at: Plane, sizes: Plane, turns: Plane) -> Plane:
    """Return the outlines of leaves, shape (n, corners, 2)."""
    angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False) + turns[:, None]
    reach = sizes[:, None] * (0.85 + 0.15 * np.cos(2.0 * (angles - 2.0 * turns[:, None])))
    round_ = np.stack([1.2 * reach * np.cos(angles), 0.8 * reach * np.sin(angles)], axis=2)
    return np.asarray(at[:, None] + round_)
