"""Lights: signs and windows that waver, and stars that glimmer, as they are found in a painting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import cv2
import numpy as np

from kit.engines.film.filming import Take
from kit.engines.film.living.life import turns
from kit.engines.film.living.scroll import Scroll
from kit.engines.film.living.stage import Stage, Stirring, add
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting import painting as motion
from kit.engines.painting.noise import tile

_GROUPS = 24


@dataclass(frozen=True, slots=True)
class Lights:
    """What wavers, and how.

    Parameters
    ----------
    contrast, least : int
        Steps of 8 bits by which a spot is brighter than what is around it, and how bright it is.
    calm : float
        Share of the groups that do not waver.
    dim : float
        Share of its light that a spot lacks on the average.
    waves : tuple of (turns, share)
        How often each wave goes up and down in about five seconds, and by how much.
    """

    contrast: int
    least: int
    calm: float
    dim: float
    waves: tuple[tuple[int, float], ...]


#: Signs, windows and lamps of a street.
LAMPS = Lights(26, 120, 0.45, 0.30, ((1, 0.32), (3, 0.24), (7, 0.16)))
#: Stars over land: air is never still, so that all of them glimmer, and quickly.
STARS = Lights(9, 40, 0.15, 0.34, ((3, 0.20), (7, 0.24), (13, 0.16)))


class Flicker:
    """Lights that waver: small bright spots, in groups that each go their own way.

    Parameters
    ----------
    within : ndarray of float32, optional
        Where they are, 0 to 1, of any size; everywhere without it.

    Attributes
    ----------
    rows : int
        Below which there are none.
    """

    def __init__(
        self,
        luma: Bytes,
        take: Take,
        rng: np.random.Generator,
        lights: Lights = LAMPS,
        within: Floats | None = None,
    ) -> None:
        self._take, self._lights = take, lights
        self.rows, width = luma.shape
        reach = max(3, width // 60) | 1
        around = cv2.blur(luma, (reach, reach))
        spots = cv2.subtract(luma, around)
        spots[(spots < lights.contrast) | (luma < lights.least)] = 0
        if within is not None:
            spots = _kept(cv2.min(spots, _points(luma)), within, reach)
            self.rows = len(spots)
        self._spots = cv2.GaussianBlur(spots, (0, 0), 0.8)
        self._groups = _groups(self._spots, rng)
        self._phases = rng.random((len(lights.waves), _GROUPS))
        self._calm = rng.random(_GROUPS) < lights.calm

    def draw(self, luma: Bytes, moment: float, share: float = 1.0) -> None:
        """Dim the lights as they are at a moment, in place, by a share of what they dim."""
        rounds = turns(self._take)
        dim = np.zeros(256, np.uint8)
        level = np.full(_GROUPS, self._lights.dim)
        for (count, far), phase in zip(self._lights.waves, self._phases, strict=True):
            level = level + far * np.sin(2 * np.pi * (count * rounds * moment + phase))
        dim[:_GROUPS] = np.where(self._calm, 0, 255 * np.clip(level, 0.0, 1.0)).astype(np.uint8)
        amount = cv2.multiply(self._spots, cv2.LUT(self._groups, dim), scale=share / 255)
        over = luma[: self.rows]
        cv2.subtract(over, amount, dst=over)


def _points(luma: Bytes) -> Bytes:
    """Return by how much what is as small as a star is brighter than what is around it."""
    side = max(5, luma.shape[1] // 160) | 1
    shape = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    return np.asarray(cv2.morphologyEx(luma, cv2.MORPH_TOPHAT, shape))


def _kept(spots: Bytes, within: Floats, reach: int) -> Bytes:
    """Return the rows of spots down to the last one that lies well within a mask."""
    inside = cv2.resize(within, spots.shape[::-1], interpolation=cv2.INTER_LINEAR)
    # Sky right over a dark ridge is brighter than what is around it, too.
    inside = cv2.erode(inside, np.ones((reach, reach), np.uint8))
    spots = np.where(inside > 0.9, spots, np.uint8(0))
    rows = np.flatnonzero(spots.any(axis=1))
    return spots[: int(rows[-1]) + 3] if len(rows) else spots[:1]


def _groups(spots: Bytes, rng: np.random.Generator) -> Bytes:
    """Return the group of each pixel: what is lit together, like the letters of a sign, is one."""
    near = cv2.getStructuringElement(cv2.MORPH_RECT, (max(3, spots.shape[0] // 90) | 1,) * 2)
    count, labels = cv2.connectedComponents(cv2.dilate(spots, near), connectivity=8)
    groups = rng.integers(0, _GROUPS, max(1, count)).astype(np.uint8)
    return np.asarray(groups[labels])


_FAINT = 0.10  # light of curtains that is as bright as the night behind them
_SOFT = 4  # curtains are soft: they are drawn at a quarter of the size
_MOON = (190.0, 140.0)  # luma from which light is no curtain's, and up to which it is
_DIMMEST = 0.55  # of its light, that a ray loses at most
_LEAN = 0.10  # by how much rays lean, as a share of their height
#: Units of the noise over the width of the frame, how many of them it runs in a second, and share
#: of the light: broad waves one way, fine rays the other way.
_WAVES = ((90.0, 9.0, 0.24), (420.0, -16.0, 0.17))


class Aurora:
    """Curtains of light in motion.

    Parameters
    ----------
    open_sky : ndarray of float32
        Where there is sky, 0 to 1, of any size.
    """

    def __init__(
        self,
        curtains: motion.Curtains,
        stage: Stage,
        open_sky: Floats,
        rng: np.random.Generator,
    ) -> None:
        rows, columns = curtains.light.shape
        window = stage.window((slice(0, rows), slice(0, columns)), _SOFT)
        at = slice(0, rows), slice(0, columns)
        light = stage.found(curtains.light, at, window, _SOFT, beyond=True)
        height, width = light.shape
        size = (stage.width // _SOFT, stage.height // _SOFT)
        free = cv2.resize(open_sky, size, interpolation=cv2.INTER_LINEAR)[:height, :width]
        self._share = np.asarray(light / (light + _FAINT) * free, np.float32)
        self._light = [np.zeros_like(self._share)]
        self.rows = window[0].stop
        down, across = np.indices((height, width), np.float32) / np.float32(width)
        noise = tile(rng, cells=64, octaves=2)
        self._waves = []
        for cells, speed, share in _WAVES:
            # Rays stand: along them noise hardly changes.
            place = (across + np.float32(_LEAN) * down) * np.float32(cells)
            wave = Scroll(noise, down * np.float32(24.0), place, speed * stage.haste, stage.take)
            self._waves.append((wave, share))

    def light_up(self, planes: Frame) -> None:
        """Take the light and the colors of the curtains as they are in some planes."""
        luma, *chroma = (self._small(plane) for plane in self._above(planes))
        share = self._share * smooth_step(*_MOON, luma)
        self._light = [share * luma, *(share * (plane - np.float32(128)) for plane in chroma)]

    def draw(self, planes: Frame, moment: float, share: float = 1.0) -> None:
        """Draw the curtains of a moment, in place; of their motion a share."""
        waves = sum(part * noise.at(moment) for noise, part in self._waves)
        change = np.maximum(waves, -_DIMMEST)  # a ray that went out would be a hole in the sky
        for plane, light in zip(self._above(planes), self._light, strict=True):
            add(plane, np.asarray(change * light, np.float32), share)

    def _above(self, planes: Frame) -> Frame:
        luma, blue, red = planes
        return luma[: self.rows], blue[: self.rows // 2], red[: self.rows // 2]

    def _small(self, plane: Bytes) -> Floats:
        size = self._share.shape[::-1]
        return np.asarray(cv2.resize(plane, size, interpolation=cv2.INTER_AREA), np.float32)


#: Hours by which northern lights and stars are seen.
DARK = ("dusk", "night")


class Fading(Protocol):
    """Something whose motion can be drawn in part."""

    @property
    def rows(self) -> int:
        """Row below which nothing of it is."""

    def light_up(self, planes: Frame) -> None:
        """Look at the planes in which it is drawn, as they are painted."""

    def draw(self, planes: Frame, moment: float, share: float = 1.0) -> None:
        """Draw a share of what a moment changes, in place."""


class ByNight:
    """Northern lights that come with the night and go with it.

    Parameters
    ----------
    planes : Frame
        The place by night: it is not known by what else shines while the night comes.
    share : callable
        From a moment of the clip to how far it is night, 0 to 1.
    """

    def __init__(self, lights: Fading, planes: Frame, share: Callable[[float], float]) -> None:
        lights.light_up(planes)
        self._lights, self._share = lights, share
        self.rows = lights.rows

    def light_up(self, planes: Frame) -> None:
        """Stay as by night, whatever the hour."""

    def draw(self, planes: Frame, moment: float) -> None:
        """Draw as much of the lights of a moment as it is night, in place."""
        share = self._share(moment)
        if share > 0.0:
            self._lights.draw(planes, moment, share)


class StarsByNight:
    """Stars that glimmer as far as it is night; see `ByNight`."""

    def __init__(self, stars: Flicker, share: Callable[[float], float]) -> None:
        self._stars, self._share = stars, share
        self.rows = stars.rows

    def draw(self, luma: Bytes, moment: float) -> None:
        """Dim the stars as they are at a moment, in place."""
        share = self._share(moment)
        if share > 0.0:
            self._stars.draw(luma, moment, share)


def by_night(
    stirs: list[Stirring], planes: Frame, share: Callable[[float], float]
) -> list[Stirring]:
    """Return what moves by itself, northern lights by night alone."""
    return [ByNight(one, planes, share) if isinstance(one, Aurora) else one for one in stirs]
