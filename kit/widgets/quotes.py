"""Prices: how a quote looks; one that is a guess says so wherever its figure stands."""

from __future__ import annotations

from html import escape

from kit import wire
from kit.widgets.cards import card, credits, faint, figure, signed_amount, table, warning

#: Sources of a price that is not what will be charged -> what they are called.
_GUESSES = {
    "default": "a guess: with the model's defaults",
    "receipts": "a guess from what was paid before",
}


def quote(item: wire.Quote) -> str:
    """Draw a price with the terms it is made of."""
    rows = [(escape(_term(t)), escape(signed_amount(t.credits))) for t in item.terms]
    short = ""
    if item.affordable is False:
        left = f": {credits(item.balance)}" if item.balance is not None else ""
        short = warning(f"the balance is too low{left}")
    terms = table((), rows) if rows else ""
    by = _GUESSES.get(item.source, f"by {item.source}")
    return card(_total(item), terms + short + faint(escape(by)))


def quote_text(item: wire.Quote) -> str:
    """Return a price in one line.

    Examples
    --------
    >>> from decimal import Decimal
    >>> quote_text(wire.Quote(total=Decimal("0.2")))
    '<Quote 0.2 credits · rule>'
    >>> quote_text(wire.Quote(total=Decimal(1), source="default"))
    "<Quote about 1 credit · a guess: with the model's defaults>"
    """
    return f"<Quote {_total(item)} · {_GUESSES.get(item.source, item.source)}>"


def _total(item: wire.Quote) -> str:
    return f"about {credits(item.total)}" if item.source in _GUESSES else credits(item.total)


def _term(term: wire.Term) -> str:
    if term.kind == "unit":
        return f"{term.parameter}: {term.value}"
    if term.kind == "multiplier":
        return f"{term.parameter}: {term.value} (× {figure(term.factor)})"
    return term.kind
