"""Life: what changes within a painting itself: clouds, ripples and the hour.

Each works on a picture before a camera looks at it, so that it moves along with it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np

from kit.engines.film.animate.relief import Relief
from kit.engines.film.filming import Take
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.falling import clouds, tileable

_DRIFT = 0.018  # widths that clouds go in a second
_PERIOD = 5.0  # seconds in which slow things come around


def turns(take: Take, period: float = _PERIOD) -> int:
    """Return how often something that takes about a period comes around in a clip."""
    return max(1, round(take.seconds / period))


class Hours:
    """Paintings of one place at different hours, one fading into the next."""

    def __init__(self, paintings: Sequence[Frame], *, loop: bool) -> None:
        self._paintings, self._loop = paintings, loop

    @property
    def pass_by(self) -> bool:
        """Whether the place looks different later."""
        return len(self._paintings) > 1

    def at(self, moment: float) -> Frame:
        """Return the place at a moment of the clip, in planes that are not to be written to."""
        if not self.pass_by:
            return self._paintings[0]
        first, share = self._between(moment)
        luma, one, other = (
            cv2.addWeighted(before, 1 - share, after, share, 0.0)
            for before, after in zip(*self._paintings[first : first + 2], strict=True)
        )
        return luma, one, other

    def share(self, number: int, moment: float) -> float:
        """Return how much is seen of a painting at a moment of the clip, 0 to 1."""
        if not self.pass_by:
            return 1.0
        first, share = self._between(moment)
        return {first: 1.0 - share, first + 1: share}.get(number, 0.0)

    def _between(self, moment: float) -> tuple[int, float]:
        """Return the number of the painting that goes, and how far the next one is there."""
        if self._loop:
            moment = 0.5 - 0.5 * math.cos(2 * math.pi * moment)
        place = min(max(moment, 0.0), 1.0) * (len(self._paintings) - 1)
        first = min(int(place), len(self._paintings) - 2)
        # Each hour stays a while: half way between two of them a picture is neither.
        return first, float(smooth_step(0.15, 0.85, np.array(place - first)))


class Clouds:
    """Thin clouds that drift over the sky.

    Parameters
    ----------
    sky : ndarray of float32
        Where there is sky, 0 to 1.
    horizon : float
        Share of the height at which they close up.
    dense : float
        Share of their light that is left.

    Attributes
    ----------
    rows : int
        Below which there are none.
    """

    def __init__(
        self,
        size: tuple[int, int],
        sky: Floats,
        horizon: float,
        take: Take,
        rng: np.random.Generator,
        dense: float = 1.0,
    ) -> None:
        width, height = size
        self._take, self._width = take, width
        self.rows = rows = min(height, max(8, int(height * min(1.0, horizon + 0.25))))
        # Drawn as a plane overhead: rows near the horizon lie far away and close together.
        flat = clouds(rng, 512, width, cells=(7, 4), most=150, octaves=5)
        up = np.clip(horizon - np.arange(rows, dtype=np.float32) / height, 0.0, 1.0)
        away = (np.float32(60.0) / (up + np.float32(0.14))) % 512
        tile = flat[away.astype(int)]
        tile = cv2.GaussianBlur(tile, (0, 0), 1.2)
        fade = smooth_step(0.02, 0.20, up)[:, None]
        self._tile = np.hstack([tile, tile])
        mask = (
            cv2.resize(sky, (width, height), interpolation=cv2.INTER_LINEAR)[:rows]
            * fade
            * np.float32(dense)
        )
        self._mask = np.rint(mask * 255).astype(np.uint8)
        self._light = self._mask

    def light_up(self, luma: Bytes) -> None:
        """Let the clouds take the light that is there: bright by day, barely seen by night."""
        light = cv2.convertScaleAbs(luma[: self.rows], alpha=0.45, beta=10)
        self._light = np.asarray(cv2.multiply(light, self._mask, scale=1 / 255))

    def draw(self, luma: Bytes, moment: float) -> None:
        """Draw the clouds of a moment over the sky, in place."""
        rows = self.rows
        left = -self._gone(moment) * self._width % self._width
        center = (left + (self._width - 1) / 2, (rows - 1) / 2)
        patch = cv2.getRectSubPix(self._tile, (self._width, rows), center)
        over = luma[:rows]
        cv2.add(over, cv2.multiply(patch, self._light, scale=1 / 255), dst=over)

    def _gone(self, moment: float) -> float:
        """Return how far they got, in widths; in a loop all around, or there and back."""
        far = _DRIFT * self._take.seconds
        if not self._take.loop:
            return far * moment
        whole = round(far)
        return whole * moment if whole else far / 2 * math.sin(2 * math.pi * moment)


class Ripples:
    """Shifts that go round and round: still water stirs, ink flows.

    Parameters
    ----------
    mask : ndarray of float32
        How far each place of the picture, margins and all, is moved, as a share of the frame's
        height; of any size.
    cells : tuple of int
        Blobs down and across.
    """

    def __init__(
        self,
        mask: Floats,
        cells: tuple[int, int],
        take: Take,
        relief: Relief,
        rng: np.random.Generator,
    ) -> None:
        self._turns = turns(take, 2.6 if cells[0] > cells[1] else _PERIOD)
        rows, columns = relief.shape
        amount = _framed(mask, take, relief) * np.float32(take.height)
        self._fields = [
            tileable(rng, rows, columns, cells=cells, octaves=2) * amount for _ in range(4)
        ]
        moved = np.flatnonzero(amount.any(axis=1))
        self._top = int(moved[0]) if len(moved) else rows  # nothing stirs above the water
        self._fields = [field[self._top :] for field in self._fields]
        self._turn = 0.0

    def turn_to(self, moment: float) -> None:
        """Set the moment that is drawn next."""
        self._turn = 2 * math.pi * self._turns * moment

    def __call__(self, maps: tuple[Floats, Floats]) -> None:
        """Add the shifts of the moment to the columns and rows that blocks come from."""
        cos, sin = math.cos(self._turn), math.sin(self._turn)
        for part, fields in zip(maps, (self._fields[:2], self._fields[2:]), strict=True):
            below = part[self._top :]
            for field, amount in zip(fields, (cos, sin), strict=True):
                cv2.scaleAdd(field, amount, below, dst=below)


def _framed(mask: Floats, take: Take, relief: Relief) -> Floats:
    """Return the part of a mask that is within the frame, at the size of its blocks."""
    whole = cv2.resize(mask, (relief.width, relief.height), interpolation=cv2.INTER_LINEAR)
    left, top = (relief.width - take.width) // 2, (relief.height - take.height) // 2
    part = whole[top : top + take.height, left : left + take.width]
    return np.asarray(cv2.resize(part, relief.shape[::-1], interpolation=cv2.INTER_AREA))


def open_water(water: Floats, horizon: float) -> Floats:
    """Return how far waves heave, as shares of the height.

    Parameters
    ----------
    water : ndarray of float32
        Where there is water, 0 to 1, as a small picture; see `kit.engines.film.living.water`.
    """
    down = np.linspace(0.0, 1.0, water.shape[0], dtype=np.float32)[:, None]
    near = np.clip((down - horizon - 0.02) / (1 - horizon), 0.0, 1.0)
    return np.asarray(0.018 * near**0.8 * water, np.float32)


def still_water(picture: Bytes, horizon: float) -> Floats:
    """Return how far the water of a small picture may stir, as shares of the height.

    Water is what lies smooth below the horizon; a smooth meadow sways a little with it.
    """
    luma = cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY).astype(np.float32)
    # Grass and leaves are rough up and down; a mirror is streaked across.
    rough = cv2.GaussianBlur(np.abs(cv2.Sobel(luma, cv2.CV_32F, 1, 0)), (0, 0), 3.0)
    smooth = smooth_step(15.0, 6.0, rough)
    down = np.linspace(0.0, 1.0, picture.shape[0], dtype=np.float32)[:, None]
    below = smooth_step(horizon + 0.02, horizon + 0.10, down)
    near = np.clip((down - horizon) / (1 - horizon), 0.0, 1.0)
    return np.asarray(smooth * below * (0.0006 + 0.0022 * near), np.float32)
