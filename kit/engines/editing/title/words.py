"""Titlewords: what a headline and its subtitle say once they are set; nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from kit.engines.editing.title.rooms import Room, headline_room, room_problems, subtitle_room
from kit.engines.editing.title.styles import STYLES
from kit.engines.media.breaking import check_words, pieces
from kit.engines.media.fonts.wording import Wording, capitals, wording, wording_problems
from kit.errors import EngineError
from kit.parameters import Problem

#: Height and width of a picture in pixels.
Shape: TypeAlias = tuple[int, int]
#: The style of a title where none is asked for.
USUAL = "bold"


def headline_of(text: str, face: str, style: str) -> Wording:
    """Return a headline as it is set: in capitals where the style has them.

    Parameters
    ----------
    face : str
        ``auto`` leaves it to the style.

    Raises
    ------
    EngineError
        It has letters that no font has, or nothing but symbols (``no_letters``).
    """
    return wording(*_headline(text, face, style))


def subtitle_of(text: str, style: str) -> Wording:
    """Return a subtitle as it is set; raises what `headline_of` raises."""
    return wording(*_subtitle(text, style)) if text.strip() else Wording("")


def headline_problems(
    name: str, text: str, face: str, style: str, shape: Shape | None = None
) -> Iterator[Problem]:
    """Yield that a headline, the value of `name`, cannot be set.

    Parameters
    ----------
    shape : tuple of int, optional
        Height and width of the picture, where they are known.
    """
    look = STYLES[style]
    room = headline_room(shape, look) if shape else None
    yield from _problems(name, *_headline(text, face, style), room, look.tracking)


def subtitle_problems(
    name: str, text: str, style: str, shape: Shape | None = None
) -> Iterator[Problem]:
    """Yield that a subtitle, the value of `name`, cannot be set; see `headline_problems`."""
    look = STYLES[style]
    room = subtitle_room(shape, headline_room(shape, look), 0.0) if shape else None
    yield from _problems(name, *_subtitle(text, style), room, look.small_tracking)


def _problems(
    name: str, text: str, face: str, room: Room | None, tracking: float
) -> Iterator[Problem]:
    found = [*wording_problems(name, text, face), *_count_problems(name, text)]
    yield from found
    if room and text.strip() and not found:
        yield from room_problems(name, wording(text, face).text, face, room, tracking)


def _count_problems(name: str, text: str) -> Iterator[Problem]:
    try:
        check_words(pieces(text))
    except EngineError as error:
        yield name, str(error)


def _headline(text: str, face: str, style: str) -> tuple[str, str]:
    look = STYLES[style]
    return capitals(text) if look.capitals else text, look.face if face == "auto" else face


def _subtitle(text: str, style: str) -> tuple[str, str]:
    look = STYLES[style]
    return capitals(text) if look.tracked else text, look.small_face
