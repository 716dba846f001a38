"""What came of an example: a medium that can be shown, its price and its time, or an error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Self

from kit.commands.gallery.plan import Example
from kit.widgets.preview import credits as priced

__all__ = ["Card", "CardMedium"]

#: By how much of it two shapes may differ and still lie over each other.
_ALIKE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMedium:
    """A picture, video or sound that is shown.

    Parameters
    ----------
    kind : str
        ``image``, ``video`` or ``audio``.
    length : float or None
        Of a video, in seconds.
    picture : str
        Address of the picture or of the poster, as ``data:``.
    file : str
        Address of the video or sound, from the page.
    sound : bool
        Whether a video can be heard.
    close : bool
        Whether the picture shows a part of the input, enlarged, beside that part of the result.
    """

    kind: str
    width: int = 0
    height: int = 0
    length: float | None = None
    picture: str = ""
    file: str = ""
    sound: bool = False
    close: bool = False

    @property
    def ratio(self) -> float | None:
        """Width by height, where both are known."""
        return self.width / self.height if self.width and self.height else None

    def shown_as(self, picture: str, *, file: str = "", close: bool = False) -> Self:
        """Return it with the addresses where it is found."""
        return replace(self, picture=picture, file=file, close=close)

    def lies_over(self, other: CardMedium) -> bool:
        """Return whether both are pictures of one shape, so that they can be compared in place."""
        if self.close or self.kind != "image" or other.kind != "image":
            return False
        mine, its = self.ratio, other.ratio
        return mine is not None and its is not None and abs(mine / its - 1) < _ALIKE


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An example and what came of it: a medium, or an error in a sentence.

    Parameters
    ----------
    seconds : float or None
        How long it was rendered.
    """

    example: Example
    medium: CardMedium | None = None
    error: str | None = None
    credits: Decimal | None = None
    seconds: float | None = None

    @property
    def sources(self) -> tuple[str, ...]:
        """Names of the samples it was made from, each once."""
        files = (name for names in self.example.media.values() for name in names)
        return tuple(dict.fromkeys(files))

    def told(self) -> str:
        """Return price, time and size in one line."""
        words = [] if self.credits is None else [priced(self.credits)]
        if self.seconds is not None:
            words.append(f"made in {self.seconds:.1f} s")
        if self.medium is not None and self.medium.width:
            words.append(f"{self.medium.width} × {self.medium.height}")
        if self.medium is not None and self.medium.length:
            words.append(f"{self.medium.length:g} s long")
        return " · ".join(words)
