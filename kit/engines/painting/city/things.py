"""What stands and passes in a street: lamps, trees, cars and walkers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Oklch
from kit.engines.painting.city.drawing import Drawing, Points, curve, ellipse
from kit.engines.painting.city.light import Hour
from kit.engines.painting.city.street import ROAD, View
from kit.engines.painting.tone import light
from kit.engines.prompt.brief import Brief

Spot: TypeAlias = tuple[float, float]

#: Kind -> meters across and up of its drawing.
SIZES = {"lamp": (4.4, 7.6), "tree": (5.6, 7.4), "car": (2.5, 1.75), "walker": (1.7, 2.35)}
#: Season -> colors of the leaves in the light and in the shade.
_LEAVES: dict[str, tuple[Oklch, Oklch]] = {
    "spring": ((0.80, 0.09, 355), (0.62, 0.10, 350)),
    "summer": ((0.62, 0.13, 132), (0.38, 0.09, 142)),
    "autumn": ((0.74, 0.15, 68), (0.50, 0.14, 40)),
}
_CORNERS = ((-0.5, 0.0), (0.5, 0.0), (0.5, 1.0), (-0.5, 1.0))
_PAINTS: tuple[Oklch, ...] = (
    (0.30, 0.01, 260), (0.88, 0.005, 90), (0.62, 0.01, 250), (0.45, 0.15, 27), (0.38, 0.09, 258),
    (0.80, 0.15, 88), (0.28, 0.03, 160), (0.50, 0.02, 60),
)  # fmt: skip
_COATS: tuple[Oklch, ...] = (
    (0.26, 0.02, 260), (0.34, 0.04, 250), (0.42, 0.05, 60), (0.30, 0.06, 20), (0.52, 0.04, 80),
    (0.24, 0.01, 300), (0.38, 0.05, 150),
)  # fmt: skip
_UMBRELLAS: tuple[Oklch, ...] = (
    (0.22, 0.01, 270), (0.50, 0.18, 25), (0.30, 0.07, 260), (0.24, 0.02, 200), (0.72, 0.14, 85),
    (0.86, 0.01, 240), (0.45, 0.12, 330),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """Something in the street, `x` meters right of the middle and `z` ahead."""

    kind: str
    x: float
    z: float
    draw: Callable[[np.random.Generator, Drawing], None]


def lamps_of(brief: Brief) -> list[Spot]:
    """Return where lamps stand."""
    if "minimal" in brief.composition:
        return []
    apart = 26.0 if brief.mood == "calm" else 21.0
    shift = 0.0 if "centered" in brief.composition else apart / 2
    return [
        (side * (ROAD + 0.45), float(z + (side > 0) * shift))
        for z in np.arange(9.5, 120.0, apart)
        for side in (-1, 1)
    ]


def things_of(rng: np.random.Generator, brief: Brief, view: View, hour: Hour) -> list[Thing]:
    """Return what stands and passes in a brief's street, the farthest first."""
    calm = brief.mood == "calm"
    lamps = [
        Thing(kind="lamp", x=x, z=z, draw=partial(_lamp, side=np.sign(x), on=hour.neon > 0.2))
        for x, z in lamps_of(brief)
    ]
    season = "winter" if brief.weather == "snow" else brief.season
    planted = brief.things.isdisjoint(("neon", "alley")) and rng.random() < 0.75
    trees = [
        Thing(kind="tree", x=side * (ROAD + 1.3), z=z, draw=partial(_tree, season=season))
        for z in np.arange(13.5, 75.0, 10.5) + rng.uniform(-1.2, 1.2, 6)
        for side in (-1, 1)
        if rng.random() < 0.72 and planted
    ]
    if "centered" in brief.composition:
        left = [it for it in trees if it.x < 0]
        trees = [*left, *(replace(it, x=-it.x) for it in left)]
    cars, busy = [], (1.7 if "traffic" in brief.things else 1.0) * (0.25 if calm else 1.0)
    for side in (-1.0, 1.0):
        z = rng.uniform(15.0, 30.0)
        while z < 110.0:
            draw = partial(_car, coming=side < 0, neon=hour.neon)
            cars.append(Thing(kind="car", x=side * rng.uniform(2.3, 2.9), z=z, draw=draw))
            z += rng.uniform(8.0, 34.0) / busy
    wet = brief.weather in ("rain", "snow") or "umbrellas" in brief.things
    count = (22 if "crowd" in brief.things else 11) // (2 if calm else 1)
    walkers = [
        Thing(
            kind="walker",
            x=float(rng.choice([-1, 1])) * (ROAD + rng.uniform(0.6, 2.2)),
            z=rng.uniform(8.0, 60.0),
            draw=partial(_walker, umbrella=wet and rng.random() < 0.85, coming=rng.random() < 0.5),
        )
        for _ in range(count)
    ]
    side = float(rng.choice([-1, 1]))
    hero = Thing(
        kind="walker", x=side * rng.uniform(0.7, 1.9), z=6.4,
        draw=partial(_walker, umbrella=wet and rng.random() < 0.85, coming=False),
    )  # fmt: skip
    alone = rng.random() < 0.75 or wet
    cars = [] if "no_cars" in brief.things else cars
    walkers = [] if "no_people" in brief.things else walkers
    heroes = [hero] if alone and "no_people" not in brief.things else (walkers or cars)[-1:]
    others = [*lamps, *trees, *(it for it in (*cars, *walkers) if it not in heroes)]
    if "minimal" in brief.composition:
        others, heroes = [], [it for it in heroes if it.kind == "walker"]
    if "ahead" in view.shot:  # words of the camera say where the one stands that it is about
        heroes = [replace(it, x=side * view.shot["aside"], z=view.shot["ahead"]) for it in heroes]
    if "close" in brief.composition and heroes:
        others = [it for it in others if it.z > 2.4 * heroes[0].z]
    return sorted([*others, *heroes], key=lambda it: -it.z)


