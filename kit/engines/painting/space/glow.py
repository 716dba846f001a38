"""Luminous objects: nebulae, galaxies, stars, supernova remnants, and comets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count as counted

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Oklch, mix
from kit.engines.media.noise import smooth_step
from kit.engines.painting.noise import Plane, blobs, blur, distances, slopes, warp
from kit.engines.painting.painting import Canvas
from kit.engines.painting.space.bodies import CelestialBody, SpaceSky
from kit.engines.painting.tone import blend, gradient, light

#: From cool to hot.
_STARS: list[tuple[float, Oklch]] = [
    (0.0, (0.80, 0.11, 50)),
    (0.35, (0.93, 0.05, 80)),
    (0.6, (0.98, 0.01, 200)),
    (1.0, (0.86, 0.085, 262)),
]


def _noises(
    rng: np.random.Generator, shape: tuple[int, ...], octaves: int, progress: Progress,
    zoom: float = 1.0,
) -> Callable[..., Plane]:  # fmt: skip
    done = counted(1)

    def noise(cells: float, gain: float = 0.5) -> Plane:
        progress.report(0.07 * next(done))
        return blobs(rng, shape, cells, octaves=octaves, gain=gain, zoom=1.0 / zoom)

    return noise


def nebula(
    rng: np.random.Generator, sky: SpaceSky, octaves: int, progress: Progress
) -> tuple[Plane, Plane]:
    """Return the light of the gas, shape (3, height, width), and its density, 0 to 1."""
    height, width = sky.height, sky.width
    size, reach = max(height, width), max(height, width) * sky.zoom
    noise = _noises(rng, (height, width), octaves, progress, sky.zoom)
    wind, drift = noise(2.5), noise(2.5)
    body = warp(noise(3.0, 0.54), wind, drift, 0.085 * reach)
    veil = warp(noise(4.0, 0.57), drift, body, 0.065 * reach)
    sharp, small = (
        np.clip(1.0 - 0.9 * np.abs(noise(*it)), 0, 1) ** 2 for it in ((4, 0.55), (9, 0.6))
    )
    threads = warp(sharp * (0.55 + 0.45 * small), wind, body, 0.05 * reach)
    dust = warp(noise(5.0, 0.56), veil, wind, 0.07 * reach)
    x, y = distances((height, width), sky.core[0] * width, sky.core[1] * height, reach)
    near = 1.0 / (1.0 + 26.0 * (x * x + y * y))
    # A band through the core with ragged edges.
    turn = rng.uniform(0.0, np.pi)
    along, off = distances((height, width), sky.core[0] * width, sky.core[1] * height, reach, turn)
    off = off + 0.07 * wind
    wide, long = 0.07 + 0.33 * sky.amount, 0.30 + 0.9 * sky.amount
    band = np.exp(-((off / np.float32(wide)) ** 2) - (along / np.float32(long)) ** 2)
    place = np.clip(band * (0.55 + 0.5 * sky.amount) + 0.10 + 0.14 * sky.amount, 0.0, 1.0)
    # The stars inside formed from the gas: it is densest around them.
    mass = body + 1.3 * near - 0.25
    if sky.alone:  # a single cloud is there regardless of the noise, without dust
        short = np.float32(reach / (sky.alone * min(height, width)))
        heart = np.exp(-(x * x + y * y) * short * short)
        place *= smooth_step(0.10, 1.15, heart * np.clip(1.0 + 0.62 * wind, 0.5, 1.6))
        place /= max(float(place.max()), 0.1)
        mass, dust = mass + 1.2 * heart, np.asarray(dust - 1.4 * heart, np.float32)
    density = place * smooth_step(-1.5, 1.7, mass) * (0.62 + 0.75 * threads)
    dark = smooth_step(0.15, 1.5, dust + 0.35 * body) * np.clip(place * 1.4, 0.0, 1.0)
    progress.report(0.7)
    # Slopes of the gas that face the stars inside are brighter.
    over, down = slopes(blur(density + 0.25 * dark, 0.0022 * size), size)
    facing = (over * x + down * y) / np.sqrt(x * x + y * y + np.float32(0.0036 / sky.zoom**2))
    relief = np.clip(1.0 + 0.034 * facing, 0.35, 1.8)
    cool, hot, other = sky.hues
    shine = gradient(_gas_stops(cool, hot, sky.chroma), density * 0.82) * (0.30 + 1.5 * near)
    progress.report(0.8)
    second = smooth_step(-0.3, 2.1, veil) * (0.15 + place) * (1.1 - near)
    shine += gradient(_gas_stops(other, other - 18, sky.chroma), 0.88 * second) * np.float32(0.5)
    shine *= relief * (1.0 - 0.86 * dark)
    progress.report(0.9)
    haze = light((0.55, 0.13 * sky.chroma, hot), 0.16 * sky.glow)
    shine = np.maximum(shine * np.float32(sky.glow) + blur(place * near, 0.05 * size) * haze, 0.0)
    thickness = np.clip(0.75 * density + 0.8 * dark, 0.0, 1.0) * np.float32(sky.glow)
    return shine * place if sky.alone else shine, thickness


def _gas_stops(cool: float, hot: float, chroma: float) -> list[tuple[float, Oklch]]:
    middle = mix((0.56, 0.19 * chroma, cool), (0.68, 0.17 * chroma, hot), 0.55)
    return [
        (0.0, (0.0, 0.0, cool)), (0.16, (0.13, 0.06 * chroma, cool)),
        (0.38, (0.33, 0.15 * chroma, cool)), (0.62, middle), (0.84, (0.84, 0.13 * chroma, hot)),
        (1.0, (0.98, 0.04 * chroma, hot)),
    ]  # fmt: skip


def galaxy(
    rng: np.random.Generator, sky: SpaceSky, it: CelestialBody, octaves: int, progress: Progress
) -> tuple[Plane, Plane]:
    """Return spiral arms of young stars and dust around a warm core: light and density."""
    height, width = sky.height, sky.width
    noise = _noises(rng, (height, width), octaves, progress)
    along, off = distances((height, width), it.x, it.y, it.radius, it.tilt)
    off = off / np.float32(it.opening)
    far = np.sqrt(along * along + off * off)
    wind, drift = noise(6.0, 0.55), noise(6.0, 0.55)
    clumps = warp(noise(12.0, 0.62), wind, drift, 0.02 * max(height, width))
    arms, pitch = int(rng.choice([2, 2, 3, 4])), rng.uniform(0.24, 0.38)
    turns = np.arctan2(off, along) - np.log(far + 0.03) / np.float32(np.tan(pitch))
    phase = arms * turns + np.float32(0.55) * wind
    wave, inner = 0.5 + 0.5 * np.cos(phase), 0.5 + 0.5 * np.cos(phase + 0.95)
    spur = 0.5 + 0.5 * np.cos(2.0 * phase + 1.3 + 0.8 * drift)
    disc = np.exp(-far * 3.1) * smooth_step(1.2, 0.55, far + 0.06 * wind)
    body = (0.16 + 0.95 * wave**2.2 + 0.22 * spur**2) * np.clip(0.75 + 0.33 * clumps, 0.06, 2.4)
    lanes = inner**3 * smooth_step(-0.7, 1.1, clumps + 0.4 * drift)
    dark = np.clip(lanes * 1.1, 0.0, 0.92) * smooth_step(0.05, 0.22, far)
    knots = np.clip(noise(46.0, 0.7) + 0.6 * clumps - 1.35, 0.0, 2.0) * wave**3
    parts = zip((0.86, 0.74, 0.68), (0.085, 0.12, 0.19), it.hues, strict=True)
    old, new, gas = (light((level, chroma * it.chroma, hue)) for level, chroma, hue in parts)
    shine = blend(old, new, smooth_step(0.04, 0.40, far + 0.02 * wind)) * (disc * body * 2.6)
    progress.report(0.8)
    shine = (shine + gas * (knots * disc * 4.2)) * (1.0 - dark)
    bulge = np.exp(-far * 17.0) * 1.3 + np.exp(-far * 60.0) * 3.0
    shine += old * (bulge * (1.0 - 0.35 * dark)) + new * (0.05 * np.exp(-far * 4.2))
    return shine, np.clip(disc * body * 1.4 + 0.3 * dark * disc, 0.0, 1.0)


def add_nova(
    rng: np.random.Generator, canvas: Canvas, it: CelestialBody, octaves: int, progress: Progress
) -> None:
    """Add a filamentary shell of gas, the gas that fills it and the star in its center."""
    height, width = canvas.depth.shape
    x, y = distances((height, width), it.x, it.y, it.radius)
    away = np.sqrt(x * x + y * y)
    noise = _noises(rng, (height, width), octaves, progress)
    broad, fine = noise(7.0), noise(15.0, 0.6)
    bent = away * (1.0 + 0.10 * broad + 0.05 * fine)
    # A thin shell is brightest at its rim, where the line of sight is along it.
    rim = np.exp(-(((bent - 0.92) / 0.11) ** 2)) + 0.35 * smooth_step(1.0, 0.5, bent)
    threads = np.exp(np.abs(broad + 0.5 * fine) * -3.2) + 0.5 * np.exp(np.abs(fine) * -4.5)
    inner = smooth_step(0.95, 0.15, bent) * np.clip(0.55 + 0.45 * broad, 0.0, 1.4)
    shell, gas = (light((0.72, 0.17 * it.chroma, hue)) for hue in (it.hues[0], it.hues[-1]))
    color = blend(gas, shell, smooth_step(0.45, 0.95, bent))
    canvas.light[...] += color * (rim * (0.25 + 1.5 * threads) * 0.85) + gas * (inner * 0.30)
    canvas.light[...] += light((0.95, 0.05, 75), 0.9) * np.exp(away * away * -14.0)
    add_flare(canvas, (it.x, it.y), 2.6 * max(height, width) / 1024, light((0.98, 0.02, 90)))


def add_comet(
    rng: np.random.Generator, canvas: Canvas, it: CelestialBody, octaves: int, progress: Progress
) -> None:
    """Add a comet's head, its narrow tail of ions and its wide bent one of dust."""
    along, aside = distances(canvas.depth.shape, it.x, it.y, it.radius, it.tilt)
    rough = _noises(rng, canvas.depth.shape, octaves, progress)(20.0)
    behind, back = smooth_step(-0.02, 0.05, along), np.maximum(along, 0.0)
    for color, bend, thin, spread, fall, uneven in (
        (light((0.78, 0.10, it.hues[0]), 1.1), 0.0, 0.010, 0.045, 1.9, 0.22),
        (light((0.90, 0.05, 80), 0.75), 0.16, 0.016, 0.17, 2.9, 0.12),
    ):
        wide = thin + spread * back
        tail = np.exp(-(((aside - bend * along * np.abs(along)) / wide) ** 2) - fall * back)
        tail *= (thin / wide) ** 0.45 * behind * (1.0 + uneven * rough)
        canvas.light[...] += color * tail
    near = (along * along + aside * aside) * np.float32(1 / 0.022**2)
    head = 2.6 * np.exp(-near) + 0.55 * np.exp(-np.sqrt(near))
    canvas.light[...] += light((0.96, 0.03, 200)) * head


