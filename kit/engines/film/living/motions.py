"""Motions: what painters hand out as moving by itself, as layers of a film."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import cv2
import numpy as np

from kit.engines.film.living.layers import LayerCanvas, MotionLayer, Noise, Shimmer, crop_planes
from kit.engines.film.weather import lay
from kit.engines.media.clip import Frame
from kit.engines.media.noise import smooth_step
from kit.engines.painting.painting import (
    Curtains,
    Fall,
    Fountain,
    Lava,
    Mirrored,
    Painting,
    Smoke,
    Spray,
    trails,
)

_BEFORE = 0.92  # what is nearer than this share of a distance stands before what is there
_RISE = 13.0  # seconds from the crater to the top of a plume
_FLIGHT = 3.6  # seconds that the fastest stones fly
_LANDED = 4 / 3  # time of flight at which a stone is down again
_SHADES = 8  # of what flies
_BITS = 3  # of a part of a pixel, for lines


def layers_of(painting: Painting, canvas: LayerCanvas, seed: int) -> Iterator[MotionLayer]:
    """Yield what moves by itself in a painting, the farthest first; `seed` is of its randomness."""
    for number, motion in enumerate(painting.motions):
        rng = np.random.default_rng([seed, 60 + number])
        if isinstance(motion, Fountain):
            yield Stones(motion, painting, canvas, rng)
        elif not isinstance(motion, Mirrored):
            how = _shimmer(motion, painting, canvas)
            yield Shimmer(how, canvas, rng, night=isinstance(motion, Curtains))


def _shimmer(
    motion: Smoke | Lava | Fall | Spray | Curtains, painting: Painting, canvas: LayerCanvas
) -> Noise:
    """Return where noise runs through the light of what moves, and how."""
    pace, window = canvas.pace, getattr(motion, "window", None)
    free = np.ones(canvas.painted, np.float32) if painting.sky is None else painting.sky
    if isinstance(motion, Lava):
        heat, glow, x, y = (
            canvas.fit(part, window)
            for part in (motion.heat, motion.glow, motion.around, motion.along)
        )
        mask = np.maximum(smooth_step(0.04, 0.30, heat), glow)
        return Noise(mask, x, y, ((900.0, 420.0, 12.0 * pace, 0.30),), beat=0.05)
    if isinstance(motion, Fall | Spray) and painting.depth is not None:
        free = np.asarray(painting.depth > _BEFORE * motion.away, np.float32)
    if isinstance(motion, Fall):
        # Water speeds up: its threads are drawn out the more, the farther it has fallen.
        x = canvas.fit(motion.across, window)
        y = np.sqrt(np.maximum(canvas.fit(motion.down, window), 0.0))
        mask = smooth_step(1.05, 0.55, np.abs(x)) * smooth_step(1.0, 0.8, y)
        mask *= canvas.fit(np.ones_like(motion.across), window) * canvas.fit(free)
        speed = canvas.fall / motion.seconds
        threads = (26.0, 22.0, 22.0 * speed, 0.14), (70.0, 44.0, 44.0 * speed, 0.14)
        return Noise(mask, x, y, threads)
    if isinstance(motion, Spray):
        thick, x, y = (
            canvas.fit(part, window) for part in (motion.thick, motion.across, motion.up)
        )
        return Noise(thick * canvas.fit(free), x, y, ((26.0, 26.0, 9.0 * pace, 0.16),))
    plane = motion.light if isinstance(motion, Curtains) else motion.cover
    height = plane.shape[0] * canvas.painted[1] // plane.shape[1]
    mask = canvas.fit(plane, (slice(0, height), slice(0, canvas.painted[1])))
    places = np.indices(mask.shape, np.float32)
    if isinstance(motion, Curtains):
        mask = mask / (mask + np.float32(0.10)) * canvas.fit(free)
        places /= np.float32(mask.shape[1])
        # Rays stand: along them noise hardly changes. Broad waves one way, fine rays the other way.
        rays = (24.0, 90.0, 9.0 * pace, 0.24), (24.0, 420.0, -16.0 * pace, 0.17)
        return Noise(mask, places[0], places[1] + 0.1 * places[0], rays, most=0.6)
    unit = np.float32(motion.unit * canvas.scale / 2)
    up = np.float32(motion.crater[1] / motion.unit) - places[0] / unit
    aside = places[1] / unit - np.float32(motion.crater[0] / motion.unit) - motion.lean * up
    broad = motion.start + motion.grown * np.clip(up * motion.unit / motion.tall, 0.0, 1.5)
    speed = motion.tall / motion.unit / _RISE * pace
    puffs = (12.0, 6.0, 6.0 * speed, 0.11), (28.0, 14.0, 14.0 * speed, 0.08)
    return Noise(mask * canvas.fit(free), aside / broad, up, puffs)


class Stones:
    """Glowing stones that a crater throws."""

    night = False

    def __init__(
        self, fountain: Fountain, painting: Painting, canvas: LayerCanvas, rng: np.random.Generator
    ) -> None:
        take, scale = canvas.take, canvas.scale
        self._unit = unit = fountain.unit * scale
        x, y = (place * scale for place in fountain.crater)
        ends = (
            (y - 8.5 * unit, y + 0.8 * unit, canvas.height),
            (x - 5.5 * unit, x + 5.5 * unit, canvas.width),
        )
        starts = [min(max(0, int(first)), most - 2) & ~1 for first, _, most in ends]
        rows, columns = (
            slice(start, max(start + 2, min(most, int(last)) & ~1))
            for start, (_, last, most) in zip(starts, ends, strict=True)
        )
        self._window, self.rows = (rows, columns), rows.stop
        self._spot = x - columns.start, y - rows.start
        shown = np.float32(255 * min(1.0, fountain.power / 2.2))
        sky = np.ones(canvas.painted, np.float32) if painting.sky is None else painting.sky
        self._shown = np.rint(shown * canvas.fit(sky, step=1)[self._window]).astype(np.uint8)
        # Those that are on their way down as the film begins are not in the painting.
        stones = fountain.stones
        more = stones[rng.integers(0, len(stones), len(stones) // 2)]
        late = rng.uniform(0.6, 1.0, len(more))
        self._starts = np.concatenate([stones[:, 3] / _LANDED, late])
        self._stones = stones = np.concatenate([stones, more])
        self._wide = np.where(stones[:, 6] * 1280 < 0.25 * max(take.width, take.height), 2, 1)
        seconds = _FLIGHT * np.sqrt(stones[:, 2] / 4.6) / canvas.fall
        rounds = take.seconds / seconds
        # In a loop things come around a whole number of times.
        self._rounds = np.maximum(1.0, np.round(rounds)) if take.loop else rounds

    def draw(self, planes: Frame, moment: float, share: float) -> None:
        """Draw what flies at a moment, in place."""
        patch = np.zeros(self._shown.shape, np.uint8)
        first = _LANDED * ((self._starts + self._rounds * moment) % 1.0)
        times = np.linspace(first, first + 0.8 * self._stones[:, 4], 4, axis=1)
        points = trails(self._stones, times, self._spot, self._unit)
        steps = np.round(points * (1 << _BITS)).astype(np.int32, order="C")
        heat = self._stones[:, 5] * (1.1 - 0.6 * first)
        shades = np.clip(np.ceil(heat * _SHADES), 0, _SHADES).astype(int)
        # The hottest last; some at a time, as calls cost most.
        for shade, wide in product(range(1, _SHADES + 1), (1, 2)):
            if len(lines := steps[(shades == shade) & (self._wide == wide)]):
                value = round(255 * shade / _SHADES)
                cv2.polylines(patch, list(lines), False, value, wide, cv2.LINE_AA, shift=_BITS)
        small = cv2.resize(patch, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
        shine = cv2.GaussianBlur(small, (0, 0), max(0.8, 0.09 * self._unit))
        shine = cv2.resize(shine, patch.shape[::-1], interpolation=cv2.INTER_LINEAR)
        cv2.addWeighted(patch, 1.0, shine, 0.7, 0.0, dst=patch)
        cv2.multiply(patch, self._shown, scale=share / 255, dst=patch)
        lay(crop_planes(planes, self._window), patch, "embers")
