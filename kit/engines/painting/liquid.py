"""Liquids: marble, ink, silk, oil, lava and poured paint, by domain-warped noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.framing import factor, falloff, focus, mirror_halves, spotlight, third
from kit.engines.painting.noise import Plane, blobs, blur, slopes, warp
from kit.engines.painting.painting import Painting, paint_in_detail
from kit.engines.painting.tints import Trio, strength, three_tints, tints_of
from kit.engines.painting.tone import Film, blend, gradient, light
from kit.engines.prompt.brief import Brief

_ZOOMS = {"close": 0.42, "wide": 2.3, "high": 2.3, "minimal": 0.8, "dramatic": 0.75}
_OCTAVES = {"low": 5, "standard": 8, "high": 10}
_HOUR_LIGHT = {"night": 0.55, "dusk": 0.75, "dawn": 1.08}
_FILM = Film(
    exposure=1.1, contrast=1.04, saturation=1.05, vignette=0.22, bloom=0.25, threshold=0.85
)
_LIGHT = np.array([-0.53, -0.62, 0.58], np.float32)  # direction of the light
#: Random tints if no color is named.
_TINTS: list[Trio] = [
    ((285.0, 0.15), (15.0, 0.16), (75.0, 0.12)), ((250.0, 0.14), (205.0, 0.12), (160.0, 0.10)),
    ((350.0, 0.16), (40.0, 0.14), (85.0, 0.11)), ((195.0, 0.11), (225.0, 0.13), (330.0, 0.13)),
    ((30.0, 0.16), (55.0, 0.15), (300.0, 0.12)), ((160.0, 0.11), (195.0, 0.10), (95.0, 0.11)),
]  # fmt: skip
_GOLD_STOPS: list[tuple[float, Oklch]] = [
    (0.0, (0.30, 0.07, 58)), (0.35, (0.56, 0.11, 72)), (0.65, (0.80, 0.13, 86)),
    (1.0, (0.98, 0.07, 98)),
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Liquid:
    """A liquid in motion: currents of mean 0 and deviation 1, each more folded than the last."""

    brief: Brief
    substance: str
    rng: np.random.Generator
    zoom: float
    drift: Plane
    slow: Plane
    middle: Plane
    fast: Plane
    tints: Trio

    @property
    def size(self) -> int:
        return int(max(self.fast.shape))

    def grain(self, cells: float, gain: float = 0.5) -> Plane:
        return blobs(self.rng, self.fast.shape, cells * self.zoom, octaves=6, gain=gain)

    def has_any(self, *words: str) -> bool:
        return not {*self.brief.composition, *self.brief.things}.isdisjoint(words)


#: Color of a liquid, height of its surface or None if flat, and its emitted light.
_Look: TypeAlias = tuple[Plane, Plane | None, Plane | float]
_Currents: TypeAlias = tuple[float, int, float, float]
_Finish: TypeAlias = tuple[float, float, float, float]


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a painted liquid, which is flat."""
    return paint_in_detail(brief, progress, _paint_liquid)


def _paint_liquid(brief: Brief, progress: Progress) -> Painting:
    rng = np.random.default_rng([brief.seed, 43])
    drawn = str(rng.choice([*_SUBSTANCES], p=[chance for _, chance, *_ in _SUBSTANCES.values()]))
    name = next((one for one in _SUBSTANCES if f"liquid_{one}" in brief.things), drawn)
    look, _, currents, (depth, gloss, shine, rough) = _SUBSTANCES[name]
    liquid = _make_liquid(brief, rng, name, currents, progress.part(0.02, 0.45))
    picture, height, glow = look(liquid)
    progress.report(0.6)
    if height is not None:
        picture = _light_surface(picture, height, depth / liquid.zoom, gloss, shine, rough)
    picture = np.asarray(picture + glow, np.float32)
    progress.report(0.7)
    if "gold" in brief.things:
        picture = _gild(picture, liquid, 0.0042 if name == "marble" else 0.0065)
    picture = _compose(picture, liquid)
    picture *= np.float32(_HOUR_LIGHT.get(brief.hour, 1.0))
    progress.report(1.0)
    return Painting(light=picture, film=_FILM.grade(brief))


