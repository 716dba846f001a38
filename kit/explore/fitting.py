"""Fits: finds the price structure that explains receipts best, by cross-validation.

Three structures compete: a sum (each setting adds), a product (each setting multiplies), and
``(base + units) x factors`` as in the kit's own rules. A setting is included only if it improves
the prediction of left-out receipts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = Mapping[str, Any]
Array: TypeAlias = NDArray[np.float64]
Predict: TypeAlias = Callable[[Sequence[Values]], Array]

#: Minimum of receipts to learn how settings change a price.
MIN_RECEIPTS = 3
#: Number of folds of the cross-validation.
FOLDS = 8
#: Prices are rounded to 1/100 credit: errors up to half of it are rounding.
_ROUNDING = 0.0051
#: Iterations of fitting a rule: few while settings are selected, more afterwards.
_ROUNDS, _FINAL_ROUNDS = 12, 60
_MAX_SETTINGS = 4


@dataclass(frozen=True, slots=True)
class PriceFit:
    """A learned price."""

    structure: str
    names: tuple[str, ...]  # settings it depends on
    error: float  # largest error on left-out receipts, in credits
    count: int  # number of receipts
    predict: Predict
    observed: Mapping[str, frozenset[Any]]

    def price(self, values: Values) -> tuple[float, float] | None:
        """Return a request's price and its error in credits; None without enough receipts."""
        nearest = dict(values)
        for name, choices in self.observed.items():
            value = values.get(name)
            if value in choices:
                continue
            if name not in self.names or not _is_number(value) or not all(map(_is_number, choices)):
                return None
            nearest[name] = min(max(value, min(choices)), max(choices))
        price, inner = (float(p) for p in self.predict([values, nearest]))
        # beyond the seen range, the difference to the nearest seen value is uncertain as well
        return (price, max(self.error, abs(price - inner))) if price > 0 else None


def fit(samples: Sequence[tuple[Values, float]]) -> PriceFit | None:
    """Return the price that explains settings and their credits best, or None for too few.

    Samples are in the order of their payment.
    """
    if len(samples) < MIN_RECEIPTS:
        return None
    rows, paid = [values for values, _ in samples], np.array([credits for _, credits in samples])
    names = dict.fromkeys(name for row in rows for name in row)
    observed = {name: frozenset(row.get(name) for row in rows) for name in names}
    candidates = (_select_settings(structure, rows, paid, observed) for structure in STRUCTURES)
    _, found, structure = min(candidates, key=_rank)
    fitter = _rule(found, _FINAL_ROUNDS) if structure == "rule" else STRUCTURES[structure](found)
    error = float(np.max(_errors(fitter, rows, paid)))
    if error > 0.5 * float(np.mean(paid)):
        return None
    return PriceFit(structure, found, error, len(rows), fitter(rows, paid), observed)


Fitter: TypeAlias = Callable[[Sequence[Values], Array], Predict]
Candidate: TypeAlias = tuple[float, tuple[str, ...], str]


def _rank(candidate: Candidate) -> tuple[float, int]:
    error, names, _ = candidate
    return max(error, _ROUNDING), len(names)


def _select_settings(
    structure: str, rows: Sequence[Values], paid: Array, observed: Mapping[str, frozenset[Any]]
) -> Candidate:
    """Add one setting after the other, as long as left-out receipts are predicted better."""
    varied = [name for name, values in observed.items() if len(values) > 1]

    def attempt(names: tuple[str, ...]) -> Candidate:
        errors = _errors(STRUCTURES[structure](names), rows, paid)
        return float(np.sqrt(np.mean(np.square(errors)))), names, structure

    best = attempt(())
    while best[0] > _ROUNDING and len(best[1]) < _MAX_SETTINGS:
        candidates = (attempt((*best[1], name)) for name in varied if name not in best[1])
        found = min(candidates, key=_rank, default=None)
        if found is None or found[0] > 0.95 * best[0]:
            break
        best = found
    return best


