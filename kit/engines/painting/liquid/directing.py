"""Directing: what words of the camera make of a liquid that is painted already."""

from __future__ import annotations

import numpy as np

from kit.engines.media.noise import smooth_step
from kit.engines.painting.framing import focus, laid_down, pool, spotlit, symmetric, third
from kit.engines.painting.liquid.currents import Currents
from kit.engines.painting.noise import Plane, blur
from kit.engines.painting.tints import asked
from kit.engines.painting.tone import blend, light
from kit.engines.prompt.brief import Brief

#: Substances that thin out to an empty ground by themselves, or are one.
_THIN = ("ink", "marble")
_PUDDLE = 0.34  # reach of a single puddle, as a share of the shorter side


def directed(brief: Brief, substance: str, picture: Plane, currents: Currents) -> Plane:
    """Return a liquid as a brief's words of composition show it.

    Parameters
    ----------
    picture : ndarray of float32
        Shape (3, height, width), linear light.
    """
    said = brief.composition
    if "minimal" in said and substance not in _THIN:
        picture = _puddle(brief, picture, currents, dark=brief.dark or substance == "lava")
    mirrored = substance != "ink" or "mirrored" in brief.things
    if "centered" in said and mirrored:
        picture = symmetric(picture)
    if "low" in said:
        picture = laid_down(picture)
    if "thirds" in said and substance != "ink":
        spotlit(picture, third(brief), 0.62, 0.26, most=1.15)
    if "dramatic" in said:
        spotlit(
            picture,
            focus(brief, (0.36, 0.34)),
            0.85,
            0.10,
            most=1.0 if substance in _THIN else 1.35,
        )
    return picture


def _puddle(brief: Brief, picture: Plane, currents: Currents, *, dark: bool) -> Plane:
    """Return one puddle of a liquid on a plain ground."""
    _, height, width = picture.shape
    at = focus(brief, (0.5, 0.5))
    level = pool(height, width, at, _PUDDLE) * (1.0 + np.float32(0.30) * currents.slow)
    inside = smooth_step(0.335, 0.355, level)
    tint = asked(brief)
    hue, chroma = tint[0] if tint else (80.0, 0.0)
    ground = (0.12, 0.015, hue) if dark or "dark_ground" in brief.things else (
        0.93, min(0.02, 0.2 * chroma) + 0.006, hue
    )  # fmt: skip
    paper = light(ground) * np.ones((3, height, width), np.float32)
    size = max(height, width)
    shadow = blur(np.roll(inside, (round(0.010 * size), round(0.006 * size)), (0, 1)), 0.009 * size)
    paper *= 1.0 - 0.32 * shadow
    return blend(paper, picture, inside)
