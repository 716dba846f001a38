"""Ridges: crests become planes, with the air's perspective, shadow, snow, growth and mist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle, pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats, Oklch, encode, linear, mix, oklab
from kit.engines.media.noise import field, line, smooth_step
from kit.engines.painting.poster.colors import Palette
from kit.engines.painting.poster.planes import Plane, Touch, enlarged, fill, outline, solid
from kit.engines.painting.poster.recipes import KINDS, Array, Band, Crest, Rise, placed, raise_crest
from kit.engines.painting.poster.sky import SkySetting

_HERO_DEPTH = 0.28  # the ridge nearest to this depth has the towering peak
_LONELY = 0.6  # up to this depth other peaks give way to a lone one
_WATER_FAR = 0.55  # ridges beyond this depth stand before the water
_BOLD = {"dramatic": 1.25, "calm": 0.8}  # mood -> how high the far ridges are
_SLENDER = 10  # pixels: a narrower peak gets no facet
_SADDLE, _CLEAR, _STEEP = 1.4, 0.55, 0.7  # of a ridge before a light: width, drop, slope
#: Plant -> half of the narrowest and the widest, how far corners stray across and up and down, and
#: how thick snow lies on it, in shares of its height.
PLANTS = {
    "conifer": ((0.15, 0.215), (0.20, 0.012), 0.05),
    "broadleaf": ((0.33, 0.41), (0.05, 0.02), 0.14),
    "poplar": ((0.075, 0.105), (0.15, 0.0), 0.03),
    "cactus": ((0.95, 1.05), (0.12, 0.09), 0.03),
}
_CACTUS = (
    *((0.0, 1.0), (0.035, 0.985), (0.052, 0.95), (0.055, 0.53), (0.11, 0.53), (0.12, 0.55)),
    *((0.12, 0.74), (0.13, 0.765), (0.16, 0.78), (0.19, 0.765), (0.2, 0.74), (0.2, 0.49)),
    *((0.185, 0.45), (0.15, 0.435), (0.055, 0.435), (0.06, 0.0)),
)


@dataclass(frozen=True, slots=True)
class _Ridge:
    rng: np.random.Generator
    depth: float
    band: Band
    crest: Crest
    foot: float
    top: int
    bottom: int
    body: Oklch


def ridges(
    rng: np.random.Generator, setting: SkySetting, count: int
) -> tuple[list[Plane], list[Plane]]:
    """Return the planes of all ridges, those behind the water and those before it."""
    hero, stage, light = None, setting.stage, setting.light
    *streams, own = rng.spawn(count + 1)
    if setting.recipe.hero:  # across the frame from the light, or beside one that is asked for
        share = 0.36 + own.uniform(-0.05, 0.04)
        share = share if light.x > stage.x(0.5) else 1.0 - share
        hero = stage.x(placed(share, () if light.named else setting.brief.composition))
    depths = [number / (count - 1) for number in range(count)]
    tallest = min(depths, key=lambda depth: abs(depth - _HERO_DEPTH))
    rows = [
        _ridge(stream, setting, depth, hero if depth == tallest else None)
        for stream, depth in zip(streams, depths, strict=True)
    ]
    # A ridge ends where the next one hides it at every column.
    for number, (ridge, nearer) in enumerate(pairwise(rows)):
        hidden = int(nearer.crest.y.max()) + 4 + 2 * stage.margin_y
        rows[number] = replace(ridge, bottom=max(ridge.top + 1, min(ridge.bottom, hidden)))
    far: list[Plane] = []
    near: list[Plane] = []
    for ridge in rows:
        target = near if setting.recipe.shore and ridge.depth > _WATER_FAR else far
        target.append(_paint(setting, ridge))
        if setting.mist > 0.05 and ridge.depth < 0.9:
            target.append(_bank(setting, ridge))
    return far, near


def _ridge(
    rng: np.random.Generator, setting: SkySetting, depth: float, hero: float | None
) -> _Ridge:
    stage, light, recipe = setting.stage, setting.light, setting.recipe
    start, band = 0.0, recipe.bands[0]
    for nearer in recipe.bands[1:]:
        if depth >= band.until:
            start, band = band.until, nearer
    (first, last), (far, near), shore = band.height, recipe.feet, recipe.shore
    height = first + (last - first) * (depth - start) / (band.until - start)
    height *= _BOLD.get(setting.brief.mood, 1.0) if depth < 0.5 else 1.0
    bottom = stage.rows
    if not shore:
        foot = stage.y(far + (near - far) * depth**1.08)
    elif depth > _WATER_FAR:
        foot = stage.y(0.93 + (near - 0.93) * (depth - _WATER_FAR) / (1 - _WATER_FAR))
    else:
        foot = stage.y(far + (shore + 0.012 - far) * depth / _WATER_FAR)
        bottom = round(stage.y(shore))
    spacing = stage.unit * band.spacing * rng.uniform(0.85, 1.15)
    rise = Rise(foot, stage.unit * height, spacing, hero, recipe.lone if depth < _LONELY else 0.0)
    crest = raise_crest(rng, stage, KINDS[band.kind], rise)
    if light.named:  # a saddle before a light that is asked for, so that it is seen
        beside = np.abs(np.arange(stage.columns) - light.x) - _SADDLE * light.radius
        free = light.y + _CLEAR * light.radius - _STEEP * np.maximum(beside, 0.0)
        crest = crest._replace(y=np.maximum(crest.y, free).astype(np.float32))
    plants = 1.3 * max(band.tall, recipe.framing[1] if depth == 1.0 else 0.0)
    top = int(np.clip(crest.y.min() - plants * stage.unit - 3, 0, stage.rows - 2))
    bottom, body = max(top + 1, bottom), _tone(setting.palette, depth)
    return _Ridge(rng, depth, band, crest, foot, top, bottom, body)


def _tone(palette: Palette, depth: float) -> Oklch:
    """Return the body color of a ridge at a depth."""
    far, middle, near = palette.land
    if depth < 0.5:
        return mix(far, middle, depth / 0.5)
    return mix(middle, near, ((min(1.0, depth) - 0.5) / 0.5) ** 0.85)


def _paint(setting: SkySetting, ridge: _Ridge) -> Plane:
    stage, palette, brief = setting.stage, setting.palette, setting.brief
    depth, band, top, bottom = ridge.depth, ridge.band, ridge.top, ridge.bottom
    mask = stage.blank(top, bottom)
    # Edges a pixel long come out ragged: a crest is drawn in steps of a few.
    share = 0.002 if band.kind == "mountains" else 0.005
    columns = np.arange(0, stage.columns, max(1, round(stage.unit * share)))
    columns = np.append(columns, stage.columns - 1)
    heights, beyond = ridge.crest.y[columns], stage.columns + 8
    corners = [beyond, beyond, -8, -8], [heights[-1], bottom + 8, bottom + 8, heights[0]]
    fill(mask, outline((columns, heights), corners), top=top)
    snow = stage.blank(top, bottom) if brief.season == "winter" else None
    touches = [*_relief(setting, ridge)]
    _plant(setting, ridge, mask, snow)
    if snow is not None and (band.kind != "mountains" or band.plant):  # bare rock has its caps
        # Snow is as bright as the sky lets it be: by night it is hardly more than a gray.
        white = mix(ridge.body, palette.air[1], palette.sky[3][0] ** 0.6 * (1.0 - 0.1 * depth))
        touches.insert(0, _masked(white, cv2.min(snow, mask), 0.94))
        if band.kind != "mesas":
            touches.insert(0, _below(white, ridge, 0.92, 0.5 * stage.unit, 0.6))
    # Pale far away, dark near by, and mist at the foot.
    haze = mix(palette.air[0], palette.sky[3], 0.35)
    share = min(0.95, (0.20 + 0.75 * setting.mist) * (1.0 - depth) ** 0.75)
    high = float(np.sort(ridge.crest.y[::8])[stage.columns // 32])
    reach = 0.24 * stage.height * (1 - 0.3 * depth)
    rows = np.clip((np.arange(top, bottom) - high) / reach, 0.0, 1.0)
    start, end = oklab(ridge.body), oklab(mix(ridge.body, haze, share))
    color = encode(linear(start + (end - start) * rows[:, None])).T
    return Plane("ridge", depth, top, color, mask, tuple(touches))


def _relief(setting: SkySetting, ridge: _Ridge) -> Iterator[Touch]:
    """Yield the light's glow, the light on the ground, and the layers of rock."""
    stage, palette = setting.stage, setting.palette
    rng, depth, band, body, y = ridge.rng, ridge.depth, ridge.band, ridge.body, ridge.crest.y
    top, bottom = ridge.top, ridge.bottom
    warm = 0.42 * (1 - depth) ** 2.2
    if warm > 0.03:
        away = (np.arange(stage.columns) - setting.light.x) / (0.30 * stage.unit)
        glow = (warm * np.exp(-(away**2))).astype(np.float32)[None]
        yield Touch(palette.light[1], lambda rows, columns: glow[:, columns])
    if band.kind == "dunes" or (band.kind == "hills" and band.plant != "conifer"):
        reach = stage.unit * (0.05 + 0.05 * depth)
        strength = 0.30 * (1.0 - 0.45 * depth)
        yield _below(mix(body, palette.light[1], 0.7), ridge, strength, reach, 0.0)
    if band.kind == "mesas":
        down = np.arange(top, bottom, dtype=np.float32) - float(y.min())
        tall = max(1.0, float(np.percentile(y, 98) - y.min()))
        layers = line(rng, down, tall * 0.13, octaves=3, gain=0.7)
        rock = 0.30 * smooth_step(-0.1, 0.3, layers) * np.clip(1.0 - down / (1.1 * tall), 0.0, 1.0)
        bands = rock.astype(np.float32)[:, None]
        yield Touch(_tone(palette, depth + 0.3), lambda rows, columns: bands[rows])
    if band.kind in ("mountains", "islands", "dunes"):
        yield from _facets(setting, ridge)


