"""The page: examples of all models as one HTML file without external requests.

All text is escaped; pictures are in the page, videos and sounds beside it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import resources
from itertools import groupby
from statistics import median
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined

from kit import wire
from kit.commands.gallery.plan import Example, format_value
from kit.engines.samples import ABOUT
from kit.version import __version__
from kit.widgets.markup import credits as format_credits
from kit.widgets.preview import limits_text
from kit.widgets.prices import price_sentence

#: Minimum and maximum ratio of width to height of a frame.
_MIN_RATIO, _MAX_RATIO = 0.75, 16 / 9
#: Maximum difference of two ratios for comparing pictures on top of each other.
_RATIO_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMedium:
    """A picture, video or sound on the page."""

    kind: str  # image, video or audio
    width: int = 0
    height: int = 0
    seconds: float | None = None
    picture: str = ""  # the picture or the poster, as a `data:` URL
    file: str = ""  # URL of the video or sound, relative to the page
    sound: bool = False  # whether a video has sound
    close: bool = False  # an enlarged part of the input beside that part of the result

    @property
    def ratio(self) -> float:
        """Ratio of width to height; 0 for a sound."""
        return self.width / self.height if self.height else 0.0

    def fits_over(self, other: CardMedium) -> bool:
        """Whether both are pictures of the same shape, so that they can be compared in place."""
        same_shape = abs(self.ratio - other.ratio) < _RATIO_TOLERANCE * other.ratio
        return self.kind == other.kind == "image" and same_shape and not self.close


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An example and its result: a medium, or an error in a sentence."""

    example: Example
    medium: CardMedium | None = None
    error: str | None = None
    credits: Decimal | None = None
    seconds: float | None = None  # time of rendering

    @property
    def facts(self) -> list[str]:
        """Price, time, size and length, as far as they are known."""
        medium = self.medium or CardMedium(kind="")
        found = (
            self.credits is not None and format_credits(self.credits),
            self.seconds is not None and f"made in {self.seconds:.1f} s",
            medium.width and f"{medium.width} × {medium.height}",
            medium.seconds and f"{medium.seconds:g} s long",
        )
        return [fact for fact in found if fact]


Inputs = Mapping[str, CardMedium]


def page(cards: Sequence[Card], inputs: Inputs) -> str:
    """Return the page of cards, model by model; the first card of a model should be its best.

    `inputs` are the samples that were used, by name.
    """
    groups = groupby(cards, key=lambda card: card.example.model)
    folder = resources.files(__package__)
    template, style, script = (
        folder.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js")
    )
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {"address": quote, "credits": format_credits}
    environment.filters |= {"typed": format_value, "allowed": limits_text}
    return environment.from_string(template).render(
        sections=[_lay_out(model, tuple(group), inputs) for model, group in groups],
        cards=cards,
        inputs=inputs,
        about=ABOUT,
        style=style,
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        version=__version__,
        nbsp="\N{NO-BREAK SPACE}",
    )


def _lay_out(model: wire.Model, cards: Sequence[Card], inputs: Inputs) -> dict[str, Any]:
    ratios = [card.medium.ratio for card in cards if card.medium and card.medium.ratio]
    ratio = min(max(median(ratios or [1.5]), _MIN_RATIO), _MAX_RATIO)
    shape = "tall" if ratio < 0.9 else "square" if ratio < 1.2 else "wide"
    layout = {"ratio": ratio, "shape": shape, "figures": list(_list_figures(cards, inputs))}
    return {"model": model, "price": price_sentence(model), **layout}


def _list_figures(cards: Sequence[Card], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Yield the examples, each after those of its inputs that were not shown before."""
    shown = {name for name, medium in inputs.items() if medium.kind == "audio"}
    for card in cards:
        medium, example = card.medium, card.example
        sources = {n: given for given, names in example.media.items() for n in names if n in inputs}
        if medium is None or not medium.close:
            yield from ({"input": n, "parameter": sources[n]} for n in sources if n not in shown)
            shown |= sources.keys()
        before = [f"input-{name}" for name in sources if medium and medium.fits_over(inputs[name])]
        new = card is cards[0] or example.prompt != cards[0].example.prompt
        yield {"input": None, "card": card, "new": new, "before": "".join(before[:1])}
