"""Prices: how a quote looks; one that is a guess says so wherever its figure stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import Any

from kit import pricing, wire
from kit.parameters import Request
from kit.widgets.markup import card, credits, faint, figure, signed_amount, table, warning

#: Sources of a price that is not what will be charged -> what they are called.
GUESSES = {
    "default": "estimated, with the model's defaults",
    "receipts": "estimated from earlier receipts",
}
#: Where a price comes from -> how sure it is, in words.
_SOURCES = {"rule": "", "service": "from the service", **GUESSES}


def quote(item: wire.Quote) -> str:
    """Draw a price with the terms it is made of."""
    rows = [(escape(term_text(t)), escape(signed_amount(t.credits))) for t in item.terms]
    short = ""
    if item.affordable is False:
        left = f": {credits(item.balance)}" if item.balance is not None else ""
        short = warning(f"the balance is too low{left}")
    terms = table((), rows) if rows else ""
    by = GUESSES.get(item.source, f"by {item.source}")
    return card(_total(item), terms + short + faint(escape(by)))


def quote_text(item: wire.Quote) -> str:
    """Return a price in one line."""
    return f"<Quote {_total(item)} · {GUESSES.get(item.source, item.source)}>"


def _total(item: wire.Quote) -> str:
    return f"about {credits(item.total)}" if item.source in GUESSES else credits(item.total)


def usual(model: wire.Model) -> str:
    """Return what a request with every default costs, and what each second adds; "" if unknown."""
    if model.credits_at_defaults is None:
        return ""
    seconds = (f"{figure(amount)}/s" for amount, _ in _seconds(model))
    return " + ".join([figure(model.credits_at_defaults), *seconds])


def sentence(model: wire.Model) -> str:
    """Return from how much on a model costs, what its defaults cost, and what a second costs."""
    words = [f"from {credits(model.credits_from)}"]
    if model.credits_at_defaults not in (None, model.credits_from):
        words.append(f"{credits(model.credits_at_defaults)} with its defaults")
    words += [f"{credits(amount)} a second of {medium}" for amount, medium in _seconds(model)]
    return ", ".join(words)


def _seconds(model: wire.Model) -> Iterator[tuple[Decimal, str]]:
    """Yield what a second of a medium costs with every default, and the medium."""
    if model.pricing is None:
        return
    usually = {parameter.name: parameter.default for parameter in model.setting_parameters}
    for unit in model.pricing.units:
        if unit.medium:
            alone = wire.Rule(units=[unit], multipliers=model.pricing.multipliers)
            second = {unit.medium: [pricing.Medium("", Fraction(1))]}
            terms = pricing.price(alone, usually, second).terms
            yield sum((t.credits for t in terms if t.kind != "rounding"), Decimal(0)), unit.medium


def offline(request: Request, settings: Mapping[str, Any]) -> wire.Quote | None:
    """Return the exact price, or None where the model has no rule or a file's length counts."""
    rule = request.model.pricing
    if rule is None or any(unit.medium in request.media for unit in rule.units if unit.medium):
        return None
    return pricing.price(rule, settings)


def guess(model: wire.Model) -> wire.Quote | None:
    """Return the price with the model's defaults, marked as what it is; None where unknown."""
    if model.credits_at_defaults is None:
        return None
    return wire.Quote(total=model.credits_at_defaults, source="default")


def text(quote: wire.Quote | None) -> str:
    """Return a price in one line of text."""
    if quote is None:
        return "price unknown"
    how = _SOURCES.get(quote.source, quote.source)
    return f"{_total(quote)}{f' ({how})' if how else ''}"


def line(quote: wire.Quote | None, *, asking: bool = False) -> str:
    """Draw the price beside the button: total, terms (whole on hover), balance after."""
    if quote is None:
        return faint("asking for the price …" if asking else "price unknown")
    terms = "; ".join(f"{term_text(t)} {signed_amount(t.credits)}" for t in quote.terms)
    how = _SOURCES.get(quote.source, quote.source)
    hover = escape(terms or how or credits(quote.total))
    causes = ", ".join(term_text(t) for t in quote.terms if t.parameter and t.credits)
    words = [how, f"for {causes}" if causes else ""]
    if quote.balance is not None and quote.affordable is not False:
        words.append(f"balance afterwards {figure(quote.balance - quote.total)}")
    words.append("asking …" if asking else "")
    shown = (
        f'<b title="{hover}">{escape(_total(quote))}</b> {faint(" · ".join(filter(None, words)))}'
    )
    if quote.affordable is not False:
        return shown
    available = "" if quote.balance is None else f", {figure(quote.balance)} available"
    lacking = f"not enough credits: {figure(quote.total)} needed{available}"
    return f'{shown} <div class="kit-bad" role="alert">{escape(lacking)}</div>'


def term_text(term: wire.Term) -> str:
    """Return what a term of a price is, in words."""
    if term.kind in ("base", "rounding") or term.parameter is None:
        return term.kind
    factor = f" × {term.factor:f}" if term.factor is not None else ""
    return f"{term.parameter} {term.value}{factor}"


def is_queued(item: wire.Generation) -> bool:
    """Return whether no worker has begun. Source: contract, "Generations"."""
    return item.started_at is None and not item.progress


def cancel_cost(running: Iterable[wire.Generation]) -> str:
    """Return what canceling costs at a service like ours: what nobody has begun is refunded."""
    sums = {"refunds": Decimal(0), "still costs": Decimal(0)}
    for item in running:
        sums["refunds" if is_queued(item) else "still costs"] += item.credits_charged or 0
    parts = [f"{verb} {credits(amount)}" for verb, amount in sums.items() if amount]
    return f"Cancel {' and '.join(parts)}" if parts else ""
