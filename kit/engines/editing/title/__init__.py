"""Titles: their styles as data, and checks of their texts; nothing heavy is imported here."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kit.engines.media.fonts import faces_with, width_of
from kit.engines.media.fonts.wording import capitals, wording, wording_problems
from kit.engines.media.line_breaks import check_words, pieces
from kit.errors import EngineError
from kit.parameters import Problem

_MARGIN = 0.07  # of the shorter side
_MIN_SIZE = 8.0  # pixels per em in which letters are still legible
_KERNING = 0.94  # share of a line's width that remains with kerning
#: Height and width of a picture in pixels.
Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TitleStyle:
    """A title's style. Lengths are in ems of the headline unless stated otherwise."""

    face: str
    small_face: str = "inter"
    accent: tuple[int, int, int]
    capitals: bool = False
    align: str = "center"
    #: Of the headline and the rule, as a share of the width between the margins and of the height.
    width: float = 1.0
    height: float = 0.36
    gap: float = 0.2
    tracking: float = 0.0
    stroke: float = 0.0
    shadow: float = 0.0
    #: How far the picture is darkened to night, 0 to 1, for glowing letters.
    night: float = 0.0
    picks_word: bool = False
    rule: float = 0.0
    rule_length: float = 0.0
    #: Whether the subtitle is above the headline in the accent color, in spaced capitals.
    kicker: bool = False
    tracked: bool = False
    #: Minimum darkening behind light letters, 0 to 1.
    scrim: float = 0.3

    @property
    def small_tracking(self) -> float:
        """The tracking of the subtitle, in its own ems."""
        return 0.14 if self.tracked else 0.0


#: Name -> style, in the order of forms.
STYLES = {
    "bold": TitleStyle(
        face="anton",
        small_face="inter-bold",
        accent=(255, 209, 26),
        capitals=True,
        height=0.42,
        stroke=0.035,
        shadow=0.09,
        picks_word=True,
        scrim=0.25,
    ),
    "elegant": TitleStyle(
        face="playfair",
        accent=(240, 212, 160),
        width=0.92,
        gap=0.16,
        shadow=0.1,
        rule=0.018,
        rule_length=0.16,
        tracked=True,
        scrim=0.2,
    ),
    "clean": TitleStyle(
        face="inter-bold",
        accent=(90, 200, 250),
        align="left",
        width=0.9,
        gap=0.18,
        tracking=-0.02,
        shadow=0.06,
        rule=0.1,
        rule_length=0.12,
    ),
    "neon": TitleStyle(face="neon", accent=(255, 64, 190), height=0.4, gap=0.24, night=0.72),
    "editorial": TitleStyle(
        face="playfair",
        accent=(255, 196, 120),
        align="left",
        width=0.94,
        height=0.44,
        gap=0.1,
        tracking=-0.01,
        shadow=0.07,
        rule=0.012,
        rule_length=1.0,
        kicker=True,
        tracked=True,
    ),
}
#: The default style of a title.
DEFAULT = "bold"


@dataclass(frozen=True, slots=True)
class TitleRoom:
    """The maximum width and number of lines, and the limits of the letter size, in pixels."""

    width: float
    lines: int
    smallest: float
    largest: float
    height: float


def margin_of(shape: Shape) -> int:
    """Return the minimum distance of letters from the edge of a picture, in pixels."""
    return round(_MARGIN * min(shape[:2]))


def headline_room(
    shape: Shape, style: TitleStyle, width: float = 1.0, height: float = 1.0
) -> TitleRoom:
    """Return the room of a headline, in shares of the width between margins and style's height."""
    tall, wide = shape[:2]
    return TitleRoom(
        width=(wide - 2 * margin_of(shape)) * width * style.width,
        lines=6 if tall > wide else 4,
        smallest=max(_MIN_SIZE, 0.022 * min(tall, wide)),
        largest=0.34 * min(tall, wide),
        height=height * style.height * tall,
    )


def subtitle_room(shape: Shape, headline: TitleRoom, size: float) -> TitleRoom:
    """Return the room of a subtitle below a headline with letters of a size."""
    least = 0.026 * min(shape[:2])
    return TitleRoom(
        width=headline.width,
        lines=3,
        smallest=max(_MIN_SIZE, 0.6 * least),
        largest=max(least, 0.34 * size, _MIN_SIZE),
        height=0.16 * shape[0],
    )


def headline_of(text: str, face: str, style: str) -> tuple[str, str]:
    """Return a headline as set, and its face; ``auto`` leaves the face to the style."""
    look = STYLES[style]
    return capitals(text) if look.capitals else text, look.face if face == "auto" else face


def subtitle_of(text: str, style: str) -> tuple[str, str]:
    """Return a subtitle as set, and its face."""
    look = STYLES[style]
    return capitals(text) if look.tracked else text, look.small_face


def headline_problems(
    name: str, text: str, face: str, style: str, shape: Shape | None = None
) -> Iterator[Problem]:
    """Yield the problem if the headline `name` cannot be set, in a shape if that is known."""
    room = headline_room(shape, STYLES[style]) if shape else None
    yield from _problems(name, *headline_of(text, face, style), room, STYLES[style].tracking)


def subtitle_problems(name: str, text: str, style: str, shape: Shape) -> Iterator[Problem]:
    """Yield the problem if the subtitle `name` cannot be set in a shape."""
    room = subtitle_room(shape, headline_room(shape, STYLES[style]), 0.0)
    yield from _problems(name, *subtitle_of(text, style), room, STYLES[style].small_tracking)


def _problems(
    name: str, text: str, face: str, room: TitleRoom | None, tracking: float
) -> Iterator[Problem]:
    found = [*wording_problems(name, text, face)]
    try:
        check_words(pieces(text))
    except EngineError as error:
        found.append((name, str(error)))
    yield from found
    if not room or not text.strip() or found:
        return
    text = wording(text, face).text
    faces = faces_with(text, face)
    # Joined letters are narrower than in the tables.
    if faces and not any(unicodedata.bidirectional(letter) == "AL" for letter in text):
        ems = _KERNING * width_of(text, faces[0]) + tracking * len(text)
        most = room.width * room.lines / room.smallest
        if ems > most:
            yield (
                name,
                (
                    f"is too long to be readable in this size: of its {len(text)} letters about"
                    f" {int(len(text) * most / ems)} fit"
                ),
            )
