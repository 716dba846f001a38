"""Stirs: what painters tell of a landscape, as things that move in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import cv2
import numpy as np

from kit.engines.film.filming import Take
from kit.engines.film.living.fire import Fountain, Lava, Rising
from kit.engines.film.living.lights import Aurora
from kit.engines.film.living.stage import Stage, Stirring
from kit.engines.film.living.water import Cascade, Drifting, Mirror
from kit.engines.media.clip import Frame
from kit.engines.media.color import Floats
from kit.engines.painting import painting as motion
from kit.engines.painting.painting import Painting, Smoke

T = TypeVar("T")


def stirred(painting: Painting, size: tuple[int, int], take: Take, seed: int) -> list[Stirring]:
    """Return what moves by itself, the farthest first.

    Parameters
    ----------
    size : tuple of int
        Width and height of the planes in which it moves.
    seed : int
        Of what is random in it.
    """
    plume = _last(painting, Smoke)
    stage = Stage(*size, painting.light.shape[1:], painting.depth, take)
    dice = [np.random.default_rng([seed, 60 + number]) for number in range(4)]
    parts: list[Stirring] = []
    for one in painting.motions:
        if isinstance(one, Smoke):
            parts.append(Rising(one, stage, dice[0]))
        elif isinstance(one, motion.Lava):
            parts.append(Lava(one, stage, dice[1]))
        elif isinstance(one, motion.Fountain):
            parts.append(Fountain(one, stage, dice[2], plume.lean if plume else 0.0))
        elif isinstance(one, motion.Curtains) and open_sky(painting).any():
            parts.append(Aurora(one, stage, open_sky(painting), dice[3]))
        elif isinstance(one, motion.Fall):
            parts.append(Cascade(one, stage))
        elif isinstance(one, motion.Spray):
            parts.append(Drifting(one, stage))
    return parts


class Stirs:
    """What moves by itself, and the water that shows it.

    Parameters
    ----------
    parts : sequence of Stirring
        The farthest first; see `stirred` for all else.

    Attributes
    ----------
    rows : int
        Row of the luma below which nothing of it is; 0 without any.
    """

    def __init__(
        self,
        parts: Sequence[Stirring],
        painting: Painting,
        size: tuple[int, int],
        take: Take,
    ) -> None:
        self._parts = parts
        self.rows = max((part.rows for part in parts), default=0)
        self._mirror: Mirror | None = None
        water = _last(painting, motion.Mirrored)
        if water is not None and self.rows:
            self._mirror = Mirror(
                water, Stage(*size, painting.light.shape[1:], painting.depth, take), self.rows
            )
            self.rows = max(self.rows, self._mirror.rows)

    def light_up(self, planes: Frame) -> None:
        """Look at the planes in which it is drawn next, as they are painted."""
        for part in self._parts:
            part.light_up(planes)

    def draw(self, planes: Frame, before: Frame, moment: float) -> None:
        """Draw a moment, in place, over planes that show as much as those before it."""
        for part in self._parts:
            part.draw(planes, moment)
        if self._mirror is not None and self._mirror.rows:
            self._mirror.draw(planes, before)


def heavens(painting: Painting, guess: Floats) -> tuple[Floats, Floats]:
    """Return where there is sky, and where no smoke hides it, 0 to 1 each.

    Parameters
    ----------
    guess : ndarray of float32
        Where a small picture seems to be sky; what shines in it hides it from who guesses.
    """
    free, smoke = painting.sky, _last(painting, Smoke)
    if free is None or smoke is None:
        return guess, guess
    height, width = guess.shape
    sky = np.asarray(cv2.resize(free, (width, height), interpolation=cv2.INTER_AREA))
    rows = round(smoke.cover.shape[0] * smoke.step * height / free.shape[0])
    rows = min(height, max(1, rows))
    clear = sky.copy()
    clear[:rows] *= 1.0 - cv2.resize(smoke.cover, (width, rows), interpolation=cv2.INTER_AREA)
    return sky, clear


def open_sky(painting: Painting) -> Floats:
    """Return where there is sky that no smoke hides, 0 to 1; small, empty without any."""
    if painting.sky is None:
        return np.zeros((2, 2), np.float32)
    shown = painting.sky.copy()
    smoke = _last(painting, Smoke)
    if smoke is not None:
        rows = min(len(shown), smoke.cover.shape[0] * smoke.step)
        size = (shown.shape[1], rows)
        shown[:rows] *= 1.0 - cv2.resize(smoke.cover, size, interpolation=cv2.INTER_LINEAR)
    return shown


def _last(painting: Painting, kind: type[T]) -> T | None:
    return next((one for one in reversed(painting.motions) if isinstance(one, kind)), None)