def _facets(setting: SkySetting, ridge: _Ridge) -> Iterator[Touch]:
    """Yield the snow on peaks, and the flanks that face away from the light."""
    stage, palette, brief = setting.stage, setting.palette, setting.brief
    rng, depth, band, body, y = ridge.rng, ridge.depth, ridge.band, ridge.body, ridge.crest.y
    top, bottom, air = ridge.top, ridge.bottom, 1.0 - 0.55 * setting.mist * (1 - ridge.depth)
    winter = brief.season == "winter"
    snowy = winter or (brief.season != "autumn" and brief.seed % 3 != 0)
    if band.kind == "mountains" and not band.plant and snowy:
        caps = stage.blank(top, bottom)
        for peak in ridge.crest.peaks:
            cap = _cap(rng, y, peak, 0.85 if winter else 0.42)
            if cap is not None:
                fill(caps, cap, top=top)
        yield _masked(mix(palette.air[1], body, 0.10 + 0.35 * depth), caps, 0.92 * air)
    dark = stage.blank(top, bottom)
    draw = _lee if band.kind == "dunes" else _flank
    for left, middle, right in ridge.crest.peaks:
        foot = right if setting.light.x < middle else left
        if abs(foot - middle) >= _SLENDER:
            fill(dark, draw(rng, y, middle, foot), top=top)
    rows = np.arange(top, bottom, dtype=np.float32)
    high = ridge.foot - 0.85 * (ridge.foot - float(y.min()))
    fading = smooth_step(ridge.foot, high, rows)[:, None]
    deep = mix(_tone(palette, depth + 0.34), body, 0.25)
    yield _masked(deep, dark, (0.72 if band.kind == "dunes" else 0.62) * air, fading)