def add_stars(rng: np.random.Generator, canvas: Canvas, hidden: Plane, sky: SpaceSky) -> None:
    """Add thousands of stars where they are not hidden, and a few with diffraction spikes."""
    height, width = hidden.shape
    size = max(height, width)
    # Counted per frame, not per pixel: a larger picture shows the same sky, sharper.
    count = int(5200 * sky.stars * height * width / size**2)
    x, y = (rng.random((2, count)) * ((width,), (height,))).astype(np.int64)
    bright = np.minimum(rng.pareto(1.3, count) * 0.04 + 0.015, 3.5).astype(np.float32)
    bright *= 1.0 - 0.93 * hidden[y, x]
    reach, scale = size / 1024, np.float32((size / 1024) ** 1.5)
    for plane, color in zip(canvas.light, gradient(_STARS, rng.beta(1.6, 1.4, count)), strict=True):
        points = np.zeros((height, width), np.float32)
        np.add.at(points, (y, x), color * bright)
        halo = cv2.GaussianBlur(np.maximum(points - 0.5, 0.0), (0, 0), 2.2 * reach)
        sharp = cv2.GaussianBlur(points, (0, 0), 0.45 + 0.28 * reach)
        shine = sharp * (3.4 * scale) + halo * (4.0 * scale)
        plane += shine
    np.minimum(1.5 * shine, 0.6, out=canvas.emitters)
    for _ in range(sky.flares):
        warm = rng.random() < 0.35
        color = light((0.92, 0.07 * rng.random(), 65.0 if warm else 258.0), 0.9)
        at = (rng.uniform(0.02, 0.98) * width, rng.uniform(0.02, 0.98) * height)
        add_flare(canvas, at, (0.22 + 0.9 * rng.random() ** 3.5) * reach, color)


