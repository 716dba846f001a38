"""Land: noise reliefs, cut into ridges that are planes of color one behind the other."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, Oklch, encode, linear, mix, oklab
from kit.engines.media.noise import field, line, smooth_step
from kit.engines.painting import noise
from kit.engines.painting.poster.colors import Palette
from kit.engines.painting.poster.planes import Plane, Touch, enlarge, fill, outline, solid
from kit.engines.painting.poster.plants import draw_plants, spread
from kit.engines.painting.poster.sky import SkySetting, place_of
from kit.engines.prompt.brief import Brief

_PEAK_POINTS = 26  # relief points from peak to peak in mountains
_SIDE = 128  # side of the relief of other land
_SLICES, _CREST_SLICES = 11, 3  # of a relief in a ridge, farthest first; of its crest
_STEP = 6  # pixels per sample of light and snow on a ridge
_SHARPEN = np.clip(8 * (np.arange(256) - 112), 0, 255).astype(np.uint8)
_PEAK_DEPTH = 0.28  # depth of the ridge with the highest peak, about
_LONE_DEPTH = 0.6  # depth up to which other peaks are lowered for a lone one
_SHORE_DEPTH = 0.55  # ridges beyond this depth are before the water
_DARK_DEPTH = 0.6  # depth from which ridges are too dark for shadows
_MOOD_HEIGHTS = {"dramatic": 1.25, "calm": 0.8}  # mood -> factor on the height of far ridges
_SADDLE_WIDTH, _SADDLE_DROP, _SADDLE_SLOPE = 1.4, 0.55, 0.7  # of a ridge before a light
_MAX_HORIZON, _MIN_HORIZON = 0.80, 0.32  # rows that limit the horizon
_SPARSE_TREES = 0.25  # share of trees in a minimal forest; other land has none


class Zone(NamedTuple):
    """Ridges of one kind down to a depth, 0 for the horizon and 1 for the viewer's feet.

    The heights are those of the first and the last ridge; they, the distance of peaks and the
    plants at depth 1 are in units. Density 1 is a closed forest, 0.3 groves, less single plants.
    """

    until: float
    kind: str
    height: tuple[float, float]
    spacing: float
    plant: str = ""
    tall: float = 0.0
    density: float = 0.0


class Recipe(NamedTuple):
    """The layout of a place, with rows as shares of the frame's height.

    The feet are those of the farthest and the nearest ridge; large plants frame both sides, with a
    height in units. Ridges with feet above the shore are reflected in water, from 0 (a mirror) to 1
    (an open sea). One peak may be the main one, with the others lowered.
    """

    horizon: float
    feet: tuple[float, float]
    framing: tuple[str, float]
    zones: tuple[Zone, ...]
    shore: float | None = None
    rough: float = 0.0
    main_peak: bool = True
    lone: float = 0.0


_MOUNTAINS = (
    Zone(0.45, "mountains", (0.20, 0.31), 0.26),
    Zone(0.72, "mountains", (0.20, 0.15), 0.36, "conifer", 0.050, 0.55),
    Zone(1.01, "hills", (0.09, 0.06), 0.5, "conifer", 0.085, 0.75),
)
_HILLS = (
    Zone(0.20, "mountains", (0.13, 0.13), 0.40),
    Zone(0.45, "hills", (0.11, 0.11), 0.45),
    Zone(0.72, "hills", (0.11, 0.12), 0.62, "broadleaf", 0.062, 0.42),
    Zone(0.95, "hills", (0.12, 0.11), 0.8, "poplar", 0.125, 0.30),
    Zone(1.01, "hills", (0.08, 0.08), 0.9),
)
_DESERT = (Zone(0.36, "mesas", (0.12, 0.22), 0.5), Zone(1.01, "dunes", (0.075, 0.19), 0.74))
_SEA = (
    Zone(0.6, "islands", (0.09, 0.20), 0.17),
    Zone(1.01, "hills", (0.05, 0.10), 0.8, "conifer", 0.06, 0.35),
)
_FOREST = (
    Zone(0.16, "mountains", (0.16, 0.20), 0.36),
    Zone(1.01, "hills", (0.12, 0.07), 0.5, "conifer", 0.17, 1.0),
)
_LAKE = (
    Zone(0.40, "mountains", (0.16, 0.27), 0.25),
    Zone(0.66, "hills", (0.07, 0.045), 0.4, "conifer", 0.055, 0.9),
    Zone(1.01, "hills", (0.05, 0.05), 0.7, "conifer", 0.07, 0.3),
)
_RECIPES = {
    "mountains": Recipe(0.62, (0.60, 1.02), ("conifer", 0.34), _MOUNTAINS),
    "hills": Recipe(0.60, (0.60, 1.03), ("broadleaf", 0.25), _HILLS, main_peak=False),
    "desert": Recipe(0.58, (0.58, 1.06), ("cactus", 0.24), _DESERT),
    "sea": Recipe(0.56, (0.565, 1.03), ("conifer", 0.26), _SEA, shore=0.60, rough=0.9),
    "forest": Recipe(0.62, (0.56, 1.06), ("conifer", 0.52), _FOREST),
    "lake": Recipe(0.58, (0.57, 1.03), ("conifer", 0.40), _LAKE, shore=0.665, rough=0.12),
}
#: Word of composition -> factors on the land's height, the distance of peaks, the plants and the
#: disc of the light; isolation of one peak; number of ridges removed.
_SHOTS = {
    "wide": (0.55, 0.55, 0.55, 0.72, 0.0, 0),
    "close": (1.8, 2.3, 1.8, 1.5, 0.45, 2),
    "minimal": (0.62, 1.7, 1.4, 1.45, 0.85, 4),
    "dramatic": (1.7, 1.9, 0.7, 1.4, 0.6, 0),
    "high": (0.78, 0.78, 0.78, 1.0, 0.0, 0),
    "low": (1.2, 1.2, 1.2, 1.0, 0.0, 0),
}


def recipe_for(brief: Brief, ridges: int) -> tuple[Recipe, float, int]:
    """Return a brief's recipe, the factor on the light's disc and the number of ridges."""
    recipe, words = _RECIPES[brief.place], brief.composition
    rows = np.array([(1.0, 1.0, 1.0, 1.0, 0.0, 0), *(_SHOTS[w] for w in words if w in _SHOTS)])
    (size, apart, plants, light), (lone, fewer) = rows[:, :4].prod(0), rows[:, 4:].max(0)
    horizon = max(_MIN_HORIZON, min(_MAX_HORIZON, recipe.horizon + brief.horizon))
    if "thirds" in words:
        horizon = 1 / 3 if "high" in words else 2 / 3
    lower, minimal = horizon - recipe.horizon, "minimal" in words
    plant, tall = recipe.framing
    zones = (
        zone._replace(
            height=(zone.height[0] * size, zone.height[1] * size),
            spacing=zone.spacing * apart,
            tall=zone.tall * plants,
            plant="" if minimal and zone.density < 1.0 else zone.plant,
            density=zone.density * (_SPARSE_TREES if minimal else 1.0),
        )
        for zone in recipe.zones
    )
    framed = recipe._replace(
        horizon=horizon,
        feet=(recipe.feet[0] + lower, recipe.feet[1]),
        shore=None if recipe.shore is None else recipe.shore + lower,
        framing=("" if minimal or "high" in words else plant, tall * size**0.6),
        main_peak=recipe.main_peak or "dramatic" in words,
        lone=float(lone),
        zones=tuple(zones),
    )
    return framed, float(light), max(3, ridges - int(fewer))


class _Relief(NamedTuple):
    """Heights of a kind of land, their slopes to the right, and points from peak to peak."""

    heights: Floats
    slopes: Floats
    apart: float


class _Ridge(NamedTuple):
    """A ridge; its slices are sampled every `_STEP` columns, or absent."""

    rng: np.random.Generator
    depth: float
    zone: Zone
    crest: Floats  # row of each column
    rows: Floats
    heights: Floats  # 1 at the summit
    slopes: Floats  # to the right
    foot: float
    top: int
    bottom: int
    body: Oklch


def ridges(
    rng: np.random.Generator, setting: SkySetting, recipe: Recipe, count: int
) -> tuple[list[Plane], list[Plane]]:
    """Return the planes of all ridges, those behind the water and those before it."""
    peak, stage, light = None, setting.stage, setting.light
    *streams, own = rng.spawn(count + 1)
    if recipe.main_peak:  # opposite the light, or beside one that is asked for
        share = 0.36 + own.uniform(-0.05, 0.04)
        share = share if light.x > stage.x(0.5) else 1.0 - share
        peak = stage.x(place_of(share, () if light.named else setting.brief.composition))
    tallest = round(_PEAK_DEPTH * (count - 1))
    reliefs: dict[str, _Relief] = {}
    for zone in recipe.zones:
        if zone.kind not in reliefs:
            peaks = min(16.0, stage.columns / (stage.unit * zone.spacing) + 1.5)
            reliefs[zone.kind] = _raise_relief(own, zone.kind, peaks)
    rows = [
        _cut(
            stream,
            setting,
            recipe,
            reliefs,
            number / (count - 1),
            peak if number == tallest else None,
        )
        for number, stream in enumerate(streams)
    ]
    # A ridge ends where the next one hides it at every column.
    for number, (ridge, nearer) in enumerate(pairwise(rows)):
        hidden = int(nearer.crest.max()) + 4 + 2 * stage.margin_y
        rows[number] = ridge._replace(bottom=max(ridge.top + 1, min(ridge.bottom, hidden)))
    far: list[Plane] = []
    near: list[Plane] = []
    for number, ridge in enumerate(rows):
        target = near if recipe.shore and ridge.depth > _SHORE_DEPTH else far
        target.append(_paint(setting, recipe, ridge))
        if number % 2 and setting.mist * (1.0 - ridge.depth) ** 0.8 > 0.1:
            target.append(_mist_bank(setting, ridge))
    return far, near


def _raise_relief(rng: np.random.Generator, kind: str, peaks: float) -> _Relief:
    if kind in ("mountains", "islands"):
        side = round(_PEAK_POINTS * peaks)
        heights = noise.sharp_crests(rng, side, cells=peaks, gain=0.45) ** 0.85
        if kind == "islands":
            heights *= smooth_step(0.12, 0.6, noise.octave(rng, side, peaks / 2.5))
        return _Relief(heights, noise.slopes(noise.blur(heights, 1.2))[0], _PEAK_POINTS)
    cells = 8 if kind == "mesas" else 4
    heights = noise.tile(rng, cells=cells, octaves=1 + (kind != "dunes"), gain=0.35, side=_SIDE)
    if kind == "dunes":  # sharp crests, displaced by wind in proportion to their height
        tall = noise.rescale(np.roll(heights, _SIDE // 3, (0, 1)))
        heights = noise.rescale(-np.abs(heights)) * (0.3 + 0.7 * tall)
        heights = noise.warp(heights, heights, 0 * heights, 0.07 * _SIDE, wrap=True)
    return _Relief(heights, noise.slopes(heights)[0], _SIDE / (2 if kind == "dunes" else 4))


def _cut(
    rng: np.random.Generator,
    setting: SkySetting,
    recipe: Recipe,
    reliefs: dict[str, _Relief],
    depth: float,
    peak: float | None,
) -> _Ridge:
    stage = setting.stage
    zone, height, foot, bottom = _layout(setting, recipe, depth)
    relief, columns = reliefs[zone.kind], np.arange(stage.columns, dtype=np.float32)
    step = np.float32(relief.apart / (stage.unit * zone.spacing * rng.uniform(0.85, 1.15)))
    quarter, share = len(relief.heights) // 4, np.ones_like(columns)
    first, left = 4 * quarter * rng.uniform(0.2, 0.6), rng.uniform(0.0, 0.3) * relief.apart
    if peak is not None:  # the highest place is moved there, and the others are lowered
        part = relief.heights[quarter : 3 * quarter, quarter : 3 * quarter]
        row, column = np.unravel_index(int(part.argmax()), part.shape)
        first, left = quarter + float(row) - 1.0, quarter + float(column) - peak * float(step)
        others = 1.0 if zone.kind == "mesas" else 0.55 * (1.0 - recipe.lone * (depth < _LONE_DEPTH))
        share = others + (1.0 - others) * np.exp(-(((columns - peak) / (0.30 * stage.unit)) ** 2))
    x, y = left + step * columns, first + np.arange(_SLICES) * (0.065 * relief.apart)
    falls = 1.0 - 0.95 * np.linspace(0.0, 1.0, _SLICES) ** (0.35 if zone.kind == "mesas" else 1.3)

    def look_up(plane: Floats, slices: int, every: int) -> Floats:
        at_x, at_y = (np.asarray(part, np.float32) for part in np.meshgrid(x[::every], y[:slices]))
        border = cv2.BORDER_REFLECT_101
        return np.asarray(cv2.remap(plane, at_x, at_y, cv2.INTER_LINEAR, borderMode=border))

    def rise(slices: int, every: int, low: float, scale: float) -> Floats:
        rises = look_up(relief.heights, slices, every)
        rises = (noise.mesas(0.1 + 0.6 * rises) if zone.kind == "mesas" else rises) - np.float32(
            low
        )
        rises *= (share[::every] * scale).astype(np.float32)
        rises *= falls[:slices, None].astype(np.float32)
        return rises

    crest = rise(_CREST_SLICES, 1, 0.0, 1.0).max(axis=0)
    low = 0.12 if zone.kind == "islands" else 0.7 * float(crest.min())
    scale = 1.0 / max(float(crest.max()) - low, 0.3)
    crest = np.float32(foot) - np.float32(height * scale) * (crest - np.float32(low))
    if zone.kind in ("hills", "dunes"):
        crest = cv2.blur(crest[None], (2 * round(0.5 / step) + 1, 1))[0]
    slopes = heights = rows = np.zeros((0, 0), np.float32)
    free, light = np.full_like(columns, -1e6), setting.light
    if light.named:  # a saddle is before it
        beside = np.maximum(np.abs(columns - light.x) - _SADDLE_WIDTH * light.radius, 0.0)
        free[:] = light.y + _SADDLE_DROP * light.radius - _SADDLE_SLOPE * beside
    if zone.kind != "hills" and depth < _DARK_DEPTH:
        slopes = look_up(relief.slopes, _SLICES, _STEP)
        heights = rise(_SLICES, _STEP, low, scale)
        rows = np.maximum(np.float32(foot) - np.float32(height) * heights, free[::_STEP])
    crest = np.maximum(crest, free)
    plants = 1.3 * max(zone.tall, recipe.framing[1] if depth == 1.0 else 0.0)
    top = int(np.clip(crest.min() - plants * stage.unit - 3, 0, stage.rows - 2))
    bottom, body = max(top + 1, bottom), _tone(setting.palette, depth)
    return _Ridge(rng, depth, zone, crest, rows, heights, slopes, foot, top, bottom, body)


def _layout(setting: SkySetting, recipe: Recipe, depth: float) -> tuple[Zone, float, float, int]:
    stage, start, zone = setting.stage, 0.0, recipe.zones[0]
    for nearer in recipe.zones[1:]:
        if depth >= zone.until:
            start, zone = zone.until, nearer
    (first, last), (far, near), shore = zone.height, recipe.feet, recipe.shore
    height = first + (last - first) * (depth - start) / (zone.until - start)
    height *= stage.unit * (_MOOD_HEIGHTS.get(setting.brief.mood, 1.0) if depth < 0.5 else 1.0)
    if not shore:
        return zone, height, stage.y(far + (near - far) * depth**1.08), stage.rows
    if depth > _SHORE_DEPTH:
        foot = 0.93 + (near - 0.93) * (depth - _SHORE_DEPTH) / (1 - _SHORE_DEPTH)
        return zone, height, stage.y(foot), stage.rows
    foot = far + (shore + 0.012 - far) * depth / _SHORE_DEPTH
    return zone, height, stage.y(foot), round(stage.y(shore))


def _tone(palette: Palette, depth: float) -> Oklch:
    far, middle, near = palette.land
    if depth < 0.5:
        return mix(far, middle, depth / 0.5)
    return mix(middle, near, ((min(1.0, depth) - 0.5) / 0.5) ** 0.85)


def _paint(setting: SkySetting, recipe: Recipe, ridge: _Ridge) -> Plane:
    stage, palette = setting.stage, setting.palette
    depth, zone, top, bottom = ridge.depth, ridge.zone, ridge.top, ridge.bottom
    mask = stage.blank(top, bottom)
    # Edges a pixel long become ragged: a crest has steps of a few pixels.
    share = 0.002 if zone.kind == "mountains" else 0.005
    columns = np.arange(0, stage.columns, max(1, round(stage.unit * share)))
    columns = np.append(columns, stage.columns - 1)
    heights, beyond = ridge.crest[columns], stage.columns + 8
    corners = [beyond, beyond, -8, -8], [heights[-1], bottom + 8, bottom + 8, heights[0]]
    fill(mask, outline((columns, heights), corners), top=top)
    snow = stage.blank(top, bottom) if setting.brief.season == "winter" else None
    touches = [*_touches(setting, ridge)]
    _plant(setting, recipe, ridge, mask, snow)
    if snow is not None and (zone.kind != "mountains" or zone.plant):  # bare rock has snow caps
        # Snow is as bright as the sky allows: at night hardly more than gray.
        white = mix(ridge.body, palette.air[1], palette.sky[3][0] ** 0.6 * (1.0 - 0.1 * depth))
        touches.insert(0, _mask(white, cv2.min(snow, mask), 0.94))
        if zone.kind != "mesas":
            touches.insert(0, _fade_below(white, ridge, 0.92, 0.5 * stage.unit, 0.6))
    # Pale far away, dark nearby, and mist at the foot.
    haze = mix(palette.air[0], palette.sky[3], 0.35)
    share = min(0.95, (0.20 + 0.75 * setting.mist) * (1.0 - depth) ** 0.75)
    high = float(np.sort(ridge.crest[::8])[stage.columns // 32])
    reach = 0.24 * stage.height * (1 - 0.3 * depth)
    rows = np.clip((np.arange(top, bottom) - high) / reach, 0.0, 1.0)
    start, end = oklab(ridge.body), oklab(mix(ridge.body, haze, share))
    color = start + (end - start) * rows[:, None]
    if zone.kind == "mesas":  # layers of rock
        down = np.arange(top, bottom) - float(ridge.crest.min())
        tall = max(1.0, float(np.percentile(ridge.crest, 98) - ridge.crest.min()))
        layers = smooth_step(-0.1, 0.3, line(ridge.rng, down, tall * 0.13, octaves=3, gain=0.7))
        layers = 0.30 * layers * np.clip(1.0 - down / (1.1 * tall), 0.0, 1.0)
        color += (oklab(_tone(palette, depth + 0.3)) - color) * layers[:, None]
    color = encode(linear(color)).T
    return Plane("ridge", depth, top, color, mask, tuple(touches))


def _touches(setting: SkySetting, ridge: _Ridge) -> Iterator[Touch]:
    stage, palette, brief = setting.stage, setting.palette, setting.brief
    depth, zone, body, y = ridge.depth, ridge.zone, ridge.body, ridge.crest
    top, bottom, air = ridge.top, ridge.bottom, 1.0 - 0.55 * setting.mist * (1 - depth)
    if not ridge.slopes.size and zone.plant != "conifer":
        reach, strength = stage.unit * (0.05 + 0.05 * depth), 0.30 * (1.0 - 0.45 * depth)
        yield _fade_below(mix(body, palette.light[1], 0.7), ridge, strength, reach, 0.0)
    if not ridge.slopes.size:
        return
    side, winter = 1.0 if setting.light.x > stage.x(0.5) else -1.0, brief.season == "winter"
    shade = side * ridge.slopes - 0.25 * np.abs(ridge.slopes).mean()
    caps = 0.1 * (ridge.heights - (0.35 if winter else 0.62)) - 0.22 * shade
    snowy = winter or (brief.season != "autumn" and brief.seed % 3 != 0)
    snowy = snowy and zone.kind == "mountains" and not zone.plant
    dark, *white = _slice_masks(ridge, shade, *[caps] * snowy)
    for cap in white:
        yield _mask(mix(palette.air[1], body, 0.10 + 0.35 * depth), cap, 0.92 * air)
    rows = np.arange(top, bottom, dtype=np.float32)
    fading = smooth_step(ridge.foot, float(0.85 * y.min() + 0.15 * ridge.foot), rows)[:, None]
    deep = mix(_tone(palette, depth + 0.34), body, 0.25)
    yield _mask(deep, dark, (0.72 if zone.kind == "dunes" else 0.62) * air, fading)


def _slice_masks(ridge: _Ridge, *planes: Floats) -> Iterator[Bytes]:
    shape = ridge.bottom - ridge.top, len(ridge.crest)
    tall = min(shape[0], max(_STEP, round(ridge.foot) - ridge.top))
    columns, count = np.arange(planes[0].shape[1]), -(-tall // _STEP)
    size = len(columns), 3 * _SLICES
    # Each pixel shows the nearest slice that reaches it.
    rows = np.minimum.accumulate(cv2.resize(ridge.rows, size)[::-1])[::-1]
    first = np.clip((rows - ridge.top) / _STEP, 0, count).astype(np.intp) * size[0] + columns
    number = np.bincount(first.ravel(), minlength=(count + 1) * size[0])[: count * size[0]]
    number = np.maximum(number.reshape(count, -1).cumsum(axis=0) - 1, 0) * size[0] + columns
    for plane in planes:
        values = np.clip(128 + cv2.resize(plane, size) * np.float32(8e3), 0, 255).astype(np.uint8)
        mask = np.zeros(shape, np.uint8)
        large = cv2.resize(values.ravel()[number], (shape[1], tall))
        cv2.LUT(large, _SHARPEN, mask[:tall])
        yield mask


def _mask(color: Oklch, mask: Bytes, strength: float, fading: Floats | None = None) -> Touch:
    scale = np.float32(strength / 255)

    def weights(rows: slice, columns: slice) -> Floats | None:
        part = mask[rows, columns]
        if not cv2.countNonZero(part):
            return None
        return np.asarray(part * (scale if fading is None else fading[rows] * scale))

    return Touch(color, weights)


def _fade_below(color: Oklch, ridge: _Ridge, high: float, reach: float, least: float) -> Touch:
    y, top = ridge.crest + np.float32(reach), ridge.top
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
        cv2.threshold(share, edge, 0.0, cv2.THRESH_TOZERO_INV, dst=share)  # trees are dark
        return np.asarray(share)

    return Touch(color, weights)


def _mist_bank(setting: SkySetting, ridge: _Ridge) -> Plane:
    stage, depth = setting.stage, ridge.depth
    middle, half = ridge.foot - 0.02 * stage.height, 0.12 * stage.height
    top = int(min(max(middle - half, 0), stage.rows - 2))
    bottom = int(min(max(middle + half, top + 1), ridge.bottom))
    drift = field(ridge.rng, 24, 96, cells=(3, 5), octaves=3)
    down = np.linspace(-1.0, 1.0, 24, dtype=np.float32)[:, None]
    cover = np.clip((0.55 + 0.38 * drift) * (1 - down**2) ** 1.5, 0, 1)
    cover *= 255 * setting.mist * (1 - depth) ** 0.8
    alpha = enlarge(cover, (stage.columns, max(1, bottom - top)))
    return Plane(
        "mist", depth + 0.04, top, solid(mix(setting.palette.air[0], ridge.body, 0.12)), alpha
    )


def _plant(
    setting: SkySetting, recipe: Recipe, ridge: _Ridge, mask: Bytes, snow: Bytes | None
) -> None:
    stage, zone, rng, y = setting.stage, ridge.zone, ridge.rng, ridge.crest
    stands = []
    if zone.plant:
        tall = stage.unit * zone.tall * (0.22 + 0.78 * ridge.depth**1.5)
        stands.append((zone.plant, *spread(rng, stage.columns, tall, zone.density)))
    kind, tall = recipe.framing
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
        draw_plants(rng, kind, np.stack([x, feet, sizes]), mask, snow, ridge.top)
