from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from kit import wire
from kit.errors import BadRequestError, ConfigError
from kit.explore import frames
from kit.explore.costs import CostFrame
from tests.explore.fake_service import archive_of, encode, frame_of, table_of

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
        "startedAt": "2026-01-02T03:04:06Z",
        "completedAt": "2026-01-02T03:04:07.5Z",
        "outputUrl": "https://a.test/x?sig=secret",
        "mediaUrls": {"ref": ["https://a.test/1?sig=secret", "https://a.test/2?sig=secret"]},
        "parameters": {"size": 512, "style": "ink"},
        "output": {"width": 640, "height": 480},
    }
)
BARE = wire.Generation(id="b")


def frame_generations(items: Iterable[wire.Generation], **wanted: bool) -> pd.DataFrame:
    return frame_of(encode(items), **wanted)


TABLES: list[tuple[Callable[[Iterable[Any]], pd.DataFrame], frames.Table, list[Any]]] = [
    (frames.models, frames.MODELS, [MODEL, wire.Model(id="bare")]),
    (frames.parameters, frames.PARAMETERS, [MODEL]),
    (frame_generations, frames.GENERATIONS, [DONE, BARE]),
]


@pytest.mark.parametrize(("tabulate", "table", "items"), TABLES)
@pytest.mark.parametrize("rows", ["none", "bare", "all"])
def test_columns_and_dtypes_never_change(
    tabulate: Callable[[Iterable[Any]], pd.DataFrame],
    table: frames.Table,
    items: list[Any],
    rows: str,
) -> None:
    frame = tabulate({"none": [], "bare": items[-1:], "all": items}[rows])

    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == table
    assert list(frame.columns) == list(table)


def test_missing_values_are_na_and_not_zero() -> None:
    row = frame_generations([BARE]).iloc[0]

    assert row[["credits", "net", "seconds", "created_at", "prompt", "width"]].isna().all()
    assert row["credits_source"] == "none"


def test_a_generation_row_has_its_fields() -> None:
    row = frame_generations([DONE]).loc["a"]

    assert (row["status"], row["model_id"], row["seconds"]) == ("completed", "paint", 2.5)
    assert row["render_seconds"] == 1.5
    assert row["created_at"] == pd.Timestamp("2026-01-02T03:04:05Z")
    assert (row["width"], row["media"]) == (640, '{"ref": 2}')


def test_parameters_and_media_become_columns_on_request() -> None:
    frame = frame_generations([DONE, BARE], parameters=True, media=True)

    assert frame["parameters.size"].tolist() == [512, pd.NA]
    assert frame.loc["a", "parameters.style"] == "ink"
    assert frame["media.ref"].dtype == "Int64"


def test_a_missing_field_equals_null() -> None:
    body = json.dumps([DONE.model_dump(mode="json", by_alias=True, exclude_none=True)]).encode()

    pd.testing.assert_frame_equal(frame_of(body), frame_generations([DONE]))


def test_a_model_row_has_its_prompt_media_and_settings() -> None:
    row = frames.models([MODEL]).loc["paint"]

    assert (row["prompt"], row["media"], row["settings"]) == ("required", "ref*", "size")
    assert row["credits_from"] == 0.1


def test_each_parameter_has_a_row_with_media_first() -> None:
    frame = frames.parameters([MODEL])

    assert frame["name"].tolist() == ["ref", "size"]
    assert frame["choices"].tolist()[1] == "512, 1024"
    assert frame["default"].tolist() == [pd.NA, "512"]


# ── Excel ─────────────────────────────────────────────────────────────────────────────────────────

MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize("index", [False, True])
def test_costs_are_written_to_excel_with_their_days(tmp_path: Path, index: bool) -> None:
    frame = CostFrame({"day": pd.to_datetime([MIDNIGHT]), "net": [0.1]})
    written = CostFrame(frame.set_index("day")) if index else frame

    written.to_excel(tmp_path / "costs.xlsx", index=index)

    found = pd.read_excel(tmp_path / "costs.xlsx")
    assert found.to_numpy().tolist() == [[pd.Timestamp("2026-03-10"), 0.1]]
    assert str(frame["day"].dtype).endswith("UTC]"), "the frame itself is unchanged"


def test_summaries_of_costs_are_written_as_sheets_of_one_file(tmp_path: Path) -> None:
    days = pd.to_datetime([MIDNIGHT, None])
    frame = CostFrame({"day": days, "model": ["a", "b"], "net": [0.1, 0.2]})
    sheets = {
        "groups": frame.groupby(["day", "model"], dropna=False).sum(),
        "margins": frame.pivot_table(index="day", columns="model", values="net", margins=True),
        "days": frame.pivot_table(index="model", columns="day", values="net"),
        "empty": frame.set_index("day").head(0),
    }

    with pd.ExcelWriter(tmp_path / "month.xlsx") as writer:
        for name, sheet in sheets.items():
            sheet.to_excel(writer, sheet_name=name)

    found = pd.read_excel(tmp_path / "month.xlsx", sheet_name=None)
    assert list(found) == list(sheets)
    assert found["groups"]["day"].tolist()[0] == pd.Timestamp("2026-03-10")
    assert found["margins"]["day"].tolist() == [pd.Timestamp("2026-03-10"), "All"]
    assert found["days"].columns.tolist() == ["model", pd.Timestamp("2026-03-10")]


def test_a_history_is_written_to_excel_without_formulas(tmp_path: Path) -> None:
    item = wire.Generation(id="gen_1", prompt='=HYPERLINK("http://x.test")', created_at=MIDNIGHT)
    archive = archive_of(table_of([item]))

    file = archive.export(tmp_path / "history.xlsx", columns=["prompt", "created_at"])

    found = pd.read_excel(file)
    assert found["prompt"].tolist() == [item.prompt]
    assert found["created_at"].tolist() == [pd.Timestamp("2026-03-10")]


def test_more_rows_than_a_sheet_can_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequestError, match=r"at most 1,048,575 rows, and these are 1,048,576"):
        frames.write_excel(pd.DataFrame(index=range(1_048_576)), tmp_path / "much.xlsx")


def test_a_missing_excel_package_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)

    with pytest.raises(ConfigError, match=r"pip install 'creative-studio-kit\[excel\]'"):
        frames.write_excel(pd.DataFrame({"a": [1]}), tmp_path / "a.xlsx")
