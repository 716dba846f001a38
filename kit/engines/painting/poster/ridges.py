"""Ridges: crests become planes, with the air's perspective, shadow, snow, growth and mist."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, mix, paint
from kit.engines.media.noise import field, smooth_step
from kit.engines.painting.poster import facets, trees
from kit.engines.painting.poster.crests import KINDS, Crest, Rise, parted
from kit.engines.painting.poster.framing import placed
from kit.engines.painting.poster.palettes import Color, Palette
from kit.engines.painting.poster.plane import (
    Plane,
    Stage,
    Touch,
    enlarged,
    fade,
    fill,
    outline,
    solid,
)
from kit.engines.painting.poster.recipes import Band, Recipe
from kit.engines.painting.poster.sky import Light
from kit.engines.prompt.brief import Brief

_HERO_DEPTH = 0.28  # the ridge nearest to this depth has the towering peak
_ROCK_STEP, _SOFT_STEP = 0.002, 0.005  # in units
_BOLD = {"dramatic": 1.25, "calm": 0.8}  # mood -> how high the far ridges are
_LONELY = 0.6  # up to this depth other peaks give way to a lone one
_WATER_FAR = 0.55  # ridges beyond this depth stand behind the water


@dataclass(frozen=True, slots=True)
class Setting:
    """What every ridge of a picture shares."""

    stage: Stage
    palette: Palette
    light: Light
    brief: Brief
    mist: float


@dataclass(frozen=True, slots=True)
class _Ridge:
    """One ridge before it is painted."""

    depth: float
    band: Band
    crest: Crest
    foot: float
    rows: tuple[int, int]


def ridges(
    rng: np.random.Generator, setting: Setting, recipe: Recipe, count: int
) -> tuple[list[Plane], list[Plane]]:
    """Return the planes of all ridges, those behind the water and those before it."""
    streams = rng.spawn(2 * count + 1)
    hero = _hero(streams[-1], setting, recipe)
    depths = [number / (count - 1) for number in range(count)]
    tallest = min(depths, key=lambda depth: abs(depth - _HERO_DEPTH))
    rows = [
        _ridge(stream, setting, recipe, depth, hero if depth == tallest else None)
        for stream, depth in zip(streams, depths, strict=False)
    ]
    rows = [*(_hidden(*pair, stage=setting.stage) for pair in pairwise(rows)), rows[-1]]
    far: list[Plane] = []
    near: list[Plane] = []
    for number, ridge in enumerate(rows):
        behind = recipe.shore is not None and ridge.depth > _WATER_FAR
        target = near if behind else far
        stream = streams[count + number]
        target.append(_painted(stream, setting, recipe, ridge))
        if setting.mist > 0.05 and ridge.depth < 0.9:
            target.append(_bank(stream, setting, ridge))
    return far, near


def _hidden(ridge: _Ridge, nearer: _Ridge, *, stage: Stage) -> _Ridge:
    """Cut a ridge off where the next one hides it at every column."""
    top, bottom = ridge.rows
    sight = int(nearer.crest.y.max()) + 4 + 2 * stage.margin_y
    return replace(ridge, rows=(top, max(top + 1, min(bottom, sight))))


def _hero(rng: np.random.Generator, setting: Setting, recipe: Recipe) -> float | None:
    """Return the column of the towering peak: across the frame from the light."""
    if not recipe.hero:
        return None
    left = setting.light.x > setting.stage.x(0.5)
    share = 0.36 + rng.uniform(-0.05, 0.04)
    # A light that is asked for is the subject: then the peak stands beside it.
    words = () if setting.light.named else setting.brief.composition
    return setting.stage.x(placed(share if left else 1 - share, words))


def _ridge(
    rng: np.random.Generator, setting: Setting, recipe: Recipe, depth: float, hero: float | None
) -> _Ridge:
    stage = setting.stage
    band, along = _band(recipe, depth)
    first, last = band.height
    bold = _BOLD.get(setting.brief.mood, 1.0) if depth < 0.5 else 1.0
    height = stage.unit * (first + (last - first) * along) * bold
    foot = _foot(stage, recipe, depth)
    spacing = stage.unit * band.spacing * rng.uniform(0.85, 1.15)
    lone = recipe.lone if depth < _LONELY else 0.0
    crest = KINDS[band.kind](rng, stage, Rise(foot, height, spacing, hero, lone))
    if setting.light.named:
        light = setting.light
        crest = parted(crest, light.x, light.y, light.radius)
    plants = 1.3 * max(band.tall, recipe.framing_tall if depth == 1.0 and recipe.framing else 0.0)
    top = int(np.clip(crest.y.min() - plants * stage.unit - 3, 0, stage.rows - 2))
    bottom = stage.rows
    if recipe.shore is not None and depth <= _WATER_FAR:
        bottom = round(stage.y(recipe.shore))
    return _Ridge(depth, band, crest, foot, (top, max(top + 1, bottom)))


def _foot(stage: Stage, recipe: Recipe, depth: float) -> float:
    first, last = recipe.feet
    if recipe.shore is None:
        return stage.y(first + (last - first) * depth**1.08)
    if depth <= _WATER_FAR:
        return stage.y(first + (recipe.shore + 0.012 - first) * depth / _WATER_FAR)
    return stage.y(0.93 + (last - 0.93) * (depth - _WATER_FAR) / (1 - _WATER_FAR))


def _band(recipe: Recipe, depth: float) -> tuple[Band, float]:
    """Return the band that a depth falls into, and how far along it lies."""
    start = 0.0
    for band in recipe.bands:
        if depth < band.until:
            return band, (depth - start) / (band.until - start)
        start = band.until
    return recipe.bands[-1], 1.0


def _painted(rng: np.random.Generator, setting: Setting, recipe: Recipe, ridge: _Ridge) -> Plane:
    stage = setting.stage
    top, bottom = ridge.rows
    mask = stage.blank(top, bottom)
    # Edges a pixel long come out ragged: a crest is drawn in steps of a few.
    share = _ROCK_STEP if ridge.band.kind == "mountains" else _SOFT_STEP
    columns = np.arange(0, stage.columns, max(1, round(stage.unit * share)))
    columns = np.append(columns, stage.columns - 1)
    heights, beyond = ridge.crest.y[columns], stage.columns + 8
    start = np.array([-8]), heights[:1]
    corners = np.array([beyond, beyond, -8]), np.array([heights[-1], bottom + 8, bottom + 8])
    fill(mask, outline(start, (columns, heights), corners), top=top)
    touches = [*_warmth(setting, ridge), *_relief(rng, setting, ridge)]
    snow = stage.blank(top, bottom) if setting.brief.season == "winter" else None
    _plant(rng, setting, recipe, ridge, trees.Ground(mask, top, snow))
    if snow is not None:
        touches = [*_snowed(setting, ridge, mask, snow), *touches]
    return Plane("ridge", ridge.depth, top, _ground(setting, ridge), mask, tuple(touches))


def _ground(setting: Setting, ridge: _Ridge) -> Floats:
    """Paint the air's perspective: pale far away, dark near by, and mist at the foot."""
    palette, depth = setting.palette, ridge.depth
    body = tone(palette, depth)
    haze = mix(palette.mist, palette.sky[3], 0.35)
    share = (0.20 + 0.75 * setting.mist) * (1.0 - depth) ** 0.75
    quarter = len(ridge.crest.y) // 4
    high = float(np.partition(ridge.crest.y, quarter)[quarter])
    reach = 0.24 * setting.stage.height * (1 - 0.3 * depth)
    rows = np.clip((np.arange(*ridge.rows) - high) / reach, 0.0, 1.0)
    return fade(body, mix(body, haze, min(0.95, share)), rows)[:, :, None]


