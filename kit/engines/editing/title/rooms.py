"""Titlerooms: the room that a title has on a picture of a size; nothing heavy is imported here.

What cannot fit into it even in the smallest letters is refused before anything is drawn.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from kit.engines.editing.title.styles import TitleStyle
from kit.engines.media.fonts import able
from kit.engines.media.fonts.widths import width_of
from kit.parameters import Problem

__all__ = ["Room", "headline_room", "margin_of", "room_problems", "subtitle_room"]

_MARGIN = 0.07  # of the shorter side
_SMALLEST = 8.0  # pixels an em in which letters can still be told apart
_KERNED = 0.94  # of its width is left of a line whose letters move together


@dataclass(frozen=True, slots=True)
class Room:
    """How wide lines may be, how many there may be, and the bounds of the letters, in pixels."""

    width: float
    lines: int
    smallest: float
    largest: float
    height: float


def margin_of(shape: tuple[int, ...]) -> int:
    """Return the least distance of letters from the edge of a picture, in pixels."""
    return round(_MARGIN * min(shape[:2]))


def headline_room(
    shape: tuple[int, ...], style: TitleStyle, width: float = 1.0, height: float = 1.0
) -> Room:
    """Return the room of a headline.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the picture.
    width, height : float
        Shares of the width between the margins, and of the style's height.
    """
    tall, wide = shape[:2]
    inner = (wide - 2 * margin_of(shape)) * width
    return Room(
        width=inner * style.width,
        lines=6 if tall > wide else 4,
        smallest=max(_SMALLEST, 0.022 * min(tall, wide)),
        largest=0.34 * min(tall, wide),
        height=height * style.height * tall,
    )


def subtitle_room(shape: tuple[int, ...], headline: Room, size: float) -> Room:
    """Return the room of a subtitle, next to a headline in letters of a size."""
    least = 0.026 * min(shape[:2])
    return Room(
        width=headline.width,
        lines=3,
        smallest=max(_SMALLEST, 0.6 * least),
        largest=max(least, 0.34 * size, _SMALLEST),
        height=0.16 * shape[0],
    )


def room_problems(
    name: str, text: str, face: str, room: Room, tracking: float
) -> Iterator[Problem]:
    """Yield that a text, the value of `name`, is longer than all lines of a room together."""
    faces = able(text, face)
    # Joined letters are narrower than they stand in the tables.
    if not faces or any(unicodedata.bidirectional(letter) == "AL" for letter in text):
        return
    ems = _KERNED * width_of(text, faces[0]) + tracking * len(text)
    most = room.width * room.lines / room.smallest
    if ems > most:
        fits = int(len(text) * most / ems)
        yield (
            name,
            f"is too long to be readable in this size: of its {len(text)} letters about {fits} fit",
        )