def _masked(color: Oklch, mask: Bytes, strength: float, fading: Floats | None = None) -> Touch:
    """Return a touch that covers where a mask does, its rows fading."""
    scale = np.float32(strength / 255)

    def weights(rows: slice, columns: slice) -> Floats | None:
        part = mask[rows, columns]
        if not cv2.countNonZero(part):
            return None
        return np.asarray(part * (scale if fading is None else fading[rows] * scale))

    return Touch(color, weights)


def _below(color: Oklch, ridge: _Ridge, high: float, reach: float, least: float) -> Touch:
    """Return a touch that is strongest under a crest and falls to `least` over some pixels."""
    y, top = ridge.crest.y + np.float32(reach), ridge.top
    scale, lowest = np.float32(1 / reach), float(y.max())
    edge = high * (1.0 + 1.5 / reach) ** 2  # the crest itself is half a pixel of land

    def weights(rows: slice, columns: slice) -> Floats | None:
        if not least and top + rows.start > lowest:
            return None
        down = np.arange(top + rows.start, top + rows.stop, dtype=np.float32)[:, None]
        share = np.subtract(y[columns], down)
        share *= scale
        np.maximum(share, 0.0, out=share)
        share *= share
        share *= np.float32(high)
        if least:
            np.maximum(share, np.float32(least), out=share)
        cv2.threshold(share, edge, 0.0, cv2.THRESH_TOZERO_INV, dst=share)  # trees stand dark
        return np.asarray(share)

    return Touch(color, weights)


