"""The sky: its gradient, sun or moon, stars, clouds, northern lights and birds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import cv2
import numpy as np

from kit.engines.media.color import Floats, mix, paint, ramp
from kit.engines.media.noise import field, smooth_step
from kit.engines.painting.poster.colors import Palette
from kit.engines.painting.poster.planes import (
    Backdrop,
    Plane,
    Stage,
    discs,
    enlarged,
    fill,
    outline,
    solid,
)
from kit.engines.painting.poster.recipes import Recipe, placed
from kit.engines.prompt.brief import Brief

_COARSE = 128  # smooth things are painted this small and enlarged
_LOWEST_NAMED = 0.62  # of the way down to the horizon: no light that is asked for is lower
_MOST_STEP = 8  # rows; no strip of a picture is shorter
#: Hour -> height of the light as a share of the way down to the horizon, radius in units.
_HEIGHTS = {
    "dawn": (0.80, 0.070),
    "day": (0.36, 0.052),
    "sunset": (0.74, 0.088),
    "dusk": (0.52, 0.046),
    "night": (0.40, 0.050),
}


@dataclass(frozen=True, slots=True)
class PosterLight:
    """Where the sun or moon stands on the stage, in pixels.

    The dark disc that makes a crescent stands `shadow` radii to the right of the moon's, 0 where
    all of it is lit. One that the prompt names is not to be hidden.
    """

    x: float
    y: float
    radius: float
    shadow: float = 0.0
    named: bool = False


@dataclass(frozen=True, slots=True)
class SkySetting:
    """What all parts of a picture share: the row of the horizon, and mist of 0 to 1."""

    stage: Stage
    palette: Palette
    light: PosterLight
    brief: Brief
    recipe: Recipe
    horizon: float
    mist: float


def light_of(
    rng: np.random.Generator, stage: Stage, brief: Brief, horizon: float, size: float
) -> PosterLight:
    """Place the light at one of the golden sections, as high as the hour asks for."""
    moon = moonlit(brief)
    named = brief.open and ("moon" if moon else "sun") in brief.things
    share, radius = _HEIGHTS[brief.hour]
    share = min(share, _LOWEST_NAMED) if named else share
    x = (0.365, 0.635)[int(rng.integers(2))] + rng.uniform(-0.03, 0.03)
    y = stage.margin_y + (horizon - stage.margin_y) * (share + rng.uniform(-0.05, 0.05))
    shadow = rng.uniform(0.40, 0.52) * rng.choice([-1.0, 1.0]) if moon and brief.crescent else 0.0
    radius *= size * (1.25 if brief.mood == "dramatic" else 1.0)
    return PosterLight(stage.x(placed(x, brief.composition)), y, stage.unit * radius, shadow, named)


def moonlit(brief: Brief) -> bool:
    """Return whether the light is the moon: by night, and at dusk where a crescent is asked for."""
    return brief.hour == "night" or (brief.hour == "dusk" and "crescent" in brief.things)


def sky(setting: SkySetting) -> Backdrop:
    """Return the gradient of the sky with the light's glow, of which few rows are kept."""
    stage, palette, light = setting.stage, setting.palette, setting.light
    glow = 0.7 if not setting.brief.open else 0.5 if light.shadow else 1.0
    step = min(_MOST_STEP, 1 << max(0, (stage.rows // _COARSE).bit_length() - 1))
    rows = np.arange(0, stage.rows + 2 * step, step, dtype=np.float32)
    columns = ((np.arange(_COARSE) + 0.5) * (stage.columns / _COARSE) - 0.5).astype(np.float32)
    top = -0.02 * stage.height + stage.margin_y
    down = np.clip((rows - top) / (setting.horizon - top), 0.0, 1.0)
    stops = list(zip((0.0, 0.38, 0.72, 1.0), palette.sky, strict=True))
    # A crescent shines from its limb, or its dark side would be the brightest place in the sky.
    middle = light.x - 0.72 * light.radius * float(np.sign(light.shadow))
    away = columns[None] - np.float32(middle), (rows[:, None] - np.float32(light.y)) * 1.12
    faint = np.exp(np.hypot(*away) * np.float32(-1 / (0.30 * stage.unit)))
    near = (0.5 if light.shadow else 1.0) * glow * (0.55 * faint * faint * faint + 0.42 * faint)
    knots = np.empty((len(rows), 3, stage.columns), np.float32)
    colors = zip(ramp(stops, down), paint(palette.light[1]), strict=True)
    for number, (plane, color) in enumerate(colors):
        lit = plane[:, None] + near * np.maximum(color - plane, 0.0)[:, None]
        size = (stage.columns, len(rows))
        knots[:, number] = cv2.resize(np.minimum(lit, 1.0), size, interpolation=cv2.INTER_LINEAR)

    def fill(canvas: Floats, first: int) -> None:
        number = canvas.shape[1]
        at = np.arange(number, dtype=np.float32)[:, None] / step
        part = knots[first // step : first // step + number // step + 2]
        # Each row is a mean of the knots above and below it: one product for the whole canvas.
        shares = np.maximum(1.0 - np.abs(at - np.arange(len(part), dtype=np.float32)), 0.0)
        np.matmul(shares, part.transpose(1, 0, 2), out=canvas)

    return fill


def sky_planes(
    streams: Iterator[np.random.Generator], setting: SkySetting, *, starry: bool
) -> Iterator[Plane]:
    """Yield what hangs in the sky; each part has its stream whether it is drawn or not."""
    brief, (milky, stars, lights, shine, clouds, flock) = setting.brief, islice(streams, 6)
    minimal, clear = "minimal" in brief.composition, not brief.covered
    moon, night = moonlit(brief), brief.hour == "night"
    quiet = brief.dark or minimal or brief.mood == "calm" or not clear
    wished = [
        (night and clear and starry, _milky_way, milky),
        (brief.dark and starry and (clear or "stars" in brief.lights), _stars, stars),
        (brief.dark and "aurora" in brief.things, _aurora, lights),
        (brief.open and not moon and "dramatic" in brief.composition, _shafts, shine),
        (brief.open, _discs, shine),
        (brief.covered and brief.weather != "fog", _overcast, clouds),
        (clear and not minimal and brief.hour == "day", _cumulus, clouds),
        (clear and not minimal and brief.hour != "day", _streaks, clouds),
        ("birds" in brief.things or not quiet, _birds, flock),
    ]
    for shown, draw, rng in wished:
        if shown:
            yield from draw(rng, setting)


def _discs(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    """Yield the sun with two faint rings, a full moon with its seas and a ring, or a crescent."""
    stage, palette, light = setting.stage, setting.palette, setting.light
    radius, (color, glow), moon = light.radius, palette.light, moonlit(setting.brief)
    rings = () if light.shadow else ((1.9, 18),) if moon else ((2.35, 16), (1.6, 26))
    top = int(min(max(light.y - 2.4 * radius - 2, 0), stage.rows - 2))
    bottom = int(min(light.y + 2.4 * radius + 3, stage.rows))
    for factor, value in (*rings, (1.0, 255)):
        mask = stage.blank(top, bottom)
        discs(mask, [light.x, light.y, factor * radius], top=top, values=[value])
        if factor > 1.0:
            yield Plane("glare", 0.02, top, solid(color), mask)
    if light.shadow:
        x, y = light.x + light.shadow * radius, light.y - 0.16 * radius
        discs(mask, [x, y, 0.93 * radius], top=top, values=[0])
    down = np.clip((np.arange(top, bottom) - light.y) / (2 * radius) + 0.5, 0.0, 1.0)
    shaded = ramp([(0.0, color), (1.0, mix(color, glow, 0.6))], down)
    yield Plane("sun", 0.02, top, solid(color) if moon else shaded, mask)
    if moon and not light.shadow:
        seas = np.zeros_like(mask)
        turn, far = rng.uniform(0, 2 * np.pi, 7), radius * rng.uniform(0.1, 0.62, 7)
        places = [light.x + far * np.cos(turn), light.y + far * np.sin(turn)]
        sizes = radius * rng.uniform(0.11, 0.28, 7)
        discs(seas, np.stack([*places, sizes], axis=1), top=top, values=[34] * 7)
        yield Plane("sun", 0.021, top, solid(glow), cv2.min(seas, mask))


def _shafts(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    """Yield shafts of light that spread from the sun over the sky, as on an old poster."""
    stage, palette, light, horizon = setting.stage, setting.palette, setting.light, setting.horizon
    mask = stage.blank(0, int(min(stage.rows, horizon + 0.05 * stage.height)))
    reach = 2.0 * max(stage.columns, stage.rows)
    turns = (np.arange(22)[:, None] + [0.0, 0.25, 0.75]) * (2 * np.pi / 22)
    ends = np.array([0.0, 1.0, 1.0])[None] * reach
    corners = np.stack([light.x + ends * np.cos(turns), light.y + ends * np.sin(turns)], axis=2)
    fill(mask, corners, values=[74] * 22)
    down = np.linspace(0.35, 1.0, len(mask), dtype=np.float32)[:, None]
    yield Plane("glare", 0.015, 0, solid(palette.light[1]), (mask * down).astype(np.uint8))


def _stars(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, light, horizon = setting.stage, setting.light, setting.horizon
    bottom = int(min(stage.rows, horizon + 0.1 * stage.height))
    mask = stage.blank(0, bottom)
    count = int(430 * stage.columns * bottom / stage.unit**2)
    places = rng.random((count, 2)) * (stage.columns, bottom)
    lights = 0.16 + 0.84 * rng.random(count) ** 4
    fades = smooth_step(bottom, bottom * 0.35, places[:, 1])
    far = np.hypot(places[:, 0] - light.x, places[:, 1] - light.y) / light.radius
    strength = 255 if setting.brief.hour == "night" else 166
    values = (strength * lights * fades * smooth_step(1.2, 5.0, far)).astype(int)
    radii = np.maximum(stage.unit * (0.00062 + 0.00095 * lights**2), 0.45)
    shown = values > 8
    discs(mask, np.column_stack([places, radii])[shown], values=values[shown].tolist())
    yield Plane("stars", 0.0, 0, solid((0.97, 0.02, 90)), mask)


def _milky_way(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, palette, horizon = setting.stage, setting.palette, setting.horizon
    down, across = np.mgrid[0:_COARSE, 0:_COARSE].astype(np.float32) / _COARSE
    lean = rng.uniform(0.5, 0.9) * rng.choice([-1.0, 1.0])
    off = (across - 0.5) * lean + (down - 0.32)
    band = np.exp(-((off / 0.15) ** 2)) * (0.5 + 0.32 * field(rng, _COARSE, _COARSE, cells=(5, 5)))
    band *= smooth_step(0.95, 0.35, down)
    color = mix(palette.sky[3], (0.9, 0.03, 60), 0.5)
    alpha = enlarged(np.clip(band, 0, 1) * 60, (stage.columns, int(horizon)))
    yield Plane("haze", 0.0, 0, solid(color), alpha)


def _overcast(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, palette, horizon = setting.stage, setting.palette, setting.horizon
    texture = field(rng, _COARSE, _COARSE, cells=(7, 4), octaves=5, gain=0.55)
    down = np.linspace(0.0, 1.0, _COARSE, dtype=np.float32)[:, None]
    cover = smooth_step(-0.9, 1.5, texture + 1.1 * (1 - down)) * smooth_step(1.0, 0.25, down)
    color = mix(palette.sky[0], palette.land[1], 0.4)
    alpha = enlarged(cover * 190, (stage.columns, int(horizon)))
    yield Plane("cloud", 0.04, 0, solid(color), alpha)


def _aurora(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, horizon = setting.stage, setting.horizon
    along = np.sin(np.linspace(0.0, np.pi, 320))
    heights = np.linspace(0.0, 1.0, _COARSE, dtype=np.float32)[:, None]
    dark = np.ones((_COARSE, 320), np.float32)
    for number in range(3):
        bend = cv2.GaussianBlur(field(rng, 2, 320, cells=(2, 4), octaves=3)[:1], (0, 0), 6)
        rays = 0.55 + 0.45 * field(rng, 2, 320, cells=(2, 40), octaves=3)[:1]
        above = (0.78 - 0.17 * number + 0.16 * bend - heights) / (0.34 + 0.10 * rays)
        curtain = np.exp(np.minimum(above * -2.1, above * 16))
        curtain *= np.clip(rays, 0.1, 1.4) * (0.6 + 0.4 * along)
        dark *= 1.0 - np.minimum(curtain * ((150 - 30 * number) / 255), 1.0)
    alpha = enlarged((1.0 - dark) * 255, (stage.columns, int(horizon)))
    stops = [(0.0, (0.62, 0.17, 300)), (0.45, (0.76, 0.15, 172)), (1.0, (0.86, 0.18, 155))]
    yield Plane("cloud", 0.0, 0, ramp(stops, np.linspace(0.0, 1.0, len(alpha))), alpha)


def _streaks(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    """Yield long flat clouds like brush strokes, each a few lenses, lit by a low sun."""
    stage, palette, light, horizon = setting.stage, setting.palette, setting.light, setting.horizon
    cloud, glow = palette.air[2], palette.light[1]
    along = np.linspace(-1.0, 1.0, 33)
    for layer, (color, cover) in enumerate(((cloud, 87), (mix(cloud, glow, 0.45), 138))):
        mask = stage.blank(stage.margin_y, int(horizon))
        for _ in range(4 + 2 * layer):
            y = stage.margin_y + (horizon - stage.margin_y) * rng.uniform(0.16, 0.9)
            x = stage.columns * rng.uniform(-0.05, 1.05)
            long = stage.unit * rng.uniform(0.10, 0.30)
            dice = rng.random((6, int(rng.integers(2, 5)), 1))
            if abs(y - light.y) < 1.3 * light.radius:
                continue
            low = y + stage.unit * 0.018 * (dice[1] - 0.5)
            body = stage.unit * (0.0025 + 0.004 * dice[3]) * (1 - along**2) ** 0.8
            ripple = 1 + 0.35 * np.sin(along * (5 + 4 * dice[4]) + 6 * dice[5])
            across = x + (dice[0] - 0.5) * long + long * (0.45 + 0.55 * dice[2]) * along
            upper, under = low - body * ripple, (low + 0.55 * body)[:, ::-1]
            xs, ys = np.hstack([across, across[:, ::-1]]), np.hstack([upper, under])
            values = [cover] * len(xs)
            fill(mask, np.stack([xs, ys], axis=2), top=stage.margin_y, values=values)
        yield Plane("cloud", 0.05 + 0.03 * layer, stage.margin_y, solid(color), mask)


def _cumulus(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    """Yield heaped clouds with flat feet that fade out below."""
    stage, palette, horizon = setting.stage, setting.palette, setting.horizon
    shares = np.linspace(-1.0, 1.0, 9)
    for number in range(7):
        layer, count = (0, 3) if number < 3 else (1, 4)
        tall = stage.unit * (0.05 + 0.03 * layer) * rng.uniform(0.7, 1.2)
        share = 0.74 - 0.38 * layer + rng.uniform(-0.13, 0.10)
        y = stage.margin_y + (horizon - stage.margin_y) * share
        x = stage.columns * (number % count + rng.uniform(0.1, 0.9)) / count
        top = int(max(0, y - 2.2 * tall))
        mask = stage.blank(top, max(top + 2, int(y)))
        bulk = tall * (0.30 + 0.55 * (1 - shares**2)) * rng.uniform(0.75, 1.15, 9)
        across = x + tall * rng.uniform(1.7, 3.0) * shares
        discs(mask, np.stack([across, y - 0.55 * bulk, bulk], axis=1), top=top)
        rows = np.arange(top, top + len(mask), dtype=np.float32)[:, None]
        alpha = (mask * (0.86 * smooth_step(y, y - 1.25 * tall, rows))).astype(np.uint8)
        yield Plane("cloud", 0.04 + 0.04 * layer, top, solid(palette.air[2]), alpha)


def _birds(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, palette, light, horizon = setting.stage, setting.palette, setting.light, setting.horizon
    side = 1.0 if light.x < stage.x(0.5) else -1.0
    x0 = light.x + side * stage.unit * rng.uniform(0.14, 0.22)
    y0 = stage.margin_y + (horizon - stage.margin_y) * rng.uniform(0.34, 0.50)
    top = int(max(0, y0 - 0.15 * stage.unit))
    mask = stage.blank(top, int(y0 + 0.15 * stage.unit))
    wing = np.linspace(-1.0, 1.0, 15)
    arc = np.sin(np.pi * np.abs(wing) ** 0.8) * (1.25 - 0.55 * np.abs(wing))
    for number in range(int(rng.integers(5, 10))):
        x = x0 + side * stage.unit * (0.020 * number + rng.uniform(-0.008, 0.008))
        y = y0 + stage.unit * (0.011 * abs(number - 2) + rng.uniform(-0.012, 0.012))
        span, beat = stage.unit * rng.uniform(0.007, 0.012), rng.uniform(0.25, 0.6)
        thick = span * 0.13 * (1.0 - np.abs(wing)) + 0.25
        xs, ys = x + span * wing, y - span * beat * arc
        fill(mask, outline((xs, ys - thick), (xs[::-1], (ys + thick)[::-1])), top=top)
    yield Plane("birds", 0.12, top, solid(palette.land[2]), mask)
