"""The page: what was made of each model, as one HTML file that asks nobody for anything.

Everything that is shown is escaped; pictures are inside the page, videos and sounds beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from html import escape
from typing import Any, Self
from urllib.parse import quote

from kit import wire
from kit.commands.gallery.plan import Example
from kit.commands.gallery.style import CSS
from kit.version import __version__
from kit.widgets.preview import credits as priced

__all__ = ["Card", "Medium", "page"]

Section = tuple[wire.Model, Sequence["Card"]]
_GROUPS = {"image": "Images", "video": "Videos"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Medium:
    """A picture, video or sound that is shown.

    Parameters
    ----------
    kind : str
        ``image``, ``video`` or ``audio``.
    picture : str
        Address of the picture or of the poster, as ``data:``.
    file : str
        Address of the video or sound, from the page.
    length : float or None
        Of a video, in seconds.
    """

    kind: str
    width: int = 0
    height: int = 0
    length: float | None = None
    picture: str = ""
    file: str = ""

    def shown_as(self, picture: str, *, file: str = "") -> Self:
        """Return it with the addresses where it is found."""
        return replace(self, picture=picture, file=file)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An example and what came of it: a medium, or an error in a sentence.

    Parameters
    ----------
    seconds : float or None
        How long it was rendered.
    """

    example: Example
    medium: Medium | None = None
    error: str | None = None
    credits: Decimal | None = None
    seconds: float | None = None

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


def page(sections: Sequence[Section], inputs: Mapping[str, Medium]) -> str:
    """Return the page.

    Parameters
    ----------
    sections : sequence of (Model, cards)
        In the order in which they are shown.
    inputs : mapping of str to Medium
        The samples that were used, by name.
    """
    cards = [card for _, group in sections for card in group]
    body = "".join(_section(model, group) for model, group in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>Model gallery</title><style>{CSS}</style></head><body>"
        '<a class="skip" href="#models">Skip to the models</a>'
        f'<header class="top"><h1>Model gallery</h1><p>{escape(_summary(sections, cards))}</p>'
        f'</header>{_navigation(sections)}<main id="models">{body}{_inputs(inputs)}</main>'
        f"<footer>Creative Studio {escape(__version__)}. Credits are what each example was charged;"
        " seconds are its render time on the machine that made this page.</footer></body></html>\n"
    )


def _summary(sections: Sequence[Section], cards: Sequence[Card]) -> str:
    spent = sum((card.credits or Decimal(0) for card in cards if card.error is None), Decimal(0))
    failed = sum(card.error is not None for card in cards)
    words = [_count(len(sections), "model"), _count(len(cards), "example"), priced(spent)]
    return " · ".join([*words, f"{failed} failed"] if failed else words)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _navigation(sections: Sequence[Section]) -> str:
    groups = []
    for kind, name in _GROUPS.items():
        links = "".join(
            f'<li><a href="#{_anchor(model)}">{escape(model.title or model.id)}</a></li>'
            for model, _ in sections
            if model.asset_type == kind
        )
        if links:
            groups.append(f"<li><span>{name}</span><ul>{links}</ul></li>")
    return f'<nav aria-label="Models"><ul>{"".join(groups)}</ul></nav>'


def _section(model: wire.Model, cards: Sequence[Card]) -> str:
    anchor = _anchor(model)
    facts = (
        f"<code>{escape(model.id)}</code><span>{escape(model.asset_type)}</span>"
        f"<span>{escape(model.category)}</span><span>{escape(_price(model))}</span>"
    )
    figures = "".join(_figure(card, cards[0]) for card in cards)
    return (
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">'
        f'<h2 id="{anchor}-title">{escape(model.title or model.id)}</h2>'
        f'<p class="facts">{facts}</p><p class="about">{escape(model.description)}</p>'
        f'<div class="cards">{figures}</div>{_parameters(model)}</section>'
    )


def _price(model: wire.Model) -> str:
    words = [f"from {priced(model.credits_from)}"]
    if model.credits_at_defaults not in (None, model.credits_from):
        words.append(f"{priced(model.credits_at_defaults)} with its defaults")
    words += [
        f"{priced(unit.credits)} a second of {unit.medium}"
        for unit in (model.pricing.units if model.pricing else ())
        if unit.medium
    ]
    return ", ".join(words)