def add_flare(canvas: Canvas, at: tuple[float, float], scale: float, color: Plane) -> None:
    """Add a bright star with a halo and four spikes, about 60 pixels long at scale 1."""
    reach = int(90 * scale) + 2
    place, _ = canvas.clip(int(at[0]) - reach, int(at[1]) - reach, 2 * reach + 1, 2 * reach + 1)
    x, y = distances(canvas.depth.shape, *at, scale)
    dx, dy = np.abs(x[:, place[1]]), np.abs(y[place[0]])
    far = np.sqrt(dx * dx + dy * dy)
    slim = np.float32(0.6 + 0.25 / scale)
    spikes = np.exp(-dy / slim - dx / 17.0) + np.exp(-dx / slim - dy / 17.0)
    shine = 3.2 * np.exp(-far / 1.7) + 0.2 * np.exp(-far / 9.0) + 0.75 * spikes
    shine *= 1.0 - smooth_step(50.0, 88.0, far)
    canvas.light[:, *place] += shine * color
    emitters = canvas.emitters[place]
    np.maximum(emitters, np.minimum(0.4 * shine, 0.4), out=emitters)


def add_sun(canvas: Canvas, at: tuple[float, float] | None) -> None:
    """Add a sun at the rim of a planet, if there is one, with lens glare."""
    if not at:
        return
    size = max(canvas.depth.shape)
    x, y = distances(canvas.depth.shape, *at, size)
    far, wide = np.hypot(x, y), np.sqrt(x * x / 9.0 + y * y * 6.0)
    glare = 0.5 * np.exp(-far * 11.0) + 1.2 * np.exp(-far * 46.0) + 0.35 * np.exp(-wide * 26.0)
    canvas.light[...] += glare * light((0.9, 0.07, 72))
    add_flare(canvas, at, 2.2 * size / 1024, light((0.99, 0.02, 90), 1.6))