def _make_liquid(
    brief: Brief, rng: np.random.Generator, name: str, currents: _Currents, progress: Progress
) -> _Liquid:
    """Return a stirred liquid.

    Source: I. Quilez, "Domain warping" (2002).
    """
    cells, octaves, gain, reach = currents
    height, width, zoom = brief.height, brief.width, factor(brief, _ZOOMS)
    calm = brief.mood in ("calm", "pastel") or "minimal" in brief.composition
    amount = reach * (0.55 if calm else 1.0) / zoom * max(height, width)
    octaves = min(octaves, _OCTAVES[brief.detail])

    def grow() -> Plane:
        return blobs(rng, (height, width), cells, octaves=octaves, gain=gain, zoom=zoom)

    drift, other = grow(), grow()
    progress.report(0.3)
    slow = warp(grow(), drift, other, amount)
    progress.report(0.55)
    middle = warp(grow(), slow, drift, amount)
    progress.report(0.8)
    fast = warp(grow(), middle, slow, 1.25 * amount)
    mood = strength(brief)
    one, two, last = ((hue, chroma * mood) for hue, chroma in three_tints(rng, brief, _TINTS))
    return _Liquid(
        brief=brief, substance=name, rng=rng, zoom=zoom, drift=drift,
        slow=slow, middle=middle, fast=fast, tints=(one, two, last),
    )  # fmt: skip


def _marble(liquid: _Liquid) -> _Look:
    brief, dark = liquid.brief, liquid.brief.dark or liquid.has_any("dark_stone")
    hue, chroma = liquid.tints[0] if tints_of(brief) else (250.0, 0.012)
    fine, minimal = liquid.grain(7, 0.6), "minimal" in brief.composition
    cloud = smooth_step(-2.0, 2.2, liquid.fast + 0.6 * liquid.slow + 0.35 * fine)
    cloud = 0.66 + 0.2 * cloud if minimal else cloud  # one polished slab with faint clouds
    # Strongly colored stone is darker than white stone, or it would look like candy.
    ramp = (
        ((0.0, 0.07, 0.0, 0.2), (0.6, 0.17, 0.0, 0.4), (1.0, 0.34, 0.0, 0.6)) if dark else
        ((0.0, 0.74, 2.2, 0.95), (0.45, 0.88, 1.5, 0.75), (1.0, 0.975, 0.45, 0.3))
    )  # fmt: skip
    stops = [(at, (level - drop * chroma, share * chroma, hue)) for at, level, drop, share in ramp]
    veins = np.zeros_like(cloud)
    for course, wide, deep in (
        (liquid.middle, 0.0075, 1.0), (liquid.slow - 0.45, 0.0040, 0.75),
        (liquid.fast + 0.35, 0.0022, 0.65), (liquid.fast - 0.9, 0.0016, 0.5),
    )[: 1 if minimal else 4]:  # fmt: skip
        off = _distance(course + 0.018 * fine, 2.2 / liquid.size) / (wide * liquid.size)
        line = 0.62 * np.exp(-off) + 0.38 * np.exp(-off * 0.22)
        veins = np.maximum(veins, line * deep * smooth_step(-1.5, 0.6, liquid.drift))
    vein = light((0.86, 0.05 * (chroma > 0.03), hue) if dark else (0.36, 0.5 * chroma, hue))
    return blend(gradient(stops, cloud), vein, np.clip(0.85 * veins, 0.0, 1.0)), None, 0.0


def _ink(liquid: _Liquid) -> _Look:
    brief, (height, width) = liquid.brief, liquid.fast.shape
    # Black ink is a dye; with any other black, the background is black.
    black = brief.things.issuperset(("black", "ink")) and not tints_of(brief)
    tints = ((260.0, 0.008),) * 3 if black else liquid.tints
    center = focus(brief, tuple(liquid.rng.uniform(0.35, 0.65, 2)))
    reach = 0.43 * factor(brief, {"close": 2.4, "wide": 0.65, "dramatic": 1.5, "minimal": 0.7})
    near = falloff(height, width, center, reach)
    plume = liquid.fast + 0.55 * liquid.middle + 0.12 * liquid.grain(9) + 2.4 * near - 1.15
    threads = np.exp(-np.abs(liquid.fast * 2.2 + 0.5 * liquid.slow) * 2.6)
    thick = smooth_step(-0.6, 2.7, plume) * (0.72 + 0.5 * threads) + 0.05 * threads
    if liquid.has_any("minimal", "centered", "thirds"):  # one drop
        alone = falloff(height, width, center, 0.27 if liquid.has_any("minimal") else 0.48)
        thick *= smooth_step(0.12, 0.62, alone * (1.0 + 0.25 * liquid.slow))
    thick = np.clip(thick, 0.0, 1.0)
    share = smooth_step(-1.1, 1.1, liquid.slow)
    second = 0.8 * smooth_step(0.3, 1.7, liquid.middle - 0.3 * liquid.drift)

    def mix(level: float, strong: float) -> Plane:
        one, two, last = (light((level, strong * chroma, hue)) for hue, chroma in tints)
        return blend(blend(one, two, share), last, second)

    # The absorbance of a dye in each primary.
    dye = -np.log(np.clip(mix(0.52, 1.25), 0.012, 0.98))
    if brief.dark or (liquid.has_any("dark_water") and not black):
        glow = 0.5 + (1.0 - np.exp(-dye * 1.6)).mean(axis=0)
        return mix(0.76, 1.1) * (1.5 * thick**1.7 * glow) + 0.004, None, 0.0
    return light((0.96, 0.008, 84)) * np.exp(-dye * (3.4 * thick**1.35)), None, 0.0


