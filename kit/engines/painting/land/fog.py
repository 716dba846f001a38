"""Fog: what it makes of an hour's light; the sky comes down, and the distance is gone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kit.engines.painting.land.look import Look

_DENSITY = 5.0  # of the air: of what stands 150 units away, half is lost
_DENSE = 9.0
_LIFT = 0.015  # fog shines by the light that it scatters
_COLOR = 0.4  # share of its color that the air keeps
#: The sky of a fog, from the horizon up, as shares of the air's lightness.
_RISE = (1.0, 0.995, 0.98, 0.96)


def fogged(look: Look, *, dense: bool, disc: bool = False) -> Look:
    """Return a look in fog: air of one pale color up to the zenith, without stars.

    Parameters
    ----------
    disc : bool
        Whether the sun or the moon is seen through it.
    """
    lightness, chroma, hue = look.air
    pale = (_LIFT + 0.5 * (lightness + look.sky[0][0]), chroma * _COLOR, hue)
    return replace(
        look,
        sky=tuple((pale[0] * share, pale[1], pale[2]) for share in _RISE),
        air=pale,
        far=pale,
        haze=_DENSE if dense else _DENSITY,
        mist=0.0,
        clouds=0.0,
        stars=0.0,
        disc=disc,
    )
