"""Framing: where words of the camera put what a picture shows, and from where it is seen.

For the painters that have no landscape: what stands in their middle may stand at a third, and light
may fall on one place alone.
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
    """Return where a picture's subject is, as shares of width and height; else where drawn."""
    if "centered" in brief.composition:
        return 0.5, 0.5
    return third(brief) if {"thirds", "minimal"}.intersection(brief.composition) else drawn


def factor(brief: Brief, values: dict[str, float]) -> float:
    """Return the value of the first word of composition that has one, 1 without any."""
    return next((values[word] for word in brief.composition if word in values), 1.0)


def pool(height: int, width: int, at: tuple[float, float], reach: float) -> Plane:
    """Return a round fall-off, 1 at a place and about 0.37 a reach away from it.

    The place is given as shares of width and height, the reach as one of the shorter side.
    """
    short = min(height, width) * reach
    y, x = np.ogrid[0:height, 0:width]
    dx = ((x - at[0] * width) / short).astype(np.float32)
    dy = ((y - at[1] * height) / short).astype(np.float32)
    return np.asarray(np.exp(-(dx * dx + dy * dy)), np.float32)


def spotlight(
    picture: Plane, at: tuple[float, float], reach: float, rest: float, *, most: float = 1.0
) -> None:
    """Let light fall on one place, in place; the farthest places keep a share of it, `rest`."""
    _, height, width = picture.shape
    picture *= np.float32(rest) + np.float32(most - rest) * pool(height, width, at, reach)


def mirror_halves(picture: Plane) -> Plane:
    """Return planes whose right half is the mirror image of the left one."""
    width = picture.shape[-1]
    half = picture[..., : (width + 1) // 2]
    return np.concatenate([half, half[..., ::-1][..., width % 2 :]], axis=-1)


def shot_of(brief: Brief, table: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return what a table says of a brief's words of composition, the first word first.

    What the empty word has holds where no other one says it.
    """
    rows = [table[word] for word in (*brief.composition, "") if word in table]
    return {name: value for row in reversed(rows) for name, value in row.items()}
