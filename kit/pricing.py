"""Prices: a pure function that computes a quote from a price rule and a request.

The service charges with it and the notebook estimates with it, so an estimate equals the charge.
All arithmetic is on exact fractions; the total is rounded up once, to 1/100 credit.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, NamedTuple

from kit.errors import ConfigError
from kit.wire import Amount, Model, Multiplier, Parameter, Quote, Rule, Term, UnitPrice

#: Ledger units in a credit.
UNITS_PER_CREDIT = 1000
#: Credits for a title, and for each variation of a script. Source: API document, "Limits".
TITLE_CREDITS, SCRIPT_CREDITS = Decimal("0.05"), Decimal("0.15")
_HUNDREDTHS = 100
#: The shortest recorded duration of a file, in seconds.
_MIN_SECONDS = Fraction(1, 1000)


@dataclass(frozen=True, slots=True)
class Medium:
    """The properties of an input file in a price: its kind, and its duration if it has one."""

    kind: str
    seconds: Fraction = Fraction(0)


Media = Mapping[str, Sequence[Medium]]


def price(rule: Rule, parameters: Mapping[str, Any], media: Media | None = None) -> Quote:
    """Return the price of a request with its terms.

    `parameters` are validated and include all defaults; those without a value add nothing. The
    terms of the quote add up exactly to its total, in millicredits.

    Examples
    --------
    >>> from kit.wire import Rule
    >>> second = {"parameter": "duration", "credits": 0.02}
    >>> rule = Rule.model_validate({"base": 0.1, "units": [second]})
    >>> price(rule, {"duration": 5}).total
    Decimal('0.2')

    Source: contract, "Pricing".
    """
    parts = list(_price_terms(rule, parameters, media or {}))
    units = _round_to_units(parts)
    if (rest := Fraction(units, UNITS_PER_CREDIT) - sum(part.exact for part in parts)) > 0:
        parts.append(_PriceTerm("rounding", None, None, rest))
    return Quote(total=credits(units), terms=[part.term() for part in parts])


def cost(rule: Rule, parameters: Mapping[str, Any], media: Media | None = None) -> int:
    """Return the total of a request's quote in ledger units, without its terms."""
    return _round_to_units(_price_terms(rule, parameters, media or {}))


def lowest_price(model: Model) -> Decimal:
    """Return the lowest price of any valid request for a model, in credits.

    Required files count with the shortest possible duration, which may add a hundredth of a credit.

    Source: contract, "Models", ``creditsFrom``.
    """
    rule = rule_of(model)
    needed = [p for p in model.media_parameters if p.required and p.type != "image"]
    media = {p.name: [Medium(p.type, _MIN_SECONDS)] for p in needed}
    names = {u.parameter for u in rule.units} | {m.parameter for m in rule.multipliers}
    used = [p for p in model.setting_parameters if p.name in names]
    choices = ([(p.name, value) for value in _possible_values(p)] for p in used)
    return credits(min(cost(rule, dict(pairs), media) for pairs in itertools.product(*choices)))


def default_price(model: Model) -> Decimal:
    """Return the price of a request with all defaults, in credits, without durations of media.

    A required parameter without a default counts with its first allowed value.
    """
    values = {
        p.name: next(_possible_values(p)) if p.required and p.default is None else p.default
        for p in model.setting_parameters
    }
    return price(rule_of(model), values).total


def rule_of(model: Model) -> Rule:
    """Return a model's price rule; raises `ConfigError` if it has none."""
    if model.pricing is None:
        raise ConfigError(f"the model {model.id!r} has no price rule")
    return model.pricing


def check_rule(model: Model) -> None:
    """Check that a model's price rule can price every valid request.

    Raises `ConfigError` if it is missing, negative, or names a parameter that cannot have a price.
    """
    rule = rule_of(model)
    settings = {p.name: p for p in model.setting_parameters}
    media = {p.name: p for p in model.media_parameters}
    for problem in _rule_problems(rule, settings, media):
        raise ConfigError(f"the price rule of the model {model.id!r} {problem}")


def millicredits(credits: Decimal) -> int:
    """Convert credits to ledger units; raises `ValueError` for fractions of a unit."""
    units = credits * UNITS_PER_CREDIT
    if units != units.to_integral_value():
        raise ValueError(f"{credits} credits is finer than 1/{UNITS_PER_CREDIT} credit")
    return int(units)


def credits(millicredits: int) -> Decimal:
    """Convert ledger units to credits, without trailing zeros."""
    return _decimal(millicredits, UNITS_PER_CREDIT)


def parse_credits(amount: Decimal | float | str, what: str) -> Decimal:
    """Convert a user's amount of credits exactly: 0.1 is a tenth.

    Raises `ConfigError`: it is not a number, or below 0; the sentence begins with `what`.

    Examples
    --------
    >>> parse_credits(0.1, "a budget") + parse_credits("0.2", "a budget")
    Decimal('0.3')
    """
    try:
        value = Amount(str(amount))
    except InvalidOperation:
        value = Amount("nan")
    if not value.is_finite() or value < 0:
        raise ConfigError(f"{what} is 0 credits or more, not {amount!r}")
    return value


