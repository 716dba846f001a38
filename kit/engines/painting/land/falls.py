"""Waterfalls: a cliff over a lake, and the river that drops over its edge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.landscape import Landscape, window
from kit.engines.painting.noise import eroded, octave, ridged, sample, tile
from kit.engines.painting.painting import Fall, Spray
from kit.engines.painting.relief import grid
from kit.engines.painting.tone import light

_POOL = -3.0  # height of the bottom below the falls


@dataclass(frozen=True, slots=True)
class Falls:
    """A cliff with falls, in meters."""

    x: float  # of the main fall
    z: float
    tall: float
    wide: float
    streams: tuple[tuple[float, float], ...]  # x and width of each, the main one first

    def near(self, x: Floats, reach: float, least: float) -> Floats:
        """Return how near places are to a stream, 0 to 1."""
        offs = [((x - at) / np.float32(reach * wide + least)) ** 2 for at, wide in self.streams]
        return np.asarray(np.exp(-np.minimum.reduce(offs)), np.float32)


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
    x, z = grid(points)
    broad, bend, fine = (octave(rng, points, cells) for cells in (13, 30, 75))
    worn, cracks = eroded(rng, points, cells=20.0), ridged(rng, points, cells=34.0, gain=0.62)
    aside = (x - falls.x) / falls.wide
    # Near the water all is worn back to one edge; away from it the cliff climbs in terraces.
    near = falls.near(x, 1.1, 3.0)
    front = z - falls.z + 22.0 * np.minimum(aside * aside, 1.6) * (1.0 - near)
    jagged = 11.0 * broad + 6.0 * bend + 3.0 * fine + 26.0 * (cracks - 0.5)
    edges = front + jagged * (1.0 - 0.85 * near)
    total = 0.12 * smooth_step(-8.0, 24.0, edges)
    for share, back in ((0.42, 0.0), (0.28, 9.0), (0.18, 21.0)):
        shift = (back + 7.0 * octave(rng, points, 17)) * (1.0 - near)
        total += share * smooth_step(-4.5, 4.0, edges - shift)
    top = falls.tall * (0.90 + 0.16 * broad) + 0.14 * np.clip(front, 0.0, 160.0)
    top = top * smooth_step(1.75, 0.75, np.abs(aside) + 0.40 * broad) + 5.0 * (worn - 0.5)
    top = top - 4.5 * falls.near(x, 0.8, 1.0) * smooth_step(-3.0, 0.0, front)  # the river's bed
    pool = np.exp(-((aside / 0.8) ** 2)) * smooth_step(-90.0, -25.0, front)
    low = heights + np.minimum(_POOL - heights, 0.0) * np.clip(1.6 * pool, 0.0, 1.0)
    return np.asarray(np.maximum(low, top * total + _POOL * (1.0 - total)), np.float32)


def pour(scene: Landscape, falls: Falls) -> None:
    """Let water drop over the cliff: threads that start together and fray on their way down."""
    noise = tile(scene.dice(62), cells=16, octaves=6, gain=0.66)
    camera, z = scene.camera, falls.z - 3.0
    white = scene.lit(light((0.97, 0.012, 230)), 0.30, 0.85, z)
    for number, (x, wide) in enumerate(falls.streams):
        lip, foot = _ends(scene, x, falls.z)
        middle, top, bottom = camera.column(x, z), camera.row(lip + 0.4, z), camera.row(foot, z)
        tall, half = max(bottom - top, 2.0), 0.5 * wide * camera.focal / z
        at = np.array([middle, 0.5 * (top + bottom)])
        box = window(scene.light.shape, at, 1.8 * half + 2.0, 0.5 * tall)
        rows, columns = np.mgrid[box].astype(np.float32)
        down, shift = (rows - np.float32(top)) / np.float32(tall), 90.0 * number
        if not down.size:
            continue
        sway = sample(noise, np.full_like(down, shift), down * 60.0)
        u = (columns - middle) / half - 0.16 * sway * smooth_step(0.0, 0.4, down)
        u = np.asarray(u / (0.72 + 0.42 * np.maximum(down, 0.0) ** 0.7), np.float32)
        seconds = math.sqrt(2.0 * max(lip - foot, 1.0) / 9.8)
        scene.motions.append(Fall(window=box, across=u, down=down, seconds=seconds, away=z))
        # Water speeds up: its threads are drawn out the more, the farther it has fallen.
        long = np.sqrt(np.clip(down, 0.0, 1.0))
        broad = sample(noise, u * 9.0 + shift, long * 26.0)
        fine = sample(noise, u * 34.0 + shift, long * 44.0)
        cover = smooth_step(1.05, 0.55, np.abs(u) + 0.16 * broad + 0.10 * fine)
        cover *= np.clip(0.86 + 0.16 * broad + 0.13 * fine, 0.25, 1.0)
        cover *= smooth_step(-0.01, 0.02, down) * smooth_step(1.03, 0.95, down)
        bright = np.clip(0.80 + 0.15 * fine + 0.10 * broad + 0.16 * down, 0.4, 1.25)
        patch = scene.light[:, *box]
        patch += (white * bright - patch) * (cover * (scene.depth[box] > 0.94 * z))


def raise_mist(scene: Landscape, falls: Falls) -> None:
    """Let mist rise from the foot of the falls, and spread over the water."""
    noise = tile(scene.dice(63), cells=8, octaves=5, gain=0.6)
    camera, z, away = scene.camera, falls.z - 5.0, falls.z - 60.0
    white = scene.lit(light((0.97, 0.012, 230)), 0.30, 0.85, falls.z)
    for x, wide in falls.streams:
        at = np.array([camera.column(x, z), camera.row(_ends(scene, x, falls.z)[1], z)])
        reach = (2.0 + 1.5 * wide) * camera.focal / z
        box = window(scene.light.shape, at, 4.0 * reach, 3.2 * reach)
        rows, columns = np.mgrid[box].astype(np.float32)
        if not rows.size:
            continue
        across, up = (columns - np.float32(at[0])) / reach, (np.float32(at[1]) - rows) / reach
        off = np.hypot(across / 1.15, np.where(up > 0, up / 1.25, up / 0.30))
        thick = np.asarray(np.exp(-1.8 * off * off) * (0.78 if wide > 4 else 0.55), np.float32)
        scene.motions.append(Spray(window=box, across=across, up=up, thick=thick, away=away))
        mist = np.clip(0.62 + 0.28 * sample(noise, across * 26.0, up * 26.0), 0.1, 1.0)
        patch = scene.light[:, *box]
        patch += (white - patch) * (thick * mist * (scene.depth[box] > 0.9 * away))


def _ends(scene: Landscape, x: float, z: float) -> tuple[float, float]:
    """Return the heights at which a fall begins and ends."""
    lip, foot = scene.land.height(np.array([x, x]), np.array([z + 9.0, z - 9.0]))
    return float(lip), max(float(foot), 0.0)
