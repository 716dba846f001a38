"""The price book: paid prices by settings, and quotes learned from them.

It is for models whose service publishes no price rule. A learned price always has its error and the
number of its receipts. Without support from receipts there is no price: for a setting that never
varied, or a value that was never used.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.explore.frames import read_object
from kit.private import JsonLines

if TYPE_CHECKING:
    from kit.explore.fitting import PriceFit

_CENT = Decimal("0.01")
#: Maximum of receipts used, the newest ones.
MAX_USED = 200


class LearnedQuote(wire.Quote):
    """A price learned from receipts.

    ``error`` is the largest expected error, in credits; ``samples`` the number of receipts.
    """

    source: str = "receipts"
    error: wire.Credits
    samples: int


@dataclass(frozen=True, slots=True)
class Sample:
    """A receipt: the settings of a request to a model, and its charge."""

    model_id: str
    values: Mapping[str, Any]
    credits: Decimal
    id: str | None = None  # of the generation; old receipts have none


class PriceBook:
    """The charges at one service, kept on this computer."""

    def __init__(self, lines: JsonLines) -> None:
        self._lines = lines
        self._lock = threading.Lock()
        self._samples: dict[str, list[Sample]] | None = None
        self._past: dict[str, Sequence[Sample]] = {}
        self._fits: dict[str, tuple[Sequence[Sample], PriceFit | None]] = {}

    def __repr__(self) -> str:
        return f"<PriceBook {sum(map(len, self._load().values()))} receipts>"

    def add(
        self,
        model: wire.Model,
        values: Mapping[str, Any],
        credits: Decimal,
        generation_id: str | None = None,
    ) -> None:
        """Record the charge of a request."""
        settings = priced_settings(model, values)
        with self._lock:
            sample = Sample(model.id, settings, credits, generation_id)
            self._load().setdefault(model.id, []).append(sample)
            record = {"model": model.id, "values": settings, "credits": str(credits)}
            self._lines.append({**record, **({"id": generation_id} if generation_id else {})})

    def learn(self, model: wire.Model, past: Sequence[Sample]) -> None:
        """Learn from the charges of a model in a history, in the order of payment.

        They replace those of the last history and are not recorded, as the history has its own
        files.
        """
        with self._lock:
            self._past[model.id] = past

    def quote(self, model: wire.Model, values: Mapping[str, Any]) -> LearnedQuote | None:
        """Return the price of a request according to the receipts, or None."""
        with self._lock:
            samples = self._list_samples(model.id)
        settings = priced_settings(model, values)
        same = [s.credits for s in samples if s.values == settings]
        if same:
            return _quote(same[-1], max(same) - min(same), len(same))
        found = self._fit(model.id, samples)
        guess = found.price(settings) if found else None
        if found is None or guess is None:
            return None
        price, error = (Decimal(str(x)).quantize(_CENT, ROUND_HALF_UP) for x in guess)
        return _quote(price, max(error, _CENT), found.count) if price else None

    def _list_samples(self, model_id: str) -> list[Sample]:
        """Return all receipts of a model without duplicates, in the order of payment."""
        own, past = self._load().get(model_id, ()), self._past.get(model_id, ())
        past_ids = {sample.id for sample in past}
        return [
            *(sample for sample in own if sample.id is None),
            *past,
            *(sample for sample in own if sample.id and sample.id not in past_ids),
        ]

    def _fit(self, model_id: str, samples: Sequence[Sample]) -> PriceFit | None:
        cached = self._fits.get(model_id)
        if cached is None or cached[0] != samples:
            # imported here: most services have price rules, and numpy takes time to load
            from kit.explore.fitting import fit

            learned = fit([(s.values, float(s.credits)) for s in samples[-MAX_USED:]])
            cached = self._fits[model_id] = (samples, learned)
        return cached[1]

    def _load(self) -> dict[str, list[Sample]]:
        if self._samples is None:
            self._samples = {}
            for sample in filter(None, map(_read, self._lines)):
                self._samples.setdefault(sample.model_id, []).append(sample)
        return self._samples


def make_samples(model: wire.Model, paid: Iterable[Mapping[str, Any]]) -> list[Sample]:
    """Convert known charges to samples.

    `paid`: see `kit.explore.archive.Archive.charges`. Those with a video or audio file are
    left out: a history does not contain its duration, and the price may depend on it.
    """
    defaults = {p.name: p.default for p in model.setting_parameters}
    pictures = {p.name for p in model.media_parameters if p.type == "image"}
    return [
        Sample(
            model.id,
            priced_settings(model, {**defaults, **read_object(row["parameters"])}),
            Decimal(str(row["credits"])),
            row["id"],
        )
        for row in paid
        if pictures.issuperset(read_object(row["media"]))
    ]


def priced_settings(model: wire.Model, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that a price may depend on: no seeds, free texts or lists."""
    free = {
        p.name
        for p in model.setting_parameters
        if p.name == "seed"
        or p.max_items is not None
        or (not p.enum and isinstance(values.get(p.name), str))
    }
    types = (bool, int, float, str)
    return {n: v for n, v in values.items() if n not in free and isinstance(v, types)}


def _quote(total: Decimal, error: Decimal, count: int) -> LearnedQuote:
    receipts = f"{count} receipt{'' if count == 1 else 's'}"
    kind = f"learned from {receipts}, ± {float(error):g}"
    terms = [wire.Term(kind=kind, credits=total)]
    return LearnedQuote(total=total, error=error, samples=count, terms=terms)


def _read(record: Mapping[str, Any]) -> Sample | None:
    try:
        credits = Decimal(record["credits"])
        return Sample(str(record["model"]), dict(record["values"]), credits, record.get("id"))
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return None
