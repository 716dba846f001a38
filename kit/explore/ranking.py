"""Ranking: an order out of choices between two, of which nobody needs to make all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

#: One look at two: the better, the other, and whether neither was better.
Choice: TypeAlias = tuple[str, str, bool]
#: Choices for and against an imagined average one that each begins with: who was never chosen, or
#: always, is not infinitely far from the others.
_PRIOR = 0.5
_ROUNDS, _PRECISION = 1000, 1e-9


def rank(names: Sequence[str], choices: Sequence[Choice]) -> pd.DataFrame:
    """Return names in the order in which they are preferred.

    Source: D. R. Hunter, "MM algorithms for generalized Bradley-Terry models", 2004; a tie is half
    a choice for each.

    Returns
    -------
    DataFrame
        Indexed by name, the best first: ``place`` (equal ones share it), ``won``, ``lost``,
        ``tied`` and ``score``, the chance to be preferred to an average one, 0 to 1.

    Examples
    --------
    >>> rank(["a", "b"], [("b", "a", False), ("b", "a", False)])["place"].to_dict()
    {'b': 1, 'a': 2}
    """
    number = {name: place for place, name in enumerate(names)}
    wins, ties = (np.zeros((len(names), len(names))) for _ in range(2))
    for better, other, tie in choices:
        (ties if tie else wins)[number[better], number[other]] += 1
    ties += ties.T
    points = (wins + ties / 2).sum(axis=1) + _PRIOR
    looks = wins + wins.T + ties
    strength = np.ones(len(names))
    for _ in range(_ROUNDS):
        before = strength
        met = (looks / (strength[:, None] + strength[None, :])).sum(axis=1)
        strength = points / (met + 2 * _PRIOR / (strength + 1))
        if np.allclose(strength, before, rtol=_PRECISION):
            break
    score = (strength / (strength + 1)).round(4)
    found = pd.DataFrame(
        {
            "won": wins.sum(axis=1).astype("int64"),
            "lost": wins.sum(axis=0).astype("int64"),
            "tied": ties.sum(axis=1).astype("int64"),
            "score": score,
        },
        index=pd.Index(list(names), dtype="string", name="id"),
    )
    found.insert(0, "place", found["score"].rank(method="min", ascending=False).astype("int64"))
    return found.sort_values("place", kind="stable")
