"""Roofs: what a camera above the buildings sees of them from above."""

from __future__ import annotations

import numpy as np

from kit.engines.media.noise import smooth_step
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.view import Block, View
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

_PLOT = 17.0  # meters between the yards of a row of houses that stand behind one another


def cap(view: View, block: Block, hour: Hour, sheets: tuple[Plane, Plane, Plane]) -> None:
    """Paint the flat roofs of a block and of what stands behind it, if the camera is above them.

    Parameters
    ----------
    sheets : tuple
        The picture, how much of it buildings cover, and the color that distance fades to.
    """
    over = view.eye - block.tall
    if over <= 0.5:
        return
    picture, cover, haze = sheets
    first = int(np.clip(view.row(block.tall, block.far) - 1.0, 0, view.height))
    last = int(np.clip(view.row(block.tall, block.near) + 2.0, 0, view.height))
    first = max(first, int(view.y) + 2)
    if first >= last:
        return
    z = np.float32(over) / -view.up()[first:last]
    out = block.side * view.across() * z
    step = z / np.float32(view.focal)
    inside = np.minimum(out - block.wall, np.minimum(z - block.near, block.far - z)) / step
    alpha = np.clip(inside + 0.5, 0.0, 1.0)
    color = _roof(block, hour, out, z)
    fade = 1.0 - np.exp(-np.hypot(z, over) * np.float32(hour.thick))
    color += (haze[:, first:last] - color) * fade
    below = picture[:, first:last]
    below += (color - below) * alpha
    veil = cover[first:last]
    veil += (1.0 - veil) * alpha


def _roof(block: Block, hour: Hour, out: Plane, z: Plane) -> Plane:
    """Return the light of roofs: plots of different tone, parapets, yards between them."""
    plot = (out - np.float32(block.wall)) / np.float32(_PLOT)
    number = np.floor(plot)
    tone = 0.62 + 0.38 * np.sin(number * 12.9 + block.number)
    edge = np.minimum(plot - number, 1.0 - plot + number) * _PLOT
    ends = np.minimum(z - block.near, block.far - z)
    rim = smooth_step(
        1.1, 0.5, np.minimum(edge, np.where(number > 0, ends, np.minimum(ends, edge)))
    )
    yard = smooth_step(0.9, 0.3, edge) * (number > 0)
    plant = _boxes(out, 8.5, block.number) * _boxes(z, 11.0, block.number // 7)
    lit = light(hour.ambient) * np.float32(hour.fill) + light(hour.sun) * np.float32(
        hour.power * (0.12 if hour.ahead else 0.5)
    )
    lit = lit + light(hour.haze[0]) * np.float32(1.1 * hour.neon)
    stone = light((0.52 + 0.10 * block.tone, 0.02, 60 + 190 * (block.number % 2)))
    shade = (0.62 + 0.38 * tone) * (1.0 - 0.34 * plant) * (1.0 + 0.35 * rim) * (1.0 - 0.8 * yard)
    # By night the yards shine with the windows around them, and skylights with the rooms below.
    rooms = _boxes(out, 3.1, block.number) * _boxes(z, 4.3, block.number // 3)
    awake = _lottery(np.floor(out / np.float32(3.1)), np.floor(z / np.float32(4.3)), block.number)
    panes = rooms * (awake > 0.86) * (1.0 - plant) * (1.0 - yard)
    glow = light((0.80, 0.11, 70)) * (
        np.float32(min(1.0, hour.neon)) * (np.float32(0.30) * yard + np.float32(0.55) * panes)
    )
    return np.asarray(stone * lit * shade + glow, np.float32)


def _lottery(across: Plane, along: Plane, number: int) -> Plane:
    """Return a number from 0 to 1 that each cell of a roof draws."""
    drawn = np.sin(across * np.float32(12.9898) + along * np.float32(78.233) + number % 97)
    drawn = np.abs(drawn) * np.float32(437.585)
    return np.asarray(drawn - np.floor(drawn), np.float32)


def _boxes(at: Plane, pitch: float, number: int) -> Plane:
    """Return where boxes stand along one direction, 0 to 1."""
    place = at / np.float32(pitch) + np.float32(0.37 * number)
    off = np.abs(place - np.floor(place) - np.float32(0.5))
    return smooth_step(0.20, 0.17, off)
