"""Waterfalls: a cliff over a lake, and the river that drops over its edge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.landscape import Landscape
from kit.engines.painting.noise import eroded, octave, ridged, sample, tile
from kit.engines.painting.painting import Fall, Spray
from kit.engines.painting.tone import light

#: Terraces of the cliff: share of its height, how far behind the front.
_TERRACES = ((0.46, 0.0), (0.32, 9.0), (0.22, 21.0))
_POOL = -3.0  # height of the bottom below the falls
#: What is nearer than this share of the distance of falling water hides it; the same for its mist.
NEAR, BEFORE = 0.94, 0.9
#: Units of a tile across half a fall and on the way down: of broad threads, of fine ones.
GRAINS = ((9.0, 26.0), (34.0, 44.0))
CLOUD = 26.0  # the same of mist, in its breadth


@dataclass(frozen=True, slots=True)
class Falls:
    """A cliff with falls: where the main one is, height and width of the cliff, in meters.

    Parameters
    ----------
    streams : tuple of (x, width)
        Of each fall, the main one first.
    """

    x: float
    z: float
    tall: float
    wide: float
    streams: tuple[tuple[float, float], ...]

    def near(self, x: Floats, reach: float, least: float) -> Floats:
        """Return how near places are to a stream, 0 to 1."""
        return np.asarray(
            np.maximum.reduce([
                np.exp(-(((x - np.float32(at)) / np.float32(reach * wide + least)) ** 2))
                for at, wide in self.streams
            ])
        )  # fmt: skip


def falls_of(scene: Landscape) -> Falls | None:
    """Return the falls that a prompt asks for, as high as the frame has room, else None."""
    if not scene.has("waterfall"):
        return None
    dice, framing = scene.dice(60), scene.framing
    z = float(dice.uniform(165.0, 205.0))
    half = scene.camera.widest * z
    x = 0.62 * scene.subject * half
    room = dice.uniform(0.34, 0.46) * scene.camera.rise * z + scene.camera.height
    tall = min(room, 1.5 * half) * framing.part * framing.near**0.6
    main = dice.uniform(0.12, 0.19) * tall
    streams = [(x, main)]
    for side in (-1.0, 1.0):
        if dice.random() < 0.6:
            off = side * dice.uniform(1.4, 2.6) * main
            streams.append((x + off, main * dice.uniform(0.14, 0.34)))
    return Falls(x, z, tall, max(0.50 * half, 0.9 * tall), tuple(streams))


def carve(scene: Landscape, heights: Floats, falls: Falls) -> Floats:
    """Return heights with a cliff across them, notched where water runs, and a pool at its foot."""
    rng, points = scene.dice(61), scene.points
    x, z = scene.grid()
    broad, bend, fine = (octave(rng, points, cells) for cells in (13, 30, 75))
    worn, cracks = eroded(rng, points, cells=20.0), ridged(rng, points, cells=34.0, gain=0.62)
    aside = (x - np.float32(falls.x)) / np.float32(falls.wide)
    # Near the water all is worn back to one edge; away from it the cliff climbs in terraces.
    near = falls.near(x, 1.1, 3.0)
    front = z - falls.z + 22.0 * np.minimum(aside * aside, 1.6) * (1.0 - near)
    jagged = 11.0 * broad + 6.0 * bend + 3.0 * fine + 26.0 * (cracks - 0.5)
    edges = front + jagged * (1.0 - 0.85 * near)
    total = np.zeros((points, points), np.float32)
    for number, (share, back) in enumerate(_TERRACES):
        off = edges - (back + 7.0 * (octave(rng, points, 17) - 0.2 * number)) * (1.0 - near)
        wall = 0.88 * smooth_step(-4.5, 4.0, off) + 0.12 * smooth_step(-8.0, 16.0, off)
        total += np.float32(share) * wall
    top = falls.tall * (0.90 + 0.16 * broad) + 0.14 * np.clip(front, 0.0, 160.0)
    top = top * smooth_step(1.75, 0.75, np.abs(aside) + 0.40 * broad) + 5.0 * (worn - 0.5)
    top = top - 4.5 * falls.near(x, 0.8, 1.0) * smooth_step(-3.0, 0.0, front)  # the river's bed
    pool = np.exp(-((aside / 0.8) ** 2)) * smooth_step(-90.0, -25.0, front)
    low = heights + np.minimum(_POOL - heights, 0.0) * np.clip(1.6 * pool, 0.0, 1.0)
    # Blocks that have broken off lie at the foot, but where the water falls.
    blocks = (7.0 * np.maximum(fine, 0.0) + 5.0 * (worn - 0.4)) * smooth_step(-20.0, -4.0, edges)
    low = low + np.maximum(blocks, 0.0) * (1.0 - near) * (np.abs(aside) < 1.3)
    return np.asarray(np.maximum(low, top * total + _POOL * (1.0 - total)), np.float32)


def pour(scene: Landscape, falls: Falls) -> None:
    """Let water drop over the cliff: threads that start together and fray on their way down."""
    noise = tile(scene.dice(62), cells=16, octaves=6, gain=0.66)
    camera, z = scene.camera, falls.z - 3.0
    white = _white(scene, z)
    for number, (x, wide) in enumerate(falls.streams):
        lip, foot = _ends(scene, x, falls.z)
        middle, top, bottom = camera.column(x, z), camera.row(lip + 0.4, z), camera.row(foot, z)
        tall, half = max(bottom - top, 2.0), 0.5 * wide * camera.focal / z
        at = (middle, 0.5 * (top + bottom))
        window = _window(scene, at, 1.8 * half + 2.0, 0.5 * tall)
        if window is None:
            continue
        rows, columns = window
        below = (np.arange(rows.start, rows.stop, dtype=np.float32)[:, None] - top) / tall
        down, shift = np.asarray(below, np.float32), 90.0 * number
        sway = sample(noise, np.full_like(down, shift), down * 60.0)
        right = (np.arange(columns.start, columns.stop, dtype=np.float32) - middle)[None] / half
        right = right - 0.16 * sway * smooth_step(0.0, 0.4, down)
        u = np.asarray(right / (0.72 + 0.42 * np.maximum(down, 0.0) ** 0.7), np.float32)
        seconds = math.sqrt(2.0 * max(lip - foot, 1.0) / 9.8)
        scene.motions.append(
            Fall(
                window=window,
                across=u,
                down=down,
                noise=noise,
                shift=shift,
                seconds=seconds,
                away=z,
            )
        )
        long = fallen(u, down)
        grains = (sample(noise, u * across + shift, long * steps) for across, steps in GRAINS)
        cover, bright = threads(u, down, *grains)
        cover *= scene.depth[window] > NEAR * z
        patch = scene.light[:, rows, columns]
        patch += (white * bright - patch) * cover


def raise_mist(scene: Landscape, falls: Falls) -> None:
    """Let mist rise from the foot of the falls, and spread over the water."""
    noise = tile(scene.dice(63), cells=8, octaves=5, gain=0.6)
    camera, z, white = scene.camera, falls.z - 5.0, _white(scene, falls.z)
    for number, (x, wide) in enumerate(falls.streams):
        at = (camera.column(x, z), camera.row(_ends(scene, x, falls.z)[1], z))
        reach = (2.0 + 1.5 * wide) * camera.focal / z
        window = _window(scene, at, 4.0 * reach, 3.2 * reach)
        if window is None:
            continue
        rows, columns = window
        up, across = np.mgrid[rows, columns].astype(np.float32)
        across, up = (across - np.float32(at[0])) / reach, (np.float32(at[1]) - up) / reach
        off = np.hypot(across / 1.15, np.where(up > 0, up / 1.25, up / 0.30))
        thick = np.asarray(np.exp(-1.8 * off * off) * (0.78 if wide > 4 else 0.55), np.float32)
        spray = Spray(
            window=window,
            across=across,
            up=up,
            thick=thick,
            noise=noise,
            shift=70.0 * number,
            away=falls.z - 60.0,
        )
        scene.motions.append(spray)
        mist = thick * billows(sample(noise, across * CLOUD + spray.shift, up * CLOUD))
        mist *= scene.depth[window] > spray.away * BEFORE
        patch = scene.light[:, rows, columns]
        patch += (white - patch) * mist


def billows(cloud: Floats) -> Floats:
    """Return how dense mist is where it has some noise, about 0.6."""
    return np.asarray(np.clip(0.62 + 0.28 * cloud, 0.1, 1.0), np.float32)


def fallen(u: Floats, down: Floats) -> Floats:
    """Return how long water of each place has been falling, 0 at the lip to 1 at the foot.

    Water speeds up: its threads are drawn out the more, the farther it has fallen.
    """
    return np.asarray(np.sqrt(np.clip(down, 0.0, 1.0)) + np.zeros_like(u), np.float32)


def threads(u: Floats, down: Floats, broad: Floats, fine: Floats) -> tuple[Floats, Floats]:
    """Return how much falling water covers, 0 to 1, and how bright it is, about 1.

    Parameters
    ----------
    u, down : ndarray of float32
        Place in the fall: -1 to 1 from side to side, 0 to 1 from lip to foot.
    broad, fine : ndarray of float32
        Noise at these places, see `GRAINS`.
    """
    body = smooth_step(1.05, 0.55, np.abs(u) + 0.16 * broad + 0.10 * fine)
    cover = body * np.clip(0.86 + 0.16 * broad + 0.13 * fine, 0.25, 1.0)
    cover *= smooth_step(-0.01, 0.02, down) * smooth_step(1.03, 0.95, down)
    bright = np.clip(0.80 + 0.15 * fine + 0.10 * broad + 0.16 * down, 0.4, 1.25)
    return np.asarray(cover, np.float32), np.asarray(bright, np.float32)


def _ends(scene: Landscape, x: float, z: float) -> tuple[float, float]:
    """Return the heights at which a fall begins and ends."""
    lip, foot = scene.land.height(np.array([x, x]), np.array([z + 9.0, z - 9.0]))
    return float(lip), max(float(foot), 0.0)


def _white(scene: Landscape, z: float) -> Floats:
    return scene.lit(light((0.97, 0.012, 230)), 0.30, 0.85, z)


def _window(
    scene: Landscape, middle: tuple[float, float], aside: float, high: float
) -> tuple[slice, slice] | None:
    """Return the rows and columns of the frame around a place, None where it is outside."""
    height, width = scene.camera.rows, scene.camera.columns
    rows = slice(max(0, int(middle[1] - high)), min(height, int(middle[1] + high) + 2))
    columns = slice(max(0, int(middle[0] - aside)), min(width, int(middle[0] + aside) + 2))
    return (rows, columns) if rows.start < rows.stop and columns.start < columns.stop else None
