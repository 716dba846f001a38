"""``kit demo-data``: a synthetic history to try the analysis on."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import kit
from kit import local
from kit.commands.demo_data import generate_events
from kit.wire import Model
from tests.commands.conftest import Kit

UNTIL = "2026-11-01"


@pytest.fixture
def folder(kit: Kit, tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    done = kit("demo-data", folder, "--generations", 400, "--days", 40, "--until", UNTIL)
    assert done.code == 0, done.err
    assert "400 generations" in done.out
    return folder


def test_the_demo_history_and_its_ledger_agree(folder: Path) -> None:
    with kit.connect(data=folder) as studio:
        frame = studio.history.frame()
        ledger = studio.usage.frame(None)
        balance = studio.account.credits
        ahead = studio.costs.forecast(1, as_of="2026-10-25").iloc[0]
    local.stop()

    assert len(frame) == 400
    assert ledger["credits"].sum() == pytest.approx(float(balance or 0))
    assert ledger["balance_after"].iloc[0] == pytest.approx(float(balance or 0))
    then = ledger.loc[ledger["created_at"] < "2026-10-25", "credits"].sum()
    assert ahead["left"] + ahead["running"] == pytest.approx(then, abs=0.002)
    assert (ledger["balance_after"] >= 0).all()
    running = ledger["credits"][::-1].cumsum()
    assert (running - ledger["balance_after"][::-1]).abs().max() < 1e-6
    charged = -ledger.loc[ledger["kind"] == "generation", "credits"].sum()
    assert frame["credits"].sum() == pytest.approx(charged)
    refunds = ledger.loc[ledger["kind"] == "refund", "credits"].sum()
    assert frame["credits_refunded"].sum() == pytest.approx(refunds)


def test_the_demo_history_looks_realistic(folder: Path) -> None:
    with kit.connect(data=folder) as studio:
        frame = studio.history.frame(parameters=True)
    local.stop()

    assert set(frame["status"]) == {"completed", "failed", "canceled"}
    assert frame.loc[frame["status"] == "failed", "net"].eq(0).all()
    assert frame.loc[frame["status"] == "failed", "error"].notna().all()
    assert frame["model_id"].nunique() >= 2
    days = frame["created_at"].dt.strftime("%u").astype(int)
    assert (days >= 6).mean() < 2 / 7
    assert frame["created_at"].max() < pd.Timestamp(UNTIL, tz="UTC")
    assert frame["completed_at"].max() < pd.Timestamp(UNTIL, tz="UTC")


def test_an_existing_folder_is_refused(folder: Path, kit: Kit) -> None:
    done = kit("demo-data", folder)

    assert done.code == 2
    assert "name a new folder" in done.err


def test_the_demo_ledger_passes_verification(folder: Path, kit: Kit) -> None:
    done = kit("ledger", "verify", "--data", folder)

    assert done.code == 0


def test_the_same_seed_gives_the_same_events() -> None:
    rule = {"base": 0.02, "multipliers": [{"parameter": "size", "values": {"1024": 2}}]}
    size = {"name": "size", "type": "integer", "default": 512, "enum": [512, 1024]}
    model = Model.model_validate({"id": "m", "settingParameters": [size], "pricing": rule})
    first, same, other = (
        list(generate_events([model], 50, seed=seed, since=0, until=10**10)) for seed in (1, 1, 2)
    )

    assert first == same
    assert first != other
    assert {event["millicredits"] for event in first} == {20, 40}


@pytest.mark.parametrize("wrong", [("--until", "1970-06-01"), ("--seed", -1)])
def test_invalid_options_of_a_demo_history_are_refused(
    kit: Kit, tmp_path: Path, wrong: tuple[str, ...]
) -> None:
    done = kit("demo-data", tmp_path / "demo", *wrong)

    assert done.code == 2
    assert wrong[0] in done.err
    assert not (tmp_path / "demo").exists()
