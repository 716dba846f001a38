"""Receipts out of a synced history: what generations were charged, whoever started them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from kit import wire
from kit.explore.learned.quotes import MOST, Sample, relevant

__all__ = ["MOST", "samples"]


def samples(model: wire.Model, paid: Iterable[Mapping[str, Any]]) -> list[Sample]:
    """Return what is to be learned from charges that are known.

    Parameters
    ----------
    paid : iterable of mapping
        See `kit.explore.archive.Archive.paid`. Those with a video or a sound are left out: a
        history does not know how long the file was, and the price may depend on it.

    Examples
    --------
    >>> hd = wire.Parameter(name="hd", type="boolean", default=False)
    >>> model = wire.Model(id="m", setting_parameters=[hd])
    >>> row = {"id": "gen_1", "credits": 0.5, "parameters": None, "media": None}
    >>> samples(model, [row])[0].values
    {'hd': False}
    """
    defaults = {p.name: p.default for p in model.setting_parameters}
    pictures = {p.name for p in model.media_parameters if p.type == "image"}
    return [
        Sample(
            model.id,
            relevant(model, {**defaults, **_object(row["parameters"])}),
            Decimal(str(row["credits"])),
            row["id"],
        )
        for row in paid
        if pictures.issuperset(_object(row["media"]))
    ]


def _object(text: str | None) -> dict[str, Any]:
    """Return the values of a JSON object that are there."""
    found = json.loads(text or "{}")
    return {k: v for k, v in found.items() if v is not None} if isinstance(found, dict) else {}
