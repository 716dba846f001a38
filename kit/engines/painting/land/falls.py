"""Waterfalls: a cliff over a lake, and the river that drops over its edge."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting import painting as motion
from kit.engines.painting.land import air
from kit.engines.painting.land.ground import Ground
from kit.engines.painting.land.relief import Relief, grid
from kit.engines.painting.land.vista import Vista
from kit.engines.painting.noise import eroded, octave, ridged, sample, tile
from kit.engines.painting.tone import light

_BED = 4.5  # how deep the river has cut into the edge, world units
#: Terraces of the cliff: share of its height, how far behind the front.
_TERRACES = ((0.46, 0.0), (0.32, 9.0), (0.22, 21.0))
_POOL = -3.0  # height of the bottom below the falls
_GRAVITY = 9.8  # world units are meters
#: What is nearer than this share of the distance of falling water hides it; the same for its mist.
NEAR, BEFORE = 0.94, 0.9
#: Units of a tile across half a fall and on the way down: of broad threads, of fine ones.
GRAINS = ((9.0, 26.0), (34.0, 44.0))
CLOUD = 26.0  # the same of mist, in its breadth


@dataclass(frozen=True, slots=True)
class Falls:
    """A cliff with falls, in world units.

    Parameters
    ----------
    x, z : float
        Of the main fall.
    tall, wide : float
        Of the cliff.
    streams : tuple of (x, width)
        Of each fall, the main one first.
    """

    x: float
    z: float
    tall: float
    wide: float
    streams: tuple[tuple[float, float], ...]


def falls_of(scene: Vista) -> Falls | None:
    """Return the falls that a prompt asks for, as high as the frame has room, else None."""
    if "waterfall" not in scene.brief.things:
        return None
    camera, dice = scene.camera, scene.dice(60)
    z = float(dice.uniform(165.0, 205.0))
    half = camera.widest * z
    x = 0.62 * scene.subject * half
    room = dice.uniform(0.34, 0.46) * camera.horizon / camera.focal * z + camera.height
    grown = scene.staging.part * scene.staging.near**0.6
    tall = min(room, 1.5 * half) * grown
    main = dice.uniform(0.12, 0.19) * tall
    streams = [(x, main)]
    for side in (-1.0, 1.0):
        if dice.random() < 0.6:
            off = side * dice.uniform(1.4, 2.6) * main
            streams.append((x + off, main * dice.uniform(0.14, 0.34)))
    return Falls(x, z, tall, max(0.50 * half, 0.9 * tall), tuple(streams))


def carved(heights: Floats, falls: Falls, scene: Vista) -> Floats:
    """Return heights with a cliff across them, notched where water runs, and a pool at its foot."""
    rng, points = scene.dice(61), scene.points
    x, z = grid(points)
    broad, bend, fine = (octave(rng, points, cells) for cells in (13, 30, 75))
    worn, cracks = eroded(rng, points, cells=20.0), ridged(rng, points, cells=34.0, gain=0.62)
    aside = (x - np.float32(falls.x)) / np.float32(falls.wide)
    # Near the water all is worn back to one edge; away from it the cliff climbs in terraces.
    near = np.zeros_like(aside)
    for place, wide in falls.streams:
        near = np.maximum(
            near, np.exp(-(((x - np.float32(place)) / np.float32(1.1 * wide + 3)) ** 2))
        )
    front = z - falls.z + 22.0 * np.minimum(aside * aside, 1.6)
    front = front + (z - falls.z - front) * near
    edges = front + (11.0 * broad + 6.0 * bend + 3.0 * fine + 26.0 * (cracks - 0.5)) * (
        1.0 - 0.85 * near
    )
    total = np.zeros((points, points), np.float32)
    for number, (share, back) in enumerate(_TERRACES):
        shift = back + 7.0 * (octave(rng, points, 17) - 0.2 * number)
        off = edges - shift * (1.0 - near)
        total += np.float32(share) * (
            0.88 * smooth_step(-4.5, 4.0, off) + 0.12 * smooth_step(-8.0, 16.0, off)
        )
    top = falls.tall * (0.90 + 0.16 * broad) + 0.14 * np.clip(front, 0.0, 160.0)
    top = top * smooth_step(1.75, 0.75, np.abs(aside) + 0.40 * broad) + 5.0 * (worn - 0.5)
    beds = sum(
        np.exp(-(((x - np.float32(place)) / np.float32(0.8 * wide + 1.0)) ** 2))
        for place, wide in falls.streams
    )
    top = top - np.float32(_BED) * np.minimum(beds, 1.0) * smooth_step(-3.0, 0.0, front)
    pool = np.exp(-((aside / 0.8) ** 2)) * smooth_step(-90.0, -25.0, front)
    low = heights + np.minimum(_POOL - heights, 0.0) * np.clip(1.6 * pool, 0.0, 1.0)
    # Blocks that have broken off lie at the foot, but where the water falls.
    blocks = (7.0 * np.maximum(fine, 0.0) + 5.0 * (worn - 0.4)) * smooth_step(-20.0, -4.0, edges)
    low = low + np.maximum(blocks, 0.0) * (1.0 - near) * (np.abs(aside) < 1.3)
    return np.asarray(np.maximum(low, top * total + _POOL * (1.0 - total)), np.float32)


def ground_with(ground: Ground) -> Ground:
    """Return a ground whose rock lies in layers, dark with spray and overgrown where it can be."""
    return replace(ground, bands=0.25, rough=1.5, steep=0.26, rock=(0.36, 0.020, 70))


def poured(scene: Vista, planes: Floats, depth: Floats, land: Relief, falls: Falls) -> None:
    """Let water drop over the cliff, in place."""
    rng = scene.dice(62)
    noise = tile(rng, cells=16, octaves=6, gain=0.66)
    for number, (x, wide) in enumerate(falls.streams):
        lip, foot = _ends(land, x, falls.z)
        _stream(scene, planes, depth, noise, (x, falls.z - 3.0, wide), lip, foot, 90.0 * number)


def foaming(scene: Vista, planes: Floats, depth: Floats, land: Relief, falls: Falls) -> None:
    """Let mist rise from the foot of the falls, and foam spread over the water, in place."""
    rng, camera = scene.dice(63), scene.camera
    noise = tile(rng, cells=8, octaves=5, gain=0.6)
    white = _white(scene, falls.z)
    for number, (x, wide) in enumerate(falls.streams):
        _, foot = _ends(land, x, falls.z)
        z = falls.z - 5.0
        unit = camera.focal / z
        at = (camera.column(x, z), camera.row(foot, z))
        reach = (2.0 + 1.5 * wide) * unit
        window = _window(planes, at, 4.0 * reach, 3.2 * reach)
        if window is None:
            continue
        rows, columns = window
        across = (np.arange(columns.start, columns.stop, dtype=np.float32) - at[0])[None] / reach
        up = (at[1] - np.arange(rows.start, rows.stop, dtype=np.float32))[:, None] / reach
        off = np.hypot(across / 1.15, np.where(up > 0, up / 1.25, up / 0.30))
        thick = np.asarray(np.exp(-1.8 * off * off) * (0.78 if wide > 4 else 0.55), np.float32)
        places = [np.ascontiguousarray(part) for part in np.broadcast_arrays(across, up)]
        spray = motion.Spray(
            window=window,
            across=places[0],
            up=places[1],
            thick=thick,
            noise=noise,
            shift=70.0 * number,
            away=falls.z - 60.0,
        )
        scene.motions.append(spray)
        cloud = sample(noise, spray.across * CLOUD + spray.shift, spray.up * CLOUD)
        mist = thick * billows(cloud)
        shown = depth[rows, columns] > (falls.z - 60.0) * BEFORE
        share = np.asarray(mist * shown, np.float32)
        planes[:, rows, columns] += (white - planes[:, rows, columns]) * share


def _ends(land: Relief, x: float, z: float) -> tuple[float, float]:
    """Return the heights at which a fall begins and ends."""
    spot = np.full((1, 1), x, np.float32)
    lip = float(land.height(spot, np.full((1, 1), z + 9.0, np.float32))[0, 0])
    foot = float(land.height(spot, np.full((1, 1), z - 9.0, np.float32))[0, 0])
    return lip, max(foot, 0.0)


def _white(scene: Vista, z: float) -> Floats:
    """Return the light of falling water with the air before it, planes of shape (3, 1, 1)."""
    look = scene.look
    own = light((0.97, 0.012, 230)) * (
        light(look.shade, 0.85 * look.shade_power) + light(look.sun, 0.30 * look.sun_power)
    )
    lost = air.haze(look, np.full((1, 1), z, np.float32), np.full((1, 1), 12.0, np.float32))
    return np.asarray(own * (1.0 - lost) + light(look.air) * lost, np.float32)


def _stream(
    scene: Vista,
    planes: Floats,
    depth: Floats,
    noise: Floats,
    at: tuple[float, float, float],
    lip: float,
    foot: float,
    shift: float,
) -> None:
    """Paint one fall: threads that start together and fray on their way down."""
    x, z, wide = at
    camera = scene.camera
    unit = camera.focal / z
    middle, top, bottom = camera.column(x, z), camera.row(lip + 0.4, z), camera.row(foot, z)
    tall = max(bottom - top, 2.0)
    half = 0.5 * wide * unit
    window = _window(planes, (middle, 0.5 * (top + bottom)), 1.8 * half + 2.0, 0.5 * tall)
    if window is None:
        return
    rows, columns = window
    below = (np.arange(rows.start, rows.stop, dtype=np.float32) - top)[:, None]
    down = np.asarray(below / tall, np.float32)
    sway = sample(noise, np.full_like(down, shift), down * 60.0)
    right = (np.arange(columns.start, columns.stop, dtype=np.float32) - middle)[None] / half
    right = right - 0.16 * sway * smooth_step(0.0, 0.4, down)
    spread = 0.72 + 0.42 * np.maximum(down, 0.0) ** 0.7
    u = np.asarray(right / spread, np.float32)
    scene.motions.append(
        motion.Fall(
            window=window,
            across=u,
            down=down,
            noise=noise,
            shift=shift,
            seconds=math.sqrt(2.0 * max(lip - foot, 1.0) / _GRAVITY),
            away=z,
        )
    )
    cover, bright = threads(u, down, *looked_up(noise, u, fallen(u, down), shift))
    share = np.asarray(cover * (depth[rows, columns] > NEAR * z), np.float32)
    color = _white(scene, z) * bright
    planes[:, rows, columns] += (color - planes[:, rows, columns]) * share


def billows(cloud: Floats) -> Floats:
    """Return how dense mist is where it has some noise, about 0.6."""
    return np.asarray(np.clip(0.62 + 0.28 * cloud, 0.1, 1.0), np.float32)


def fallen(u: Floats, down: Floats) -> Floats:
    """Return how long water of each place has been falling, 0 at the lip to 1 at the foot.

    Water speeds up: its threads are drawn out the more, the farther it has fallen.
    """
    return np.asarray(np.sqrt(np.clip(down, 0.0, 1.0)) + np.zeros_like(u), np.float32)


def looked_up(noise: Floats, u: Floats, long: Floats, shift: float) -> tuple[Floats, Floats]:
    """Return broad and fine noise for places in a fall; see `GRAINS`."""
    broad, fine = (sample(noise, u * across + shift, long * down) for across, down in GRAINS)
    return broad, fine


def threads(u: Floats, down: Floats, broad: Floats, fine: Floats) -> tuple[Floats, Floats]:
    """Return how much falling water covers, 0 to 1, and how bright it is, about 1.

    Parameters
    ----------
    u, down : ndarray of float32
        Place in the fall: -1 to 1 from side to side, 0 to 1 from lip to foot.
    broad, fine : ndarray of float32
        Noise, see `looked_up`.
    """
    body = smooth_step(1.05, 0.55, np.abs(u) + 0.16 * broad + 0.10 * fine)
    cover = body * np.clip(0.86 + 0.16 * broad + 0.13 * fine, 0.25, 1.0)
    cover *= smooth_step(-0.01, 0.02, down) * smooth_step(1.03, 0.95, down)
    bright = np.clip(0.80 + 0.15 * fine + 0.10 * broad + 0.16 * down, 0.4, 1.25)
    return np.asarray(cover, np.float32), np.asarray(bright, np.float32)


def _window(
    planes: Floats, middle: tuple[float, float], aside: float, high: float
) -> tuple[slice, slice] | None:
    """Return the rows and columns of the frame around a place, None where it is outside."""
    _, height, width = planes.shape
    rows = slice(max(0, int(middle[1] - high)), min(height, int(middle[1] + high) + 2))
    columns = slice(max(0, int(middle[0] - aside)), min(width, int(middle[0] + aside) + 2))
    return (rows, columns) if rows.start < rows.stop and columns.start < columns.stop else None
