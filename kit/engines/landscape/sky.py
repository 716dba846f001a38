"""The sky: its gradient and light, sun or moon, stars, clouds, northern lights and birds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.landscape.palettes import Palette
from kit.engines.landscape.plane import Plane, Stage, disc, ellipse, fill, solid
from kit.engines.landscape.scene import Scene
from kit.engines.media.color import Floats, mix, paint, ramp
from kit.engines.media.noise import field, smooth_step

_COARSE = 160  # smooth things are painted this small and enlarged


@dataclass(frozen=True, slots=True)
class Light:
    """Where the sun or moon stands on the stage, and its radius, in pixels."""

    x: float
    y: float
    radius: float


#: Time of day -> (height as a share of the way down to the horizon, radius in units).
_HEIGHTS = {
    "dawn": (0.80, 0.070),
    "day": (0.36, 0.052),
    "sunset": (0.74, 0.088),
    "dusk": (0.52, 0.046),
    "night": (0.40, 0.050),
}


def light_of(rng: np.random.Generator, stage: Stage, scene: Scene, horizon: float) -> Light:
    """Place the light at one of the golden sections, as high as the hour asks for."""
    share, radius = _HEIGHTS[scene.time]
    x = (0.365, 0.635)[int(rng.integers(2))] + rng.uniform(-0.03, 0.03)
    y = stage.margin_y + (horizon - stage.margin_y) * (share + rng.uniform(-0.05, 0.05))
    bigger = 1.25 if scene.mood == "dramatic" else 1.0
    return Light(stage.x(x), y, stage.unit * radius * bigger)


def sky(stage: Stage, palette: Palette, light: Light, horizon: float, glow: float) -> Floats:
    """Return the sky with the light's glow, shape (3, rows, columns)."""
    rows = np.linspace(0.0, stage.rows, _COARSE, dtype=np.float32)
    columns = np.linspace(0.0, stage.columns, _COARSE, dtype=np.float32)
    top = -0.02 * stage.height + stage.margin_y
    down = np.clip((rows - top) / (horizon - top), 0.0, 1.0)
    stops = list(zip((0.0, 0.38, 0.72, 1.0), palette.sky, strict=True))
    coarse = np.repeat(ramp(stops, down)[:, :, None], _COARSE, axis=2)
    far = np.hypot(columns[None] - light.x, (rows[:, None] - light.y) * 1.12) / stage.unit
    near = glow * (0.55 * np.exp(-far / 0.10) + 0.42 * np.exp(-far / 0.30))
    for plane, color in zip(coarse, paint(palette.glow), strict=True):
        plane += near * np.maximum(color - plane, 0.0)
    return _enlarged(coarse, stage)


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


def moon(rng: np.random.Generator, stage: Stage, palette: Palette, light: Light) -> Iterator[Plane]:
    """Yield a moon: full with its seas, or a crescent."""
    radius = light.radius
    top, ring = _box(stage, light.y, radius * 1.9)
    disc(ring, light.x, light.y, radius * 1.9, top=top, value=18)
    yield Plane("glare", 0.02, top, solid(paint(palette.sun)), ring)
    top, mask = _box(stage, light.y, radius)
    disc(mask, light.x, light.y, radius, top=top)
    if rng.random() < 0.4:
        shift = radius * rng.uniform(0.34, 0.5) * rng.choice([-1.0, 1.0])
        disc(mask, light.x + shift, light.y - radius * 0.16, radius * 0.93, top=top, value=0)
        yield Plane("sun", 0.02, top, solid(paint(palette.sun)), mask)
        return
    yield Plane("sun", 0.02, top, solid(paint(palette.sun)), mask)
    seas = np.zeros_like(mask)
    for _ in range(7):
        angle, far = rng.uniform(0, 2 * np.pi), radius * rng.uniform(0.1, 0.62)
        center = (light.x + far * np.cos(angle), light.y + far * np.sin(angle))
        size = radius * rng.uniform(0.10, 0.26)
        ellipse(seas, center, (size * 1.2, size), top=top, value=34)
    yield Plane("sun", 0.021, top, solid(paint(palette.glow)), cv2.min(seas, mask))


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
    for (x, y), bright, fade in zip(places, lights, fades, strict=True):
        radius = stage.unit * (0.00062 + 0.00095 * bright**2)
        if (value := int(255 * bright * fade)) > 8:
            disc(mask, x, y, max(radius, 0.45), value=value)
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
    alpha = cv2.resize(
        np.clip(band, 0, 1) * 60, (stage.columns, bottom), interpolation=cv2.INTER_CUBIC
    )
    color = solid(paint(mix(palette.sky[3], (0.9, 0.03, 60), 0.5)))
    return Plane("haze", 0.0, 0, color, np.clip(alpha, 0, 255).astype(np.uint8))


