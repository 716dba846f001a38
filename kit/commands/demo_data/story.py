"""What happened in a demo history: who asked for what, when, and how it went; all from one seed.

Nothing is rendered. What there is of time in it: a year that grows, weeks with quiet ends, days
with two peaks, a few campaigns, two bad days, and a model that came late.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from kit import pricing
from kit.wire import Model, Parameter

HOUR_MS = 3_600_000
_SUBJECTS = (
    "a lake between mountains",
    "a street in the rain",
    "a desert at noon",
    "a forest in fog",
    "an island from above",
    "a harbor with old boats",
    "a city skyline",
    "a field of flowers",
    "a frozen waterfall",
    "a lighthouse on a cliff",
    "a village under stars",
    "rolling hills",
)
_LIGHTS = ("at dawn", "golden hour", "at night", "overcast", "after a storm", "in winter light")
#: Reasons for a failure, with the code of each; the last is what bad days are made of.
_FAILURES = (
    ("the render took too long", "timeout"),
    ("the render used too much memory", "out_of_memory"),
    ("the worker was lost three times", "worker_lost"),
)
_QUIET_HOURS, _PEAKS = 0.15, ((11.0, 2.2, 1.0), (16.5, 2.8, 1.2))
_WEEK = (1.0, 1.05, 1.1, 1.05, 0.9, 0.45, 0.4)
_FAILED, _FAILED_ON_A_BAD_DAY, _CANCELED = 0.03, 0.3, 0.02


#: A generation as it went, in the columns of its row: all but its id, its output and who paid.
Event = dict[str, Any]


def story(
    models: Sequence[Model], count: int, *, seed: int, since: int, until: int
) -> Iterator[Event]:
    """Yield the generations of a demo history of models that need no files, oldest first."""
    draw = np.random.default_rng(seed)
    moments, bad = _moments(draw, count, since, until)
    ranks = 1.0 / np.arange(1, len(models) + 1)
    arrivals = np.where(np.arange(len(models)) % 4 == 3, since + (until - since) * 0.55, since)
    prices: dict[tuple[Any, ...], int] = {}
    for moment, trouble in zip(moments.tolist(), bad.tolist(), strict=True):
        shares = ranks * (arrivals <= moment)
        model = models[int(np.searchsorted(np.cumsum(shares), draw.random() * shares.sum()))]
        values = _values(draw, model)
        yield _event(draw, model, values, moment, until, trouble, _price(model, values, prices))


def _moments(draw: np.random.Generator, count: int, since: int, until: int) -> tuple[Any, Any]:
    """Return when orders came, rising, and whether that was on a bad day."""
    hours = np.arange(max(1, (until - since) // HOUR_MS))
    days, hour = hours // 24, hours % 24
    day = _QUIET_HOURS + sum(h * np.exp(-(((hour - at) / w) ** 2)) for at, w, h in _PEAKS)
    first = (since // (24 * HOUR_MS) + 3) % 7  # the first day of 1970 was a Thursday
    week = np.asarray(_WEEK)[(days + first) % 7]
    growth = 1.0 + 1.2 * hours / len(hours)
    campaigns = np.ones(len(hours))
    for begin in draw.integers(0, max(1, len(hours) - 96), 4):
        campaigns[begin : begin + 96] = 2.0
    weights = day * week * growth * campaigns
    chosen = np.sort(draw.choice(len(hours), count, p=weights / weights.sum()))
    moments = np.sort(since + chosen * HOUR_MS + draw.integers(0, HOUR_MS, count))
    bad_days = draw.choice(int(days[-1]) + 1, min(2, int(days[-1]) + 1), replace=False)
    return moments, np.isin((moments - since) // (24 * HOUR_MS), bad_days)


def _event(
    draw: np.random.Generator,
    model: Model,
    values: Mapping[str, Any],
    created: int,
    until: int,
    trouble: bool,
    price: int,
) -> Event:
    fate = draw.random()
    failing = _FAILED_ON_A_BAD_DAY if trouble else _FAILED
    state = (
        "failed" if fate < failing else "canceled" if fate < failing + _CANCELED else "completed"
    )
    begun = state != "canceled" or draw.random() < 0.5
    wait = int(1000 * draw.exponential(6.0 if trouble else 1.5)) + 40
    typical = 1.2 if model.asset_type == "image" else 14.0
    took = int(1000 * typical * math.sqrt(1 + price / 40) * draw.lognormal(0.0, 0.45)) + 60
    started = min(created + wait, until - 2)
    completed = min(started + took, until - 1)
    reason = _FAILURES[-1 if trouble else int(draw.integers(0, 2))] if state == "failed" else None
    prompt = f"{_one(draw, _SUBJECTS)}, {_one(draw, _LIGHTS)}" if model.supports_prompt else ""
    seed, refunded = values.get("seed"), state == "failed" or not begun
    return {
        "state": state,
        "asset_type": model.asset_type,
        "generation_type": f"text-to-{model.asset_type}",
        "model_id": model.id,
        "model_name": model.title,
        "prompt": prompt,
        "parameters": orjson.dumps(values).decode(),
        "media": "{}",
        "seed": seed if isinstance(seed, int) else int(draw.integers(0, 2**31)),
        "millicredits": price,
        "refunded": price if refunded else 0,
        "progress": 1.0 if state == "completed" else 0.0,
        "attempt": 1 if begun else 0,
        "losses": 0,
        "queue_round": 0,
        "owner": None,
        "lease_until": None,
        "error": reason and reason[0],
        "error_code": reason and reason[1],
        "created_at": created,
        "updated_at": completed,
        "started_at": started if begun else None,
        "completed_at": completed,
        "outputs_deleted_at": completed if state == "completed" else None,  # they were never made
        "file_metadata": 1,
    }


def _values(draw: np.random.Generator, model: Model) -> dict[str, Any]:
    found = {p.name: _value(draw, p) for p in model.setting_parameters}
    return {name: value for name, value in found.items() if value is not None}


def _value(draw: np.random.Generator, parameter: Parameter) -> Any:
    """Return a value: most people leave most settings alone."""
    least, most = parameter.minimum, parameter.maximum
    if parameter.name == "seed":
        return int(draw.integers(0, min(int(most or 2**31), 2**31)))
    if parameter.enum and (parameter.default is None or draw.random() < 0.45):
        return _one(draw, parameter.enum)
    if least is not None and most is not None and draw.random() < 0.25:
        # the lower half of the range: few ask for the longest and the largest
        share = 0.5 * int(draw.integers(0, 6)) / 5
        value = least + (most - least) * share
        return round(value) if parameter.type == "integer" else round(value, 2)
    if parameter.type == "string" and parameter.required and parameter.default is None:
        return _one(draw, _SUBJECTS)
    return parameter.default


def _one(draw: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(draw.random() * len(choices))]


def _price(model: Model, values: Mapping[str, Any], known: dict[tuple[Any, ...], int]) -> int:
    rule = pricing.rule_of(model)
    names = [u.parameter for u in rule.units] + [m.parameter for m in rule.multipliers]
    key = (model.id, *(str(values.get(name or "")) for name in names))
    if key not in known:
        known[key] = pricing.cost(rule, values)
    return known[key]
