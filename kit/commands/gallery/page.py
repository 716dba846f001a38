"""The page: what was made of each model, as one HTML file that asks nobody for anything.

Everything that is shown is escaped; pictures are inside the page, videos and sounds beside it.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from importlib import resources
from typing import Any, Self
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined

from kit import wire
from kit.commands.gallery.plan import Example, format_value
from kit.engines.samples import ABOUT
from kit.version import __version__
from kit.widgets.markup import credits as format_credits
from kit.widgets.prices import sentence

__all__ = ["Card", "CardMedium", "page"]

#: Width by height of a frame, at least and at most.
_NARROW, _WIDE = 0.75, 16 / 9
#: By how much of it two shapes may differ and still lie over each other.
_SAME_SHAPE = 0.01


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
        return mine is not None and its is not None and abs(mine / its - 1) < _SAME_SHAPE


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

    @property
    def facts(self) -> list[str]:
        """Price, time, size and length, as far as they are known."""
        medium = self.medium or CardMedium(kind="")
        found = {
            "price": self.credits is not None and format_credits(self.credits),
            "time": self.seconds is not None and f"made in {self.seconds:.1f} s",
            "size": medium.width and f"{medium.width} × {medium.height}",
            "length": medium.length and f"{medium.length:g} s long",
        }
        return [fact for fact in found.values() if fact]


Section = tuple[wire.Model, Sequence[Card]]
Inputs = Mapping[str, CardMedium]


def page(sections: Sequence[Section], inputs: Inputs) -> str:
    """Return the page.

    Parameters
    ----------
    sections : sequence of (Model, cards)
        In the order in which they are shown; the first card is the model at its best.
    inputs : mapping of str to CardMedium
        The samples that were used, by name.
    """
    folder = resources.files(__package__)
    template, style, script = (
        folder.joinpath(f"page.{kind}").read_text("utf-8") for kind in ("html", "css", "js")
    )
    cards = [card for _, group in sections for card in group]
    environment = Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "address": quote,
        "allowed": _format_allowed,
        "number": _format_number,
        "typed": format_value,
    }
    return environment.from_string(template).render(
        sections=[_lay_out(model, group, inputs) for model, group in sections],
        inputs=inputs,
        about=ABOUT,
        summary=_summarize(len(sections), cards),
        varied=any(card.example.shown for card in cards),
        style=style,
        script=script,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        version=__version__,
        nbsp="\N{NO-BREAK SPACE}",
    )


def _summarize(models: int, cards: Sequence[Card]) -> str:
    spent = sum((card.credits or Decimal(0) for card in cards if card.error is None), Decimal(0))
    failed = sum(card.error is not None for card in cards)
    counts = [(models, "model"), (len(cards), "example")]
    words = [f"{number} {noun}{'' if number == 1 else 's'}" for number, noun in counts]
    return " · ".join([*words, format_credits(spent), *([f"{failed} failed"] if failed else [])])


def _lay_out(model: wire.Model, cards: Sequence[Card], inputs: Inputs) -> dict[str, Any]:
    # Most examples' shape, or square.
    known = Counter(round(c.medium.ratio, 3) for c in cards if c.medium and c.medium.ratio)
    ratio, count = known.most_common(1)[0] if known else (1.5, 0)
    ratio = min(max(ratio if 2 * count >= known.total() else 1.0, _NARROW), _WIDE)
    return {
        "model": model,
        "price": sentence(model),
        "ratio": ratio,
        "shape": "tall" if ratio < 0.9 else "square" if ratio < 1.2 else "wide",
        "figures": list(_list_figures(cards, inputs)),
    }


def _list_figures(cards: Sequence[Card], inputs: Inputs) -> Iterator[dict[str, Any]]:
    """Yield each example, and before it the inputs that it is the first to be made from."""
    known: set[str] = set()
    for card in cards:
        example, model, close = card.example, card.example.model, card.medium and card.medium.close
        for parameter, names in ({} if close else example.media).items():
            for name in names:
                if name in inputs and inputs[name].kind != "audio" and name not in known:
                    known.add(name)
                    about = ABOUT.get(name, name)
                    medium = inputs[name]
                    yield {"input": name, "parameter": parameter, "medium": medium, "about": about}
        label = f"{model.title or model.id}: {example.title or 'as it comes'}"
        new = card is cards[0] or example.prompt != cards[0].example.prompt
        under = (n for n in card.sources if n in inputs and card.medium)
        same = (n for n in under if card.medium and card.medium.lies_over(inputs[n]))
        yield {
            "input": None,
            "card": card,
            "label": f"{label}; {example.prompt}" if example.prompt else label,
            "prompt": example.prompt if new else None,
            "before": next((f"input-{name}" for name in same), ""),
        }


def _format_allowed(parameter: wire.Parameter) -> str:
    if parameter.enum:
        return ", ".join(map(_format_number, parameter.enum))
    low, high = _format_number(parameter.minimum), _format_number(parameter.maximum)
    if low and high:
        return f"{low} to {high}"
    if parameter.max_items:
        return f"up to {parameter.max_items}"
    return f"from {low}" if low else f"up to {high}" if high else ""


def _format_number(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)
