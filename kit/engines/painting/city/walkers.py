"""Walkers: people in coats, seen from behind or coming, with umbrellas when it rains or snows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from kit.engines.media.color import Oklch
from kit.engines.painting.city.stencil import Stencil, curve, ellipse
from kit.engines.painting.noise import Plane
from kit.engines.painting.tone import light

#: Puts points of a body where the person stands, leans and how tall they are.
Body: TypeAlias = Callable[[Sequence[tuple[float, float]]], Plane]

TALL, WIDE = 2.35, 1.7
_COATS: tuple[Oklch, ...] = (
    (0.26, 0.02, 260), (0.34, 0.04, 250), (0.42, 0.05, 60), (0.30, 0.06, 20), (0.52, 0.04, 80),
    (0.24, 0.01, 300), (0.38, 0.05, 150),
)  # fmt: skip
_UMBRELLAS: tuple[Oklch, ...] = (
    (0.22, 0.01, 270), (0.50, 0.18, 25), (0.30, 0.07, 260), (0.24, 0.02, 200), (0.72, 0.14, 85),
    (0.86, 0.01, 240), (0.45, 0.12, 330),
)  # fmt: skip
_SKIN, _HAIR = (0.66, 0.06, 55), (0.22, 0.03, 50)


def walker(rng: np.random.Generator, stencil: Stencil, *, umbrella: bool, coming: bool) -> None:
    """Draw one person, walking, on a stencil of `WIDE` by `TALL` meters."""
    coat = light(_COATS[int(rng.integers(len(_COATS)))])
    grow = float(rng.uniform(0.93, 1.05))
    lean = float(rng.uniform(-0.02, 0.02))
    stride = float(rng.uniform(0.5, 1.0)) * float(rng.choice([-1.0, 1.0]))

    def body(points: Sequence[tuple[float, float]]) -> Plane:
        at = np.array(points) * grow
        at[:, 0] += lean * at[:, 1]
        return at

    stencil.fill(ellipse(0.0, 0.035, 0.34, 0.03), light((0.05, 0.0, 0)), cover=0.5)
    _legs(stencil, body, stride, light((0.20, 0.02, 260)))
    long = float(rng.uniform(0.52, 0.82))
    flare = float(rng.uniform(0.20, 0.27))
    outline = [
        (0.07, 1.50), (0.18, 1.44), (0.225, 1.33), (0.20, 1.10), (0.185, 0.98),
        (flare, long + 0.03), (0.0, long - 0.02), (-flare, long + 0.02),
        (-0.185, 0.98), (-0.20, 1.10), (-0.225, 1.33),
        (-0.18, 1.44), (-0.07, 1.50),
    ]  # fmt: skip
    stencil.fill(curve(body(outline)), coat)
    shade = [(0.02, 1.46), (0.20, 1.38), (0.19, 1.0), (flare, long + 0.03), (0.06, long)]
    stencil.fill(curve(body(shade)), coat * np.float32(0.72))
    hand = -0.21 if umbrella else -0.24
    stencil.fill(_arm(body, -1, hand, raised=umbrella), coat * np.float32(0.85))
    stencil.fill(_arm(body, 1, 0.25, raised=False), coat * np.float32(0.62))
    _head(rng, stencil, body, coming=coming)
    if umbrella:
        _umbrella(rng, stencil, body)


def _legs(stencil: Stencil, body: Body, stride: float, color: Plane) -> None:
    for side, ahead in ((-1.0, stride), (1.0, -stride)):
        lift = 0.09 * max(0.0, -ahead)
        foot = side * 0.095 + 0.02 * ahead
        stencil.fill(
            curve(body([
                (side * 0.17, 0.86), (side * 0.01, 0.86), (foot - side * 0.075, 0.34 + lift),
                (foot - side * 0.06, 0.05 + lift), (foot + side * 0.05, 0.05 + lift),
                (foot + side * 0.06, 0.34 + lift),
            ])),
            color * np.float32(1.0 if ahead > 0 else 0.7),
        )  # fmt: skip
        stencil.fill(body(list(map(tuple, ellipse(foot, 0.045 + lift, 0.062, 0.045)))), color * 0.6)


def _arm(body: Body, side: int, hand: float, *, raised: bool) -> Plane:
    low = 1.16 if raised else 0.80
    reach = side * abs(hand)
    return curve(body([
        (side * 0.17, 1.43), (side * 0.235, 1.30), (side * 0.285, 1.08), (reach, low - 0.03),
        (reach - side * 0.07, low + 0.02), (side * 0.20, 1.08), (side * 0.15, 1.28),
    ]))  # fmt: skip


def _head(rng: np.random.Generator, stencil: Stencil, body: Body, *, coming: bool) -> None:
    skin, hair = light(_SKIN), light(_HAIR) * np.float32(rng.uniform(0.6, 2.2))
    stencil.fill(body([(-0.045, 1.46), (0.045, 1.46), (0.045, 1.56), (-0.045, 1.56)]), skin * 0.7)
    stencil.fill(body(list(map(tuple, ellipse(0.0, 1.63, 0.082, 0.112)))), skin if coming else hair)
    cap = [(-0.09, 1.60), (-0.085, 1.70), (0.0, 1.76), (0.085, 1.70), (0.09, 1.60), (0.05, 1.68)]
    stencil.fill(curve(body(cap)), hair)
    if rng.random() < 0.4:
        long = [(-0.09, 1.68), (0.09, 1.68), (0.115, 1.44), (0.0, 1.40), (-0.115, 1.44)]
        if not coming:
            stencil.fill(curve(body(long)), hair)


def _umbrella(rng: np.random.Generator, stencil: Stencil, body: Body) -> None:
    cloth = light(_UMBRELLAS[int(rng.integers(len(_UMBRELLAS)))])
    tilt = float(rng.uniform(-0.10, 0.10))
    center, half, low, high = -0.05, 0.66, 1.74, 2.16
    stencil.trace(body([(-0.20, 1.12), (-0.10, 1.5), (center, high)]), 0.018, light((0.3, 0.0, 0)))
    ends = np.linspace(-1.0, 1.0, 6)
    for number in range(5):
        panel = _panel(ends[number], ends[number + 1], tilt, (center, half, low, high))
        shade = np.float32(1.0 - 0.13 * abs(number - 1))
        stencil.fill(body(panel), cloth * shade)
    tip = [(center - 0.008, high), (center + 0.008, high), (center, high + 0.07)]
    stencil.fill(body(tip), cloth * 0.5)


def _panel(
    first: float, last: float, tilt: float, size: tuple[float, float, float, float]
) -> list[tuple[float, float]]:
    """Return one panel between two ribs: a slice of a dome, its lower edge hanging in an arc."""
    center, half, low, high = size

    def rib(end: float, share: float) -> tuple[float, float]:
        bow = np.sin(share * np.pi / 2)
        x = center + end * half * bow
        return x, high - (high - low) * (1.0 - np.cos(share * np.pi / 2)) + tilt * (x - center)

    shares = np.linspace(0.0, 1.0, 9)
    down = [rib(last, share) for share in shares]
    up = [rib(first, share) for share in shares[::-1]]
    inner = np.linspace(last, first, 7)[1:-1]
    arc = []
    for end in inner:
        x, y = rib(float(end), 1.0)
        sag = 4.0 * (end - first) * (last - end) / (last - first) ** 2
        arc.append((x, y + 0.055 * sag))
    return [*down, *arc, *up]
