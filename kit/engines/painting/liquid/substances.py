"""Substances: what the currents are made of, and how light falls on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.framing import factor, focus, pool
from kit.engines.painting.liquid.currents import Currents, Stirring
from kit.engines.painting.liquid.gloss import relit
from kit.engines.painting.noise import Plane, across, blur, field, slopes
from kit.engines.painting.tints import Trio, asked, strength, three
from kit.engines.painting.tone import blend, gradient, light
from kit.engines.prompt.brief import Brief
from kit.engines.prompt.vocabulary import Tint

#: Tints that the seed draws from where no color is named.
_TRIOS: list[Trio] = [
    ((285.0, 0.15), (15.0, 0.16), (75.0, 0.12)),
    ((250.0, 0.14), (205.0, 0.12), (160.0, 0.10)),
    ((350.0, 0.16), (40.0, 0.14), (85.0, 0.11)),
    ((195.0, 0.11), (225.0, 0.13), (330.0, 0.13)),
    ((30.0, 0.16), (55.0, 0.15), (300.0, 0.12)),
    ((160.0, 0.11), (195.0, 0.10), (95.0, 0.11)),
]
_STIRRINGS = {
    "marble": Stirring(cells=2.6, octaves=6, gain=0.40, reach=0.120),
    "ink": Stirring(cells=2.2, octaves=8, gain=0.50, reach=0.120),
    "silk": Stirring(cells=1.9, octaves=3, gain=0.30, reach=0.150),
    "oil": Stirring(cells=2.0, octaves=4, gain=0.36, reach=0.140),
    "lava": Stirring(cells=2.4, octaves=7, gain=0.46, reach=0.110),
    "paint": Stirring(cells=2.0, octaves=4, gain=0.34, reach=0.150),
}
#: Word -> how much larger or smaller a plume of ink is.
_REACHES = {"close": 6.0, "wide": 0.4, "dramatic": 2.2}
_SOOT: Tint = (260.0, 0.008)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dish:
    """The vessel: what the brief leaves to the substance."""

    brief: Brief
    zoom: float
    octaves: int
    calm: bool

    def currents(self, substance: str) -> Stirring:
        """Return how a substance is stirred in this dish."""
        own = _STIRRINGS[substance]
        return Stirring(
            cells=own.cells,
            octaves=min(own.octaves, self.octaves),
            gain=own.gain,
            reach=own.reach * (0.55 if self.calm else 1.0),
            zoom=1.0 / self.zoom,
        )

    def tints(self, rng: np.random.Generator) -> Trio:
        """Return the three tints of the liquid, mood applied."""
        factor = strength(self.brief)
        one, two, last = three(rng, self.brief, _TRIOS)
        return _by(one, factor), _by(two, factor), _by(last, factor)


Substance: TypeAlias = Callable[[np.random.Generator, Currents, Dish, Progress], Plane]


def marble(rng: np.random.Generator, currents: Currents, dish: Dish, progress: Progress) -> Plane:
    """Return polished stone: clouded ground, soft bands, veins of several widths."""
    size = max(currents.fast.shape)
    tint = dish.tints(rng)[0] if asked(dish.brief) else (250.0, 0.012)
    dark = dish.brief.dark or "dark_stone" in dish.brief.things
    height, width = currents.fast.shape
    fine = field(
        rng, height, width, cells=across(7 * dish.zoom, height, width), octaves=6, gain=0.6
    )
    cloud = smooth_step(-2.0, 2.2, currents.fast + 0.6 * currents.slow + 0.35 * fine)
    ground = gradient(_stone(tint, dark=dark), cloud)
    minimal = "minimal" in dish.brief.composition
    if minimal:  # one polished slab, hardly clouded
        ground = blend(ground, gradient(_stone(tint, dark=dark), np.full_like(cloud, 0.82)),
                         np.float32(0.8) * np.ones_like(cloud))  # fmt: skip
    rough = 0.018 * fine
    veins = np.zeros_like(cloud)
    courses = (
        (currents.middle, 0.0075, 1.0),
        (currents.slow - np.float32(0.45), 0.0040, 0.75),
        (currents.fast + np.float32(0.35), 0.0022, 0.65),
        (currents.fast - np.float32(0.9), 0.0016, 0.5),
    )
    near = max(1.0, 1.0 / dish.zoom) if "close" in dish.brief.composition else 1.0
    progress.report(0.2)
    for course, wide, deep in progress.part(0.2, 0.8).over(courses[:1] if minimal else courses):
        right, down = slopes(course, size)
        steep = np.sqrt(right * right + down * down) + 2.2
        off = np.abs(course + rough) / (steep * np.float32(wide * near))
        line = 0.62 * np.exp(-off) + 0.38 * np.exp(-off * 0.22)
        veins = np.maximum(veins, line * deep * smooth_step(-1.5, 0.6, currents.drift))
    ink = light((0.86, 0.05 * (tint[1] > 0.03), tint[0])) if dark else _shade(tint, 0.36)
    picture = blend(ground, ink * np.ones_like(ground), np.clip(veins * 0.85, 0.0, 1.0))
    gloss = blur(np.clip(currents.slow, -2.0, 2.0), 0.06 * size)
    return picture * (1.0 + 0.05 * gloss)


def ink(rng: np.random.Generator, currents: Currents, dish: Dish, progress: Progress) -> Plane:
    """Return ink in water: plumes that thin out into veils, on white or on black."""
    height, width = currents.fast.shape
    # Black ink is a dye; anything else that is black is what lies behind.
    black = dish.brief.things.issuperset(("black", "ink")) and not asked(dish.brief)
    tints = (_SOOT, _SOOT, _SOOT) if black else dish.tints(rng)
    dark = dish.brief.dark or ("dark_water" in dish.brief.things and not black)
    y, x = np.ogrid[0:height, 0:width]
    drawn = rng.uniform(0.35, 0.65, 2)
    center = focus(dish.brief, (float(drawn[0]), float(drawn[1])))
    dx, dy = (x / width - center[0]).astype(np.float32), (y / height - center[1]).astype(np.float32)
    reach = 0.055 if dish.calm else 0.12 * factor(dish.brief, _REACHES)
    place = np.exp(-(dx * dx + dy * dy) / reach) * 2.4 - 1.15
    fine = field(rng, height, width, cells=across(9 * dish.zoom, height, width), octaves=6)
    plume = currents.fast + 0.55 * currents.middle + 0.12 * fine + place
    if "minimal" in dish.brief.composition:  # a single drop, wherever the currents go
        plume += np.float32(1.9) * pool(height, width, center, 0.25)
    progress.report(0.2)
    thick = smooth_step(-0.6, 2.7, plume)
    threads = np.exp(-np.abs(currents.fast * 2.2 + 0.5 * currents.slow) * 2.6)
    thick = np.clip(thick * (0.72 + 0.5 * threads) + 0.05 * threads, 0.0, 1.0)
    if alone := {"minimal", "centered", "thirds"}.intersection(dish.brief.composition):
        near = pool(height, width, center, 0.27 if "minimal" in alone else 0.48)
        thick *= smooth_step(0.12, 0.62, near * (1.0 + np.float32(0.25) * currents.slow))
    progress.report(0.4)
    share = smooth_step(-1.1, 1.1, currents.slow)
    second = smooth_step(0.3, 1.7, currents.middle - 0.3 * currents.drift)
    one, two, last = (_absorbing(tint) for tint in tints)
    dye = blend(blend(one, two, share), last, second * 0.8)
    progress.report(0.6)
    if dark:
        glow = (1.0 - np.exp(-dye * 1.6)).mean(axis=0)
        progress.report(0.7)
        shine = blend(_lamp(tints[0]), _lamp(tints[1]), share)
        shine = blend(shine, _lamp(tints[2]), second * 0.8)
        progress.report(0.8)
        return np.asarray(shine * (thick**1.7 * (0.5 + glow)) * 1.5 + 0.004, np.float32)
    progress.report(0.7)
    water = gradient([(0.0, (0.97, 0.006, 85)), (1.0, (0.90, 0.012, 80))], np.hypot(dx, dy))
    return np.asarray(water * np.exp(-dye * (thick**1.35 * 3.4)), np.float32)


def silk(rng: np.random.Generator, currents: Currents, dish: Dish, progress: Progress) -> Plane:
    """Return cloth in soft folds, with the sheen of its threads."""
    first, second, last = dish.tints(rng)
    height = currents.fast + 0.45 * np.sin(currents.fast * 3.6 + currents.middle * 1.4)
    progress.report(0.3)
    tone = 0.5 + 0.20 * currents.slow + 0.08 * currents.middle
    base = gradient(_cloth(first, second, last), tone)
    lit = progress.part(0.6, 1.0)
    return relit(base, height, lit, depth=0.10 / dish.zoom, gloss=20.0, shine=0.30, rough=0.34)


def oil(rng: np.random.Generator, currents: Currents, dish: Dish, progress: Progress) -> Plane:
    """Return a film of oil: colors by its thickness, over dark water."""
    thickness = 0.48 + 0.19 * currents.fast + 0.07 * currents.middle
    turn = 40.0 * float(rng.standard_normal())
    color = gradient(_film(asked(dish.brief), turn, strength(dish.brief)), thickness)
    progress.report(0.3)
    height = currents.fast + 0.25 * np.sin(currents.fast * 5.0 + currents.slow)
    dark = 0.16 + 0.84 * smooth_step(-1.3, 0.9, currents.slow + 0.4 * currents.middle)
    film = color * dark
    lit = progress.part(0.6, 1.0)
    return relit(film, height, lit, depth=0.10 / dish.zoom, gloss=46.0, shine=0.75, rough=0.12)


def paint(rng: np.random.Generator, currents: Currents, dish: Dish, progress: Progress) -> Plane:
    """Return poured paint: bands of wet color with raised edges."""
    first, second, last = dish.tints(rng)
    phase = currents.fast * 1.15 + currents.middle * 0.55
    bands = phase * 1.5
    steps = np.floor(bands)
    edge = smooth_step(0.0, 0.16, bands - steps) * smooth_step(1.0, 0.84, bands - steps)
    soft = steps + smooth_step(0.30, 0.70, bands - steps)
    progress.report(0.25)
    tone = 0.52 + 0.45 * np.sin(soft * 1.9 + currents.slow * 0.5)
    base = gradient(_cloth(first, second, last), tone)
    base = base * (0.86 + 0.14 * edge)
    progress.report(0.45)
    height = phase + 0.16 * edge + 0.05 * np.sin(bands * 6.3)
    lit = progress.part(0.6, 1.0)
    return relit(base, height, lit, depth=0.095 / dish.zoom, gloss=44.0, shine=0.5, rough=0.25)


def lava(rng: np.random.Generator, currents: Currents, dish: Dish, progress: Progress) -> Plane:
    """Return molten rock: dark plates that drift apart, and the glow between them."""
    height, width = currents.fast.shape
    cells = across(16 * dish.zoom, height, width)
    fine = field(rng, height, width, cells=cells, octaves=6, gain=0.6)
    own = asked(dish.brief)
    hue = own[0][0] if own else 38.0
    factor = strength(dish.brief)
    # Cracks run where either of two currents turns; the wide ones are the hottest.
    wide = np.abs(currents.fast + 0.14 * fine)
    thin = np.abs(currents.middle - 0.5 * currents.slow + 0.18 * fine) * 1.7
    near = np.minimum(wide, thin)
    progress.report(0.2)
    pools = smooth_step(0.7, 1.9, currents.slow + 0.25 * fine)
    heat = np.maximum(np.exp(near * -5.5), pools * (0.72 + 0.1 * fine))
    progress.report(0.35)
    glow = gradient(_glowing(hue, factor), heat) * (0.05 + 6.0 * heat**2.2)
    progress.report(0.6)
    crust = light((0.24, 0.012 * factor, hue)) * np.ones((3, 1, 1), np.float32)
    rough = near - 0.55 * fine + 0.3 * currents.drift
    lit = progress.part(0.6, 1.0)
    plates = relit(crust, rough, lit, depth=0.05 / dish.zoom, gloss=18.0, shine=0.06, rough=0.25)
    return np.asarray(plates * (1.0 - np.clip(heat, 0.0, 1.0)) + glow, np.float32)


#: Substance -> what paints it.
SUBSTANCES: dict[str, Substance] = {
    "marble": marble,
    "ink": ink,
    "silk": silk,
    "oil": oil,
    "lava": lava,
    "paint": paint,
}


def _stone(tint: Tint, *, dark: bool) -> list[tuple[float, Oklch]]:
    hue, chroma = tint
    if dark:
        return [
            (0.0, (0.07, 0.2 * chroma, hue)),
            (0.6, (0.17, 0.4 * chroma, hue)),
            (1.0, (0.34, 0.6 * chroma, hue)),
        ]
    # Stone of a strong color is darker than white stone, or it would look like candy.
    drop = 0.9 * chroma
    return [
        (0.0, (0.74 - 2.4 * drop, 0.95 * chroma, hue)),
        (0.45, (0.88 - 1.7 * drop, 0.75 * chroma, hue)),
        (1.0, (0.975 - 0.5 * drop, 0.3 * chroma, hue)),
    ]


def _glowing(hue: float, factor: float) -> list[tuple[float, Oklch]]:
    """Return the colors of heat from dark to white hot."""
    return [
        (0.0, (0.10, 0.05 * factor, hue - 14)),
        (0.35, (0.42, 0.17 * factor, hue - 10)),
        (0.65, (0.66, 0.19 * factor, hue + 6)),
        (0.88, (0.84, 0.15 * factor, hue + 36)),
        (1.0, (0.97, 0.07 * factor, hue + 58)),
    ]


def _cloth(first: Tint, second: Tint, last: Tint) -> list[tuple[float, Oklch]]:
    return [
        (0.0, (0.22, 0.55 * first[1], first[0])),
        (0.28, (0.42, first[1], first[0])),
        (0.52, (0.60, second[1], second[0])),
        (0.76, (0.78, 0.85 * last[1], last[0])),
        (1.0, (0.89, 0.5 * last[1], last[0])),
    ]


def _absorbing(tint: Tint) -> Plane:
    """Return how much of each primary a dye takes out of light."""
    return -np.log(np.clip(light((0.52, 1.25 * tint[1], tint[0])), 0.012, 0.98))


def _lamp(tint: Tint) -> Plane:
    return light((0.76, 1.1 * tint[1], tint[0]))


def _shade(tint: Tint, lightness: float) -> Plane:
    return light((lightness, 0.5 * tint[1], tint[0]))


def _by(tint: Tint, factor: float) -> Tint:
    return tint[0], tint[1] * factor


def _film(own: tuple[Tint, ...], turn: float, factor: float) -> list[tuple[float, Oklch]]:
    """Return the colors of a film of oil by its thickness: orders of a rainbow, paler each time."""
    stops: list[tuple[float, Oklch]] = []
    for number in range(61):
        place = number / 60
        hue = 950.0 * place + turn
        if own:
            near = own[number // 7 % len(own)][0]
            hue = near + 46.0 * math.sin(math.radians(hue))
        level = 0.52 + 0.22 * math.sin(17.0 * place) + 0.10 * place
        stops.append((place, (level, 0.14 * factor * (1.0 - 0.35 * place), hue % 360.0)))
    return stops
