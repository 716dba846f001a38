"""Light: what falls on the land, from the sun or the moon and from the sky, under each look."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kit.engines.media.color import Floats
from kit.engines.painting import tone
from kit.engines.painting.looks import Look

_SHADE = 1.35  # seen from the air there is more sky above the land than in a street
_LOW = 1.35  # against a low sun, films are exposed for what lies in shade
_HEAVY = 0.62  # under a heavy sky
_MOON = 1.45  # eyes are used to the dark
_DARKEST = 0.40  # light from a sky without a moon, in which land can just be seen
_OUTLINED = 0.16  # and in which it stands dark before the sky
_TONED = 0.7  # share of a look's contrast: the gaps of woods are dark, and air is pale anyway


@dataclass(frozen=True, slots=True)
class Light:
    """Light on the ground: linear colors, shape (3, 1, 1), of sun and sky.

    Parameters
    ----------
    way : tuple of float
        To the sun, of length 1: along x, along y, up.
    """

    sun: Floats
    sky: Floats
    way: tuple[float, float, float]


def light_of(look: Look, toward: tuple[float, float], *, outlined: bool = False) -> Light:
    """Return the light of a look that comes from a direction on the map, of length 1.

    Parameters
    ----------
    outlined : bool
        Whether land is to stand dark before the sky.
    """
    # The weaker the sun, the more the eye opens to the light of the sky.
    lift = _SHADE * (1.0 + 0.5 * max(0.0, 1.0 - look.sun_power / 2.4))
    lift *= _LOW if look.elevation < 0.4 else 1.0
    lift *= _HEAVY if look.clouds > 0.9 else 1.0
    darkest = _OUTLINED if outlined else _DARKEST - 0.25 * look.sun_power
    shade = max(look.shade_power, darkest) * lift
    length = math.hypot(1.0, look.high_light)
    way = (toward[0] / length, toward[1] / length, look.high_light / length)
    power = look.sun_power * (_MOON if look.moon else 1.0)
    return Light(tone.light(look.sun, power), tone.light(look.shade, shade), way)


def film_of(look: Look) -> tuple[float, float, float]:
    """Return the contrast, the lift and the saturation with which a flight is developed.

    Contrast leaves colors as strong as they are, so that pastel ones are pale and not gray.
    """
    contrast = 1.0 + _TONED * (look.film.contrast - 1.0)
    return contrast, _TONED * look.film.lift, look.film.saturation / contrast
