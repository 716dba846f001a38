"""The ground's colors: what grows where, lit once by the sun and the sky, with soft shadows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.scene.land import tone
from kit.engines.scene.land.look import Look
from kit.engines.video.flythrough.terrain import SIDE, Land, noise


@dataclass(frozen=True, slots=True)
class Cover:
    """What the ground is covered with: two colors of growth, two of rock, and the snow line.

    Parameters
    ----------
    steep : float
        Slope from which rock shows, 0 to 1.
    snow : float
        Share of the height from which snow lies; above 1 there is none.
    strata : float
        How strongly rock is banded.
    """

    growth: tuple[Oklch, Oklch]
    rock: tuple[Oklch, Oklch]
    steep: float = 0.16
    snow: float = 2.0
    strata: float = 0.0


_GREEN = ((0.44, 0.075, 128), (0.54, 0.075, 116))
_ROCK = ((0.45, 0.020, 60), (0.63, 0.020, 70))
_WINTER = Cover(
    ((0.84, 0.018, 242), (0.90, 0.012, 240)), ((0.40, 0.020, 260), (0.57, 0.02, 260)), 0.2, 0.2
)
_COVERS = {
    "alps": Cover(_GREEN, _ROCK, 0.15, 0.60),
    "hills": Cover(((0.52, 0.105, 124), (0.66, 0.105, 108)), _ROCK, 0.45),
    "forest": Cover(((0.30, 0.055, 150), (0.44, 0.075, 136)), _ROCK, 0.9),
    "islands": Cover(
        ((0.42, 0.085, 132), (0.54, 0.085, 118)), ((0.52, 0.03, 65), (0.70, 0.03, 75))
    ),
    "desert": Cover(
        ((0.70, 0.090, 68), (0.80, 0.085, 76)), ((0.62, 0.10, 58), (0.70, 0.10, 64)), 2
    ),
    "canyon": Cover(
        ((0.60, 0.085, 62), (0.66, 0.080, 84)),
        ((0.50, 0.115, 42), (0.66, 0.11, 54)),
        0.08,
        2.0,
        0.6,
    ),
}
_SHADE = 1.2  # seen from the air there is more sky above the land than in a street
_DARKEST = 0.36  # light from a sky without a moon, in which land can just be seen
_AUTUMN = ((0.56, 0.125, 58), (0.64, 0.130, 82))
_SPRING = ((0.54, 0.105, 132), (0.68, 0.100, 116))
_DRY = ("desert", "canyon")
_SNOW: Oklch = (0.975, 0.010, 245)
_SAND: Oklch = (0.66, 0.055, 80)


def colored(
    ground: Land, season: str, look: Look, toward: tuple[float, float], rng: np.random.Generator
) -> Bytes:
    """Return the lit colors of land, shape (SIDE, SIDE, 4), uint8.

    The first three channels are encoded sRGB, the fourth says how much of a texel is water.

    Parameters
    ----------
    toward : tuple of float
        Direction of the sun on the map, of length 1.
    """
    slopes = _slopes(ground.heights)
    albedo = _albedo(ground, season, slopes[2], rng)
    sun = (toward[0], toward[1], look.high_light)
    direct = _facing(slopes, sun) * _lit(ground.heights, sun)
    # The weaker the sun, the more the eye opens to the light of the sky.
    lift = _SHADE * (1.0 + 0.5 * max(0.0, 1.0 - look.sun_power / 2.4))
    shade = max(look.shade_power, _DARKEST - 0.25 * look.sun_power)
    around = _open(ground.heights) * (0.55 + 0.45 * slopes[2]) * np.float32(lift)
    planes = albedo * (
        tone.light(look.sun, look.sun_power) * direct + tone.light(look.shade, shade) * around
    )
    picture = tone.developed(
        planes.astype(np.float32),
        rng,
        exposure=look.exposure,
        saturation=0.95 * look.saturation,
        vignette=0.0,
        grain=0.0,
    )
    return np.dstack([picture, _wet(ground)])


def _albedo(ground: Land, season: str, upright: Floats, rng: np.random.Generator) -> Floats:
    cover = _cover(ground.kind, season)
    heights, rough = ground.heights, ground.rough
    high = heights / heights.max()
    patches = noise(rng, 16, 6, 0.6)
    slope = 1.0 - upright
    growth = _blend(cover.growth, np.clip(0.5 + 0.14 * rough + 0.26 * patches, 0.0, 1.0))
    bands = 0.5 + 0.5 * np.sin((heights + 1.6 * patches) * np.float32(0.62))
    stone = np.clip(0.5 + 0.2 * rough + (high - 0.5), 0.0, 1.0)
    rock = _blend(cover.rock, stone + cover.strata * (bands - stone))
    bare = smooth_step(
        cover.steep - 0.06,
        cover.steep + 0.10,
        slope + 0.05 * patches + 0.5 * np.maximum(high - 0.6, 0.0) * (cover.snow < 1.5),
    )
    albedo = growth + (rock - growth) * bare
    if ground.water is not None:
        beach = smooth_step(ground.water + 2.6, ground.water + 0.4, heights + 0.5 * rough)
        albedo += (tone.light(_SAND) - albedo) * (beach * (0.15 if season == "winter" else 0.75))
    lies = smooth_step(cover.snow - 0.09, cover.snow + 0.09, high + 0.08 * patches - 0.35 * slope)
    lies *= 1.0 - smooth_step(0.34, 0.62, slope + 0.02 * patches)
    albedo += (tone.light(_SNOW) - albedo) * lies
    return np.asarray(albedo, np.float32)


def _cover(kind: str, season: str) -> Cover:
    cover = _COVERS[kind]
    if kind in _DRY:
        return (
            Cover(cover.growth, cover.rock, cover.steep, 0.45, cover.strata)
            if (season == "winter" and kind == "canyon")
            else cover
        )
    if season == "winter":
        dark = ((0.36, 0.03, 190), (0.86, 0.014, 242)) if kind == "forest" else _WINTER.growth
        return Cover(dark, _WINTER.rock, _WINTER.steep if kind != "forest" else 0.9, 0.12)
    growth = {"autumn": _AUTUMN, "spring": _SPRING}.get(season, cover.growth)
    return Cover(growth, cover.rock, cover.steep, cover.snow, cover.strata)


def _blend(colors: tuple[Oklch, Oklch], share: Floats) -> Floats:
    one, other = (tone.light(color) for color in colors)
    return np.asarray(one + (other - one) * share, np.float32)


def _slopes(heights: Floats) -> tuple[Floats, Floats, Floats]:
    """Return how heights rise to the right and downward, and how upright the ground faces."""
    padded = np.pad(heights, 2, mode="wrap")
    x, y = (
        cv2.Scharr(padded, cv2.CV_32F, right, 1 - right, scale=1 / 32)[2:-2, 2:-2]
        for right in (1, 0)
    )
    return x, y, np.asarray(1.0 / np.sqrt(x * x + y * y + 1.0))


def _facing(slopes: tuple[Floats, Floats, Floats], sun: tuple[float, float, float]) -> Floats:
    length = math.sqrt(sum(part * part for part in sun))
    x, y, z = (part / length for part in sun)
    return np.asarray(np.clip((z - slopes[0] * x - slopes[1] * y) * slopes[2], 0.0, 1.0))


def _lit(heights: Floats, sun: tuple[float, float, float]) -> Floats:
    """Return where the sun reaches: the half-size map is shifted toward it, ever farther."""
    half = cv2.resize(heights, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    flat = math.hypot(sun[0], sun[1])
    x, y, rise = sun[0] / flat, sun[1] / flat, sun[2] / flat
    above = np.full_like(half, -1e3)
    for step in np.unique(np.geomspace(1, 90, 30).astype(int)):
        other = np.roll(half, (-round(y * step), -round(x * step)), (0, 1))
        np.maximum(above, (other - half - 2 * step * rise) / (step**0.5 + 1), out=above)
    return 1.0 - smooth_step(-0.3, 1.2, cv2.resize(above, (SIDE, SIDE)))


def _open(heights: Floats) -> Floats:
    """Return how much of the sky each place sees: hollows are darker than crests."""
    padded = np.pad(heights, 40, mode="wrap")
    near = cv2.GaussianBlur(padded, (0, 0), 3.0)[40:-40, 40:-40]
    small = cv2.resize(padded, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    wide = cv2.resize(cv2.GaussianBlur(small, (0, 0), 3.5), padded.shape[::-1])[40:-40, 40:-40]
    return np.asarray(
        np.clip(1 + (heights - wide) * np.float32(0.042), 0.35, 1.25)
        * np.clip(1 + (heights - near) * np.float32(0.10), 0.55, 1.3)
    )


def _wet(ground: Land) -> Bytes:
    if ground.water is None:
        return np.zeros((SIDE, SIDE), np.uint8)
    share = smooth_step(ground.water + 0.15, ground.water - 0.9, ground.heights)
    return np.rint(share * 255).astype(np.uint8)
