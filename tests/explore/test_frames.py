from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from kit import wire
from kit.explore import frames

MODEL = wire.Model.model_validate(
    {
        "id": "paint",
        "title": "Paint",
        "promptRequired": True,
        "creditsFrom": 0.1,
        "mediaParameters": [{"name": "ref", "type": "image", "media": True, "required": True}],
        "settingParameters": [
            {"name": "size", "type": "int64", "default": 512, "enum": [512, 1024]}
        ],
    }
)
DONE = wire.Generation.model_validate(
    {
        "id": "a",
        "status": "succeeded",
        "modelId": "paint",
        "creditsCharged": 0.3,
        "creditsRefunded": 0.1,
        "createdAt": "2026-01-02T03:04:05Z",
        "completedAt": "2026-01-02T03:04:07.5Z",
        "outputUrl": "https://a.test/x?sig=secret",
        "output": {"width": 640, "height": 480},
    }
)
BARE = wire.Generation(id="b")
ENTRY = wire.Entry.model_validate(
    {
        "id": "l",
        "createdAt": "2026-01-02T03:04:05Z",
        "kind": "generation",
        "credits": -0.3,
        "balanceAfter": 9.7,
    }
)

TABLES: list[tuple[Callable[[Iterable[Any]], pd.DataFrame], dict[str, str], list[Any]]] = [
    (frames.models, frames.MODELS, [MODEL, wire.Model(id="bare")]),
    (frames.parameters, frames.PARAMETERS, [MODEL]),
    (frames.generations, frames.GENERATIONS, [DONE, BARE]),
    (frames.ledger, frames.LEDGER, [ENTRY]),
]


@pytest.mark.parametrize(("tabulate", "columns", "items"), TABLES)
@pytest.mark.parametrize("rows", ["none", "bare", "all"])
def test_columns_and_dtypes_never_change(
    tabulate: Callable[[Iterable[Any]], pd.DataFrame],
    columns: dict[str, str],
    items: list[Any],
    rows: str,
) -> None:
    frame = tabulate({"none": [], "bare": items[-1:], "all": items}[rows])

    assert list(frame.columns) == list(columns)
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == columns


def test_what_is_missing_is_missing_and_not_zero() -> None:
    row = frames.generations([BARE]).iloc[0]

    assert row[["credits", "seconds", "created_at", "prompt", "width"]].isna().all()
    assert row["credits_source"] == "unknown"


def test_credits_are_net_and_say_where_they_come_from() -> None:
    frame = frames.generations([DONE, BARE], {"a": Decimal(9), "b": Decimal("0.05")})

    assert frame["credits"].tolist() == pytest.approx([0.2, 0.05])
    assert frame["credits_source"].tolist() == ["service", "receipt"]


def test_a_generation_row_holds_its_facts() -> None:
    row = frames.generations([DONE]).loc["a"]

    assert (row["status"], row["model_id"], row["seconds"]) == ("completed", "paint", 2.5)
    assert row["created_at"] == pd.Timestamp("2026-01-02T03:04:05Z")


def test_no_signed_address_is_in_a_frame() -> None:
    assert "secret" not in frames.generations([DONE]).to_csv()


def test_a_model_row_says_what_it_takes() -> None:
    row = frames.models([MODEL]).loc["paint"]

    assert (row["prompt"], row["media"], row["settings"]) == ("required", "ref*", "size")
    assert row["credits_from"] == 0.1


def test_each_parameter_has_a_row_media_first() -> None:
    frame = frames.parameters([MODEL])

    assert frame["name"].tolist() == ["ref", "size"]
    assert frame["choices"].tolist()[1] == "512, 1024"
    assert frame["default"].tolist() == [None, 512]


def test_the_order_of_the_rows_is_kept() -> None:
    items = [wire.Generation(id=name) for name in ("z", "a", "m")]

    assert frames.generations(items).index.tolist() == ["z", "a", "m"]
