"""Fire: lava that creeps and glows, its light on what is around, stones and embers that fly."""

from __future__ import annotations

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.film.filming import Take
from kit.engines.film.living.life import turns
from kit.engines.film.living.scroll import Scroll, Turns, sharpness
from kit.engines.film.living.stage import Stage, add, around, inside
from kit.engines.film.weather import lay
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting import painting as motion
from kit.engines.painting.falling import tileable
from kit.engines.painting.noise import tile
from kit.engines.painting.painting import trails

_SOFT = 2  # lava is drawn at half the size
_CREEP = 0.028  # radii of the cone that lava goes in a second
_LUMPS = 420.0  # units of the noise along a radius
_TURN = 900.0  # and around the cone
_DARKER, _BRIGHTER = 46.0, 30.0  # steps of luma by which lava changes
_FLICKER = ((2.3, 0.055), (1.1, 0.050), (0.47, 0.030), (0.21, 0.018))  # seconds, share of light
_WARM = (10, 60)  # steps of chroma from which light is that of lava, and where it is all of it
_REACH = 9.0  # radii of the crater that its light goes
_FLIGHT = 3.6  # seconds that the fastest stones fly
_LANDED = 4 / 3  # time of flight at which a stone is down again
_EMBERS = 44
_SHADES = 8  # of what flies
_BITS = 3  # of a part of a pixel, for lines


