"""Night: what shines while it is dark alone, in a film whose hours pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from kit.engines.film.living.aurora import Aurora
from kit.engines.film.living.lights import Flicker
from kit.engines.film.living.stage import Stirring
from kit.engines.media.clip import Frame
from kit.engines.media.color import Bytes

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
