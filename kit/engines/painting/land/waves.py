"""Waves: an open sea as heights to look at, and as a surface that mirrors, glows and foams."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Floats, Oklch
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.look import Look
from kit.engines.painting.land.sky import Sun
from kit.engines.painting.land.voxel import Camera
from kit.engines.painting.noise import sample, slopes, tile
from kit.engines.painting.tone import blend, light

#: Octaves: points of the tile in a world unit across and along, share of the swell's height.
_OCTAVES = ((1.1, 2.9, 1.0), (3.4, 6.1, 0.36), (9.0, 13.0, 0.13), (31.0, 40.0, 0.040))
_SHAPED = 2  # octaves that are seen as shapes; the others only bend light
_LOW = (190.0, 75.0)  # distances at which their shapes are half as high


@dataclass(frozen=True, slots=True)
class Sea:
    """Moving water, frozen.

    Parameters
    ----------
    swell : float
        Height of its waves in world units, 0.1 calm to 1.6 storm.
    turn : float
        Direction the waves come from, radians from straight ahead.
    """

    bumps: Floats
    swell: float
    turn: float

    def height(self, x: Floats, z: Floats) -> Floats:
        """Return the height of the surface at points of the world."""
        total = np.zeros(np.broadcast_shapes(x.shape, z.shape), np.float32)
        for number, octave in enumerate(_OCTAVES[:_SHAPED]):
            bump = sample(self.bumps[..., 0], *self._spot(x, z, number))
            # Far waves are lower than a pixel; their shapes would only flicker between slices.
            bump *= np.float32(self.swell * octave[2]) / (1.0 + (z / np.float32(_LOW[number])) ** 2)
            total += bump
        return total

    def slope(self, x: Floats, z: Floats, focal: float) -> tuple[Floats, Floats]:
        """Return how the surface rises to the right and along, without what is too fine to see."""
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


def sea(rng: np.random.Generator, swell: float) -> Sea:
    """Return a sea: noise whose crests are sharper than its troughs."""
    noise = tile(rng, cells=16, octaves=3, gain=0.45)
    crest = 1.0 - np.abs(np.tanh(0.9 * tile(rng, cells=16, octaves=2)))
    bumps = 0.42 * noise + 1.5 * (crest - float(crest.mean()))
    padded = np.pad(np.asarray(bumps, np.float32), 8, mode="wrap")
    bumps = cv2.GaussianBlur(padded, (0, 0), 1.2)[8:-8, 8:-8]
    merged = cv2.merge([bumps, *slopes(bumps, wrap=True)])
    return Sea(np.asarray(merged), swell, float(rng.uniform(-0.6, 0.6)))


def lit_sea(
    water: Sea,
    x: Floats,
    z: Floats,
    height: Floats,
    sky: Floats,
    camera: Camera,
    look: Look,
    sun: Sun,
    *,
    deep: Oklch,
    shallow: Oklch,
    shoal: Floats,
) -> Floats:
    """Return the light of the sea's surface, planes of the shape of `z`.

    Parameters
    ----------
    sky : ndarray, shape (3, rows, columns)
        What it mirrors.
    shoal : ndarray
        How near the bottom or a shore is, 0 to 1; it lightens and foams.
    """
    right, along = water.slope(x, z, camera.focal)
    level = 1.0 / np.sqrt(right * right + along * along + 1.0)
    away = np.sqrt(x * x + z * z + (height - camera.height) ** 2)
    view = (x / away, (height - camera.height) / away, z / away)
    facing = -(view[1] - view[0] * right - view[2] * along) * level  # cosine to the eye
    facing = np.clip(facing, 0.02, 1.0)
    bounce = [
        part + 2 * facing * own * level
        for part, own in zip(view, (-right, 1.0, -along), strict=True)
    ]
    mirror = _mirrored(sky, bounce, camera)
    fresnel = 0.02 + 0.98 * (1.0 - facing) ** 5
    ambient = 0.35 * light(look.shade) + 0.65 * sky[:, :1].mean(axis=2, keepdims=True)
    body = light(deep) * (ambient + 0.25 * light(look.sun, look.sun_power))
    thin = np.clip(0.32 + 0.42 * height / max(water.swell, 0.2), 0.0, 1.0) * np.exp(z / -160.0)
    thin = np.clip(0.55 * thin + 0.9 * shoal, 0.0, 1.0)
    glow = light(shallow) * (
        light(look.shade, 0.7 * look.shade_power) + light(look.sun, 0.30 * look.sun_power)
    )
    color = blend(np.asarray(body), np.asarray(glow, np.float32), np.asarray(thin, np.float32))
    color = blend(color, mirror, np.asarray(fresnel, np.float32))
    if look.disc:  # the glow of a closed sky is in what the waves mirror
        color += _sparkle(bounce, z, camera, look, sun)
    return _foamed(color, water, x, z, height, look, shoal)


def _mirrored(sky: Floats, bounce: list[Floats], camera: Camera) -> Floats:
    """Look up the sky in the direction in which light is thrown."""
    flat = np.sqrt(bounce[0] ** 2 + np.maximum(bounce[2], 0.2) ** 2)
    rise = np.maximum(bounce[1], 0.012) / flat
    row = np.clip(camera.horizon - camera.focal * rise, 0, camera.horizon)
    column = camera.columns / 2 + camera.focal * bounce[0] / np.maximum(bounce[2], 0.2)
    column = np.clip(column, 0, camera.columns - 1).astype(np.float32)
    row = row.astype(np.float32)
    return np.stack([cv2.remap(plane, column, row, cv2.INTER_LINEAR) for plane in sky])


def _sparkle(bounce: list[Floats], z: Floats, camera: Camera, look: Look, sun: Sun) -> Floats:
    """Return glints where the sun is mirrored; far waves are many to a pixel and share them."""
    target = np.array(
        [(sun.x - camera.columns / 2) / camera.focal, (camera.horizon - sun.y) / camera.focal, 1.0]
    )
    target[1] = max(target[1], 0.05)
    target /= np.linalg.norm(target)
    along = sum(part * np.float32(own) for part, own in zip(bounce, target, strict=True))
    sharp = np.clip(420.0 - 1.2 * z, 70.0, 420.0)
    spark = np.exp((np.minimum(along, 1.0) - 1.0) * sharp)
    shine = light(look.sun)
    strength = np.float32(look.glow * (1.6 if sun.moon else 3.4))
    return np.asarray(shine / shine.max() * (spark * strength), np.float32)


def _foamed(
    color: Floats, water: Sea, x: Floats, z: Floats, height: Floats, look: Look, shoal: Floats
) -> Floats:
    """Lay foam on breaking crests and along shores."""
    lace = sample(water.bumps[..., 0], x * np.float32(14.0), z * np.float32(17.0))
    lace += 0.7 * sample(water.bumps[..., 0], x * np.float32(41.0) + 7, z * np.float32(47.0))
    crest = height / max(water.swell, 1e-3)
    broken = smooth_step(1.35 - 0.35 * water.swell, 2.5 - 0.4 * water.swell, crest + 0.45 * lace)
    broken *= min(1.0, water.swell * 1.1)
    shore = smooth_step(0.50, 1.0, shoal + 0.22 * lace * (shoal > 0.05))
    foam = np.clip(np.maximum(broken * np.exp(z / -260.0), shore), 0.0, 1.0)
    white = light((0.97, 0.006, 220)) * (
        light(look.shade, 0.85 * look.shade_power) + light(look.sun, 0.34 * look.sun_power)
    )
    return blend(color, np.asarray(white, np.float32), np.asarray(foam, np.float32) * 0.85)
