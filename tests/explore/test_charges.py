from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from kit import wire
from kit.explore import charges
from tests.explore.fake_service import read_page

RULE = wire.Model.model_validate(
    {
        "id": "ruled",
        "settingParameters": [{"name": "seconds", "type": "integer", "default": 4}],
        "pricing": {"base": 0.1, "units": [{"parameter": "seconds", "credits": 0.05}]},
    }
)
PLAIN = wire.Model(id="plain", credits_at_defaults=Decimal("0.25"))
METERED = wire.Model.model_validate(
    {"id": "metered", "pricing": {"base": 0, "units": [{"medium": "audio", "credits": 1}]}}
)
MODELS = {model.id: model for model in (RULE, PLAIN, METERED)}


def fill_charge(**fields: Any) -> tuple[float | None, str]:
    item = {"id": "a", "status": "completed", **fields}
    table = read_page(json.dumps([item]).encode())
    row = charges.fill_credits(table, {"known": Decimal("0.7")}, MODELS).to_pylist()[0]
    assert (row["net"] is None) == (row["credits"] is None)
    return row["credits"], row["credits_source"]


@pytest.mark.parametrize(
    ("fields", "credits", "source"),
    [
        ({"creditsCharged": 0.3, "modelId": "plain"}, 0.3, "service"),
        ({"id": "known", "modelId": "plain"}, 0.7, "receipt"),
        ({"modelId": "ruled", "parameters": {"seconds": 10}}, 0.6, "estimate"),
        ({"modelId": "ruled"}, 0.3, "estimate"),
        ({"modelId": "plain"}, 0.25, "estimate"),
        ({"modelId": "metered"}, None, "none"),
        ({"modelId": "unheard of"}, None, "none"),
        ({"modelId": "plain", "status": "failed"}, None, "none"),
    ],
)
def test_credits_come_from_the_best_source(fields: Any, credits: float | None, source: str) -> None:
    found, found_source = fill_charge(**fields)

    assert found_source == source
    assert found == (None if credits is None else pytest.approx(credits))
