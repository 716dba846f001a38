"""The sky all around, as far as a flight looks: a strip wrapped on a cylinder, painted once."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting import tone
from kit.engines.painting.heightfield.canvas import toned
from kit.engines.painting.heightfield.light import film_of
from kit.engines.painting.heightfield.terrain import SIDE, noise
from kit.engines.painting.looks import Look

_TOP = 1.0  # tangent of the highest place that is painted
_BELOW = 0.12  # and of the lowest: a nose that points down still sees haze


@dataclass(frozen=True, slots=True)
class Heaven:
    """A strip of sky.

    Parameters
    ----------
    picture : ndarray of uint8
        Shape (rows, columns, 4), see `toned`; its last rows lie below the horizon.
    start : float
        Azimuth of its first column, in radians.
    scale : float
        Pixels to a radian, and to a tangent of 1.
    low : ndarray of uint8
        Its color just above the horizon, shape (columns, 4): what distance fades to.
    """

    picture: Bytes
    start: float
    scale: float
    low: Bytes

    def seen(
        self, heading: float, across: Floats, horizon: Floats, focal: float, rows: int
    ) -> Bytes:
        """Return the sky that a camera sees in the upper rows of its frame.

        Parameters
        ----------
        across : ndarray, shape (columns,)
            Tangents from the middle of the view to the right.
        horizon : ndarray, shape (columns,)
            Row of the horizon.
        focal : float
            Pixels to a tangent of 1.

        Returns
        -------
        ndarray of uint8
            Shape (rows, columns, 4).
        """
        turned = np.arctan(across)
        x = np.empty((rows, len(across)), np.float32)
        x[:] = (turned + np.float32(heading - self.start)) * np.float32(self.scale)
        # On a cylinder, what stands aside is farther away and so less high.
        step = np.cos(turned) * np.float32(self.scale / focal)
        y = np.empty_like(x)
        np.multiply(np.arange(rows, dtype=np.float32)[:, None], step, out=y)
        y += np.float32(_TOP * self.scale) - horizon * step
        return np.asarray(
            cv2.remap(self.picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        )

    def air(self, heading: float, across: Floats) -> Bytes:
        """Return what distance fades to in each column, shape (columns, 4): the lowest sky."""
        x = (np.arctan(across) + np.float32(heading - self.start)) * np.float32(self.scale)
        places = np.clip(np.rint(x), 0, len(self.low) - 1).astype(np.intp)
        return np.asarray(self.low[places])


def heaven(
    look: Look, span: tuple[float, float], sun: float, scale: float, rng: np.random.Generator
) -> Heaven:
    """Return the sky between two azimuths.

    Parameters
    ----------
    span : tuple of float
        Where it starts and ends, in radians.
    sun : float
        Azimuth of the sun, or by night of the moon.
    scale : float
        Pixels to a radian at which it will be seen.
    """
    # Soft things need no more pixels than this, and a wide strip would cost seconds.
    scale = min(scale, 900.0)
    columns = int((span[1] - span[0]) * scale) + 2
    rows = int((_TOP + _BELOW) * scale)
    azimuth = (span[0] + np.arange(columns, dtype=np.float32) / np.float32(scale))[None]
    up = (np.float32(_TOP) - np.arange(rows, dtype=np.float32) / np.float32(scale))[:, None]
    height = np.clip(up / np.float32(_TOP), 0.0, 1.0)
    fade = tone.gradient(
        tone.evenly(look.sky), np.sqrt(height[:, 0]) * np.float32(0.94), rounding=0.0625
    )
    planes = np.repeat(fade[:, :, None], columns, axis=2)
    far = _distance(azimuth, up, sun, look)
    shine = tone.light(look.sun)
    planes += shine * (look.glow * (0.55 * np.exp(-far * 7.0) + 0.30 * np.exp(-far * 2.4)))
    if look.stars > 0.05:
        _add_stars(planes, look.stars, rng)
    if look.elevation > 0 and look.disc:
        planes += shine * (_disc(far, look) * (1.0 - 0.85 * (look.clouds > 0.7)))
    cover, bright = _clouds(look, azimuth, up, sun, rng)
    cloud = tone.blend(tone.light(look.cloud_shade), tone.light(look.cloud_lit) * 1.15, bright)
    cloud += shine * (np.exp(-far * 5.0) * look.glow * 0.7 * (1.0 - 0.6 * cover))
    planes += (cloud - planes) * (cover * 0.92)
    _add_haze(planes, look, up)
    contrast, lift, saturation = film_of(look)
    picture = toned(
        tone.develop(
            planes.astype(np.float32),
            tone.Film(
                exposure=look.film.exposure,
                saturation=saturation,
                vignette=0.0,
                grain=0.0,
                contrast=contrast,
                lift=lift,
            ),
        )
    )
    horizon = int(_TOP * scale)
    band = picture[horizon - max(2, int(0.02 * scale)) : horizon].mean(axis=0, dtype=np.float32)
    low = cv2.GaussianBlur(band[None], (0, 0), 0.05 * scale)[0]
    return Heaven(picture, span[0], scale, np.rint(low).astype(np.uint8))


def _distance(azimuth: Floats, up: Floats, sun: float, look: Look) -> Floats:
    height = np.float32(max(look.elevation, -0.03) * 0.55 + 0.02)
    return np.asarray(np.hypot(azimuth - np.float32(sun), up - height), np.float32)


def _disc(far: Floats, look: Look) -> Floats:
    night = look.stars > 0.5
    radius = 0.026 if night else 0.022
    return np.asarray(smooth_step(radius * 1.08, radius * 0.94, far) * (1.5 if night else 7.0))


def _add_stars(planes: Floats, strength: float, rng: np.random.Generator) -> None:
    _, rows, columns = planes.shape
    count = rows * columns // 620
    y = (rng.random(count) ** 1.15 * rows * 0.86).astype(int)
    x = rng.integers(0, columns, count)
    lights = np.zeros((rows, columns), np.float32)
    lights[y, x] = np.clip(rng.pareto(1.7, count) * 0.30, 0.0, 4.5)
    soft = cv2.GaussianBlur(lights, (0, 0), 0.75) * np.float32(3.0 * strength)
    planes += soft * np.linspace(1.0, 0.05, rows, dtype=np.float32)[:, None]


def _clouds(
    look: Look, azimuth: Floats, up: Floats, sun: float, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return how much clouds cover, and how much of the sun they catch, 0 to 1 each.

    They lie in a plane overhead, so that they shrink and close up toward the horizon.
    """
    flat = noise(rng, 4, 8, 0.55)
    near = np.float32(1.0) / (np.maximum(up, 0.0) + np.float32(0.06))
    u = np.sin(azimuth) * near * np.float32(74.0)
    v = np.cos(azimuth) * near * np.float32(74.0)
    high = _sampled(flat, u, v)
    toward = np.float32(9.0)
    other = _sampled(flat, u + np.sin(sun) * toward, v + np.cos(sun) * toward)
    threshold = 1.0 - 2.0 * look.clouds
    cover = smooth_step(threshold, threshold + 1.15, high)
    cover *= smooth_step(0.0, 0.10, up)
    return cover, np.clip(0.5 + (high - other) * np.float32(0.5), 0.0, 1.0)


def _sampled(flat: Floats, u: Floats, v: Floats) -> Floats:
    return np.asarray(
        cv2.remap(
            flat,
            np.mod(u, SIDE).astype(np.float32),
            np.mod(v, SIDE).astype(np.float32),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_WRAP,
        )
    )


def _add_haze(planes: Floats, look: Look, up: Floats) -> None:
    """Let the air close the gap between the land's last ridge and the sky."""
    share = np.exp(-np.maximum(up, 0.0) * np.float32(16.0 / max(0.5, look.haze)))
    planes += (tone.light(look.air) - planes) * (0.75 * share)