def aurora(rng: np.random.Generator, stage: Stage, horizon: float) -> Iterator[Plane]:
    """Yield curtains of northern lights, green below and violet above."""
    bottom = int(horizon)
    small = np.arange(320, dtype=np.float64)
    heights = np.linspace(0.0, 1.0, _COARSE, dtype=np.float32)[:, None]
    for number in range(3):
        bend = cv2.GaussianBlur(field(rng, 2, 320, cells=(2, 4), octaves=3)[:1], (0, 0), 6)
        foot = 0.78 - 0.17 * number + 0.16 * bend
        rays = 0.55 + 0.45 * field(rng, 2, 320, cells=(2, 40), octaves=3)[:1]
        reach = 0.34 + 0.10 * rays
        above = (foot - heights) / reach
        curtain = np.where(above > 0, np.exp(-above * 2.1), np.exp(above * 16))
        curtain *= np.clip(rays, 0.1, 1.4) * (0.6 + 0.4 * np.sin(small / 320 * np.pi))
        alpha = cv2.resize(
            (curtain * (150 - 30 * number)).astype(np.float32),
            (stage.columns, bottom),
            interpolation=cv2.INTER_CUBIC,
        )
        tint = np.linspace(0.0, 1.0, bottom)
        color = ramp(
            [(0.0, (0.62, 0.17, 300)), (0.45, (0.76, 0.15, 172)), (1.0, (0.86, 0.18, 155))], tint
        )
        yield Plane("cloud", 0.0, 0, color[:, :, None], np.clip(alpha, 0, 255).astype(np.uint8))


def streaks(
    rng: np.random.Generator, stage: Stage, palette: Palette, light: Light, horizon: float
) -> Iterator[Plane]:
    """Yield long flat clouds like brush strokes, lit by a low sun."""
    lit = mix(palette.cloud, palette.glow, 0.45)
    for layer in range(2):
        top, bottom = stage.margin_y, int(horizon)
        mask = stage.blank(top, bottom)
        for _ in range(4 + 2 * layer):
            y = stage.margin_y + (horizon - stage.margin_y) * rng.uniform(0.16, 0.9)
            x = stage.columns * rng.uniform(-0.05, 1.05)
            if abs(y - light.y) > 1.3 * light.radius:
                _streak(rng, mask, stage, (x, y), top)
        color = paint(lit if layer else palette.cloud)
        yield Plane(
            "cloud",
            0.05 + 0.03 * layer,
            top,
            solid(color),
            (mask * np.float32(0.34 + 0.2 * layer)).astype(np.uint8),
        )


def cumulus(
    rng: np.random.Generator, stage: Stage, palette: Palette, light: Light, horizon: float
) -> Iterator[Plane]:
    """Yield heaped clouds with flat feet that fade out below."""
    for layer in range(2):
        count = 3 + layer
        for number in range(count):
            tall = stage.unit * (0.05 + 0.03 * layer) * rng.uniform(0.7, 1.2)
            share = 0.74 - 0.38 * layer + rng.uniform(-0.13, 0.10)
            foot = stage.margin_y + (horizon - stage.margin_y) * share
            x = stage.columns * (number + rng.uniform(0.1, 0.9)) / count
            yield _heap(rng, stage, palette, (x, foot), tall, 0.04 + 0.04 * layer)


