"""Titlewords: what a headline and its subtitle say once they are set; nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Iterator

from kit.engines.image.editing.titlestyles import STYLES
from kit.engines.media.breaking import check_words, pieces
from kit.engines.media.fonts.wording import Wording, capitals, wording, wording_problems
from kit.errors import EngineError
from kit.parameters import Problem

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


def headline_problems(name: str, text: str, face: str, style: str) -> Iterator[Problem]:
    """Yield that a headline, the value of `name`, cannot be set."""
    yield from _problems(name, *_headline(text, face, style))


def subtitle_problems(name: str, text: str, style: str) -> Iterator[Problem]:
    """Yield that a subtitle, the value of `name`, cannot be set."""
    yield from _problems(name, *_subtitle(text, style))


def _problems(name: str, text: str, face: str) -> Iterator[Problem]:
    yield from wording_problems(name, text, face)
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
