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
LEAST = 3
#: Number of folds of the cross-validation.
FOLDS = 8
#: Prices are rounded to 1/100 credit: errors up to half of it are rounding.
_ROUNDING = 0.0051
#: Iterations of fitting a rule: few while settings are selected, more afterwards.
_ROUNDS, _FINE = 12, 60
_SETTINGS_AT_MOST = 4


@dataclass(frozen=True, slots=True)
class PriceFit:
    """A learned price."""

    structure: str
    names: tuple[str, ...]  # settings it depends on
    error: float  # largest error on left-out receipts, in credits
    count: int  # number of receipts
    predict: Predict
    seen: Mapping[str, frozenset[Any]]

    def price(self, values: Values) -> tuple[float, float] | None:
        """Return a request's price and its error in credits; None without enough receipts."""
        near = dict(values)
        for name, known in self.seen.items():
            value = values.get(name)
            if value in known:
                continue
            if name not in self.names or not _number(value) or not all(map(_number, known)):
                return None
            near[name] = min(max(value, min(known)), max(known))
        price, inside = (float(p) for p in self.predict([values, near]))
        # beyond the seen range, the difference to the nearest seen value is uncertain as well
        return (price, max(self.error, abs(price - inside))) if price > 0 else None


def fit(samples: Sequence[tuple[Values, float]]) -> PriceFit | None:
    """Return the price that explains settings and their credits best, or None for too few.

    Samples are in the order of their payment.
    """
    if len(samples) < LEAST:
        return None
    rows, paid = [values for values, _ in samples], np.array([credits for _, credits in samples])
    names = dict.fromkeys(name for row in rows for name in row)
    seen = {name: frozenset(row.get(name) for row in rows) for name in names}
    grown = (_grow(structure, rows, paid, seen) for structure in STRUCTURES)
    _, found, structure = min(grown, key=_rank)
    fitter = _rule(found, _FINE) if structure == "rule" else STRUCTURES[structure](found)
    error = float(np.max(_errors(fitter, rows, paid)))
    if error > 0.5 * float(np.mean(paid)):
        return None
    return PriceFit(structure, found, error, len(rows), fitter(rows, paid), seen)


Fitter: TypeAlias = Callable[[Sequence[Values], Array], Predict]
Candidate: TypeAlias = tuple[float, tuple[str, ...], str]


def _rank(candidate: Candidate) -> tuple[float, int]:
    error, names, _ = candidate
    return max(error, _ROUNDING), len(names)


def _grow(
    structure: str, rows: Sequence[Values], paid: Array, seen: Mapping[str, frozenset[Any]]
) -> Candidate:
    """Add one setting after the other, as long as left-out receipts are predicted better."""
    varied = [name for name, values in seen.items() if len(values) > 1]

    def attempt(names: tuple[str, ...]) -> Candidate:
        errors = _errors(STRUCTURES[structure](names), rows, paid)
        return float(np.sqrt(np.mean(np.square(errors)))), names, structure

    best = attempt(())
    while best[0] > _ROUNDING and len(best[1]) < _SETTINGS_AT_MOST:
        tried = (attempt((*best[1], name)) for name in varied if name not in best[1])
        found = min(tried, key=_rank, default=None)
        if found is None or found[0] > 0.95 * best[0]:
            break
        best = found
    return best


def _errors(fitter: Fitter, rows: Sequence[Values], paid: Array) -> Array:
    """Return the error on each receipt, predicted by a fit without it."""
    errors = np.zeros(len(rows))
    parts = np.arange(len(rows)) % min(FOLDS, len(rows))
    for part in range(int(parts.max()) + 1):
        out = parts == part
        kept = [row for row, left in zip(rows, out, strict=True) if not left]
        asked = [row for row, left in zip(rows, out, strict=True) if left]
        errors[out] = np.abs(fitter(kept, paid[~out])(asked) - paid[out])
    return np.where(np.isfinite(errors), errors, np.inf)


def _sum(names: tuple[str, ...]) -> Fitter:
    def fitted(rows: Sequence[Values], paid: Array) -> Predict:
        design = _design(names, rows, float)
        weights = _solve(design(rows), paid)
        return lambda asked: design(asked) @ weights

    return fitted


def _product(names: tuple[str, ...]) -> Fitter:
    def fitted(rows: Sequence[Values], paid: Array) -> Predict:
        design = _design(names, rows, lambda value: math.log(max(value, 1e-9)))
        weights = _solve(design(rows), np.log(np.maximum(paid, 1e-9)))
        return lambda asked: np.exp(np.clip(design(asked) @ weights, -30.0, 30.0))

    return fitted


def _rule(names: tuple[str, ...], rounds: int = _ROUNDS) -> Fitter:
    """Fit ``(base + units) x factors`` alternately: the sum for given factors, then each factor."""

    def fitted(rows: Sequence[Values], paid: Array) -> Predict:
        counts = tuple(n for n in names if all(_number(row.get(n)) for row in rows))
        choices = [n for n in names if n not in counts]
        design = _design(counts, rows, float)
        table = design(rows)
        factors: dict[str, dict[Any, float]] = {
            name: dict.fromkeys((row.get(name) for row in rows), 1.0) for name in choices
        }

        def scale(asked: Sequence[Values]) -> Array:
            each = [math.prod(factors[n].get(row.get(n), 1.0) for n in choices) for row in asked]
            return np.array(each, dtype=np.float64)

        weights = _solve(table, paid)
        for _ in range(rounds if choices else 0):
            for name in choices:
                chosen = [row.get(name) for row in rows]
                _improve(factors[name], chosen, paid, table @ weights * scale(rows))
            weights = _solve(table * scale(rows)[:, None], paid)
        return lambda asked: design(asked) @ weights * scale(asked)

    return fitted


def _improve(
    factors: dict[Any, float], chosen: Sequence[Any], paid: Array, predicted: Array
) -> None:
    """Set each value's factor to the best fit of receipts with that value; the first stays 1."""
    for value in list(factors)[1:]:
        mine = np.array([one == value for one in chosen])
        expected = predicted[mine] / factors[value]
        power = float(expected @ expected)
        if power > 0:
            factors[value] = max(float(expected @ paid[mine]) / power, 1e-6)


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
        if all(_number(row.get(name)) for row in rows):
            columns.append(lambda row, name=name: number(float(row.get(name) or 0.0)))  # type: ignore[misc]
        else:
            for value in list(dict.fromkeys(row.get(name) for row in rows))[1:]:
                columns.append(lambda row, n=name, v=value: float(row.get(n) == v))  # type: ignore[misc]
    return lambda asked: np.array([[column(row) for column in columns] for row in asked])


def _solve(table: Array, paid: Array) -> Array:
    return np.asarray(np.linalg.lstsq(table, paid, rcond=None)[0], dtype=np.float64)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