def _lamp(_: np.random.Generator, sheet: Drawing, *, side: float, on: bool) -> None:
    iron, reach = light((0.28, 0.015, 250)), -side * 1.7
    sheet.trace([(0.0, 0.0), (0.0, 0.9)], 0.20, iron)
    sheet.trace([(0.0, 0.8), (0.0, 6.6), (0.12 * reach, 7.05), (0.5 * reach, 7.3)], 0.10, iron)
    sheet.trace([(0.5 * reach, 7.3), (reach, 7.35)], 0.09, iron)
    sheet.fill(_box(0.90 * reach, 7.26, 0.30, 0.16), iron)
    if on:
        bulb = _box(0.91 * reach, 7.16, 0.29, 0.11)
        sheet.fill(bulb, iron)
        sheet.glow(bulb, light((0.93, 0.08, 78), 7.0))


def _tree(rng: np.random.Generator, sheet: Drawing, *, season: str) -> None:
    """Draw boughs, twigs and their leaves; bare in winter."""
    bark, top = light((0.25, 0.025, 52)), rng.uniform(5.2, 6.2)
    sheet.trace([(0.0, 0.0), (0.03, 1.4), (0.0, 2.6)], 0.24, bark)
    tips = []
    for share in np.linspace(-1.0, 1.0, 9):
        bend = share + float(rng.normal(0.0, 0.08))
        end = np.array([1.9 * bend, top - 1.5 * bend**2 - rng.uniform(0.0, 0.5)])
        middle = np.array([0.62 * bend + 0.1, 1.15 + 0.52 * end[1]])
        sheet.trace(np.array([(0.0, rng.uniform(1.9, 2.5)), middle, end]), 0.085, bark)
        start = 0.4 * middle + 0.6 * end
        twigs = [start + rng.normal((0.15 * bend, 0.25), (0.5, 0.35)) for _ in range(3)]
        for twig in twigs:
            sheet.trace(np.array([start, twig]), 0.035, bark)
        tips += [end, middle, *twigs]
    if season not in _LEAVES:
        return
    bright, deep = (light(color).ravel() for color in _LEAVES[season])
    count = round(min(900.0, max(110.0, 17.0 * sheet.pixels)))
    at = np.array(tips)[rng.integers(0, len(tips), count)] + rng.normal(
        0.0, (0.42, 0.36), (count, 2)
    )
    # From the shaded inside to the sunlit top, so that lit leaves lie in front.
    at = at[np.argsort(at[:, 1] + rng.normal(0.0, 0.5, count))]
    share = np.clip((at[:, 1] - 2.6) / (top - 1.8) + rng.normal(0.0, 0.22, count), 0.0, 1.0)
    colors = 0.75 * deep + (bright - 0.75 * deep) * share[:, None]
    angles = np.linspace(0.0, 2.0 * np.pi, 8, endpoint=False) + rng.uniform(0.0, np.pi, (count, 1))
    size = rng.uniform(2.1, 5.0, (count, 1)) / np.sqrt(count)
    outlines = at[:, None] + np.stack([1.2 * size * np.cos(angles), 0.8 * size * np.sin(angles)], 2)
    sheet.fill_all(outlines, colors)


