"""Ratings: what somebody thinks of results, kept on this computer and joined by id."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from kit.errors import ConfigError
from kit.explore.json_lines import JsonLines

if TYPE_CHECKING:
    import pandas as pd

#: The rating of a favorite.
BEST = 5
#: Columns of a frame of ratings, which is indexed by the id of the generation.
COLUMNS = {"rating": "Int64", "note": "string", "rated_at": "datetime64[us, UTC]"}


class Ratings:
    """Ratings from 0 to 5 by generation id; the last one given counts.

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

    def __init__(
        self, lines: JsonLines, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._lines = lines
        self._clock = clock

    def __repr__(self) -> str:
        return f"<Ratings {len(self.all())}>"

    def __getitem__(self, generation_id: str) -> int | None:
        return self.all().get(generation_id, {}).get("rating")

    def rate(self, generation: Any, rating: int | None, note: str = "") -> None:
        """Rate a generation, or the one of an id; None takes its rating away.

        Raises
        ------
        ConfigError
            The rating is no whole number from 0 to 5.
        """
        if rating is not None and (isinstance(rating, bool) or rating not in range(BEST + 1)):
            raise ConfigError(f"a rating is a whole number from 0 to {BEST}, not {rating!r}")
        name = generation if isinstance(generation, str) else generation.id
        at = self._clock().isoformat()
        self._lines.append({"id": name, "rating": rating, "note": note, "at": at})

    def all(self) -> dict[str, dict[str, Any]]:
        """Return every rating by generation id."""
        found = {line["id"]: line for line in self._lines if isinstance(line.get("id"), str)}
        return {name: line for name, line in found.items() if line.get("rating") is not None}

    def frame(self) -> pd.DataFrame:
        """Return every rating as a table with the dtypes of `COLUMNS`, indexed by id."""
        import pandas as pd

        lines = self.all()
        index = pd.Index(list(lines), dtype="string", name="id")
        values = {
            "rating": [line["rating"] for line in lines.values()],
            "note": [line.get("note") or None for line in lines.values()],
            "rated_at": pd.to_datetime([str(line.get("at")) for line in lines.values()], utc=True),
        }
        return pd.DataFrame(values, index=index).astype(COLUMNS)
