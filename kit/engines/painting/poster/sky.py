"""The sky: its gradient, sun or moon, stars, clouds, northern lights and birds."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import islice

import cv2
import numpy as np

from kit.engines.media.color import Floats, mix, ramp, srgb
from kit.engines.media.noise import field, smooth_step
from kit.engines.painting.camera import Camera
from kit.engines.painting.looks import HourLook
from kit.engines.painting.poster.colors import Palette
from kit.engines.painting.poster.planes import Backdrop, Plane, Stage, discs, enlarge, fill, solid
from kit.engines.painting.sky import Sun, draw_flock, sun_of
from kit.engines.prompt.brief import Brief

_SIDE = 128  # size in which smooth parts are painted and then enlarged
_MIN_ELEVATION = 0.38  # minimum elevation of a light that is asked for
_MAX_STEP = 8  # rows; all strips of a picture are longer
#: Hour -> elevation of the light as a share of the sky, and its size relative to that in a lens.
_LIGHTS = {
    "dawn": (0.20, 2.2),
    "day": (0.64, 1.6),
    "sunset": (0.26, 2.75),
    "dusk": (0.48, 1.45),
    "night": (0.60, 1.9),
}
_CRESCENT_SHADE = (0.46, -0.16, 0.93)  # of a crescent: right, down and radius, in radii of the moon


@dataclass(frozen=True, slots=True)
class SkySetting:
    """Shared settings of a picture: the row of the horizon, and mist of 0 to 1."""

    stage: Stage
    palette: Palette
    light: Sun
    brief: Brief
    horizon: float
    mist: float


def light_of(
    rng: np.random.Generator,
    stage: Stage,
    brief: Brief,
    look: HourLook,
    horizon: float,
    size: float,
) -> Sun:
    """Return the sun or moon at one of the golden sections, at the hour's elevation."""
    elevation, factor = _LIGHTS[brief.hour]
    named = brief.open_sky and ("moon" if look.moon else "sun") in brief.things
    elevation = max(elevation, _MIN_ELEVATION if named else 0.0) + rng.uniform(-0.05, 0.05)
    x = (0.365, 0.635)[int(rng.integers(2))] + rng.uniform(-0.03, 0.03)
    camera = Camera(stage.width, stage.height, stage.unit, horizon - stage.margin_y, 1.0)
    size *= factor * (1.25 if brief.mood == "dramatic" else 1.0)
    look = replace(look, elevation=elevation, crescent=look.moon and brief.crescent)
    sun = sun_of(look, camera, place_of(x, brief.composition), size)
    return replace(sun, x=sun.x + stage.margin_x, y=sun.y + stage.margin_y, named=named)


def place_of(drawn: float, words: Collection[str]) -> float:
    """Return the position of the light or the main peak, 0 to 1 from the left."""
    if "centered" in words:
        return 0.5
    return (1 / 3 if drawn < 0.5 else 2 / 3) if "thirds" in words else drawn


