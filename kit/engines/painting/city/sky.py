"""The sky and the air of a street: what lies behind the buildings, and what veils them."""

from __future__ import annotations

import numpy as np

from kit.engines.base import Progress
from kit.engines.media.noise import smooth_step
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.view import View
from kit.engines.painting.noise import Plane, across, field, warp
from kit.engines.painting.tone import blend, gradient, light
from kit.engines.prompt.brief import Brief

_CLOUDS = {"clear": 0.35, "rain": 0.95, "snow": 0.95, "mist": 0.7, "fog": -1.0, "overcast": 1.0}


def sky(
    rng: np.random.Generator, brief: Brief, view: View, hour: Hour, progress: Progress
) -> Plane:
    """Return the sky, shape (3, height, width), linear light; below the horizon it is haze."""
    height, width = view.height, view.width
    rise = np.clip(view.up() / 0.62, 0.0, 1.0)
    low, middle, top = hour.sky
    plain = gradient([(0.0, low), (0.38, middle), (1.0, top)], rise**0.8)
    picture = np.broadcast_to(plain, (3, height, width)).astype(np.float32)
    size = max(height, width)
    cells = across(3.4, height, width)
    body = field(rng, height, width, cells=(2 * cells[0], cells[1]), octaves=7, gain=0.52)
    bend = field(rng, height, width, cells=(2 * cells[0], cells[1]), octaves=4)
    progress.report(0.4)
    body = warp(body, bend, bend[:, ::-1], 0.03 * size)
    amount = -1.0 if "minimal" in brief.composition else _CLOUDS[brief.weather]
    cover = smooth_step(0.9 - 1.7 * amount, 2.0 - 1.1 * amount, body) * np.clip(
        rise * 5.0, 0.0, 1.0
    )
    progress.report(0.7)
    shine = np.clip(0.75 + 0.22 * body, 0.4, 1.3)
    tone = _cloud(hour, brief) * shine
    picture = blend(picture, np.asarray(tone, np.float32), np.asarray(cover * 0.85, np.float32))
    if hour.ahead and hour.power:
        picture += _sun(view, hour)
    return picture


def air(view: View, hour: Hour) -> Plane:
    """Return the color that distance fades to, for every pixel: warm below, glowing to the sun."""
    rise = smooth_step(0.0, 0.75, view.up())
    low, high = light(hour.haze[0]), light(hour.haze[1])
    plain = low + (high - low) * rise
    haze = np.broadcast_to(plain, (3, view.height, view.width)).astype(np.float32)
    if hour.ahead and hour.power:
        haze += light(hour.sun) * (_nearness(view) * np.float32(0.55 * hour.power))
    return haze


def _cloud(hour: Hour, brief: Brief) -> Plane:
    if hour.power == 0.0 and brief.dark:
        return light(hour.sky[0]) * np.float32(0.45) + light(hour.sky[2]) * np.float32(0.3)
    if hour.ahead:
        return light(hour.sun) * np.float32(0.75)
    return light((0.93, 0.012, 250)) if hour.power else light(hour.sky[0]) * np.float32(0.85)


def _nearness(view: View) -> Plane:
    """Return the glow round the sun, which stands a little above the vanishing point."""
    dx = view.across()
    dy = view.up() - np.float32(0.045)
    far = np.sqrt(dx * dx + dy * dy)
    return np.asarray(np.exp(-far * 5.5) + 0.8 * np.exp(-far * 19.0), np.float32)


def _sun(view: View, hour: Hour) -> Plane:
    dx, dy = view.across(), view.up() - np.float32(0.045)
    far = np.sqrt(dx * dx + dy * dy)
    disc = smooth_step(0.026, 0.021, far) * 5.0
    return np.asarray(light(hour.sun) * (disc + 0.9 * _nearness(view)), np.float32)
