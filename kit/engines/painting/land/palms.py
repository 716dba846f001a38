"""Palms: leaning trunks with rings, and crowns of feathered fronds, drawn at twice their size.

A palm is two sprites of one shape, trunk and crown, so that each keeps a color of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes
from kit.engines.painting.land.sprites import Sprite, sprite
from kit.engines.painting.noise import Plane

Ints: TypeAlias = NDArray[np.int32]

_TALL = 480  # pixels of the largest level
_OVER = 2  # supersampling
_WIDE = 1.36  # of its height: room for the crown of a palm that leans
_KINDS = 5
_LEAFLETS = 40  # to a side of a frond
_UNIT = 120  # brightness of 1 in a drawing


@dataclass(frozen=True, slots=True)
class Palms:
    """Trunks and crowns, as many of each: what stands at one place belongs together.

    All of them lean to the right.
    """

    trunks: tuple[Sprite, ...]
    crowns: tuple[Sprite, ...]


@cache
def palms() -> Palms:
    """Return the palms of the library: each drawn once in a process, the same in every process."""
    pairs = [_palm(np.random.default_rng([71, number]), number) for number in range(_KINDS)]
    return Palms(tuple(trunk for trunk, _ in pairs), tuple(crown for _, crown in pairs))


def _palm(rng: np.random.Generator, number: int) -> tuple[Sprite, Sprite]:
    high, wide = _TALL * _OVER, round(_TALL * _OVER * _WIDE)
    lean = (0.03, 0.10, 0.16, 0.22, 0.28)[number] * high
    along = np.linspace(0.0, 1.0, 80)
    # It rises slantwise at first, then turns up toward the light.
    x = 0.5 * wide - 0.25 * lean + lean * (1.35 * along - 0.35 * along**3)
    x = x + 0.012 * high * np.sin(along * np.pi * 2.0 + rng.uniform(0, 6))
    y = high * (1.01 - (0.66 + 0.04 * rng.random()) * along)
    trunk = _trunk(rng, np.stack([x, y], axis=1), (high, wide))
    crown = _crown(rng, (float(x[-1]), float(y[-1])), (high, wide))
    return trunk, crown


def _trunk(rng: np.random.Generator, way: Plane, shape: tuple[int, int]) -> Sprite:
    """Return a trunk that swells at its foot, with the scars of fallen fronds around it."""
    cover, shade = np.zeros(shape, np.uint8), np.full(shape, 60, np.uint8)
    high = shape[0]
    along = np.linspace(0.0, 1.0, len(way))
    thick = high * (0.0135 - 0.0050 * along + 0.014 * np.exp(-along * 16.0))
    for part, tone in ((1.0, 62.0), (0.62, 104.0), (0.30, 140.0)):
        side = np.stack([-thick * (1.0 - part) * 0.75, np.zeros_like(thick)], axis=1)
        band = np.stack([thick * part, np.zeros_like(thick)], axis=1)
        outline = np.concatenate([way + side - band, (way + side + band)[::-1]])
        points = [np.round(outline * 16).astype(np.int32)]
        cv2.fillPoly(shade, points, tone, cv2.LINE_AA, 4)
        if part == 1.0:
            cv2.fillPoly(cover, points, 255, cv2.LINE_AA, 4)
    for share in np.cumsum(rng.uniform(0.012, 0.024, 70)):
        if share > 0.98:
            break
        spot = np.array([np.interp(share, along, way[:, axis]) for axis in (0, 1)])
        reach = float(np.interp(share, along, thick))
        ring = spot + np.array([[-reach, 0.0], [0.0, 0.35 * reach], [reach, 0.0]])
        tone = float(rng.uniform(34, 58))
        cv2.polylines(shade, [np.round(ring * 16).astype(np.int32)], False, tone, 2, cv2.LINE_AA, 4)
    return _reduced(cover, shade)


def _crown(rng: np.random.Generator, at: tuple[float, float], shape: tuple[int, int]) -> Sprite:
    cover, shade = np.zeros(shape, np.uint8), np.full(shape, 60, np.uint8)
    high = shape[0]
    count = int(rng.integers(14, 18))
    # From straight up to below the level, to both sides; those behind come first and are darker.
    turns = np.linspace(-0.30, np.pi + 0.30, count) + rng.uniform(-0.12, 0.12, count)
    for step, number in enumerate(rng.permutation(count)):
        front = step / count
        length = high * rng.uniform(0.26, 0.38) * (0.86 + 0.14 * abs(np.cos(turns[number])))
        _frond(rng, (cover, shade), at, float(turns[number]), length, front)
    for _ in range(int(rng.integers(3, 8))):
        spot = np.array(at) + high * np.array([rng.normal(0, 0.012), rng.uniform(0.004, 0.028)])
        center = (round(float(spot[0])), round(float(spot[1])))
        cv2.circle(cover, center, round(0.0105 * high), 255, -1, cv2.LINE_AA)
        cv2.circle(shade, center, round(0.0105 * high), 46, -1, cv2.LINE_AA)
    return _reduced(cover, shade)


def _reduced(cover: Bytes, shade: Bytes) -> Sprite:
    """Return a drawing as a sprite, brought to its size at once: each level is made from that."""
    size = (cover.shape[1] // _OVER, _TALL)
    solid = cv2.resize(cover, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    tone = cv2.multiply(cover, shade, scale=1 / 255)
    lit = cv2.resize(tone, size, interpolation=cv2.INTER_AREA).astype(np.float32) / _UNIT
    return sprite(solid, lit / np.maximum(solid, 0.02), _TALL)


def _frond(
    rng: np.random.Generator,
    drawing: tuple[Bytes, Bytes],
    root: tuple[float, float],
    turn: float,
    length: float,
    front: float,
) -> None:
    """Draw a frond: a rib that its own weight bends, and leaflets that hang from both its sides."""
    cover, shade = drawing
    share = np.linspace(0.0, 1.0, _LEAFLETS)
    way = np.array([np.cos(turn), -np.sin(turn)])
    droop = rng.uniform(0.40, 0.66) * (0.62 + 0.38 * abs(way[0]))
    rib = np.array(root) + length * share[:, None] * way
    rib[:, 1] += length * droop * share**2.2
    # What stands upright leans to any side at its tip.
    aside = np.clip(way[0] * 1.6 + 0.5 * rng.standard_normal(), -1.0, 1.0)
    rib[:, 0] += length * 0.24 * (aside - 0.5 * way[0]) * share**1.8
    tangent = np.gradient(rib, axis=0)
    tangent /= np.hypot(tangent[:, 0], tangent[:, 1])[:, None]
    normal = np.stack([-tangent[:, 1], tangent[:, 0]], axis=1)
    base = 60 + 60 * front + 30 * max(-way[1], -0.4)
    for side in (-1.0, 1.0):
        apart = side * rng.uniform(0.45, 0.75, (_LEAFLETS, 1))
        reach = 0.27 * np.sin(np.pi * np.minimum(1.0, 0.08 + 0.95 * share)) ** 0.7
        reach = (length * reach * rng.uniform(0.75, 1.15, _LEAFLETS))[:, None]
        blades = _blades(rib, tangent * 0.80 + normal * apart, reach)
        tones = base * np.where(side * normal[:, 1] < 0, 1.15, 0.76)
        tones = np.clip(tones + 12 * rng.standard_normal(_LEAFLETS), 22, 235)
        for blade, tone in zip(blades[2:], tones[2:], strict=True):
            cv2.fillConvexPoly(cover, blade, 255, cv2.LINE_AA, 4)
            cv2.fillConvexPoly(shade, blade, float(tone), cv2.LINE_AA, 4)
    points = [np.round(rib * 16).astype(np.int32)]
    cv2.polylines(cover, points, False, 255, 3, cv2.LINE_AA, 4)
    cv2.polylines(shade, points, False, base * 1.3, 2, cv2.LINE_AA, 4)


def _blades(foot: Plane, way: Plane, reach: Plane) -> Ints:
    """Return the outlines of leaflets that hang down at their tips, in sixteenths of a pixel."""
    middle = foot + 0.55 * reach * way + np.array([0.0, 0.07]) * reach
    tip = foot + reach * way + np.array([0.0, 0.34]) * reach
    thick = 0.022 * reach * np.stack([way[:, 1], -way[:, 0]], axis=1) + np.array([0.5, 0.0])
    outline = np.stack([foot - thick, middle - thick, tip, middle + thick, foot + thick], axis=1)
    return np.round(outline * 16).astype(np.int32)
