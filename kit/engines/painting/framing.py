"""Framing: the position of the subject, and the view, from words of composition.

For painters without a landscape: their subject may be at a third, and light may fall on a single
place.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kit.engines.painting.noise import Plane
from kit.engines.prompt.brief import Brief

_THIRDS = (1 / 3, 2 / 3)


def third(brief: Brief) -> tuple[float, float]:
    """Return one of the four points of the rule of thirds, as shares of width and height."""
    return _THIRDS[brief.seed & 1], _THIRDS[brief.seed >> 1 & 1]


def focus(brief: Brief, drawn: tuple[float, float]) -> tuple[float, float]:
    """Return the subject's position from words, else the drawn one, in shares of both sides."""
    if "centered" in brief.composition:
        return 0.5, 0.5
    return third(brief) if {"thirds", "minimal"}.intersection(brief.composition) else drawn


def factor(brief: Brief, values: dict[str, float]) -> float:
    """Return the value of the first word of composition in a table, 1 without any."""
    return next((values[word] for word in brief.composition if word in values), 1.0)


def falloff(height: int, width: int, at: tuple[float, float], reach: float) -> Plane:
    """Return a round falloff, 1 at the center and about 0.37 at the radius.

    The center is in shares of width and height, the radius in one of the shorter side.
    """
    short = min(height, width) * reach
    y, x = np.ogrid[0:height, 0:width]
    dx = ((x - at[0] * width) / short).astype(np.float32)
    dy = ((y - at[1] * height) / short).astype(np.float32)
    return np.asarray(np.exp(-(dx * dx + dy * dy)), np.float32)


def spotlight(
    picture: Plane, at: tuple[float, float], reach: float, rest: float, *, most: float = 1.0
) -> None:
    """Apply a spotlight in place; the farthest places keep a share of light, `rest`."""
    _, height, width = picture.shape
    picture *= np.float32(rest) + np.float32(most - rest) * falloff(height, width, at, reach)


def mirror_halves(picture: Plane) -> Plane:
    """Return planes whose right half mirrors the left one."""
    width = picture.shape[-1]
    half = picture[..., : (width + 1) // 2]
    return np.concatenate([half, half[..., ::-1][..., width % 2 :]], axis=-1)


def shot_of(brief: Brief, table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the table's values for a brief's words of composition; earlier words win.

    The values of the empty word are defaults.
    """
    rows = [table[word] for word in (*brief.composition, "") if word in table]
    return {name: value for row in reversed(rows) for name, value in row.items()}