def _flank(rng: np.random.Generator, y: Floats, peak: int, foot: int) -> Array:
    """Outline a flank in shadow: the crest, and from the peak down a spine with fingers."""
    reach, side = abs(foot - peak), 1 if foot > peak else -1
    edge = np.arange(peak, foot + side, side * max(1, reach // 60))
    steps, shares = np.linspace(0.0, 1.0, 8), np.linspace(0.92, 0.12, 7)
    depth = max(0.9 * reach, 1.25 * float(y[foot] - y[peak]))
    wander = np.cumsum(rng.uniform(-0.08, 0.11, 8)) * reach * side * (steps > 0)
    columns = np.rint(peak + side * reach * (shares + rng.uniform(-0.04, 0.04, 7))).astype(int)
    columns = np.clip(columns, 0, len(y) - 1)
    long = np.where(np.arange(7) % 2, 0.92, 0.42) * rng.uniform(0.7, 1.1, 7)
    fingers = y[columns] + depth * long * (1.0 - shares) * 0.9
    lower = columns + wander[-1] * (1.0 - shares), fingers
    spine = (peak + wander)[::-1], (y[peak] + depth * steps)[::-1]
    return outline((edge, y[edge] - 1.0), lower, spine)


def _lee(rng: np.random.Generator, y: Floats, peak: int, foot: int) -> Array:
    """Outline the lee side of a dune: bounded by one flowing line."""
    reach, side = abs(foot - peak), 1 if foot > peak else -1
    edge = np.arange(peak, foot + side, side * max(1, reach // 80))
    deep = max(float(y[foot] - y[peak]), 0.25 * reach) * rng.uniform(1.2, 1.7)
    share = np.linspace(1.0, 0.0, 28)
    bend = rng.uniform(0.16, 0.34) * np.sin(np.pi * share * 1.15) + 0.75 * share**2.2
    return outline((edge, y[edge] - 1.0), (peak + side * reach * bend, y[peak] + deep * share))


def _cap(
    rng: np.random.Generator, y: Floats, peak: tuple[int, int, int], amount: float
) -> Array | None:
    """Outline the snow of a peak: the crest above its line, closed below by uneven teeth."""
    left, top, right = peak
    tall = float(max(y[left], y[right]) - y[top])
    if tall < _SLENDER or right - left < 2 * _SLENDER:
        return None
    low = float(y[top]) + tall * amount * rng.uniform(0.8, 1.15)
    high = np.flatnonzero(y[left : right + 1] <= low)
    left, right = left + int(high[0]), left + int(high[-1])
    edge = np.arange(left, right + 1, max(1, (right - left) // 60))
    teeth = np.arange(9, 0, -1)
    columns = left + (teeth + rng.uniform(-0.3, 0.3, 9)) * (right - left) / 10
    under = y[np.clip(columns.astype(int), 0, len(y) - 1)]
    deep = np.where(teeth % 2, 0.5, 1.05) * rng.uniform(0.7, 1.2, 9)
    lower = columns, under + (low - under) * deep + (low - y[top]) * 0.12
    return outline((edge, y[edge] - 1.0), lower)


def _bank(setting: SkySetting, ridge: _Ridge) -> Plane:
    """Return a bank of mist that lies at the foot of a ridge."""
    stage, depth = setting.stage, ridge.depth
    middle, half = ridge.foot - 0.02 * stage.height, 0.11 * stage.height
    top = int(min(max(middle - half, 0), stage.rows - 2))
    bottom = int(min(max(middle + half, top + 1), ridge.bottom))
    drift = field(ridge.rng, 24, 96, cells=(3, 5), octaves=3)
    down = np.linspace(-1.0, 1.0, 24, dtype=np.float32)[:, None]
    cover = np.clip((0.55 + 0.38 * drift) * (1 - down**2) ** 1.5, 0, 1)
    strength = 225 * setting.mist * (1 - depth) ** 0.8
    alpha = enlarged(cover * strength, (stage.columns, max(1, bottom - top)))
    color = mix(setting.palette.air[0], ridge.body, 0.12)
    return Plane("mist", depth + 0.04, top, solid(color), alpha)


def _plant(setting: SkySetting, ridge: _Ridge, mask: Bytes, snow: Bytes | None) -> None:
    """Plant a crest: groves and clearings; nearest to the viewer, large plants at both sides."""
    stage, band, rng, y = setting.stage, ridge.band, ridge.rng, ridge.crest.y
    stands = []
    if band.plant:
        tall = stage.unit * band.tall * (0.22 + 0.78 * ridge.depth**1.5)
        stands.append((band.plant, *_grove(rng, stage.columns, tall, band.density)))
    kind, tall = setting.recipe.framing
    if kind and ridge.depth == 1.0:
        strong = int(rng.integers(2))
        for side in (0, 1):
            count, reach, scale = (5, 0.24, 1.0) if side == strong else (3, 0.13, 0.66)
            shares = np.abs(side - np.sort(rng.uniform(-0.03, reach, count)))
            sizes = stage.unit * tall * scale * (1.0 - 0.62 * np.arange(count) / count)
            sizes *= rng.uniform(0.82, 1.1, count)
            stands.append((kind, stage.margin_x + stage.width * shares, sizes))
    for kind, x, sizes in stands:
        feet = y[np.clip(x, 0, stage.columns - 1).astype(int)] + 0.05 * sizes
        _draw(rng, kind, np.stack([x, feet, sizes]), mask, snow, ridge.top)


def _grove(
    rng: np.random.Generator, columns: int, tall: float, density: float
) -> tuple[Array, Array]:
    """Return where plants stand and how tall they are: clumps, large and small side by side."""
    # As far apart as the thinnest tree is wide: groves and sizes change slowly.
    at = np.arange(0.0, columns + tall, max(1.0, tall * 0.1))
    groves = line(rng, at, tall * 9.0, octaves=3) + 2.2 * density - 1.0
    sizes = line(rng, at, tall * 4.0, octaves=2)
    shortest = tall * 0.09 / min(1.0, 0.35 + density)
    steps = shortest * (1.0 + 4.7 * rng.random(int(columns / shortest) + 2) ** 2.2)
    x = rng.uniform(0.0, tall) + np.cumsum(steps) - steps[0]
    x = x[x < columns]
    if density < 1.0:
        x = x[np.interp(x, at, groves) > 0.0]
    share = 0.62 + 0.30 * np.interp(x, at, sizes) + rng.uniform(-0.3, 0.3, len(x))
    return x, tall * np.clip(share, 0.22, 1.25)


def _draw(
    rng: np.random.Generator, kind: str, stand: Array, mask: Bytes, snow: Bytes | None, top: int
) -> None:
    """Draw plants, shape (3, n) of x, y of the foot and height, and in winter what lies on them."""
    widths, rough, laden = PLANTS[kind]
    # An even number, so that more of them are alike enough to be drawn together.
    tiers = np.clip(2 * np.rint(stand[2] / (10 if kind == "conifer" else 16)), 4, 14).astype(int)
    for count in np.unique(tiers).tolist():
        x, y, tall = stand[:, tiers == count, None]
        half, up, knobs = _template(kind, count)
        dice = 2.0 * rng.random((2, len(x), len(half))) - 1.0
        aside, upward = dice if kind in ("conifer", "poplar") else dice[..., knobs]
        outlines = np.empty((len(x), len(half), 2))
        outlines[..., 0] = x + tall * rng.uniform(*widths, x.shape) * half * (
            1.0 + rough[0] * aside
        )
        outlines[..., 1] = y + 2.0 - tall * up * (1.0 + rough[1] * upward)
        fill(mask, outlines, top=top)
        if snow is not None:
            # What is left of each when it is drawn again a little lower.
            large = laden * tall[:, 0] > 0.6
            both = np.stack([outlines[large]] * 2, axis=1)
            both[:, 1, :, 1] += np.maximum(laden * tall[large], 1.0)
            fill(snow, both.reshape(-1, len(half), 2), top=top, values=cycle((255, 0)))


@lru_cache(32)
def _template(kind: str, tiers: int) -> tuple[Array, Array, NDArray[np.intp]]:
    """Return an outline from the crown down and up again: half widths, heights, and their dice."""
    if kind == "poplar":
        up = np.linspace(1.0, 0.0, 12)
        half, knobs = np.sin(np.pi * up**0.62) ** 0.8, np.arange(12)
    elif kind == "cactus":  # a column with arms that bend upward
        half, up = np.array(_CACTUS).T
        knobs = np.r_[[0] * 3, [4] * 12, 0]
    elif kind == "broadleaf":  # lobes around a crown, on a trunk
        turn = np.linspace(np.pi / 2, -0.42 * np.pi, 8 * (tiers // 2) + 1)
        knobs = np.arange(len(turn) + 2) // 8
        lobes = 0.95 + 0.17 * np.abs(np.sin(np.arange(len(turn)) * np.pi / 8)) ** 0.7
        half = np.append(lobes * np.cos(turn), [0.1, 0.12])
        up = np.append(0.64 + 0.31 * lobes * np.sin(turn), [0.38, 0.0])
    else:  # a fir: each tier goes out along a hanging bough and back in
        step = np.arange(1, tiers + 1) / tiers
        wide, low = 0.14 + 0.86 * step**0.9, 1.0 - 0.93 * (step - 0.5 / tiers)
        half, up = np.zeros(2 * tiers + 2), np.zeros(2 * tiers + 2)
        half[1:-1:2], half[2:-1:2], half[-1] = 0.93 * wide, 0.43 * wide, 0.07
        up[0], up[1:-1:2], up[2:-1:2] = 1.0, low - 0.46 / tiers, low - 0.16 / tiers
        knobs = np.arange(len(half))
    mirrored = np.append(knobs, np.where(knobs, len(half) + knobs, 0)[::-1])  # one crown
    return np.append(half, -half[::-1]), np.append(up, up[::-1]), mirrored