def _car(rng: np.random.Generator, sheet: Drawing, *, coming: bool, neon: float) -> None:
    number, boxy = int(rng.integers(len(_PAINTS))), rng.uniform(0.0, 1.0)
    paint, roof, top = light(_PAINTS[number]), 1.36 + 0.16 * boxy, 0.60 + 0.10 * boxy
    black, glass = light((0.12, 0.0, 0)), light((0.26, 0.02, 240))
    sheet.fill(ellipse(0.0, 0.03, 1.05, 0.05), light((0.05, 0.0, 0)), 0.8)
    for side in (-1.0, 1.0):
        sheet.fill(_box(side * 0.73, 0.0, 0.26, 0.40), black)
    for outline, color in (
        ([(0.80, 0.22), (0.93, 0.34), (0.94, 0.72), (0.84, 0.98), (0.5, 1.03)], paint),
        ([(0.84, 0.93), (0.74, 1.18), (top, roof - 0.04), (0.35, roof)], 0.9 * paint),
        ([(0.74, 0.99), (0.66, 1.18), (top - 0.07, roof - 0.10), (0.3, roof - 0.07)], glass),
        ([(0.88, 0.24), (0.90, 0.40), (0.5, 0.44)], 0.45 * paint),
    ):
        half = np.array(outline)
        sheet.fill(curve(np.concatenate([half, half[::-1] * (-1.0, 1.0)]), 4), color)
    sheet.fill([(-0.88, 0.80), (0.88, 0.80), (0.84, 0.90), (-0.84, 0.90)], 1.25 * paint)
    power = min(1.0, max(neon, 0.05))
    for side in (-1.0, 1.0):
        if coming:
            lamp = ellipse(side * 0.70, 0.64, 0.13, 0.085)
            sheet.fill(lamp, light((0.92, 0.01, 90)))
            sheet.glow(lamp, light((0.97, 0.03, 95), 2.0 + 7.0 * power))
        else:
            lamp = _box(side * 0.76, 0.63, 0.28, 0.16)
            sheet.fill(lamp, light((0.42, 0.17, 27)))
            sheet.glow(lamp, light((0.60, 0.24, 27), 1.2 + 5.0 * power))
    sheet.fill(_box(0.0, 0.46, 0.48, 0.11), light((0.7, 0.0, 0)))
    if number == 5:  # a taxi
        sign = _box(0.0, roof, 0.40, 0.13)
        sheet.fill(sign, light((0.9, 0.05, 90)))
        sheet.glow(sign, light((0.92, 0.10, 85), 1.2))


