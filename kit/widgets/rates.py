"""Prices in words, where there is no request yet: what a second of an input adds is said too."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from kit import pricing, wire
from kit.widgets.cards import credits, figure

__all__ = ["sentence", "usual"]


def usual(model: wire.Model) -> str:
    """Return what a request with every default costs, and what each second adds; "" if unknown.

    Examples
    --------
    >>> second = {"medium": "audio", "credits": 0.03}
    >>> model = wire.Model(id="lip", asset_type="video", pricing={"base": 0.02, "units": [second]})
    >>> usual(model.model_copy(update={"credits_at_defaults": Decimal("0.02")}))
    '0.02 + 0.03/s'
    """
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
