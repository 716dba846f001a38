"""Color names and numbers in settings; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from kit.engines.base import Problem
from kit.parameters import shorten

_MAX_LETTERS = 100


@lru_cache(1024)
def rgb_of(text: str) -> tuple[int, int, int] | None:
    """Return the color of a CSS name or hexadecimal number; None if it is neither.

    Examples
    --------
    >>> rgb_of(" Teal "), rgb_of("no color")
    ((0, 128, 128), None)
    """
    # Imported here, so that models can be listed without Pillow.
    from PIL import ImageColor

    if len(text) > _MAX_LETTERS:
        return None
    try:
        color = ImageColor.getrgb(text.strip().lower().replace(" ", ""))[:3]
    except ValueError:
        return None
    # Pillow accepts out-of-range values such as rgb(300, 0, 0).
    return color if max(color) <= 255 else None


def no_color(text: str) -> str:
    """Return the message for a text that is not a color."""
    return f"{shorten(text)} is not a color: use a name like 'teal' or a code like '#ff8800'"


def color_problems(name: str, text: str) -> Iterator[Problem]:
    """Yield the problem if a setting's text is not a color."""
    if rgb_of(text) is None:
        yield name, no_color(text)