def _figure(card: Card, first: Card) -> str:
    example, medium = card.example, card.medium
    caption = example.caption or "as it comes"
    ratio = medium.width / medium.height if medium is not None and medium.height else 1.0
    parts = [f"<strong>{escape(caption)}</strong>"]
    if example.prompt and (card is first or example.prompt != first.example.prompt):
        parts.append(f"<q>{escape(example.prompt)}</q>")
    if example.media:
        parts.append(f'<span class="from">from {_sources(example)}</span>')
    parts.append(f"<small>{escape(_unbroken(card.told()))}</small>")
    if card.error is not None:
        shown = f'<div class="error"><b>Failed</b><p>{escape(card.error)}</p></div>'
    else:
        shown = _shown(medium, f"{example.model.title or example.model.id}: {caption}")
    kind = "failed" if card.error is not None else "made"
    return (
        f'<figure class="{kind}" style="--ratio:{min(max(ratio, 0.3), 3.0):.3f}">{shown}'
        f"<figcaption>{''.join(parts)}</figcaption></figure>"
    )


def _unbroken(line: str) -> str:
    """Return a line that is only broken between its parts."""
    return " · ".join(part.replace(" ", "\u00a0") for part in line.split(" · "))


def _shown(medium: Medium | None, name: str) -> str:
    if medium is None:
        return ""
    label, picture = escape(name), escape(medium.picture)
    if medium.kind == "image":
        return f'<img src="{picture}" alt="{label}" loading="lazy" decoding="async">'
    address = escape(quote(medium.file))
    if medium.kind == "audio":
        return f'<audio src="{address}" aria-label="{label}" controls preload="none"></audio>'
    poster = f' poster="{picture}"' if picture else ""
    return (
        f'<video src="{address}"{poster} aria-label="{label}" muted loop playsinline controls'
        ' preload="none"></video>'
    )


def _sources(example: Example) -> str:
    names = dict.fromkeys(name for files in example.media.values() for name in files)
    return ", ".join(f'<a href="#input-{escape(name)}">{escape(name)}</a>' for name in names)


def _inputs(inputs: Mapping[str, Medium]) -> str:
    if not inputs:
        return ""
    figures = "".join(
        f'<figure id="input-{escape(name)}">{_shown(medium, name)}'
        f"<figcaption><strong>{escape(name)}</strong></figcaption></figure>"
        for name, medium in inputs.items()
    )
    return (
        '<section id="inputs" aria-labelledby="inputs-title"><h2 id="inputs-title">Inputs</h2>'
        '<p class="about">What the examples above were made from: drawn and played by rule, so'
        f' nobody is in them.</p><div class="cards inputs">{figures}</div></section>'
    )


def _parameters(model: wire.Model) -> str:
    if not model.parameters:
        return ""
    rows = "".join(_row(parameter) for parameter in model.parameters)
    return (
        f"<details><summary>{_count(len(model.parameters), 'parameter')}</summary>"
        '<div class="wide"><table><thead><tr><th scope="col">Name</th><th scope="col">Type</th>'
        '<th scope="col">Default</th><th scope="col">Allowed</th><th scope="col">What it does</th>'
        f"</tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def _row(parameter: wire.Parameter) -> str:
    needed = " <em>required</em>" if parameter.required else ""
    kind = f"{parameter.type} file" if parameter.media else parameter.type
    cells = (kind, _value(parameter.default), _allowed(parameter), parameter.description)
    return (
        f'<tr><th scope="row"><code>{escape(parameter.name)}</code>{needed}</th>'
        f"{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    )


def _allowed(parameter: wire.Parameter) -> str:
    if parameter.enum:
        return _list(parameter.enum)
    low, high = _value(parameter.minimum), _value(parameter.maximum)
    if low and high:
        return f"{low} to {high}"
    if parameter.max_items:
        return f"up to {parameter.max_items}"
    return f"from {low}" if low else f"up to {high}" if high else ""


def _list(values: Iterable[Any]) -> str:
    return ", ".join(map(_value, values))


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) and abs(value) < 1e6 else str(value)


def _anchor(model: wire.Model) -> str:
    return escape(f"model-{quote(model.id, safe='')}")