def _errors(fitter: Fitter, rows: Sequence[Values], paid: Array) -> Array:
    """Return the error on each receipt, predicted by a fit without it."""
    errors = np.zeros(len(rows))
    parts = np.arange(len(rows)) % min(FOLDS, len(rows))
    for part in range(int(parts.max()) + 1):
        held_out = parts == part
        training = [row for row, is_held_out in zip(rows, held_out, strict=True) if not is_held_out]
        tested = [row for row, is_held_out in zip(rows, held_out, strict=True) if is_held_out]
        errors[held_out] = np.abs(fitter(training, paid[~held_out])(tested) - paid[held_out])
    return np.where(np.isfinite(errors), errors, np.inf)


def _sum(names: tuple[str, ...]) -> Fitter:
    def fitted(rows: Sequence[Values], paid: Array) -> Predict:
        design = _design(names, rows, float)
        weights = _solve(design(rows), paid)
        return lambda requests: design(requests) @ weights

    return fitted


def _product(names: tuple[str, ...]) -> Fitter:
    def fitted(rows: Sequence[Values], paid: Array) -> Predict:
        design = _design(names, rows, lambda value: math.log(max(value, 1e-9)))
        weights = _solve(design(rows), np.log(np.maximum(paid, 1e-9)))
        return lambda requests: np.exp(np.clip(design(requests) @ weights, -30.0, 30.0))

    return fitted


def _rule(names: tuple[str, ...], rounds: int = _ROUNDS) -> Fitter:
    """Fit ``(base + units) x factors`` alternately: the sum for given factors, then each factor."""

    def fitted(rows: Sequence[Values], paid: Array) -> Predict:
        counts = tuple(n for n in names if all(_is_number(row.get(n)) for row in rows))
        choices = [n for n in names if n not in counts]
        design = _design(counts, rows, float)
        table = design(rows)
        factors: dict[str, dict[Any, float]] = {
            name: dict.fromkeys((row.get(name) for row in rows), 1.0) for name in choices
        }

        def scale(requests: Sequence[Values]) -> Array:
            each = [math.prod(factors[n].get(row.get(n), 1.0) for n in choices) for row in requests]
            return np.array(each, dtype=np.float64)

        weights = _solve(table, paid)
        for _ in range(rounds if choices else 0):
            for name in choices:
                chosen = [row.get(name) for row in rows]
                _improve(factors[name], chosen, paid, table @ weights * scale(rows))
            weights = _solve(table * scale(rows)[:, None], paid)
        return lambda requests: design(requests) @ weights * scale(requests)

    return fitted


def _improve(
    factors: dict[Any, float], chosen: Sequence[Any], paid: Array, predicted: Array
) -> None:
    """Set each value's factor to the best fit of receipts with that value; the first stays 1."""
    for value in list(factors)[1:]:
        matching = np.array([one == value for one in chosen])
        expected = predicted[matching] / factors[value]
        power = float(expected @ expected)
        if power > 0:
            factors[value] = max(float(expected @ paid[matching]) / power, 1e-6)


#: Name of a structure -> function that returns its fitter for some settings.
STRUCTURES: dict[str, Callable[[tuple[str, ...]], Fitter]] = {
    "sum": _sum,
    "product": _product,
    "rule": _rule,
}


def _design(
    names: tuple[str, ...], rows: Sequence[Values], number: Callable[[float], float]
) -> Callable[[Sequence[Values]], Array]:
    """Return the function that encodes requests as rows of numbers: 1, then each setting."""
    columns: list[Callable[[Values], float]] = [lambda _: 1.0]
    for name in names:
        if all(_is_number(row.get(name)) for row in rows):
            columns.append(lambda row, name=name: number(float(row.get(name) or 0.0)))  # type: ignore[misc]
        else:
            for value in list(dict.fromkeys(row.get(name) for row in rows))[1:]:
                columns.append(lambda row, n=name, v=value: float(row.get(n) == v))  # type: ignore[misc]
    return lambda requests: np.array([[column(row) for column in columns] for row in requests])


def _solve(table: Array, paid: Array) -> Array:
    return np.asarray(np.linalg.lstsq(table, paid, rcond=None)[0], dtype=np.float64)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