def _warmth(setting: Setting, ridge: _Ridge) -> Iterator[Touch]:
    """Yield the light's glow on ridges far away."""
    warm = 0.42 * (1 - ridge.depth) ** 2.2
    if warm > 0.03:
        stage = setting.stage
        away = (np.arange(stage.columns) - setting.light.x) / (0.30 * stage.unit)
        weights = (warm * np.exp(-(away**2))).astype(np.float32)[None]
        yield Touch(solid(paint(setting.palette.glow)), lambda rows, columns: weights[:, columns])


def tone(palette: Palette, depth: float) -> Color:
    """Return the body color of a ridge at a depth."""
    far, middle, near = palette.land
    if depth < 0.5:
        return mix(far, middle, depth / 0.5)
    return mix(middle, near, ((depth - 0.5) / 0.5) ** 0.85)


def _relief(rng: np.random.Generator, setting: Setting, ridge: _Ridge) -> Iterator[Touch]:
    """Yield the snow and shadow on rock, and the light and shadow on dunes."""
    stage, brief, kind = setting.stage, setting.brief, ridge.band.kind
    if kind == "dunes" or (kind == "hills" and ridge.band.plant != "conifer"):
        yield _lit(setting, ridge)
    if kind == "mesas":
        layers = facets.strata(rng, stage, ridge.crest, ridge.rows)
        color = solid(paint(tone(setting.palette, ridge.depth + 0.3)))
        yield Touch(color, lambda rows, columns: layers[rows])
    if kind not in ("mountains", "islands", "dunes"):
        return
    air = 1.0 - 0.55 * setting.mist * (1 - ridge.depth)
    if kind == "mountains" and ridge.band.plant is None and _snowy(brief):
        amount = 0.85 if brief.season == "winter" else 0.42
        caps = facets.snow(rng, stage, ridge.crest, ridge.rows, amount)
        white = mix(
            setting.palette.snow, tone(setting.palette, ridge.depth), 0.10 + 0.35 * ridge.depth
        )
        yield facets.masked(white, caps, 0.92 * air)
    draw = facets.curved_shadows if kind == "dunes" else facets.shadows
    dark = draw(rng, stage, ridge.crest, ridge.rows, setting.light.x)
    deep = mix(
        tone(setting.palette, min(1.0, ridge.depth + 0.34)),
        tone(setting.palette, ridge.depth),
        0.25,
    )
    rows = np.arange(*ridge.rows, dtype=np.float32)
    base = ridge.foot
    fading = smooth_step(base, base - 0.85 * (base - float(ridge.crest.y.min())), rows)[:, None]
    yield facets.masked(deep, dark, (0.72 if kind == "dunes" else 0.62) * air, fading)


