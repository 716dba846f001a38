"""The sky: its gradient and light, sun or moon, stars, clouds, northern lights and birds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Floats, mix, paint, ramp
from kit.engines.media.noise import field, smooth_step
from kit.engines.painting.poster.framing import light_size, placed
from kit.engines.painting.poster.palettes import Palette
from kit.engines.painting.poster.plane import (
    Plane,
    Stage,
    backward,
    disc,
    discs,
    ellipse,
    enlarged,
    fill,
    outline,
    solid,
)
from kit.engines.prompt.brief import Brief

_COARSE = 128  # smooth things are painted this small and enlarged
_WINGS = np.linspace(-1.0, 1.0, 15)  # of a bird, from tip to tip
_SHAFTS, _SHAFT = 22, 74  # of light: how many, and how strong of 255
_SEEN = 0.62  # of the way down to the horizon: no light that is asked for is lower
_MOST_STEP = 8  # rows; no strip of a picture is shorter


@dataclass(frozen=True, slots=True)
class Light:
    """Where the sun or moon stands on the stage.

    Parameters
    ----------
    x, y, radius : float
        In pixels.
    shadow : float
        How far the dark disc that makes a crescent stands to the right of the moon's, in radii;
        0 where all of it is lit.
    named : bool
        The prompt wants to see it: nothing is to hide it.
    """

    x: float
    y: float
    radius: float
    shadow: float = 0.0
    named: bool = False

    @property
    def lit(self) -> float:
        """Column of the middle of what is lit."""
        return self.x - 0.72 * self.radius * float(np.sign(self.shadow))


#: Time of day -> (height as a share of the way down to the horizon, radius in units).
_HEIGHTS = {
    "dawn": (0.80, 0.070),
    "day": (0.36, 0.052),
    "sunset": (0.74, 0.088),
    "dusk": (0.52, 0.046),
    "night": (0.40, 0.050),
}


def light_of(rng: np.random.Generator, stage: Stage, brief: Brief, horizon: float) -> Light:
    """Place the light at one of the golden sections, as high as the hour asks for."""
    named = brief.open and ("moon" if moonlit(brief) else "sun") in brief.things
    share, radius = _HEIGHTS[brief.hour]
    share = min(share, _SEEN) if named else share
    x = (0.365, 0.635)[int(rng.integers(2))] + rng.uniform(-0.03, 0.03)
    y = stage.margin_y + (horizon - stage.margin_y) * (share + rng.uniform(-0.05, 0.05))
    bigger = 1.25 if brief.mood == "dramatic" else 1.0
    shadow = rng.uniform(0.40, 0.52) * rng.choice([-1.0, 1.0]) if moonlit(brief) else 0.0
    x, bigger = placed(x, brief.composition), bigger * light_size(brief.composition)
    shadow = shadow if brief.crescent else 0.0
    return Light(stage.x(x), y, stage.unit * radius * bigger, shadow, named)


def moonlit(brief: Brief) -> bool:
    """Return whether the light is the moon: by night, and at dusk where a crescent is asked for."""
    return brief.hour == "night" or (brief.hour == "dusk" and "crescent" in brief.things)


@dataclass(frozen=True, slots=True)
class Sky:
    """The gradient of the sky with the light's glow, of which a few rows are kept: it is smooth.

    Parameters
    ----------
    knots : ndarray of float32
        Encoded sRGB, 0 to 1, shape (n, 3, columns of the stage).
    step : int
        Rows of the stage from one knot to the next, a power of 2.
    """

    knots: Floats
    step: int

    def fill(self, canvas: Floats, first: int) -> None:
        """Fill a canvas of shape (3, rows, columns) that begins at a knot's row of the stage."""
        rows = canvas.shape[1]
        start = first // self.step
        at = np.arange(rows, dtype=np.float32)[:, None] / self.step
        knots = self.knots[start : start + rows // self.step + 2]
        # Each row is a mean of the knots above and below it: one product for the whole canvas.
        shares = np.maximum(1.0 - np.abs(at - np.arange(len(knots), dtype=np.float32)), 0.0)
        np.matmul(shares, knots.transpose(1, 0, 2), out=canvas)


def sky(stage: Stage, palette: Palette, light: Light, horizon: float, glow: float) -> Sky:
    """Return the sky with the light's glow."""
    step = min(_MOST_STEP, 1 << max(0, (stage.rows // _COARSE).bit_length() - 1))
    rows = np.arange(0, stage.rows + 2 * step, step, dtype=np.float32)
    columns = ((np.arange(_COARSE) + 0.5) * (stage.columns / _COARSE) - 0.5).astype(np.float32)
    top = -0.02 * stage.height + stage.margin_y
    down = np.clip((rows - top) / (horizon - top), 0.0, 1.0)
    stops = list(zip((0.0, 0.38, 0.72, 1.0), palette.sky, strict=True))
    # A crescent shines from its limb, or its dark side would be the brightest place in the sky.
    across, down_ = columns[None] - np.float32(light.lit), (rows - np.float32(light.y)) * 1.12
    far = np.sqrt(across**2 + down_[:, None] ** 2) / np.float32(stage.unit)
    faint = np.exp(far * np.float32(-1 / 0.30))
    near = (0.5 if light.shadow else 1.0) * glow * (0.55 * faint * faint * faint + 0.42 * faint)
    knots = np.empty((len(rows), 3, stage.columns), np.float32)
    for number, (plane, color) in enumerate(
        zip(ramp(stops, down), paint(palette.glow), strict=True)
    ):
        lit = plane[:, None] + near * np.maximum(color - plane, 0.0)[:, None]
        size = (stage.columns, len(rows))
        knots[:, number] = cv2.resize(np.minimum(lit, 1.0), size, interpolation=cv2.INTER_LINEAR)
    return Sky(knots, step)


def sun(stage: Stage, palette: Palette, light: Light) -> Iterator[Plane]:
    """Yield the disc of the sun with two faint rings, the way a print would show its glare."""
    for radius, value in ((light.radius * 2.35, 16), (light.radius * 1.6, 26)):
        top, mask = _box(stage, light.y, radius)
        disc(mask, light.x, light.y, radius, top=top, value=value)
        yield Plane("glare", 0.02, top, solid(paint(palette.sun)), mask)
    top, mask = _box(stage, light.y, light.radius)
    disc(mask, light.x, light.y, light.radius, top=top)
    down = np.linspace(0.0, 1.0, mask.shape[0])
    color = ramp([(0.0, palette.sun), (1.0, mix(palette.sun, palette.glow, 0.6))], down)
    yield Plane("sun", 0.02, top, color[:, :, None], mask)


def shafts(stage: Stage, palette: Palette, light: Light, horizon: float) -> Plane:
    """Return shafts of light that spread from the sun over the sky, as on an old poster."""
    bottom = int(min(stage.rows, horizon + 0.05 * stage.height))
    mask = stage.blank(0, bottom)
    reach = 2.0 * max(stage.columns, stage.rows)
    turns = (np.arange(_SHAFTS) + 0.5) * (2 * np.pi / _SHAFTS)
    for turn in turns:
        ends = turn + np.array([-0.5, 0.5]) * (np.pi / _SHAFTS)
        corners = np.column_stack([light.x + reach * np.cos(ends), light.y + reach * np.sin(ends)])
        fill(mask, np.vstack([[light.x, light.y], corners]), value=_SHAFT)
    down = np.linspace(0.0, 1.0, len(mask), dtype=np.float32)[:, None]
    mask = (mask * (0.35 + 0.65 * down)).astype(np.uint8)
    return Plane("glare", 0.015, 0, solid(paint(palette.glow)), mask)


def moon(rng: np.random.Generator, stage: Stage, palette: Palette, light: Light) -> Iterator[Plane]:
    """Yield a moon: full with its seas and a faint ring, or a crescent before the sky."""
    radius = light.radius
    color = solid(paint(palette.sun))
    if light.shadow:
        yield _crescent(stage, light, color)
        return
    top, ring = _box(stage, light.y, radius * 1.9)
    disc(ring, light.x, light.y, radius * 1.9, top=top, value=18)
    yield Plane("glare", 0.02, top, color, ring)
    top, mask = _box(stage, light.y, radius)
    disc(mask, light.x, light.y, radius, top=top)
    yield Plane("sun", 0.02, top, color, mask)
    seas = np.zeros_like(mask)
    for _ in range(7):
        angle, far = rng.uniform(0, 2 * np.pi), radius * rng.uniform(0.1, 0.62)
        center = (light.x + far * np.cos(angle), light.y + far * np.sin(angle))
        size = radius * rng.uniform(0.10, 0.26)
        ellipse(seas, center, (size * 1.2, size), top=top, value=34)
    yield Plane("sun", 0.021, top, solid(paint(palette.glow)), cv2.min(seas, mask))


def _crescent(stage: Stage, light: Light, color: Floats) -> Plane:
    """Return what one disc leaves of another: the rest is not painted at all."""
    radius = light.radius
    top, mask = _box(stage, light.y, radius)
    left = int(np.clip(light.x - radius - 2, 0, stage.columns - 1))
    right = int(np.clip(light.x + radius + 3, left + 1, stage.columns))
    x = np.arange(left, right)[None] - light.x
    y = np.arange(top, top + mask.shape[0])[:, None] - light.y
    inside = np.clip(radius - np.hypot(x, y) + 0.5, 0.0, 1.0)
    away = np.hypot(x - light.shadow * radius, y + 0.16 * radius)
    beyond = np.clip(away - 0.93 * radius + 0.5, 0.0, 1.0)
    mask[:, left:right] = np.rint(255 * inside * beyond)
    return Plane("sun", 0.02, top, color, mask)


def stars(
    rng: np.random.Generator, stage: Stage, horizon: float, light: Light, strength: float
) -> Plane:
    """Return stars: many faint ones, few bright ones, thinning out toward the horizon."""
    bottom = int(min(stage.rows, horizon + 0.1 * stage.height))
    mask = stage.blank(0, bottom)
    count = int(430 * stage.columns * bottom / stage.unit**2)
    places = rng.random((count, 2)) * (stage.columns, bottom)
    lights = 0.16 + 0.84 * rng.random(count) ** 4
    fades = smooth_step(bottom, bottom * 0.35, places[:, 1]) * strength
    far = np.hypot(places[:, 0] - light.x, places[:, 1] - light.y) / light.radius
    fades *= smooth_step(1.2, 5.0, far)
    values = (255 * lights * fades).astype(int)
    radii = np.maximum(stage.unit * (0.00062 + 0.00095 * lights**2), 0.45)
    shown = values > 8
    discs(mask, np.column_stack([places, radii])[shown], values=values[shown].tolist())
    return Plane("stars", 0.0, 0, solid(paint((0.97, 0.02, 90))), mask)


def milky_way(rng: np.random.Generator, stage: Stage, palette: Palette, horizon: float) -> Plane:
    """Return the band of the Milky Way, faint and clouded."""
    rows = cols = _COARSE
    down, across = np.mgrid[0:rows, 0:cols].astype(np.float32) / rows
    lean = rng.uniform(0.5, 0.9) * rng.choice([-1.0, 1.0])
    off = (across - 0.5) * lean + (down - 0.32)
    band = np.exp(-((off / 0.15) ** 2)) * (0.5 + 0.32 * field(rng, rows, cols, cells=(5, 5)))
    band *= smooth_step(0.95, 0.35, down)
    bottom = int(horizon)
    alpha = enlarged(np.clip(band, 0, 1) * np.float32(60), (stage.columns, bottom))
    color = solid(paint(mix(palette.sky[3], (0.9, 0.03, 60), 0.5)))
    return Plane("haze", 0.0, 0, color, alpha)


def birds(
    rng: np.random.Generator, stage: Stage, palette: Palette, light: Light, horizon: float
) -> Plane:
    """Return a small flock, off to the side of the light."""
    side = 1.0 if light.x < stage.x(0.5) else -1.0
    x0 = light.x + side * stage.unit * rng.uniform(0.14, 0.22)
    y0 = stage.margin_y + (horizon - stage.margin_y) * rng.uniform(0.34, 0.50)
    top = int(max(0, y0 - 0.15 * stage.unit))
    mask = stage.blank(top, int(y0 + 0.15 * stage.unit))
    for number in range(int(rng.integers(5, 10))):
        x = x0 + side * stage.unit * (0.020 * number + rng.uniform(-0.008, 0.008))
        y = y0 + stage.unit * (0.011 * abs(number - 2) + rng.uniform(-0.012, 0.012))
        _bird(rng, mask, (x, y), stage.unit * rng.uniform(0.007, 0.012), top)
    return Plane("birds", 0.12, top, solid(paint(palette.land[2])), mask)


def _bird(
    rng: np.random.Generator, mask: np.ndarray, at: tuple[float, float], span: float, top: int
) -> None:
    x, y = at
    share = _WINGS
    beat = rng.uniform(0.25, 0.6)
    wing = -span * beat * np.sin(np.pi * np.abs(share) ** 0.8) * (1.25 - 0.55 * np.abs(share))
    thick = span * 0.13 * (1.0 - np.abs(share)) + 0.25
    xs = x + span * share
    fill(mask, outline((xs, y + wing - thick), backward((xs, y + wing + thick))), top=top)


def _box(stage: Stage, y: float, radius: float) -> tuple[int, np.ndarray]:
    top = int(min(max(y - radius - 2, 0), stage.rows - 2))
    return top, stage.blank(top, int(min(max(y + radius + 3, top + 1), stage.rows)))
