"""Prices: how quotes are displayed; estimates are marked everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from html import escape
from typing import Any

from kit import pricing, wire
from kit.parameters import Request
from kit.widgets.markup import card, credits, faint, figure, signed_amount, table, warning

#: Sources of prices that may differ from the charge -> their labels.
ESTIMATES = {
    "default": "estimated, with the model's defaults",
    "receipts": "estimated from earlier receipts",
}
#: Sources of prices -> how reliable they are.
_SOURCES = {"rule": "", "service": "from the service", **ESTIMATES}


def quote(item: wire.Quote) -> str:
    """Draw a price with its terms."""
    rows = [(escape(term_text(t)), escape(signed_amount(t.credits))) for t in item.terms]
    short = ""
    if item.affordable is False:
        left = f": {credits(item.balance)}" if item.balance is not None else ""
        short = warning(f"the balance is too low{left}")
    terms = table((), rows) if rows else ""
    by = ESTIMATES.get(item.source, f"by {item.source}")
    return card(_total(item), terms + short + faint(by))


def quote_text(item: wire.Quote) -> str:
    """Return a price in one line."""
    return f"<Quote {_total(item)} · {ESTIMATES.get(item.source, item.source)}>"


def _total(item: wire.Quote) -> str:
    return f"about {credits(item.total)}" if item.source in ESTIMATES else credits(item.total)


def usual_price(model: wire.Model) -> str:
    """Return the price at default settings, plus that of each second; empty if unknown."""
    if model.credits_at_defaults is None:
        return ""
    seconds = (f"{figure(amount)}/s" for amount, _ in _seconds(model))
    return " + ".join([figure(model.credits_at_defaults), *seconds])


def price_sentence(model: wire.Model) -> str:
    """Return the lowest price of a model, the price at defaults, and that of a second."""
    lowest, usual = model.credits_from, model.credits_at_defaults
    words = [] if lowest is None else [f"from {credits(lowest)}"]
    if usual not in (None, lowest):
        words.append(f"{credits(usual)} with its defaults")
    words += [f"{credits(amount)} a second of {medium}" for amount, medium in _seconds(model)]
    return ", ".join(words) or credits(None)


def _seconds(model: wire.Model) -> Iterator[tuple[Decimal, str]]:
    """Yield the price of a second of a medium at default settings, and the medium."""
    if model.pricing is None:
        return
    defaults = {parameter.name: parameter.default for parameter in model.setting_parameters}
    for unit in model.pricing.units:
        if unit.medium:
            unit_rule = wire.Rule(units=[unit], multipliers=model.pricing.multipliers)
            second = {unit.medium: [pricing.Medium("", Fraction(1))]}
            terms = pricing.price(unit_rule, defaults, second).terms
            yield sum((t.credits for t in terms if t.kind != "rounding"), Decimal(0)), unit.medium


def exact_price(request: Request, settings: Mapping[str, Any]) -> wire.Quote | None:
    """Return the exact price, or None without a rule, or if it depends on a file's length."""
    rule = request.model.pricing
    if rule is None or any(unit.medium in request.media for unit in rule.units if unit.medium):
        return None
    return pricing.price(rule, settings)


def default_price(model: wire.Model) -> wire.Quote | None:
    """Return the price with the model's defaults, marked as an estimate; None if unknown."""
    if model.credits_at_defaults is None:
        return None
    return wire.Quote(total=model.credits_at_defaults, source="default")


def text(quote: wire.Quote | None) -> str:
    """Return a price in one line of text."""
    if quote is None:
        return "price unknown"
    source = _SOURCES.get(quote.source, quote.source)
    return f"{_total(quote)}{f' ({source})' if source else ''}"


def line(quote: wire.Quote | None, *, asking: bool = False) -> str:
    """Draw the price beside the button: total, terms (in full as tooltip), balance after."""
    if quote is None:
        return faint("asking for the price …" if asking else "price unknown")
    terms = "; ".join(f"{term_text(t)} {signed_amount(t.credits)}" for t in quote.terms)
    source = _SOURCES.get(quote.source, quote.source)
    hover = escape(terms or source or credits(quote.total))
    causes = ", ".join(term_text(t) for t in quote.terms if t.parameter and t.credits)
    words = [source, f"for {causes}" if causes else ""]
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
    """Return a term of a price as text."""
    if term.kind in ("base", "rounding") or term.parameter is None:
        return term.kind
    factor = f" × {term.factor:f}" if term.factor is not None else ""
    return f"{term.parameter} {term.value}{factor}"


def is_queued(item: wire.Generation) -> bool:
    """Return whether no worker has started it. Source: contract, "Generations"."""
    return item.started_at is None and not item.progress


def cancel_cost(running: Iterable[wire.Generation]) -> str:
    """Return the cost of canceling at a service like ours: queued generations are refunded."""
    sums = {"refunds": Decimal(0), "still costs": Decimal(0)}
    for item in running:
        sums["refunds" if is_queued(item) else "still costs"] += item.credits_charged or 0
    parts = [f"{verb} {credits(amount)}" for verb, amount in sums.items() if amount]
    return f"Cancel {' and '.join(parts)}" if parts else ""