def paint_sky(setting: SkySetting) -> Backdrop:
    """Return the sky's gradient with the light's glow, stored in few rows."""
    stage, palette, light = setting.stage, setting.palette, setting.light
    glow = 0.7 if not setting.brief.open_sky else 0.5 if light.crescent else 1.0
    step = min(_MAX_STEP, 1 << max(0, (stage.rows // _SIDE).bit_length() - 1))
    rows = np.arange(0, stage.rows + 2 * step, step, dtype=np.float32)
    columns = ((np.arange(_SIDE) + 0.5) * (stage.columns / _SIDE) - 0.5).astype(np.float32)
    top = -0.02 * stage.height + stage.margin_y
    down = np.clip((rows - top) / (setting.horizon - top), 0.0, 1.0)
    stops = list(zip((0.0, 0.38, 0.72, 1.0), palette.sky, strict=True))
    # A crescent glows from its limb, or its dark side would be the brightest place in the sky.
    middle = light.x - 0.72 * light.radius * light.crescent
    away = columns[None] - np.float32(middle), (rows[:, None] - np.float32(light.y)) * 1.12
    faint = np.exp(np.hypot(*away) * np.float32(-1 / (0.30 * stage.unit)))
    near = (0.5 if light.crescent else 1.0) * glow * (0.55 * faint * faint * faint + 0.42 * faint)
    knots = np.empty((len(rows), 3, stage.columns), np.float32)
    colors = zip(ramp(stops, down), srgb(palette.light[1]), strict=True)
    for number, (plane, color) in enumerate(colors):
        lit = plane[:, None] + near * np.maximum(color - plane, 0.0)[:, None]
        size = (stage.columns, len(rows))
        knots[:, number] = cv2.resize(np.minimum(lit, 1.0), size, interpolation=cv2.INTER_LINEAR)

    def fill(canvas: Floats, first: int) -> None:
        number = canvas.shape[1]
        at = np.arange(number, dtype=np.float32)[:, None] / step
        part = knots[first // step : first // step + number // step + 2]
        # Each row interpolates the knots above and below it: one product for the whole canvas.
        shares = np.maximum(1.0 - np.abs(at - np.arange(len(part), dtype=np.float32)), 0.0)
        np.matmul(shares, part.transpose(1, 0, 2), out=canvas)

    return fill


def sky_planes(
    streams: Iterator[np.random.Generator], setting: SkySetting, *, starry: bool
) -> Iterator[Plane]:
    """Yield the objects in the sky; each part uses its random stream whether drawn or not."""
    brief, (stars, lights, shine, clouds, flock) = setting.brief, islice(streams, 1, 6)
    minimal, clear = "minimal" in brief.composition, not brief.closed_sky
    quiet = brief.dark or minimal or brief.mood == "calm" or not clear
    beams = brief.open_sky and not setting.light.moon and "dramatic" in brief.composition
    wished = [
        (brief.dark and starry and (clear or "stars" in brief.lights), _stars, stars),
        (brief.dark and "aurora" in brief.things, _aurora, lights),
        (beams, _shafts, shine),
        (brief.open_sky, _discs, shine),
        (brief.closed_sky and brief.weather != "fog", _overcast, clouds),
        (clear and not minimal and brief.hour == "day", _cumulus, clouds),
        (clear and not minimal and brief.hour != "day", _streaks, clouds),
        ("birds" in brief.things or not quiet, _birds, flock),
    ]
    for shown, draw, rng in wished:
        if shown:
            yield from draw(rng, setting)


def _discs(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, light, (color, glow) = setting.stage, setting.light, setting.palette.light
    x, y, radius = light.x, light.y, light.radius
    rings = () if light.crescent else ((1.9, 18),) if light.moon else ((2.35, 16), (1.6, 26))
    top = int(min(max(y - 2.4 * radius - 2, 0), stage.rows - 2))
    bottom = int(min(y + 2.4 * radius + 3, stage.rows))
    for factor, value in (*rings, (1.0, 255)):
        mask = stage.blank(top, bottom)
        discs(mask, [x, y, factor * radius], top=top, values=[value])
        if factor > 1.0:
            yield Plane("glare", 0.02, top, solid(color), mask)
    if light.crescent:
        right, down, size = (radius * share for share in _CRESCENT_SHADE)
        discs(mask, [x + right, y + down, size], top=top, values=[0])
    down = np.clip((np.arange(top, bottom) - y) / (2 * radius) + 0.5, 0.0, 1.0)
    shaded = ramp([(0.0, color), (1.0, mix(color, glow, 0.6))], down)
    yield Plane("sun", 0.02, top, solid(color) if light.moon else shaded, mask)


def _shafts(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, light = setting.stage, setting.light
    mask = stage.blank(0, int(min(stage.rows, setting.horizon + 0.05 * stage.height)))
    reach = 2.0 * max(stage.columns, stage.rows)
    turns = (np.arange(22)[:, None] + [0.0, 0.25, 0.75]) * (2 * np.pi / 22)
    ends = np.array([0.0, reach, reach])
    corners = np.stack([light.x + ends * np.cos(turns), light.y + ends * np.sin(turns)], axis=2)
    fill(mask, corners, values=[74] * 22)
    down = np.linspace(0.35, 1.0, len(mask), dtype=np.float32)[:, None]
    color = solid(setting.palette.light[1])
    yield Plane("glare", 0.015, 0, color, (mask * down).astype(np.uint8))


def _stars(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, light = setting.stage, setting.light
    bottom = int(min(stage.rows, setting.horizon + 0.1 * stage.height))
    mask = stage.blank(0, bottom)
    count = int(430 * stage.columns * bottom / stage.unit**2)
    places = rng.random((count, 2)) * (stage.columns, bottom)
    lights = 0.16 + 0.84 * rng.random(count) ** 4
    far = np.hypot(places[:, 0] - light.x, places[:, 1] - light.y) / light.radius
    lights *= smooth_step(bottom, bottom * 0.35, places[:, 1]) * smooth_step(1.2, 5.0, far)
    values = ((255 if setting.brief.hour == "night" else 166) * lights).astype(int)
    radii = np.maximum(stage.unit * (0.00062 + 0.00095 * lights**2), 0.45)
    shown = values > 8
    discs(mask, np.column_stack([places, radii])[shown], values=values[shown].tolist())
    yield Plane("stars", 0.0, 0, solid((0.97, 0.02, 90)), mask)


def _overcast(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    palette = setting.palette
    texture = field(rng, _SIDE, _SIDE, cells=(7, 4), octaves=5, gain=0.55)
    down = np.linspace(0.0, 1.0, _SIDE, dtype=np.float32)[:, None]
    cover = smooth_step(-0.9, 1.5, texture + 1.1 * (1 - down)) * smooth_step(1.0, 0.25, down)
    alpha = enlarge(cover * 190, (setting.stage.columns, int(setting.horizon)))
    yield Plane("cloud", 0.04, 0, solid(mix(palette.sky[0], palette.land[1], 0.4)), alpha)


def _aurora(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    along = np.sin(np.linspace(0.0, np.pi, 320))
    heights = np.linspace(0.0, 1.0, _SIDE, dtype=np.float32)[:, None]
    dark = np.ones((_SIDE, 320), np.float32)
    for number in range(3):
        bend = cv2.GaussianBlur(field(rng, 2, 320, cells=(2, 4), octaves=3)[:1], (0, 0), 6)
        rays = 0.55 + 0.45 * field(rng, 2, 320, cells=(2, 40), octaves=3)[:1]
        above = (0.78 - 0.17 * number + 0.16 * bend - heights) / (0.34 + 0.10 * rays)
        curtain = np.exp(np.minimum(above * -2.1, above * 16))
        curtain *= np.clip(rays, 0.1, 1.4) * (0.6 + 0.4 * along)
        dark *= 1.0 - np.minimum(curtain * ((150 - 30 * number) / 255), 1.0)
    alpha = enlarge((1.0 - dark) * 255, (setting.stage.columns, int(setting.horizon)))
    stops = [(0.0, (0.62, 0.17, 300)), (0.45, (0.76, 0.15, 172)), (1.0, (0.86, 0.18, 155))]
    yield Plane("cloud", 0.0, 0, ramp(stops, np.linspace(0.0, 1.0, len(alpha))), alpha)


def _streaks(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, light, top = setting.stage, setting.light, setting.stage.margin_y
    cloud, glow = setting.palette.air[2], setting.palette.light[1]
    along = np.linspace(-1.0, 1.0, 33)
    for layer, (color, cover) in enumerate(((cloud, 87), (mix(cloud, glow, 0.45), 138))):
        mask = stage.blank(top, int(setting.horizon))
        for _ in range(4 + 2 * layer):
            y = top + (setting.horizon - top) * rng.uniform(0.16, 0.9)
            x, long = stage.columns * rng.uniform(-0.05, 1.05), stage.unit * rng.uniform(0.1, 0.3)
            random = rng.random((6, int(rng.integers(2, 5)), 1))
            if abs(y - light.y) < 1.3 * light.radius:
                continue
            low = y + stage.unit * 0.018 * (random[1] - 0.5)
            body = stage.unit * (0.0025 + 0.004 * random[3]) * (1 - along**2) ** 0.8
            ripple = 1 + 0.35 * np.sin(along * (5 + 4 * random[4]) + 6 * random[5])
            across = x + (random[0] - 0.5) * long + long * (0.45 + 0.55 * random[2]) * along
            xs = np.hstack([across, across[:, ::-1]])
            ys = np.hstack([low - body * ripple, (low + 0.55 * body)[:, ::-1]])
            fill(mask, np.stack([xs, ys], axis=2), top=top, values=[cover] * len(xs))
        yield Plane("cloud", 0.05 + 0.03 * layer, top, solid(color), mask)


def _cumulus(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, start = setting.stage, setting.stage.margin_y
    shares = np.linspace(-1.0, 1.0, 9)
    for number in range(7):
        layer, count = (0, 3) if number < 3 else (1, 4)
        tall = stage.unit * (0.05 + 0.03 * layer) * rng.uniform(0.7, 1.2)
        y = start + (setting.horizon - start) * (0.74 - 0.38 * layer + rng.uniform(-0.13, 0.10))
        x = stage.columns * (number % count + rng.uniform(0.1, 0.9)) / count
        top = int(max(0, y - 2.2 * tall))
        mask = stage.blank(top, max(top + 2, int(y)))
        bulk = tall * (0.30 + 0.55 * (1 - shares**2)) * rng.uniform(0.75, 1.15, 9)
        across = x + tall * rng.uniform(1.7, 3.0) * shares
        discs(mask, np.stack([across, y - 0.55 * bulk, bulk], axis=1), top=top)
        rows = np.arange(top, top + len(mask), dtype=np.float32)[:, None]
        alpha = (mask * (0.86 * smooth_step(y, y - 1.25 * tall, rows))).astype(np.uint8)
        yield Plane("cloud", 0.04 + 0.04 * layer, top, solid(setting.palette.air[2]), alpha)


def _birds(rng: np.random.Generator, setting: SkySetting) -> Iterator[Plane]:
    stage, light, start = setting.stage, setting.light, setting.stage.margin_y
    side = 1.0 if light.x < stage.x(0.5) else -1.0
    x0 = light.x + side * stage.unit * rng.uniform(0.14, 0.22)
    y0 = start + (setting.horizon - start) * rng.uniform(0.34, 0.50)
    top = int(max(0, y0 - 0.15 * stage.unit))
    mask = stage.blank(top, int(y0 + 0.15 * stage.unit))
    draw_flock(mask, rng, (x0 + 0.06 * side * stage.unit, y0 - top), stage.unit)
    yield Plane("birds", 0.12, top, solid(setting.palette.land[2]), mask)
