"""Colors in words: what a setting for a color may say, told without loading pictures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kit.engines.base import Problem
from kit.parameters import shorten

_LONGEST = 100


@lru_cache(1024)
def rgb_of(text: str) -> tuple[int, int, int] | None:
    """Return the color that a CSS name or a hexadecimal number stands for; None if it is neither.

    Examples
    --------
    >>> rgb_of(" Teal "), rgb_of("no color")
    ((0, 128, 128), None)
    """
    # Here, so that models are listed without it.
    from PIL import ImageColor

    if len(text) > _LONGEST:
        return None
    try:
        color = ImageColor.getrgb(text.strip().lower().replace(" ", ""))[:3]
    except ValueError:
        return None
    # Pillow takes rgb(300, 0, 0) as it stands.
    return color if max(color) <= 255 else None


def no_color(text: str) -> str:
    """Return what is said of a text that is no color."""
    return f"{shorten(text)} is no color: give a name like 'teal' or a number like '#ff8800'"


def color_problems(name: str, text: str) -> Iterator[Problem]:
    """Yield that a setting's text is no color."""
    if rgb_of(text) is None:
        yield name, no_color(text)
