"""Still water: the scene upside down, bent by ripples, over a color of its own."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.base import Progress
from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.look import Look
from kit.engines.painting.land.sky import Sun
from kit.engines.painting.land.voxel import Camera
from kit.engines.painting.noise import sample, slopes, tile
from kit.engines.painting.painting import Mirrored, Motion
from kit.engines.painting.tone import blend, light

_AGAIN = 0.10  # share of the sky's rows that water mirrors again in place of what is above them


def flooded(
    planes: Floats,
    depth: Floats,
    wet: NDArray[np.bool_],
    camera: Camera,
    look: Look,
    sun: Sun,
    rng: np.random.Generator,
    progress: Progress,
    *,
    overhead: Floats,
    deep: Oklch,
    cloudy: float = 0.0,
    wind: float = 1.0,
    level: float = 0.0,
    ground: Floats | None = None,
    motions: list[Motion],
) -> None:
    """Turn pixels into water, in place.

    Parameters
    ----------
    depth : ndarray
        Distance of each pixel, huge where there is sky.
    wet : ndarray of bool
        Which pixels are water.
    overhead : ndarray
        The sky of the uppermost rows without what stands before it, for what the water mirrors
        from above the frame; see `sky_over`.
    deep : Oklch
        The water's own color.
    cloudy : float
        How much of it shows where clear water only mirrors, 0 to 1: glaciers grind stone to milk.
    wind : float
        How rough it is: 0 a mirror, 1 a breeze.
    ground : ndarray, optional
        Depth of the ground under the water, world units, for a soft edge.
    """
    lines = np.flatnonzero(wet.any(axis=1))
    if not len(lines):
        return
    rows = slice(int(lines[0]), camera.rows)
    y = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None]
    x = np.arange(camera.columns, dtype=np.float32)[None]
    below = np.maximum(y - np.float32(camera.horizon), 0.5)
    z = (camera.height - level) * camera.focal / below
    right, along = _ripples(rng, x, z, camera, wind)
    progress.report(0.3)
    source_y, source_x, above = _mirror(depth, y, x, right, along, camera, level)
    progress.report(0.5)
    soft = [cv2.GaussianBlur(plane[: rows.stop], (0, 0), 0.8) for plane in planes]
    mirror = np.stack([cv2.remap(p, source_x, source_y, cv2.INTER_LINEAR) for p in soft])
    _overcome(mirror, overhead, source_x, above)
    progress.report(0.75)
    grazing = below / np.sqrt(below**2 + camera.focal**2)
    share = 0.04 + 0.96 * (1.0 - np.clip(grazing - 0.6 * along, 0.0, 1.0)) ** 3.6
    share *= np.float32(1.0 - cloudy)
    body = light(deep) * (0.25 + light(look.shade)) * np.float32(look.shade_power * 1.1)
    color = blend(np.asarray(body), mirror * np.float32(0.94), share)
    if sun.shown:
        color += _glitter(look, sun, camera, x, along)
    mask = wet[rows].astype(np.float32)
    if ground is not None:
        mask *= 0.25 + 0.75 * smooth_step(0.0, 1.3, ground[rows])
    planes[:, rows] += (color - planes[:, rows]) * mask
    shown = np.asarray(share * mask * (above <= 0.0), np.float32)
    level_ = np.asarray(z + np.zeros_like(shown), np.float32)
    motions.append(Mirrored(rows=rows, columns=source_x, lines=source_y, share=shown, level=level_))


def _ripples(
    rng: np.random.Generator, x: Floats, z: Floats, camera: Camera, wind: float
) -> tuple[Floats, Floats]:
    """Return the slopes of the surface to the right and along the view."""
    bumps = tile(rng, cells=16, octaves=5, gain=0.6)
    both = cv2.merge(list(slopes(bumps, wrap=True)))
    world = np.asarray((x - camera.columns / 2) * (z / camera.focal), np.float32)
    deep = z + np.zeros_like(world)
    gusts = sample(bumps, world * 0.12, deep * 0.05)
    calm = np.clip(0.55 + 0.5 * gusts, 0.12, 1.4)
    right, along = np.zeros_like(world), np.zeros_like(world)
    for scale, strength in ((9.0, 0.10), (2.6, 0.075)):
        fade = np.clip(1.6 - scale * z / camera.focal * 1.6, 0.12, 1.0) * strength * wind
        one, other = cv2.split(sample(both, world * scale * 0.5, deep * scale))
        right += one * fade
        along += other * fade
    return right * calm, along * calm


def _mirror(
    depth: Floats, y: Floats, x: Floats, right: Floats, along: Floats, camera: Camera, level: float
) -> tuple[Floats, Floats, Floats]:
    """Find the pixel whose mirror image each pixel shows, and how far above the frame it lies.

    What stands at distance d and is seen `e` rows above the horizon is mirrored `e` rows below,
    plus twice the camera's height at that distance. As d is known only where it is looked up, the
    place is found in a few rounds.
    """
    inverse = cv2.GaussianBlur(1.0 / depth, (0, 0), 1.2)
    twice = np.float32(2 * (camera.height - level) * camera.focal)
    tilt = np.clip(along, -0.2, 0.2) * camera.focal * np.float32(0.55)
    source_x = np.clip(x + right * camera.focal * 0.16, 0, camera.columns - 1).astype(np.float32)
    flipped = 2 * camera.horizon - y + tilt
    source_y = flipped + twice * np.float32(1 / 400.0)
    for _ in range(4):
        source_y = np.clip(source_y, 0.0, camera.rows - 1).astype(np.float32)
        away = cv2.remap(inverse, source_x, source_y, cv2.INTER_LINEAR)
        source_y = flipped + twice * away
    top = np.float32(camera.horizon + 1)
    above = np.maximum(-source_y, 0.0)
    return np.clip(source_y, 0.0, top).astype(np.float32), source_x, above


def sky_over(planes: Floats) -> Floats:
    """Return a copy of the sky's uppermost rows, before anything is painted over it."""
    return planes[:, : max(2, round(_AGAIN * planes.shape[1]))].copy()


def _overcome(mirror: Floats, overhead: Floats, source_x: Floats, above: Floats) -> None:
    """Let water that looks above the frame show sky, in place.

    The uppermost rows come again, and run into one color before they would be drawn out long.
    """
    wet = np.flatnonzero(above.max(axis=1) > 0.0)
    if not len(wet):
        return
    rows = slice(int(wet[0]), int(wet[-1]) + 1)
    most = np.float32(overhead.shape[1] - 1)
    fade = 1.0 - np.exp(above[rows] / -most)
    at = (fade * most, above[rows] > 0.0)
    for plane, sky in zip(mirror, overhead, strict=True):
        again = cv2.remap(sky, source_x[rows], at[0], cv2.INTER_LINEAR)
        again += (np.float32(sky.mean()) - again) * fade
        np.copyto(plane[rows], again, where=at[1])


def _glitter(look: Look, sun: Sun, camera: Camera, x: Floats, along: Floats) -> Floats:
    """Return the path of light that the sun or moon lays on the water."""
    away = np.abs(x - sun.x) / camera.focal
    path = np.exp(-away * (14.0 if sun.moon else 8.0))
    spark = smooth_step(0.012, 0.06, along) * path
    shine = light(look.sun, 1.0)
    return np.asarray(shine / shine.max() * (spark * np.float32(look.glow * 1.6)), np.float32)
