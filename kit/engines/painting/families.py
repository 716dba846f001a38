"""Families: the kinds of scene that can be painted, and their painters.

A painter is imported when its family is painted, so that this table is available without NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from kit.engines.base import Progress
from kit.engines.prompt.brief import Brief

if TYPE_CHECKING:
    from kit.engines.painting.painting import Painting

Painter: TypeAlias = "Callable[[Brief, Progress], Painting]"

#: Family -> module and function of its painter.
FAMILIES = {
    "lake": "kit.engines.painting.land.lake:paint",
    "desert": "kit.engines.painting.land.desert:paint",
    "forest": "kit.engines.painting.land.forest:paint",
    "sea": "kit.engines.painting.land.sea:paint",
    "city": "kit.engines.painting.city:paint",
    "space": "kit.engines.painting.space:paint",
    "liquid": "kit.engines.painting.liquid:paint",
    "flow": "kit.engines.painting.flow:paint",
    "poster": "kit.engines.painting.poster.compose:paint",
}


def paint(brief: Brief, progress: Progress) -> Painting:
    """Return a brief's painting in its size.

    Raises `CanceledError` if `progress` does.
    """
    module, _, name = FAMILIES[brief.family].partition(":")
    painter: Painter = getattr(import_module(module), name)
    return painter(brief, progress)