def _silk(liquid: _Liquid) -> _Look:
    fold = liquid.fast + 0.45 * np.sin(liquid.fast * 3.6 + liquid.middle * 1.4)
    return _color_cloth(liquid, 0.5 + 0.20 * liquid.slow + 0.08 * liquid.middle), fold, 0.0


def _oil(liquid: _Liquid) -> _Look:
    """Paint a film of oil over dark water: interference orders by thickness, increasingly pale."""
    own, mood = tints_of(liquid.brief), strength(liquid.brief)
    turn = 40.0 * float(liquid.rng.standard_normal())
    stops = []
    for number in range(61):
        at = number / 60
        hue = 950.0 * at + turn
        if own:
            hue = own[number // 7 % len(own)][0] + 46.0 * math.sin(math.radians(hue))
        level = 0.52 + 0.22 * math.sin(17.0 * at) + 0.10 * at
        stops.append((at, (level, 0.14 * mood * (1.0 - 0.35 * at), hue % 360.0)))
    color = gradient(stops, 0.48 + 0.19 * liquid.fast + 0.07 * liquid.middle)
    color *= 0.16 + 0.84 * smooth_step(-1.3, 0.9, liquid.slow + 0.4 * liquid.middle)
    return color, liquid.fast + 0.25 * np.sin(liquid.fast * 5.0 + liquid.slow), 0.0


def _poured_paint(liquid: _Liquid) -> _Look:
    phase = liquid.fast * 1.15 + liquid.middle * 0.55
    bands = phase * 1.5
    part = bands - np.floor(bands)
    edge = smooth_step(0.0, 0.16, part) * smooth_step(1.0, 0.84, part)
    soft = bands - part + smooth_step(0.30, 0.70, part)
    color = _color_cloth(liquid, 0.52 + 0.45 * np.sin(soft * 1.9 + liquid.slow * 0.5))
    return color * (0.86 + 0.14 * edge), phase + 0.16 * edge + 0.05 * np.sin(bands * 6.3), 0.0


def _lava(liquid: _Liquid) -> _Look:
    fine, own, mood = liquid.grain(16, 0.6), tints_of(liquid.brief), strength(liquid.brief)
    hue = own[0][0] if own else 38.0
    # Cracks follow the zeros of two currents; the wide ones are the hottest.
    thin = 1.7 * np.abs(liquid.middle - 0.5 * liquid.slow + 0.18 * fine)
    near = np.minimum(np.abs(liquid.fast + 0.14 * fine), thin)
    pools = smooth_step(0.7, 1.9, liquid.slow + 0.25 * fine) * (0.72 + 0.1 * fine)
    heat = np.clip(np.maximum(np.exp(near * -5.5), pools), 0.0, 1.0)
    ramp = ((0.0, 0.10, 0.05, -14), (0.35, 0.42, 0.17, -10), (0.65, 0.66, 0.19, 6),
            (0.88, 0.84, 0.15, 36), (1.0, 0.97, 0.07, 58))  # fmt: skip
    stops = [(at, (level, chroma * mood, hue + turn)) for at, level, chroma, turn in ramp]
    crust = light((0.24, 0.012 * mood, hue)) * (1.0 - heat)
    return (
        crust,
        near - 0.55 * fine + 0.3 * liquid.drift,
        gradient(stops, heat) * (0.05 + 6.0 * heat**2.2),
    )


def _color_cloth(liquid: _Liquid, tone: Plane) -> Plane:
    ramp = ((0.0, 0.22, 0.55, 0), (0.28, 0.42, 1.0, 0), (0.52, 0.60, 1.0, 1), (0.76, 0.78, 0.85, 2),
            (1.0, 0.89, 0.5, 2))  # fmt: skip
    colors = ((at, level, share, liquid.tints[which]) for at, level, share, which in ramp)
    stops = [(at, (level, share * chroma, hue)) for at, level, share, (hue, chroma) in colors]
    return gradient(stops, tone)


def _light_surface(
    color: Plane, height: Plane, depth: float, gloss: float, shine: float, rough: float
) -> Plane:
    size = max(height.shape)
    right, down = slopes(height, depth * size)
    steep = 1.0 / np.sqrt(right * right + down * down + 1.0)
    facing = (-right * _LIGHT[0] - down * _LIGHT[1] + _LIGHT[2]) * steep
    half = _LIGHT + np.array([0.0, 0.0, 1.0], np.float32)
    half /= np.sqrt(float(half @ half))
    mirror = np.clip((-right * half[0] - down * half[1] + half[2]) * steep, 0.0, 1.0)
    hollow = np.clip(1.0 + 0.32 * (height - blur(height, 0.02 * size)), 0.55, 1.25)
    shade = (rough + (1.45 - rough) * np.maximum(facing, 0.0)) * hollow
    shade += np.maximum(-facing, 0.0) * np.float32(0.22)
    return np.asarray(color * shade + mirror**gloss * np.float32(shine), np.float32)


def _distance(level: Plane, flat: float) -> Plane:
    """Return the approximate distance in pixels to the nearest zero of a field."""
    right, down = slopes(level, 1.0)
    # Where the field is flat a line would become an area: its slope has a minimum.
    steep = cv2.sqrt(right * right + down * down + np.float32(flat * flat))
    return np.asarray(np.abs(level) / steep, np.float32)


def _gild(picture: Plane, liquid: _Liquid, wide: float) -> Plane:
    flat = 3.2 / liquid.size
    off = _distance(liquid.middle + np.float32(0.35) * liquid.drift - np.float32(0.25), flat)
    # A line thinner than a pixel breaks into dots.
    swell = np.maximum(wide * liquid.size * np.clip(0.65 + 0.55 * liquid.slow, 0.12, 1.8), 1.0)
    off /= swell
    share = smooth_step(1.0, 0.72, off) * smooth_step(-1.6, -0.9, liquid.drift)
    hair = _distance(liquid.fast + np.float32(0.8), flat) / np.maximum(0.4 * swell, 1.0)
    share = np.maximum(share, smooth_step(1.0, 0.6, hair))
    right, down = slopes(np.sqrt(np.clip(1.0 - off**2, 0.0, 1.0)) * swell, 1.0)
    glint = np.clip(0.5 - 0.55 * right - 0.65 * down + 0.10 * liquid.fast, 0.0, 1.0)
    gold = gradient(_GOLD_STOPS, glint) * (1.0 + 1.1 * glint**4)
    return blend(picture * (1.0 - np.float32(0.35) * smooth_step(2.6, 1.0, off)), gold, share)


def _compose(picture: Plane, liquid: _Liquid) -> Plane:
    brief, ink = liquid.brief, liquid.substance == "ink"
    thin = ink or liquid.substance == "marble"  # fades to an empty ground by itself, or is one
    if liquid.has_any("minimal") and not thin:
        picture = _cut_puddle(picture, liquid)
    if liquid.has_any("mirrored") or (liquid.has_any("centered") and not ink):
        picture = mirror_halves(picture)
    if liquid.has_any("thirds") and not ink:
        spotlight(picture, third(brief), 0.62, 0.26, most=1.15)
    if liquid.has_any("dramatic"):
        spotlight(picture, focus(brief, (0.36, 0.34)), 0.85, 0.10, most=1.0 if thin else 1.35)
    return picture


def _cut_puddle(picture: Plane, liquid: _Liquid) -> Plane:
    brief, (_, height, width) = liquid.brief, picture.shape
    level = falloff(height, width, focus(brief, (0.5, 0.5)), 0.34) * (1.0 + 0.30 * liquid.slow)
    inside = smooth_step(0.335, 0.355, level)
    hue, chroma = (tints_of(brief) or ((80.0, 0.0),))[0]
    dark = brief.dark or liquid.has_any("dark_ground") or liquid.substance == "lava"
    ground = light((0.12, 0.015, hue) if dark else (0.93, min(0.02, 0.2 * chroma) + 0.006, hue))
    offset = (round(0.010 * liquid.size), round(0.006 * liquid.size))
    shadow = blur(np.roll(inside, offset, (0, 1)), 0.009 * liquid.size)
    return blend(ground * (1.0 - 0.32 * shadow), picture, inside)


#: Substance -> its function; its random frequency; whirls along the longer side, octaves and gain
#: of their noise, and their displacement, as a share of that side; slope of its surface, narrowness
#: and brightness of its highlights, and the light in its shadows.
_SUBSTANCES: dict[str, tuple[Callable[[_Liquid], _Look], float, _Currents, _Finish]] = {
    "marble": (_marble, 0.2, (2.6, 6, 0.40, 0.120), (0.0, 0.0, 0.0, 0.0)),
    "ink": (_ink, 0.2, (2.2, 8, 0.50, 0.120), (0.0, 0.0, 0.0, 0.0)),
    "silk": (_silk, 0.25, (1.9, 3, 0.30, 0.150), (0.10, 20.0, 0.30, 0.34)),
    "oil": (_oil, 0.15, (2.0, 4, 0.36, 0.140), (0.10, 46.0, 0.75, 0.12)),
    "lava": (_lava, 0.0, (2.4, 7, 0.46, 0.110), (0.05, 18.0, 0.06, 0.25)),
    "paint": (_poured_paint, 0.2, (2.0, 4, 0.34, 0.150), (0.095, 44.0, 0.50, 0.25)),
}
