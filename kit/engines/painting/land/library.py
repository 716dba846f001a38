"""A library of sprites: each drawn once in a process, the same in every process.

What differs between pictures is which of them stand where, so that a forest need not be drawn leaf
by leaf again for every job.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from kit.engines.painting.land import plants, rubble, trunks
from kit.engines.painting.land.sprites import Sprite

_DRAWN: dict[str, tuple[Callable[[np.random.Generator], Sprite], int]] = {
    "spruce": (plants.conifer, 5),
    "broadleaf": (plants.broadleaf, 4),
    "tuft": (plants.tuft, 4),
    "fern": (trunks.fern, 3),
    "trunk": (trunks.trunk, 4),
    "birch": (lambda rng: trunks.trunk(rng, birch=True), 4),
    "bough": (lambda rng: trunks.spray(rng, needles=True), 4),
    "stone": (rubble.stone, 5),
    "cactus": (rubble.cactus, 4),
    "leaves": (lambda rng: trunks.spray(rng, needles=False), 4),
}


@cache
def sprites(kind: str) -> tuple[Sprite, ...]:
    """Return the sprites of a kind, a key of the table above."""
    draw, count = _DRAWN[kind]
    number = list(_DRAWN).index(kind)
    return tuple(draw(np.random.default_rng([number, one])) for one in range(count))