def _walker(rng: np.random.Generator, sheet: Drawing, *, umbrella: bool, coming: bool) -> None:
    """Draw one person in a coat, walking, from behind or coming."""
    coat = light(_COATS[int(rng.integers(len(_COATS)))])
    skin, hair = light((0.66, 0.06, 55)), light((0.22, 0.03, 50), rng.uniform(0.6, 2.2))
    grow, lean = rng.uniform(0.93, 1.05), rng.uniform(-0.02, 0.02)
    stride = rng.uniform(0.5, 1.0) * float(rng.choice([-1.0, 1.0]))
    long, flare = rng.uniform(0.52, 0.82), rng.uniform(0.20, 0.27)

    def body(points: Points) -> NDArray[np.float64]:
        at = np.array(points) * grow
        at[:, 0] += lean * at[:, 1]
        return at

    sheet.fill(ellipse(0.0, 0.035, 0.34, 0.03), light((0.05, 0.0, 0)), 0.5)
    for side, ahead in ((-1.0, stride), (1.0, -stride)):
        lift, foot = 0.09 * max(0.0, -ahead), side * 0.095 + 0.02 * ahead
        trousers = light((0.20, 0.02, 260), 1.0 if ahead > 0 else 0.7)
        sheet.fill(curve(body([
            (side * 0.17, 0.86), (side * 0.01, 0.86), (foot - side * 0.075, 0.34 + lift),
            (foot - side * 0.06, 0.05 + lift), (foot + side * 0.05, 0.05 + lift),
            (foot + side * 0.06, 0.34 + lift),
        ])), trousers)  # fmt: skip
        sheet.fill(body(ellipse(foot, 0.045 + lift, 0.062, 0.045)), 0.6 * trousers)
    half = np.array(
        [
            (0.0, long),
            (flare, long + 0.03),
            (0.185, 0.98),
            (0.20, 1.10),
            (0.225, 1.33),
            (0.18, 1.44),
            (0.07, 1.50),
        ]
    )
    sheet.fill(curve(body(np.concatenate([half, half[:0:-1] * (-1.0, 1.0)]))), coat)
    shade = [(0.02, 1.46), (0.20, 1.38), (0.19, 1.0), (flare, long + 0.03), (0.06, long)]
    sheet.fill(curve(body(shade)), 0.72 * coat)
    for side, low, reach, tone in (
        (-1, 1.16 if umbrella else 0.80, 0.23, 0.85),
        (1, 0.80, 0.25, 0.62),
    ):
        arm = [
            (0.17, 1.43),
            (0.235, 1.30),
            (0.285, 1.08),
            (reach, low - 0.03),
            (reach - 0.07, low + 0.02),
            (0.20, 1.08),
            (0.15, 1.28),
        ]
        sheet.fill(curve(body(np.array(arm) * (side, 1.0))), tone * coat)
    sheet.fill(body(_box(0.0, 1.46, 0.09, 0.10)), 0.7 * skin)
    sheet.fill(body(ellipse(0.0, 1.63, 0.082, 0.112)), skin if coming else hair)
    cap = [(-0.09, 1.60), (-0.085, 1.70), (0.0, 1.76), (0.085, 1.70), (0.09, 1.60), (0.05, 1.68)]
    sheet.fill(curve(body(cap)), hair)
    if rng.random() < 0.4 and not coming:
        locks = [(-0.09, 1.68), (0.09, 1.68), (0.115, 1.44), (0.0, 1.40), (-0.115, 1.44)]
        sheet.fill(curve(body(locks)), hair)
    if umbrella:
        cloth, tilt = light(_UMBRELLAS[int(rng.integers(len(_UMBRELLAS)))]), rng.uniform(-0.1, 0.1)
        sheet.trace(body([(-0.20, 1.12), (-0.10, 1.5), (-0.05, 2.16)]), 0.018, light((0.3, 0.0, 0)))
        # Five slices of a dome between ribs, their lower edges hanging in arcs.
        down, over = np.linspace(0.0, np.pi / 2, 9), np.linspace(0.0, 1.0, 7)
        for number, rib in enumerate(np.linspace(-1.0, 0.6, 5)):
            edge = rib + 0.4 * (1.0 - over[1:-1])
            x = np.concatenate([(rib + 0.4) * np.sin(down), edge, rib * np.sin(down[::-1])]) * 0.66
            arc = 1.74 + 0.22 * over[1:-1] * (1.0 - over[1:-1])
            y = np.concatenate([1.74 + 0.42 * np.cos(down), arc, 1.74 + 0.42 * np.cos(down[::-1])])
            panel = np.stack([x - 0.05, y + tilt * x], axis=1)
            sheet.fill(body(panel), cloth * (1.0 - 0.13 * abs(number - 1)))


def _box(x: float, low: float, wide: float, tall: float) -> NDArray[np.float64]:
    return np.array([(x + aside * wide, low + up * tall) for aside, up in _CORNERS])
