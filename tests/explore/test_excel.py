from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest

from kit.errors import BadRequestError, ConfigError
from kit.explore.costs import CostFrame
from kit.explore.frames import write_excel
from kit.wire import Generation
from tests.explore.pretending import archive_of, table_of

MIDNIGHT = datetime(2026, 3, 10, tzinfo=UTC)


def test_costs_go_into_a_sheet_with_their_days(tmp_path: Path) -> None:
    frame = CostFrame({"day": pd.to_datetime([MIDNIGHT]), "net": [0.1]})

    frame.to_excel(tmp_path / "costs.xlsx", index=False)

    found = pd.read_excel(tmp_path / "costs.xlsx")
    assert found.to_numpy().tolist() == [[pd.Timestamp("2026-03-10"), 0.1]]
    assert str(frame["day"].dtype).endswith("UTC]"), "the frame itself is as it was"


def test_a_history_goes_into_a_sheet_and_a_prompt_is_no_formula(tmp_path: Path) -> None:
    made = Generation(id="gen_1", prompt='=HYPERLINK("http://x.test")', created_at=MIDNIGHT)
    archive = archive_of(table_of([made]))

    file = archive.export(tmp_path / "history.xlsx", columns=["prompt", "created_at"])

    found = pd.read_excel(file)
    assert found["prompt"].tolist() == [made.prompt]
    assert found["created_at"].tolist() == [pd.Timestamp("2026-03-10")]


def test_more_rows_than_a_sheet_has_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequestError, match=r"at most 1,048,575 rows, and these are 1,048,576"):
        write_excel(pd.DataFrame(index=range(1_048_576)), tmp_path / "much.xlsx")


def test_without_the_package_it_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)

    with pytest.raises(ConfigError, match=r"pip install 'creative-studio-kit\[excel\]'"):
        write_excel(pd.DataFrame({"a": [1]}), tmp_path / "a.xlsx")
