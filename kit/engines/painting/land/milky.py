"""The Milky Way: a tilted band of unresolved stars, parted by lanes of dust."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.base import Progress
from kit.engines.media.color import Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land.voxel import Camera
from kit.engines.painting.noise import sample, tile, warp
from kit.engines.painting.tone import blend, light


def band(camera: Camera, depth: int, rng: np.random.Generator, progress: Progress) -> Floats:
    """Return the light of the band over a sky, shape (3, depth, camera.columns)."""
    # Gas and dust are soft: they are drawn at half the size, the single stars in full.
    rows, columns = -(-depth // 2), -(-camera.columns // 2)
    tilt = float(rng.choice([-1, 1])) * float(rng.uniform(0.50, 0.85))
    foot = float(rng.uniform(0.40, 0.60)) * camera.columns
    size = np.float32(max(camera.columns, camera.rows))
    x = (2.0 * np.arange(columns, dtype=np.float32)[None] - foot) / size
    y = (camera.horizon - 2.0 * np.arange(rows, dtype=np.float32)[:, None]) / size
    off = x * np.float32(np.cos(tilt)) - y * np.float32(np.sin(tilt))
    along = x * np.float32(np.sin(tilt)) + y * np.float32(np.cos(tilt))
    gas = tile(rng, cells=4, octaves=8, gain=0.60, side=1024)
    gas = warp(gas, tile(rng, octaves=4, side=1024), tile(rng, octaves=4, side=1024), 34, wrap=True)
    progress.report(0.3)
    cloud = sample(gas, 900 * off + 300, 620 * along + 90)
    fine = sample(gas, 2400 * off + 11, 1700 * along + 500)
    wide = off + 0.020 * cloud
    body = np.exp(-((wide / 0.105) ** 2)) * np.clip(0.62 + 0.30 * cloud + 0.12 * fine, 0.05, 1.4)
    # Dust lies along the middle and branches; the core behind it is the warmest.
    dust = np.exp(-(((off + 0.045 * cloud) / 0.026) ** 2)) * smooth_step(-0.9, 0.9, cloud + fine)
    core = np.exp(-((wide / 0.050) ** 2)) * np.exp(-(((along - 0.16) / 0.30) ** 2))
    tone = blend(light((0.62, 0.055, 275)), light((0.86, 0.060, 65)), np.clip(1.3 * core, 0.0, 1.0))
    shine = (0.34 * body + 0.55 * core * np.clip(0.8 + 0.3 * cloud, 0.2, 1.3)) * (1.0 - 0.86 * dust)
    glowing = tone * (shine * smooth_step(0.0, 0.12, y))
    progress.report(0.7)
    whole = (camera.columns, depth)
    soft = np.stack([cv2.resize(np.asarray(p, np.float32), whole) for p in glowing])
    dense = cv2.resize(np.asarray(body * smooth_step(0.0, 0.12, y), np.float32), whole)
    stars = rng.standard_normal(dense.shape, np.float32)
    stars -= 1.9
    np.maximum(stars, 0.0, out=stars)
    stars *= dense * np.float32(0.38)
    return np.asarray(soft + stars)
