"""Ratings of results, kept on this computer, and rankings from pairwise choices."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

from kit.errors import ConfigError
from kit.private import JsonLines

if TYPE_CHECKING:
    import pandas as pd

#: The rating of a favorite.
BEST = 5
#: The default minimum rating of a kept result.
KEPT = 4
#: Columns of the dataframe of ratings, which is indexed by generation id.
COLUMNS = {"rating": "Int64", "note": "string", "rated_at": "datetime64[us, UTC]"}
#: One decision: the better one, the other one, and whether they are equal.
Choice: TypeAlias = tuple[str, str, bool]
#: Prior choices for and against an average item: without them, an item that was never or always
#: chosen would be infinitely far from the others.
_PRIOR = 0.5
_ROUNDS, _PRECISION = 1000, 1e-9


class Ratings:
    """Ratings from 0 to 5 by generation id; the latest one counts.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> ratings = Ratings(JsonLines(Path(tempfile.mkdtemp()) / "ratings.jsonl"))
    >>> ratings.rate("gen_1", 4)
    >>> ratings["gen_1"], ratings["gen_2"]
    (4, None)

    ``studio.history.frame().join(studio.ratings.frame())``
    """

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines
        self._version: tuple[int, int] | None = None
        self._ratings: dict[str, dict[str, Any]] = {}

    def __repr__(self) -> str:
        return f"<Ratings {len(self.all())}>"

    def __getitem__(self, generation_id: str) -> int | None:
        return self.all().get(generation_id, {}).get("rating")

    def rate(self, generation: Any, rating: int | None, note: str = "") -> None:
        """Rate a generation, given by itself or by id; None removes its rating."""
        if rating is not None and not _is_rating(rating):
            raise ConfigError(f"a rating is a whole number from 0 to {BEST}, not {rating!r}")
        name = generation if isinstance(generation, str) else generation.id
        at = datetime.now(UTC).isoformat()
        value = None if rating is None else int(rating)
        self._lines.append({"id": name, "rating": value, "note": note, "at": at})

    def all(self) -> dict[str, dict[str, Any]]:
        """Return all ratings by generation id; the file is read again if it has changed."""
        version = self._lines.version()
        if version != self._version:
            last = {line["id"]: line for line in self._lines if isinstance(line.get("id"), str)}
            self._ratings = {k: line for k, line in last.items() if _is_rating(line.get("rating"))}
            self._version = version
        return dict(self._ratings)

    def kept(self, least: int = KEPT) -> list[str]:
        """Return the ids of generations with at least this rating."""
        return [name for name, line in self.all().items() if line["rating"] >= least]

    def frame(self) -> pd.DataFrame:
        """Return all ratings as a dataframe with the dtypes of `COLUMNS`, indexed by id."""
        import pandas as pd

        lines = self.all()
        index = pd.Index(list(lines), dtype="string", name="id")
        times = [str(line.get("at")) for line in lines.values()]
        values = {
            "rating": [line["rating"] for line in lines.values()],
            "note": [line.get("note") or None for line in lines.values()],
            "rated_at": pd.to_datetime(times, utc=True, format="ISO8601", errors="coerce"),
        }
        return pd.DataFrame(values, index=index).astype(COLUMNS)


def rank(names: Sequence[str], choices: Sequence[Choice]) -> pd.DataFrame:
    """Return names ranked by preference, from pairwise choices, best first.

    Columns: ``place`` (shared by equal ones), ``won``, ``lost``, ``tied`` and ``score``, the
    probability of being preferred to an average item, 0 to 1.

    Source: D. R. Hunter, "MM algorithms for generalized Bradley-Terry models", 2004; a tie counts
    half for each.
    """
    import numpy as np
    import pandas as pd

    number = {name: index for index, name in enumerate(names)}
    wins, ties = (np.zeros((len(names), len(names))) for _ in range(2))
    for better, other, tie in choices:
        (ties if tie else wins)[number[better], number[other]] += 1
    ties += ties.T
    points = (wins + ties / 2).sum(axis=1) + _PRIOR
    comparisons = wins + wins.T + ties
    strength = np.ones(len(names))
    for _ in range(_ROUNDS):
        previous = strength
        expected = (comparisons / (strength[:, None] + strength[None, :])).sum(axis=1)
        strength = points / (expected + 2 * _PRIOR / (strength + 1))
        if np.allclose(strength, previous, rtol=_PRECISION):
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


def _is_rating(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and 0 <= int(value) <= BEST