def overcast(
    rng: np.random.Generator, stage: Stage, palette: Palette, light: Light, horizon: float
) -> Iterator[Plane]:
    """Yield a heavy ceiling of cloud."""
    bottom = int(horizon)
    texture = field(rng, _COARSE, _COARSE, cells=(7, 4), octaves=5, gain=0.55)
    down = np.linspace(0.0, 1.0, _COARSE, dtype=np.float32)[:, None]
    cover = smooth_step(-0.9, 1.5, texture + 1.1 * (1 - down)) * smooth_step(1.0, 0.25, down)
    alpha = cv2.resize(cover * 190, (stage.columns, bottom), interpolation=cv2.INTER_CUBIC)
    color = mix(palette.sky[0], palette.land[1], 0.4)
    yield Plane("cloud", 0.04, 0, solid(paint(color)), np.clip(alpha, 0, 255).astype(np.uint8))


CLOUDS: dict[str, Callable[..., Iterator[Plane]]] = {
    "streaks": streaks,
    "cumulus": cumulus,
    "overcast": overcast,
}


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
    share = np.linspace(-1.0, 1.0, 15)
    beat = rng.uniform(0.25, 0.6)
    wing = -span * beat * np.sin(np.pi * np.abs(share) ** 0.8) * (1.25 - 0.55 * np.abs(share))
    thick = span * 0.13 * (1.0 - np.abs(share)) + 0.25
    xs = x + span * share
    upper = np.stack([xs, y + wing - thick], axis=1)
    lower = np.stack([xs, y + wing + thick], axis=1)
    fill(mask, np.concatenate([upper, lower[::-1]]), top=top)


def _streak(
    rng: np.random.Generator, mask: np.ndarray, stage: Stage, at: tuple[float, float], top: int
) -> None:
    """One cloud of a few overlapping lenses, pointed at both ends."""
    x, y = at
    long = stage.unit * rng.uniform(0.10, 0.30)
    share = np.linspace(-1.0, 1.0, 33)
    for _ in range(int(rng.integers(2, 5))):
        cx, half = x + rng.uniform(-0.5, 0.5) * long, long * rng.uniform(0.45, 1.0)
        cy = y + stage.unit * rng.uniform(-0.009, 0.009)
        thick = stage.unit * rng.uniform(0.0025, 0.0065)
        body = (1 - share**2) ** 0.8 * thick
        ripple = 1 + 0.35 * np.sin(share * rng.uniform(5, 9) + rng.uniform(0, 6))
        upper = np.stack([cx + half * share, cy - body * ripple], axis=1)
        lower = np.stack([cx + half * share, cy + body * 0.55], axis=1)
        fill(mask, np.concatenate([upper, lower[::-1]]), top=top)


def _heap(
    rng: np.random.Generator,
    stage: Stage,
    palette: Palette,
    foot: tuple[float, float],
    tall: float,
    depth: float,
) -> Plane:
    x, y = foot
    top = int(max(0, y - 2.2 * tall))
    mask = stage.blank(top, max(top + 2, int(y)))
    wide = tall * rng.uniform(1.7, 3.0)
    for share in np.linspace(-1.0, 1.0, 9):
        bulk = tall * (0.30 + 0.55 * (1 - share**2)) * rng.uniform(0.75, 1.15)
        disc(mask, x + wide * share, y - bulk * 0.55, bulk, top=top)
    rows = np.arange(top, top + mask.shape[0])
    fade = smooth_step(y, y - 1.25 * tall, rows)
    alpha = mask * (fade * np.float32(0.86))[:, None]
    return Plane("cloud", depth, top, solid(paint(palette.cloud)), alpha.astype(np.uint8))


def _box(stage: Stage, y: float, radius: float) -> tuple[int, np.ndarray]:
    top = int(np.clip(y - radius - 2, 0, stage.rows - 2))
    return top, stage.blank(top, int(np.clip(y + radius + 3, top + 1, stage.rows)))


def _enlarged(coarse: Floats, stage: Stage) -> Floats:
    size = (stage.columns, stage.rows)
    planes = [cv2.resize(plane, size, interpolation=cv2.INTER_CUBIC) for plane in coarse]
    return np.asarray(np.clip(np.stack(planes), 0.0, 1.0), np.float32)