class Lava:
    """Streams that creep, and their light that wavers."""

    def __init__(self, lava: motion.Lava, stage: Stage, rng: np.random.Generator) -> None:
        self._stage = stage
        window = stage.window(lava.window, _SOFT)
        heat = stage.found(lava.heat, lava.window, window, _SOFT)
        part = around(heat, 0.02) or (slice(0, 2), slice(0, 2))
        self._change = np.zeros_like(heat[part])
        self._hot = np.flatnonzero(heat[part] > 0.04)  # streams are a small part of their window
        along, turn, heat = (
            whole[part].ravel()[self._hot][None]
            for whole in (
                stage.found(lava.along, lava.window, window, _SOFT, beyond=True),
                stage.found(lava.around, lava.window, window, _SOFT, beyond=True),
                heat,
            )
        )
        self._heat = smooth_step(0.04, 0.30, heat)
        self._window = (
            slice(*(window[0].start + _SOFT * end for end in (part[0].start, part[0].stop))),
            slice(*(window[1].start + _SOFT * end for end in (part[1].start, part[1].stop))),
        )
        noise = tile(rng, cells=32, octaves=3)
        speed = _CREEP * _LUMPS * stage.haste
        x, y = turn * np.float32(_TURN), along * np.float32(_LUMPS)
        self._noise = Scroll(noise, x, y, speed, stage.take)
        self._beats = [(turns(stage.take, period), share) for period, share in _FLICKER]
        glow = stage.found(lava.glow, lava.window, window, _SOFT)
        self._glow = np.zeros((stage.height // _SOFT, stage.width // _SOFT), np.float32)
        self._glow[tuple(slice(s.start // _SOFT, s.stop // _SOFT) for s in window)] = glow
        spot = [place * stage.scale / _SOFT for place in lava.crater]
        self._near = _nearness(self._glow.shape, spot, _REACH * lava.unit * stage.scale / _SOFT)
        self._lit, self._shone = np.zeros((2, 2), np.uint8), (slice(0, 2), slice(0, 2))
        far = int(_SOFT * spot[1] + _REACH * lava.unit * stage.scale)
        self.rows = min(stage.height, max(self._window[0].stop, far // _SOFT * _SOFT))

    def light_up(self, planes: Frame) -> None:
        """Find out what the lava lights, in some planes: what is warm and near it."""
        blue, red = (plane[: self.rows // _SOFT] for plane in planes[1:])
        warm = cv2.addWeighted(red, 0.7, blue, -0.7, 0.0, dtype=cv2.CV_32F)
        near, glow = self._near[: len(warm)], self._glow[: len(warm)]
        share = smooth_step(*_WARM, np.asarray(warm, np.float32)) * near
        share = np.maximum(share, np.clip(1.5 * glow, 0.0, 1.0) * (share > 0.02))
        lit = np.rint(255 * cv2.GaussianBlur(share, (0, 0), 1.5)).astype(np.uint8)
        part = around(lit, 2) or (slice(0, 1), slice(0, 1))
        rows, columns = (slice(_SOFT * side.start, _SOFT * side.stop) for side in part)
        self._shone = rows, columns
        size = (lit[part].shape[1] * _SOFT, lit[part].shape[0] * _SOFT)
        self._lit = np.asarray(cv2.resize(lit[part], size))

    def draw(self, planes: Frame, moment: float) -> None:
        """Draw lava and its light at a moment, in place."""
        if len(self._hot):
            self._creep(planes[0], moment)
        level = sum(share * math.sin(2 * math.pi * count * moment) for count, share in self._beats)
        over = planes[0][self._shone]
        light = cv2.multiply(over, self._lit, scale=abs(level) / 255)
        (cv2.add if level > 0 else cv2.subtract)(over, light, dst=over)

    def _creep(self, luma: Bytes, moment: float) -> None:
        """Let brighter and darker lumps go down the streams."""
        noise = self._noise.at(moment) * self._heat
        change = np.where(noise > 0, noise * np.float32(_BRIGHTER), noise * np.float32(_DARKER))
        self._change.ravel()[self._hot] = change
        add(luma[self._window], self._change)


class Fountain:
    """Stones that a crater throws, and embers that rise with its smoke."""

    def __init__(
        self,
        fountain: motion.Fountain,
        stage: Stage,
        rng: np.random.Generator,
        lean: float,
    ) -> None:
        self._unit = fountain.unit * stage.scale
        self._lean = lean
        spot = fountain.crater
        part = (
            slice(int(spot[1] - 8.5 * fountain.unit), int(spot[1] + 0.8 * fountain.unit)),
            slice(int(spot[0] - 5.5 * fountain.unit), int(spot[0] + 5.5 * fountain.unit)),
        )
        rows, columns = stage.painted
        kept = tuple(
            slice(max(0, side.start), min(most, max(side.stop, 2)))
            for side, most in zip(part, (rows, columns), strict=True)
        )
        self._window = stage.window((kept[0], kept[1]))
        self.rows = self._window[0].stop
        self._spot = (
            spot[0] * stage.scale - self._window[1].start,
            spot[1] * stage.scale - self._window[0].start,
        )
        self._size = max(stage.take.width, stage.take.height) / 1280
        shown = stage.shown(self._window)
        self._shown = np.rint(255 * np.minimum(1.0, fountain.power / 2.2) * shown).astype(np.uint8)
        self._stones, self._starts, self._rounds = _thrown(fountain.stones, stage, rng)
        self._wide = np.where(self._stones[:, 6] < 0.25 * self._size, 2, 1)
        self._embers = rng.random((_EMBERS, 5))
        self._rises = _whole(stage.take.seconds / rng.uniform(3.0, 6.0, _EMBERS), stage.take)
        self._fine = np.ones(_EMBERS, int)

    def light_up(self, planes: Frame) -> None:
        """Fire is as bright whatever it is seen before."""

    def draw(self, planes: Frame, moment: float) -> None:
        """Draw what flies at a moment, in place."""
        patch = np.zeros(self._shown.shape, np.uint8)
        self._throw(patch, moment)
        self._rise(patch, moment)
        small = cv2.resize(patch, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
        shine = cv2.GaussianBlur(small, (0, 0), max(0.8, 0.09 * self._unit))
        shine = cv2.resize(shine, patch.shape[::-1], interpolation=cv2.INTER_LINEAR)
        cv2.addWeighted(patch, 1.0, shine, 0.9, 0.0, dst=patch)
        cv2.multiply(patch, self._shown, scale=1 / 255, dst=patch)
        lay(inside(planes, self._window), patch, "embers")

    def _throw(self, patch: Bytes, moment: float) -> None:
        stones = self._stones
        first = _LANDED * ((self._starts + self._rounds * moment) % 1.0)
        times = np.linspace(first, first + 0.8 * stones[:, 4], 4, axis=1)
        heat = stones[:, 5] * (1.1 - 0.6 * first)
        _drawn(patch, trails(stones, times, self._spot, self._unit), heat, self._wide)

    def _rise(self, patch: Bytes, moment: float) -> None:
        start, aside, far, sway, heat = self._embers.T[:, :, None]
        times = (start + self._rises[:, None] * moment) % 1.0 + np.array([0.0, 0.012])
        up = (2.2 + 5.0 * far) * times**0.85
        swing = (0.25 + 0.5 * sway) * times * np.sin(2 * np.pi * (sway + (1.0 + aside) * times))
        x = 1.4 * (aside - 0.5) + self._lean * up + swing
        points = np.stack([self._spot[0] + self._unit * x, self._spot[1] - self._unit * up], 2)
        fade = np.sin(np.pi * np.minimum(1.0, times[:, 0]) ** 0.6)
        _drawn(patch, points, (0.25 + 0.55 * heat[:, 0]) * fade, self._fine)


def _drawn(
    patch: Bytes, points: NDArray[np.float64], heat: NDArray[np.float64], wide: NDArray[np.int64]
) -> None:
    """Draw lines, shape (n, moments, 2), the hottest last; some at a time, as calls cost most."""
    steps = np.round(points * (1 << _BITS)).astype(np.int32, order="C")
    shades = np.clip(np.ceil(heat * _SHADES), 0, _SHADES).astype(int)
    for shade in range(1, _SHADES + 1):
        for width in (1, 2):
            lines = steps[(shades == shade) & (wide == width)]
            if len(lines):
                value = round(255 * shade / _SHADES)
                cv2.polylines(patch, list(lines), False, value, width, cv2.LINE_AA, shift=_BITS)


def _thrown(
    stones: NDArray[np.float64], stage: Stage, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return stones, where in their flight each starts, 0 to 1, and how often it flies."""
    # Those that are on their way down as the film begins are not in the painting.
    more = stones[rng.integers(0, len(stones), len(stones) // 2)]
    late = rng.uniform(0.6, 1.0, len(more))
    starts = np.concatenate([stones[:, 3] / _LANDED, late])
    stones = np.concatenate([stones, more])
    seconds = _FLIGHT * np.sqrt(stones[:, 2] / 4.6) / stage.drop
    return stones, starts, _whole(stage.take.seconds / seconds, stage.take)


def _whole(rounds: NDArray[np.float64], take: Take) -> NDArray[np.float64]:
    """Return how often things come around; in a loop a whole number of times."""
    return np.maximum(1.0, np.round(rounds)) if take.loop else rounds


def _nearness(shape: tuple[int, int], spot: list[float], reach: float) -> Floats:
    rows, columns = (np.arange(length, dtype=np.float32) for length in shape)
    away = np.hypot(columns[None] - spot[0], rows[:, None] - spot[1]) / np.float32(reach)
    return np.asarray(smooth_step(1.0, 0.25, away), np.float32)


_RISE = 13.0  # seconds from the crater to the top of the plume
_RUN = 2.6  # seconds of a run
_EDDY = 0.16  # units that smoke rolls in a second
_FIRM = 0.6  # share of the contrast that a blend loses, that is given back
_STEP = 2  # smoke is soft: it moves at half the size, where chroma is


class Rising:
    """A plume in motion.

    Parameters
    ----------
    rng : Generator
        For its eddies.
    """

    def __init__(self, smoke: motion.Smoke, stage: Stage, rng: np.random.Generator) -> None:
        height, width = (length * smoke.step for length in smoke.cover.shape)
        whole = slice(0, height), slice(0, width)
        window = stage.window((slice(0, min(height, stage.painted[0])), whole[1]))
        scale = stage.scale / _STEP
        cover = stage.found(smoke.cover, whole, window, _STEP)
        soft = 0.35 * smoke.unit * scale
        cover = cv2.GaussianBlur(smooth_step(0.0, 0.25, cover), (0, 0), max(0.6, soft))
        free = (stage.shown(window, _STEP) > 0.99).astype(np.uint8)
        # Land is not pulled into the smoke: it comes out of the crater as if it swelled there.
        free[-1] = 0
        clear = cv2.distanceTransform(free, cv2.DIST_L2, 3) / np.float32(smoke.unit * scale)
        self._mask = np.asarray(cover * smooth_step(0.0, 1.1, clear), np.float32)
        part = around(self._mask, 0.004) or (slice(0, 2), slice(0, 2))
        self._mask = np.ascontiguousarray(self._mask[part])
        self._window = (
            slice(part[0].start * _STEP, part[0].stop * _STEP),
            slice(part[1].start * _STEP, part[1].stop * _STEP),
        )
        self.rows = self._window[0].stop
        self._turns = Turns(stage.take, _RUN)
        self._flow = _flow(smoke, stage, self._window, self._mask, rng)
        rows, columns = np.indices(self._mask.shape, np.float32)
        self._places = columns, rows
        self._soft = max(1.0, 0.5 * smoke.unit * scale)
        self._seen = np.zeros((*self._mask.shape, 3), np.uint8)
        self._even = np.zeros(self._mask.shape, np.uint8)

    def light_up(self, planes: Frame) -> None:
        """Take the smoke as it is painted in some planes."""
        luma, *chroma = inside(planes, self._window)
        small = cv2.resize(luma, chroma[0].shape[::-1], interpolation=cv2.INTER_AREA)
        self._seen = np.asarray(cv2.merge([small, *chroma]))
        self._even = np.asarray(cv2.GaussianBlur(small, (0, 0), self._soft))

    def draw(self, planes: Frame, moment: float) -> None:
        """Draw the smoke of a moment, in place."""
        one, other = self._turns.at(moment)
        moved = self._pulled(one[0])
        if other[1] > 0.0:
            moved = np.asarray(
                cv2.addWeighted(moved, one[1], self._pulled(other[0]), other[1], 0.0)
            )
        luma, *chroma = inside(planes, self._window)
        change = cv2.subtract(moved[..., 0], self._seen[..., 0], dtype=cv2.CV_32F)
        lost = _FIRM * (sharpness(one[1]) - 1.0)
        if lost > 0.0:
            detail = cv2.subtract(moved[..., 0], self._even, dtype=cv2.CV_32F)
            cv2.scaleAdd(cv2.multiply(detail, self._mask), lost, change, dst=change)
        add(luma, np.asarray(change, np.float32))
        for number, plane in enumerate(chroma, 1):
            plane[...] = moved[..., number]

    def _pulled(self, seconds: float) -> Bytes:
        """Return the smoke as it is some seconds after it was painted."""
        columns, rows = (
            cv2.scaleAdd(flow, -seconds, place)
            for flow, place in zip(self._flow, self._places, strict=True)
        )
        border = cv2.BORDER_REPLICATE
        pulled = cv2.remap(self._seen, columns, rows, cv2.INTER_LINEAR, borderMode=border)
        return np.asarray(pulled)


def _flow(
    smoke: motion.Smoke,
    stage: Stage,
    window: motion.Window,
    mask: Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return how fast smoke goes to the right and down, pixels of half the size in a second."""
    scale = stage.scale / _STEP
    unit, tall = smoke.unit * scale, smoke.tall * scale
    rows, columns = (
        np.arange(side.start // _STEP, side.stop // _STEP, dtype=np.float32) for side in window
    )
    rise = np.clip((smoke.crater[1] * scale - rows) / tall, 0.0, 1.3)[:, None]
    speed = np.float32(tall / _RISE * stage.haste) * mask
    # It leans over the more, the higher it is, and spreads out around its middle.
    middle = smoke.crater[0] * scale + tall * smoke.lean * rise**1.6
    broad = unit * (smoke.start + smoke.grown * rise**0.85)
    apart = np.clip(columns[None] - middle, -1.6 * broad, 1.6 * broad) / broad
    spread = apart * unit * smoke.grown * 0.85 * np.maximum(rise, 0.05) ** -0.15 / tall
    right = speed * (1.6 * smoke.lean * rise**0.6 + spread)
    # The heart of a plume rises faster than its edges, which roll down along it.
    down = -speed * np.exp(-0.35 * apart * apart)
    cells = tuple(max(2, round(length / (1.5 * unit))) for length in mask.shape)
    swirl = tileable(rng, *mask.shape, cells=(cells[0], cells[1]), octaves=2)
    reach = np.float32(_EDDY * stage.haste * unit * unit) * np.minimum(0.35 + 2.0 * rise, 1.0)
    right += reach * mask * cv2.Sobel(swirl, cv2.CV_32F, 0, 1, ksize=3, scale=1 / 8)
    down -= reach * mask * cv2.Sobel(swirl, cv2.CV_32F, 1, 0, ksize=3, scale=1 / 8)
    return np.asarray(right, np.float32), np.asarray(down, np.float32)
