"""A model's section: what it is, what it was given, and what it made of that.

All frames of a section have one shape, that of most of its examples; others lie whole within it,
so that rows and captions stay in line and the last row is as large as the first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from kit import wire
from kit.commands.gallery.cards import Card, CardMedium
from kit.commands.gallery.frames import frame
from kit.commands.gallery.plan import format_value
from kit.commands.gallery.tables import parameters
from kit.engines.samples import ABOUT
from kit.widgets.prices import sentence

__all__ = ["anchor", "inputs_section", "section"]

#: Width by height of a frame, at least and at most.
_NARROW, _WIDE = 0.75, 16 / 9
#: Letters of a setting's value that are shown.
_LONG = 44
_VISUAL = frozenset({"image", "video"})


def section(model: wire.Model, cards: Sequence[Card], inputs: Mapping[str, CardMedium]) -> str:
    """Return the section of a model.

    Parameters
    ----------
    cards : sequence of Card
        The first one is the model at its best; others differ from it.
    inputs : mapping of str to Medium
        The samples that were used, by name; a section shows its own before what they led to.
    """
    name = anchor(model)
    facts = (
        f"<code>{escape(model.id)}</code><span>{escape(model.asset_type)}</span>"
        f"<span>{escape(model.category)}</span><span>{escape(sentence(model))}</span>"
    )
    return (
        f'<section id="{name}" aria-labelledby="{name}-title">'
        f'<h2 id="{name}-title">{escape(model.title or model.id)}</h2>'
        f'<p class="facts">{facts}</p><p class="about">{escape(model.description)}</p>'
        f'<div class="cards {_shape(cards)}">{"".join(_figures(cards, inputs))}</div>'
        f"{parameters(model)}</section>"
    )


def inputs_section(inputs: Mapping[str, CardMedium]) -> str:
    """Return the section of all inputs, where the examples' links lead; nothing without any."""
    if not inputs:
        return ""
    figures = "".join(
        f'<figure id="input-{escape(name)}">{frame(medium, ABOUT.get(name, name))}<figcaption>'
        f'<p class="what"><strong>{escape(name)}</strong></p>'
        f'<p class="quiet">{escape(ABOUT.get(name, ""))}</p></figcaption></figure>'
        for name, medium in inputs.items()
    )
    return (
        '<section id="inputs" aria-labelledby="inputs-title"><h2 id="inputs-title">Inputs</h2>'
        '<p class="about">What the examples above were made from: drawn and played by rule, so'
        f' nobody is in them.</p><div class="cards inputs">{figures}</div></section>'
    )


def anchor(model: wire.Model) -> str:
    """Return the id of a model's section."""
    return escape(f"model-{quote(model.id, safe='')}")


def _shape(cards: Sequence[Card]) -> str:
    """Return the rest of the class and the style: the shape that most examples have, or square."""
    ratios = [card.medium.ratio for card in cards if card.medium is not None]
    known = Counter(round(ratio, 3) for ratio in ratios if ratio)
    ratio, count = known.most_common(1)[0] if known else (1.5, 0)
    if 2 * count < known.total():
        ratio = 1.0
    ratio = min(max(ratio, _NARROW), _WIDE)
    kind = "tall" if ratio < 0.9 else "square" if ratio < 1.2 else "wide"
    return f'{kind}" style="--shape:{ratio:.3f}'


def _figures(cards: Sequence[Card], inputs: Mapping[str, CardMedium]) -> Iterator[str]:
    known: set[str] = set()
    for card in cards:
        for name, parameter in _seen(card, inputs):
            if name not in known:
                known.add(name)
                yield _input(name, parameter, inputs[name])
        yield _figure(card, cards[0], inputs)


def _seen(card: Card, inputs: Mapping[str, CardMedium]) -> Iterator[tuple[str, str]]:
    """Yield name and parameter of what a card was made from, as far as the card hides it."""
    if card.medium is not None and card.medium.close:
        return
    for parameter, names in card.example.media.items():
        for name in names:
            if name in inputs and inputs[name].kind in _VISUAL:
                yield name, parameter


def _input(name: str, parameter: str, medium: CardMedium) -> str:
    return (
        f'<figure class="given">{frame(medium, f"Input: {ABOUT.get(name, name)}")}<figcaption>'
        f'<p class="what"><span class="tag">Input</span> {escape(name)}</p>'
        f'<p class="quiet">given as <code>{escape(parameter)}</code></p></figcaption></figure>'
    )


def _figure(card: Card, first: Card, inputs: Mapping[str, CardMedium]) -> str:
    example = card.example
    quoted = ""
    if example.prompt and (card is first or example.prompt != first.example.prompt):
        quoted = f"<p><q>{escape(example.prompt)}</q></p>"
    made = f"{example.model.title or example.model.id}: {example.title or 'as it comes'}"
    if card.error is not None:
        shown = f'<div class="error"><b>Failed</b><p>{escape(card.error)}</p></div>'
    else:
        words = f"{made}; {example.prompt}" if example.prompt else made
        shown = frame(card.medium, words, before=_before(card, inputs))
    return (
        f'<figure class="{"failed" if card.error is not None else "made"}">{shown}<figcaption>'
        f'<p class="what">{_special(card)}</p>{quoted}<p class="quiet">{_facts(card)}</p>'
        "</figcaption></figure>"
    )


def _before(card: Card, inputs: Mapping[str, CardMedium]) -> str:
    """Return the id of the input that a picture can be compared with in place."""
    for name in card.sources:
        if card.medium and name in inputs and card.medium.lies_over(inputs[name]):
            return f"input-{name}"
    return ""


def _special(card: Card) -> str:
    words = card.example.caption or ("" if card.example.told else "As it comes")
    parts = [f"<strong>{escape(words)}</strong>"] if words else []
    parts += [_chip(name, value) for name, value in card.example.told.items()]
    return " ".join(parts)


def _chip(name: str, value: Any) -> str:
    whole = format_value(value)
    short = f'{whole[:_LONG].rstrip()}…"' if len(whole) > _LONG + 2 else whole
    title = f' title="{escape(whole)}"' if short != whole else ""
    return f'<code class="set"{title}><span>{escape(name)}=</span>{escape(short)}</code>'


def _facts(card: Card) -> str:
    parts = [_unbroken(escape(part)) for part in card.told().split(" · ") if part]
    if card.sources:
        links = ", ".join(
            f'<a href="#input-{escape(name)}">{escape(name)}</a>' for name in card.sources
        )
        parts.append(f'<span class="from">{_unbroken("from ")}{links}</span>')
    # A line may end with a dot, but none begins with one.
    return "\u00a0· ".join(parts)


def _unbroken(part: str) -> str:
    return part.replace(" ", "\u00a0")