def _rule_problems(
    rule: Rule, settings: Mapping[str, Parameter], media: Mapping[str, Parameter]
) -> Iterator[str]:
    if rule.base < 0 or any(unit.credits < 0 for unit in rule.units):
        yield "has a negative price"
    if any(factor <= 0 for m in rule.multipliers for factor in m.values.values()):
        yield "has a multiplier that is not positive"
    for unit in rule.units:
        yield from _unit_problems(unit, settings, media)
    for multiplier in rule.multipliers:
        yield from _choice_problems(multiplier, settings.get(multiplier.parameter))


def _unit_problems(
    unit: UnitPrice, settings: Mapping[str, Parameter], media: Mapping[str, Parameter]
) -> Iterator[str]:
    if (unit.parameter is None) == (unit.medium is None):
        yield "has a unit price that needs exactly one of parameter and medium"
    elif unit.medium is not None and unit.medium not in media:
        yield f"names the medium {unit.medium!r}, which the model does not take"
    elif unit.parameter is not None:
        yield from _count_problems(unit.parameter, settings.get(unit.parameter))


def _count_problems(name: str, parameter: Parameter | None) -> Iterator[str]:
    if parameter is None:
        yield f"names the parameter {name!r}, which the model does not take"
    elif parameter.type not in ("integer", "number") or parameter.max_items is not None:
        yield f"counts units of {name!r}, which is not a number"
    elif min(parameter.enum or [parameter.minimum or 0]) < 0:
        yield f"counts units of {name!r}, which can be below 0"
    elif parameter.minimum is None and not parameter.enum:
        yield f"counts units of {name!r}, which has no minimum"


def _choice_problems(multiplier: Multiplier, parameter: Parameter | None) -> Iterator[str]:
    name = multiplier.parameter
    if parameter is None:
        yield f"names the parameter {name!r}, which the model does not take"
    elif not parameter.enum and parameter.type != "boolean":
        yield f"multiplies by the value of {name!r}, which has no fixed set of values"
    else:
        values = {_multiplier_key(value) for value in parameter.enum or (False, True)}
        for unknown in multiplier.values.keys() - values:
            yield f"multiplies by {name!r} being {unknown!r}, which it cannot be"


def _possible_values(parameter: Parameter) -> Iterator[Any]:
    """Yield values of a parameter that include its cheapest one; None is leaving it out."""
    if parameter.default is None and not parameter.required:
        yield None
    if parameter.enum:
        yield from parameter.enum
    elif parameter.type == "boolean":
        yield from (False, True)
    else:
        yield parameter.minimum


def _unit_amount(unit: UnitPrice, parameters: Mapping[str, Any], media: Media) -> Fraction:
    if unit.parameter is None:
        return sum((m.seconds for m in media.get(unit.medium or "", ())), Fraction(0))
    value = parameters.get(unit.parameter)
    return Fraction(0) if value is None else Fraction(str(value))


class _PriceTerm(NamedTuple):
    """A term of a price as an exact fraction."""

    kind: str
    parameter: str | None
    value: Any
    exact: Fraction
    factor: Decimal | None = None

    def term(self) -> Term:
        return Term(
            kind=self.kind,
            parameter=self.parameter,
            value=self.value,
            factor=self.factor,
            credits=Amount(_decimal(*self.exact.as_integer_ratio())),
        )


def _price_terms(rule: Rule, parameters: Mapping[str, Any], media: Media) -> Iterator[_PriceTerm]:
    exact = Fraction(rule.base)
    if rule.base:
        yield _PriceTerm("base", None, None, exact)
    for unit in rule.units:
        amount = _unit_amount(unit, parameters, media)
        added = Fraction(unit.credits) * amount
        exact += added
        number = int(amount) if amount.denominator == 1 else float(amount)
        yield _PriceTerm("unit", unit.parameter or unit.medium, number, added)
    for multiplier in rule.multipliers:
        value = parameters.get(multiplier.parameter)
        factor = multiplier.values.get(_multiplier_key(value)) if value is not None else None
        if factor is None or factor == 1:
            continue
        added = exact * Fraction(factor) - exact
        exact += added
        yield _PriceTerm("multiplier", multiplier.parameter, value, added, factor)


def _round_to_units(parts: Iterable[_PriceTerm]) -> int:
    """Return the sum of parts in ledger units, rounded up to hundredths of a credit."""
    return math.ceil(sum(part.exact for part in parts) * _HUNDREDTHS) * (
        UNITS_PER_CREDIT // _HUNDREDTHS
    )


def _decimal(numerator: int, denominator: int) -> Decimal:
    """Convert a fraction to a Decimal; rules and amounts are decimal numbers, so it is exact."""
    value = Decimal(numerator) / denominator
    return value.normalize() if value % 1 else value.quantize(Decimal(1))


def _multiplier_key(value: Any) -> str:
    """Return the key of a value in a multiplier: ``true``, ``2``, ``720p``."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
