"""The page: what was made of each model, as one HTML file that asks nobody for anything.

Everything that is shown is escaped; pictures are inside the page, videos and sounds beside it.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from html import escape

from kit import wire
from kit.commands.gallery.cards import Card, CardMedium
from kit.commands.gallery.script import SCRIPT
from kit.commands.gallery.sections import anchor, inputs_section, section
from kit.commands.gallery.style import CSS
from kit.commands.gallery.tables import count_of
from kit.version import __version__
from kit.widgets.preview import credits as priced

__all__ = ["page"]

Section = tuple[wire.Model, Sequence[Card]]
_GROUPS = {"image": "Images", "video": "Videos"}


def page(sections: Sequence[Section], inputs: Mapping[str, CardMedium]) -> str:
    """Return the page.

    Parameters
    ----------
    sections : sequence of (Model, cards)
        In the order in which they are shown.
    inputs : mapping of str to Medium
        The samples that were used, by name.
    """
    cards = [card for _, group in sections for card in group]
    body = "".join(section(model, group, inputs) for model, group in sections)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        f"<title>Model gallery</title><style>{CSS}</style></head><body>"
        '<a class="skip" href="#models">Skip to the models</a>'
        f'{_navigation(sections, inputs)}<main id="models"><header class="top">'
        f"<h1>Model gallery</h1><p>{escape(_summary(sections, cards))}</p>{_hint(cards)}</header>"
        f"{body}{inputs_section(inputs)}"
        f"<footer>Creative Studio {escape(__version__)}. Credits are what each example was charged;"
        " seconds are its render time on the machine that made this page.</footer></main>"
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def _policy() -> str:
    """Let the page's own script run and no other, and nothing be sent anywhere."""
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    return (
        f"script-src 'sha256-{digest}'; connect-src 'none'; object-src 'none';"
        " base-uri 'none'; form-action 'none'"
    )


def _summary(sections: Sequence[Section], cards: Sequence[Card]) -> str:
    spent = sum((card.credits or Decimal(0) for card in cards if card.error is None), Decimal(0))
    failed = sum(card.error is not None for card in cards)
    words = [count_of(len(sections), "model"), count_of(len(cards), "example"), priced(spent)]
    return " · ".join([*words, f"{failed} failed"] if failed else words)


def _hint(cards: Sequence[Card]) -> str:
    if not any(card.example.told for card in cards):
        return ""
    return (
        '<p class="hint">A model’s first example shows it at its best. Under the others stands what'
        ' was changed, as it is typed: <code class="set"><span>name=</span>value</code>.</p>'
    )


def _navigation(sections: Sequence[Section], inputs: Mapping[str, CardMedium]) -> str:
    groups = []
    for kind, name in _GROUPS.items():
        links = "".join(
            f'<li><a href="#{anchor(model)}">{escape(model.title or model.id)}</a></li>'
            for model, _ in sections
            if model.asset_type == kind
        )
        if links:
            groups.append(f"<li><span>{name}</span><ul>{links}</ul></li>")
    if inputs:
        groups.append('<li><ul><li><a href="#inputs">Inputs</a></li></ul></li>')
    return (
        '<nav aria-label="Models"><details open><summary>Models<span class="here"></span></summary>'
        f'<ul class="groups">{"".join(groups)}</ul></details></nav>'
    )
