"""Captionwords: what captions say once they are set, and in which face; loads nothing heavy."""

from __future__ import annotations

from collections.abc import Iterator

from kit.engines.media.fonts.wording import Wording, wording, wording_problems
from kit.parameters import Problem

#: Style of captions -> face.
CAPTION_FACES = {"bold": "anton", "clean": "inter", "karaoke": "inter-bold"}


def caption_words(text: str, style: str) -> Wording:
    """Return captions as they are set, without the symbols that no font has.

    Raises
    ------
    EngineError
        They have letters that no font has, or nothing but symbols (``no_letters``).
    """
    return wording(text, CAPTION_FACES[style], together=False) if text.strip() else Wording("")


def caption_problems(name: str, text: str, style: str) -> Iterator[Problem]:
    """Yield that captions, the value of `name`, cannot be set."""
    yield from wording_problems(name, text, CAPTION_FACES[style], together=False)
