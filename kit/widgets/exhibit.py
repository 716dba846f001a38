"""Exhibits: generations with the means to show them, which gallery and comparison hang up.

An exhibit is fetched when it is drawn. What cannot be fetched is said in its place: one lost file
must not take the others away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

from kit import wire
from kit.errors import KitError
from kit.widgets import media
from kit.widgets.cards import FAINT

#: Files that are fetched at the same time.
_AT_ONCE = 6

#: The file and its thumbnail, as far as they were asked for and are there.
Fetched: TypeAlias = tuple[Path | None, bytes | None]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Exhibit:
    """One generation to show.

    Parameters
    ----------
    charged : Decimal or None
        What it was charged, where anybody says.
    fetch : callable
        Returns the file and the thumbnail; asked with False it may leave out a picture's file
        where there is a thumbnail.
    """

    facts: wire.Generation
    charged: Decimal | None
    fetch: Callable[[bool], Fetched]

    @property
    def cost(self) -> Decimal | None:
        """What it cost in the end: the charge less the refund; None if unknown."""
        if self.charged is None:
            return None
        return self.charged - (self.facts.credits_refunded or Decimal(0))

    def html(self, fit: media.Fit, *, whole: bool = False, folder: Path | None = None) -> str:
        """Return the element that shows it, or the sentence why nothing is shown.

        Parameters
        ----------
        whole : bool
            Whether a thumbnail is not good enough for a picture.
        """
        if self.facts.state != "completed":
            return _instead(self.facts.error or self.facts.state)
        try:
            path, thumbnail = self.fetch(whole)
            title = self.facts.prompt or ""
            if path is not None:
                name = self.facts.id
                return media.html(
                    path, name=name, poster=thumbnail, title=title, folder=folder, fit=fit
                )
            return media.still(thumbnail, title=title, fit=fit) if thumbnail else _instead("")
        except Exception as problem:  # noqa: BLE001 - a broken file may fail in any way
            return _instead(unseen(problem))

    def settings(self) -> Mapping[str, Any]:
        """Return the settings it was made with, by name."""
        return self.facts.parameters or {}


def draw_exhibits(
    exhibits: Sequence[Exhibit], fit: media.Fit, *, whole: bool = False, folder: Path | None = None
) -> list[str]:
    """Return the element of each exhibit, fetched and encoded side by side."""
    draw = partial(Exhibit.html, fit=fit, whole=whole, folder=folder)
    if len(exhibits) < 2:
        return [draw(exhibit) for exhibit in exhibits]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="kit-exhibits") as pool:
        return list(pool.map(draw, exhibits))


def total(exhibits: Iterable[Exhibit]) -> Decimal | None:
    """Return what all cost together, or None where the price of one is unknown."""
    amount = Decimal(0)
    for exhibit in exhibits:
        if exhibit.cost is None:
            return None
        amount += exhibit.cost
    return amount


def unseen(problem: Exception) -> str:
    """Return the sentence why a medium is not shown.

    Examples
    --------
    >>> unseen(OSError("cannot identify image file")), unseen(MemoryError())
    ('no preview', 'no preview (too large)')
    """
    if isinstance(problem, KitError):
        return str(problem)
    # by its name: Pillow is not loaded for this
    large = isinstance(problem, MemoryError) or type(problem).__name__ == "DecompressionBombError"
    return "no preview (too large)" if large else "no preview"


def _instead(sentence: str) -> str:
    return (
        f'<div style="{FAINT};border:1px dashed var(--jp-border-color2,#9996);border-radius:4px;'
        f'padding:24px 8px;text-align:center">{escape(sentence or "no preview")}</div>'
    )
