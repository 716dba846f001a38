"""Water: lakes that reflect their surroundings, and an open sea whose waves reflect the sky."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.camera import Camera, accumulate
from kit.engines.painting.land.landscape import Landscape
from kit.engines.painting.noise import Plane, sample, slopes, tile
from kit.engines.painting.tints import of_water, turn_hue
from kit.engines.painting.tone import blend, light
from kit.engines.prompt.brief import Brief

_LAKE_WAVES = 0.03  # height of the waves of a lake
_REPEATED = 0.10  # share of the sky's rows that is reflected again for rows above them
#: Octaves of waves: tile points per meter across and along, share of the swell's height.
_OCTAVES = ((1.1, 2.9, 1.0), (3.4, 6.1, 0.36), (9.0, 13.0, 0.13), (31.0, 40.0, 0.040))
_FADE_METERS = (190.0, 75.0)  # distances at which the amplitudes of the first two halve
_RIPPLE = 0.018  # slope of the ripples in a flight
_RIPPLE_TILT = 0.05  # ripples show steeper water than a level surface would
_SPARKLE_METERS = 130.0  # distance from which the largest waves sparkle
#: From 8 times the relative nearness of a place to the reduction of its waves.
_SCALES: Floats = np.exp2(np.floor(np.log2(np.clip(np.arange(256) / 8, 1, 16)))).astype(np.float32)


def colors_of(brief: Brief) -> tuple[Oklch, Oklch]:
    """Return the colors of deep and of shallow water."""
    if not brief.things.isdisjoint(("palms", "tropical")):
        deep, shallow = (0.46, 0.090, 220), (0.76, 0.110, 195)
    elif brief.closed_sky:
        deep, shallow = (0.43, 0.055, 222), (0.64, 0.080, 190)
    else:
        deep, shallow = (0.33, 0.060, 238), (0.60, 0.085, 198)
    tint = of_water(brief)
    return turn_hue(deep, tint, 0.8), turn_hue(shallow, tint, 0.6)


def flood(
    scene: Landscape, *, deep: Oklch, cloudy: float = 0.0, wind: float = 1.0, level: float = 0.0
) -> None:
    """Fill low ground with still water: the scene upside down, with ripples, over its own color.

    Its edge is blended by the depth of the water. Turbid water shows its color, clear water (0)
    only reflects; without wind (0) it is a mirror.
    """
    view = scene.view
    depth = level - scene.land.height(view.x, view.z)
    # Between two slices a sheer cliff is neither in nor out of the water.
    wet = ~view.sky & (depth > 0.0) & (view.height < level + 0.4) & (scene.depth > view.z * 0.999)
    scene.water, scene.still = wet.astype(np.float32), True
    wet_rows = np.flatnonzero(wet.any(axis=1))
    if not len(wet_rows):
        return
    camera, look = scene.camera, scene.look
    rows, focal = slice(int(wet_rows[0]), camera.rows), camera.focal
    y = np.arange(rows.start, rows.stop, dtype=np.float32)[:, None]
    x = np.arange(camera.columns, dtype=np.float32)[None]
    below = np.maximum(y - np.float32(camera.horizon), 0.5)
    z = np.asarray((camera.height - level) * focal / below + np.zeros_like(x), np.float32)
    aside = np.asarray((x - camera.columns / 2) * (z / focal), np.float32)
    right, along = sea_of(scene.rng(7), _LAKE_WAVES).slope(aside, z, focal)
    first = view.first
    inverse = np.asarray(1.0 / scene.depth[first:])
    drop, skip = (camera.height - level) * focal, max(0, rows.start - first)
    lines = mirrored_rows(inverse, first, 1, camera.horizons, drop, skip, 8)
    lines += np.clip(along * wind, -0.2, 0.2) * np.float32(0.55 * focal)
    columns = np.clip(x + right * (0.16 * wind * focal), 0, camera.columns - 1).astype(np.float32)
    # Rows above the frame are replaced by the uppermost rows, and fade to one color.
    above = np.maximum(-lines, 0.0)
    most = np.float32(_REPEATED * camera.horizon + 1)
    fade = 1.0 - np.exp(above / -most)
    lines = np.where(above > 0, fade * most, np.minimum(lines, y)).astype(np.float32)
    soft = [cv2.GaussianBlur(plane, (0, 0), 0.8) for plane in scene.light]
    mirror = np.stack([cv2.remap(plane, columns, lines, cv2.INTER_LINEAR) for plane in soft])
    high = scene.behind[:, : int(most) + 1].mean(axis=(1, 2), keepdims=True)
    mirror = blend(mirror, high, np.asarray(fade, np.float32))
    grazing = below / np.sqrt(below**2 + focal**2)
    share = reflectance(grazing - 0.6 * wind * along, 3.6) * np.float32(1.0 - cloudy)
    body = light(deep) * (0.25 + light(look.shade)) * np.float32(look.shade_power * 1.1)
    color = blend(body, mirror * np.float32(0.94), share)
    if scene.sun.shown:  # the glitter path of the sun or moon on the water
        away = np.abs(x - np.float32(scene.sun.x)) / np.float32(focal)
        path = np.exp(-away * (14.0 if scene.sun.moon else 8.0))
        shine = light(look.sun, look.glow * 1.6)
        shine *= np.float32(1.0 / light(look.sun).max())
        color += shine * (smooth_step(0.012, 0.06, wind * along) * path)
    mask = wet[rows] * (0.25 + 0.75 * smooth_step(0.0, 1.3, depth[rows]))
    scene.light[:, rows] += (color - scene.light[:, rows]) * mask


def mirrored_rows(
    inverse: Floats, first: int, step: int, horizon: Plane, drop: float, skip: int, rounds: int
) -> Floats:
    """Return the row reflected by each pixel of still water, below 0 above the frame.

    An object at a distance is reflected about the water's row at that distance. The first guess is
    the shore above a pixel; the depth found there leads to the next guess, up the slope.

    The inverse distance is given in every `step`-th row and column from a row on; the first `skip`
    rows are above the water; water at a distance of 1 is `drop` rows below the horizon of its
    column. A higher camera needs more iterations.
    """
    height, columns = inverse.shape
    rows = np.float32(first) + step * np.arange(height, dtype=np.float32)[:, None]
    # The waterline of each distance is a row of its own; water is where the two agree.
    waterline = horizon + np.float32(drop) * inverse
    water = np.abs(waterline - rows) < 2.5
    index = np.where(water, np.float32(0), np.arange(height, dtype=np.float32)[:, None])
    place = accumulate(np.maximum, index, index)[skip:]
    for again in range(rounds + 1):
        flat = place.astype(np.int32)
        flat *= np.int32(columns)
        flat += np.arange(columns, dtype=np.int32)
        target = np.take(waterline, flat, mode="clip")
        target *= np.float32(2)
        target -= rows[skip:]
        if again < rounds:
            np.subtract(target, rows[0], out=place)
            place *= np.float32(1 / step)
            np.clip(place, 0, height - 1, out=place)
    return np.asarray(target)


def reflectance(sine: Plane, power: float = 5.0) -> Floats:
    """Return the reflectance of water by the sine of the grazing angle.

    Source: C. Schlick, "An inexpensive BRDF model for physically-based rendering" (1994).
    """
    share = np.asarray(1.0 - np.clip(sine, 0.0, 1.0), np.float32) ** np.float32(power)
    return np.asarray(np.float32(0.04) + np.float32(0.96) * share)


@dataclass(frozen=True, slots=True)
class Sea:
    """Moving water, frozen."""

    bumps: Floats  # a tile of waves with its slopes, shape (side, side, 3)
    swell: float  # height of its waves in meters, 0.1 calm to 1.6 storm
    turn: float  # direction of the waves' origin, radians from straight ahead

    def height(self, x: Floats, z: Floats) -> Floats:
        """Return the height of the surface at places."""
        total = np.zeros(np.broadcast_shapes(x.shape, z.shape), np.float32)
        for number, low in enumerate(_FADE_METERS):
            bump = sample(self.bumps[..., 0], *self._spot(x, z, number))
            # Distant waves are lower than a pixel; they would only flicker between slices.
            share = np.float32(self.swell * _OCTAVES[number][2])
            total += bump * share / (1.0 + (z / np.float32(low)) ** 2)
        return total

    def slope(self, x: Floats, z: Floats, focal: float) -> tuple[Floats, Floats]:
        """Return the slopes to the right and along, without detail too fine to see."""
        right, along = (np.zeros(z.shape, np.float32) for _ in range(2))
        for number, (across, down, share) in enumerate(_OCTAVES):
            fade = np.clip(1.8 - z * np.float32(1.1 * down / focal), 0.06, 1.0)
            fade *= np.float32(self.swell**0.75 * share)
            looked = sample(self.bumps, *self._spot(x, z, number))
            right += cv2.extractChannel(looked, 1) * fade * np.float32(across)
            along += cv2.extractChannel(looked, 2) * fade * np.float32(down)
        return right, along

    def _spot(self, x: Floats, z: Floats, number: int) -> tuple[Floats, Floats]:
        across, down, _ = _OCTAVES[number]
        turn = self.turn * (1.0 if number % 2 else -0.6)
        u = x * np.float32(np.cos(turn)) + z * np.float32(np.sin(turn))
        v = z * np.float32(np.cos(turn)) - x * np.float32(np.sin(turn))
        shift = np.float32(97.0 * number)
        return u * np.float32(across) + shift, v * np.float32(down) + shift


def sea_of(rng: np.random.Generator, swell: float) -> Sea:
    """Return a sea: noise with sharper crests than troughs."""
    noise = tile(rng, cells=16, octaves=3, gain=0.45)
    crest = 1.0 - np.abs(np.tanh(0.9 * tile(rng, cells=16, octaves=2)))
    bumps = np.asarray(0.42 * noise + 1.5 * (crest - float(crest.mean())), np.float32)
    bumps = cv2.GaussianBlur(np.pad(bumps, 8, mode="wrap"), (0, 0), 1.2)[8:-8, 8:-8]
    merged = cv2.merge([bumps, *slopes(bumps, wrap=True)])
    return Sea(np.asarray(merged), swell, float(rng.uniform(-0.6, 0.6)))


def light_sea(
    scene: Landscape, water: Sea, rows: slice, shoal: Floats, deep: Oklch, shallow: Oklch
) -> Floats:
    """Return the light of the sea's surface in some rows, as if they were all sea.

    It is lighter, with foam, where the bottom or a shore is near, `shoal` from 0 to 1.
    """
    look, camera, view, sky = scene.look, scene.camera, scene.view, scene.behind
    x, z, height = view.x[rows], view.z[rows], view.height[rows]
    right, along = water.slope(x, z, camera.focal)
    level = 1.0 / np.sqrt(right * right + along * along + 1.0)
    away = np.sqrt(x * x + z * z + (height - camera.height) ** 2)
    ray = (x / away, (height - camera.height) / away, z / away)
    facing = np.clip(-(ray[1] - ray[0] * right - ray[2] * along) * level, 0.02, 1.0)
    bounce = [
        part + 2 * facing * own * level
        for part, own in zip(ray, (-right, 1.0, -along), strict=True)
    ]
    flat = np.maximum(bounce[2], 0.2)
    rise = np.maximum(bounce[1], 0.012) / np.sqrt(bounce[0] ** 2 + flat**2)
    line = np.clip(camera.horizon - camera.focal * rise, 0, camera.horizon).astype(np.float32)
    column = camera.columns / 2 + camera.focal * bounce[0] / flat
    column = np.clip(column, 0, camera.columns - 1).astype(np.float32)
    mirror = np.stack([cv2.remap(plane, column, line, cv2.INTER_LINEAR) for plane in sky])
    shade, sun = light(look.shade), light(look.sun)
    ambient = 0.35 * shade + 0.65 * sky[:, :1].mean(axis=2, keepdims=True)
    body = light(deep) * (ambient + 0.25 * look.sun_power * sun)
    glow = light(shallow) * (0.7 * look.shade_power * shade + 0.30 * look.sun_power * sun)
    thin = np.clip(0.32 + 0.42 * height / max(water.swell, 0.2), 0.0, 1.0) * np.exp(z / -160.0)
    color = blend(body, glow, np.clip(0.55 * thin + 0.9 * shoal, 0.0, 1.0).astype(np.float32))
    color = blend(color, mirror, reflectance(facing))
    if look.disc:  # the waves reflect the glow of a closed sky
        color += sun * (_sparkle(scene, bounce, z) / sun.max())
    return _foam(scene, color, water, rows, shoal)


def _sparkle(scene: Landscape, bounce: list[Floats], z: Floats) -> Floats:
    """Return sun glints; distant waves are many per pixel and share them."""
    camera, sun = scene.camera, scene.sun
    rise = max((camera.horizon - sun.y) / camera.focal, 0.05)
    target = np.array([(sun.x - camera.columns / 2) / camera.focal, rise, 1.0])
    target /= np.linalg.norm(target)
    along = sum(part * np.float32(own) for part, own in zip(bounce, target, strict=True))
    spark = np.exp((np.minimum(along, 1.0) - 1.0) * np.clip(420.0 - 1.2 * z, 70.0, 420.0))
    return np.asarray(spark * np.float32(scene.look.glow * (1.6 if sun.moon else 3.4)), np.float32)


def _foam(scene: Landscape, color: Floats, water: Sea, rows: slice, shoal: Floats) -> Floats:
    """Return a sea with foam on breaking crests and along shores."""
    look, x, z = scene.look, scene.view.x[rows], scene.view.z[rows]
    bumps = np.ascontiguousarray(water.bumps[..., 0])
    lace = sample(bumps, x * np.float32(14.0), z * np.float32(17.0))
    lace += 0.7 * sample(bumps, x * np.float32(41.0) + 7, z * np.float32(47.0))
    crest = scene.view.height[rows] / max(water.swell, 1e-3)
    broken = smooth_step(1.35 - 0.35 * water.swell, 2.5 - 0.4 * water.swell, crest + 0.45 * lace)
    broken *= min(1.0, water.swell * 1.1) * np.exp(z / -260.0)
    shore = smooth_step(0.50, 1.0, shoal + 0.22 * lace * (shoal > 0.05))
    white = light((0.97, 0.006, 220)) * (
        light(look.shade, 0.85 * look.shade_power) + light(look.sun, 0.34 * look.sun_power)
    )
    foam = np.clip(np.maximum(broken, shore), 0.0, 1.0) * np.float32(0.85)
    return blend(color, white, np.asarray(foam, np.float32))


class MovingWater:
    """The water of a flight's land, at height 0.

    Light from an azimuth sparkles on it in a color, with the strength `glitter`, 0 to 1.
    """

    def __init__(
        self, rng: np.random.Generator, *, shine: Bytes, sun: float, glitter: float
    ) -> None:
        self._shine, self._sun, self._glitter = shine, sun, glitter
        # The small ones in a tile that fits into the processor's cache.
        self._waves, self._wavelets = (
            np.pad(tile(rng, cells=cells, octaves=4, gain=0.62, side=side), 1, mode="wrap")
            for cells, side in ((64, 1024), (16, 256))
        )

    def mirror(
        self,
        picture: Bytes,
        places: tuple[Floats, Floats, Floats],
        camera: Camera,
        heading: float,
        seconds: float,
        rows: tuple[int, int],
    ) -> tuple[int, Bytes]:
        """Return the first row and the water's colors from it on, at half the size.

        The picture has half the size, and under the water its bottom. Places are inverse distance,
        and x and y in the world, from a row on; `rows` is that row and the first one with water.
        -
        """
        inverse, x, y = (plane[::2, ::2] for plane in places)
        skip = min(max(0, rows[1] - rows[0]) // 2, len(inverse) - 1)
        first = rows[0] + 2 * skip
        below, x, y = inverse[skip:], x[skip:], y[skip:]
        drop = max(camera.height, 0.5) * camera.focal
        # Ripples are as soft as wide: every other place is enough for them. Two sets move against
        # each other, so that none seems to travel as a whole.
        waves = _move_waves(self._waves, x[::2, ::2], y[::2, ::2], 6.0, 17.0 * seconds)
        waves += _move_waves(self._waves, x[::2, ::2], y[::2, ::2], 2.7, -11.0 * seconds)
        waves = cv2.resize(waves, x.shape[::-1], interpolation=cv2.INTER_LINEAR)
        reach = np.float32(_RIPPLE * camera.focal) * (np.float32(0.12) + np.float32(40.0) * below)
        waves *= np.clip(reach, 0, 0.05 * camera.rows, out=reach)
        waves *= np.float32(0.25)
        target = mirrored_rows(inverse, rows[0], 2, camera.horizons[::2], drop, skip, 2)
        target *= np.float32(0.5)
        target += waves
        np.maximum(target, 0.0, out=target)
        waves *= np.float32(0.35)
        waves += np.arange(below.shape[1], dtype=np.float32)
        image = cv2.remap(picture, waves, target, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
        steep = below * np.float32(drop / camera.focal)
        share = reflectance(steep / np.sqrt(1 + steep * steep) + np.float32(_RIPPLE_TILT))
        water = cv2.blendLinear(image, picture[first // 2 :], share, np.float32(1) - share)
        turn = (self._sun - heading + math.pi) % (2 * math.pi) - math.pi
        away = np.abs(np.arctan(camera.across[::2]) - np.float32(turn))
        path = np.exp(-away * np.float32(9.0)) * np.float32(self._glitter)
        lit = np.flatnonzero(path > 0.03)
        if len(lit):
            part = slice(int(lit[0]), int(lit[-1]) + 1)
            share = self._sparkle(x[:, part], y[:, part], below[:, part], seconds) * path[part]
            shine = np.empty((*share.shape, 3), np.uint8)
            shine[:] = self._shine
            dull = np.ascontiguousarray(water[:, part])
            water[:, part] = cv2.blendLinear(dull, shine, np.float32(1) - share, share)
        return first, np.asarray(water)

    def _sparkle(self, x: Floats, y: Floats, inverse: Floats, seconds: float) -> Floats:
        """Return the sparkle of places, 0 to 1: small, and short-lived."""
        # At smaller distances, smaller waves sparkle, halving in size: it never forms pools.
        finer = cv2.LUT(cv2.convertScaleAbs(inverse, alpha=8 * _SPARKLE_METERS), _SCALES)
        x, y = x * finer, y * finer
        # It is visible where two sets of waves both have crests.
        share = np.abs(_move_waves(self._wavelets, x, y, 21.0, 60.0 * seconds))
        share *= _move_waves(self._wavelets, x, y, 13.0, -37.0 * seconds)
        np.clip(np.float32(1.4) * share - np.float32(1.1), 0.0, 1.0, out=share)
        share *= np.clip(np.float32(0.25) + np.float32(26.0) * inverse, 0.0, 1.0)
        return np.asarray(share)


def _move_waves(plane: Floats, x: Floats, y: Floats, scale: float, far: float) -> Floats:
    """Return waves moved by a number of texels.

    The tile has a border of one texel from its other side: OpenCV's own wrapping is three times as
    slow.
    """
    side = plane.shape[0] - 2
    places = x * np.float32(scale), y * np.float32(scale)
    for axis, shift in zip(places, (far, -0.6 * far), strict=True):
        axis += np.float32(shift % side)
        axis -= np.float32(side) * np.floor(axis * np.float32(1 / side)) - np.float32(1)
    return np.asarray(cv2.remap(plane, *places, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE))
