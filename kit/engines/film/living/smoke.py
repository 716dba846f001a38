"""Smoke: a painted plume that rises and rolls.

The painting itself is pulled along the way that smoke takes, twice by turns: the one run fades out
where it would be torn, while the other one begins. Where the first run begins nothing is pulled at
all, so that the film starts with the painting.
"""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.film.living.scroll import Turns, sharpness
from kit.engines.film.living.stage import Stage, add, around, inside
from kit.engines.film.tiles import tileable
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import motion as stirring

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

    def __init__(self, smoke: stirring.Smoke, stage: Stage, rng: np.random.Generator) -> None:
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
    smoke: stirring.Smoke,
    stage: Stage,
    window: stirring.Window,
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
