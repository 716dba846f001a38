"""Northern lights: rays that run along the curtains of a painted night."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.film.living.scroll import Scroll
from kit.engines.film.living.stage import Stage, add
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.painting.land import motion as stirring
from kit.engines.painting.land.fields import tile

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
        curtains: stirring.Curtains,
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