def _snowed(setting: Setting, ridge: _Ridge, mask: Bytes, snow: Bytes) -> Iterator[Touch]:
    """Yield the snow on the ground and on every bough; bare rock has its caps."""
    palette, unit = setting.palette, setting.stage.unit
    if ridge.band.kind == "mountains" and ridge.band.plant is None:
        return
    body = tone(palette, ridge.depth)
    # Snow is as bright as the sky lets it be: by night it is hardly more than a gray.
    white = mix(body, palette.snow, palette.sky[3][0] * (1.0 - 0.1 * ridge.depth))
    if ridge.band.kind != "mesas":
        yield Touch(solid(paint(white)), facets.blanket(ridge.crest, ridge.rows[0], 0.16 * unit))
    thick = unit * (0.0012 + 0.02 * ridge.band.tall + 0.0045 * ridge.depth**4)
    # What was drawn on the boughs may stick out beyond them; all else has snow along its top.
    caps = facets.laden(mask, max(1, round(thick)))
    cv2.max(caps, cv2.min(snow, mask, dst=snow), dst=caps)
    yield facets.masked(white, caps, 0.94)


def _lit(setting: Setting, ridge: _Ridge) -> Touch:
    """Let the light graze the ground below a rounded crest; what grows there stands dark."""
    reach = setting.stage.unit * (0.05 + 0.05 * ridge.depth)
    strength = float(np.sqrt(0.30 * (1.0 - 0.45 * ridge.depth)))
    slope, top = -strength / reach, ridge.rows[0]
    fading = facets.below(ridge.crest, top, high=strength, slope=slope, least=0.0, above=1.0)
    lowest = float(ridge.crest.y.max()) + reach

    def weights(rows: slice, columns: slice) -> Floats | None:
        if top + rows.start > lowest:
            return None
        weight = fading(rows, columns)
        weight *= weight
        return weight

    color = mix(tone(setting.palette, ridge.depth), setting.palette.glow, 0.7)
    return Touch(solid(paint(color)), weights)


def _snowy(brief: Brief) -> bool:
    return brief.season == "winter" or (brief.season != "autumn" and brief.seed % 3 != 0)


def _plant(
    rng: np.random.Generator,
    setting: Setting,
    recipe: Recipe,
    ridge: _Ridge,
    ground: trees.Ground,
) -> None:
    stage, band = setting.stage, ridge.band
    kind = band.plant
    if kind is not None:
        tall = stage.unit * band.tall * (0.22 + 0.78 * ridge.depth**1.5)
        trees.grow(rng, ground, stage, ridge.crest, kind=kind, tall=tall, density=band.density)
    if recipe.framing is not None and ridge.depth == 1.0:
        tall = stage.unit * recipe.framing_tall
        trees.frame_trees(rng, ground, stage, ridge.crest, kind=recipe.framing, tall=tall)


def _bank(rng: np.random.Generator, setting: Setting, ridge: _Ridge) -> Plane:
    """Return a bank of mist that lies at the foot of a ridge."""
    stage = setting.stage
    middle = ridge.foot - 0.02 * stage.height
    half = 0.11 * stage.height
    top = int(min(max(middle - half, 0), stage.rows - 2))
    bottom = int(min(max(middle + half, top + 1), ridge.rows[1]))
    drift = field(rng, 24, 96, cells=(3, 5), octaves=3)
    down = np.linspace(-1.0, 1.0, 24, dtype=np.float32)[:, None]
    cover = (0.55 + 0.38 * drift) * (1 - down**2) ** 1.5
    strength = 225 * setting.mist * (1 - ridge.depth) ** 0.8
    size = (stage.columns, max(1, bottom - top))
    alpha = enlarged(np.clip(cover, 0, 1) * strength, size)
    color = mix(setting.palette.mist, tone(setting.palette, ridge.depth), 0.12)
    return Plane(
        "mist",
        ridge.depth + 0.04,
        top,
        solid(paint(color)),
        alpha,
    )
