"""How the results of a sweep look: in words, and as tiles of a contact sheet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.explore.ratings import BEST, Ratings
from kit.studio.generation import BaseGeneration, fetch_thumbnail
from kit.studio.sweeps.cells import Cell, least_sure_source
from kit.widgets import preview

if TYPE_CHECKING:
    from kit.explore.sweeps.sheet import Tile

#: Bytes of all pictures of a sheet together, and of one of them at most and at least.
_SHEET, _LARGE, _SMALL = 1_200_000, 30_000, 4_000


@dataclass(frozen=True, slots=True)
class CellResult:
    """How far a cell is."""

    generation: wire.Generation | None = None
    error: str = ""

    @property
    def status(self) -> str:
        """``planned``, ``refused``, or the state of the generation."""
        if self.generation is not None:
            return self.generation.state
        return "refused" if self.error else "planned"

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        if self.status != "processing" or self.generation is None:
            return 1.0
        return self.generation.progress or 0.0


PLANNED = CellResult()

#: Where a price comes from -> why it is no more than a guess.
_GUESSES = {
    "receipts": "a guess from what was paid before",
    "default": "a guess: with the defaults of the model",
}


def describe_progress(
    results: Sequence[CellResult], cells: Sequence[Cell], credits: Decimal | None
) -> str:
    """Return how far a sweep is, or what it will cost, in words."""
    states = [result.status for result in results]
    if any(state != "planned" for state in states):
        counts = {state: states.count(state) for state in dict.fromkeys(states)}
        return ", ".join(f"{count} {state}" for state, count in counts.items())
    known = sum(cell.known is not None for cell in cells)
    before = f", {known} made before" if known else ""
    return f"{_many(len(cells))}{before}, {describe_price(cells, credits)}"


def describe_price(cells: Sequence[Cell], credits: Decimal | None) -> str:
    """Return what cells will cost, in words; a guess says that it is one."""
    why = None if credits is None else _GUESSES.get(least_sure_source(cells))
    return f"about {preview.credits(credits)} ({why})" if why else preview.credits(credits)


def _many(count: int) -> str:
    return f"{count} request{'' if count == 1 else 's'}"


def make_tile(
    result: CellResult,
    number: int,
    values: Mapping[str, Any],
    hold: Callable[[wire.Generation], BaseGeneration],
    ratings: Ratings,
    size: int,
    among: int,
) -> Tile:
    """Return the tile of a result; its caption begins with the number that ratings go by.

    Parameters
    ----------
    number : int
        Of its cell.
    values : mapping
        What varies, for the label.
    size : int
        Pixels across.
    among : int
        How many tiles share the sheet: the more, the smaller their files.
    """
    from kit.explore.sweeps.sheet import Tile, text
    from kit.widgets import media

    label = " · ".join(f"{name} {text(value)}" for name, value in values.items())
    if result.generation is None:
        return Tile(None, f"#{number} · {result.error[:60] or result.status}", label)
    held = hold(result.generation)
    limit = max(_SMALL, min(_LARGE, _SHEET // among))
    try:
        content = fetch_thumbnail(held)
        picture = media.picture(content, limit=limit, width=2 * size) if content else None
    except Exception:  # noqa: BLE001 - one picture takes no other away, however it is broken
        picture = None
    caption = preview.credits(held.credits)
    if result.status != "completed":
        caption = f"{result.status} · {caption}"
    if picture is None and held.facts.deletion:
        caption = f"{held.facts.deletion} · {caption}"
    return Tile(picture, f"#{number} · {caption}", label, favorite=ratings[held.id] == BEST)
