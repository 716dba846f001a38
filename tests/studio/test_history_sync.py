"""The synced history of a studio at a third-party service."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from kit.client.settings import Settings
from kit.errors import NoAnswerError
from kit.studio import Studio
from kit.studio.operations import Operations
from tests.client.third_party import Answer, Server, ThirdParty
from tests.studio.progress_lines import ShownLine

LIST = "/v1/creative-studio/generations"


def read_files(folder: Path) -> bytes:
    """Return the bytes of everything in a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_costs_of_a_synced_history_come_from_receipts(studio: Studio) -> None:
    studio.generate("paint", "a lake")
    studio.start("paint", "a river")

    found = studio.history.sync()
    frame = studio.history.frame(sync=False)

    assert (found.added, found.running) == (1, 1)
    assert frame["credits_source"].tolist() == ["receipt", "receipt"]
    assert frame["net"].tolist() == [0.25, 0.25]


def test_malformed_generations_do_not_break_the_sync_or_the_frame(
    studio: Studio, api: Server, caplog: pytest.LogCaptureFixture
) -> None:
    fine = {"id": "a", "status": "done", "modelId": "paint", "creditsCharged": 0.25}
    malformed = [
        {**fine, "id": "b", "creditsCharged": "0.5", "output": {"width": 512.0}},
        {**fine, "id": "c", "creditsCharged": "a lot", "createdAt": "yesterday"},
        {**fine, "id": "d", "status": "thinking", "mediaUrls": None, "vendor": [1]},
        {"id": None},
    ]
    api.script("GET", LIST, *[Answer(200, [fine, *malformed])] * 2)

    listed = studio.history.frame(limit=10)
    found = studio.history.sync()
    kept = studio.history.sql(
        "select id, credits, credits_source, width from generations order by id", sync=False
    )

    assert listed.index.tolist() == ["a", "b", "c", "d"]
    assert (found.added, found.running) == (3, 1)
    assert kept["id"].tolist() == ["a", "b", "c", "d"]
    assert kept["credits"].tolist() == [0.25, 0.5, 0.25, 0.25]
    assert kept["credits_source"].tolist() == ["service", "service", "estimate", "service"]
    assert kept["width"].fillna(0).tolist() == [0, 512, 0, 0]
    warnings = [r.getMessage() for r in caplog.records if "malformed answers" in r.getMessage()]
    assert len(warnings) == 2  # one for each reading of the list
    assert "left out (1)" in warnings[0]
    assert "creditsCharged (1)" in warnings[0]
    assert "createdAt (1)" in warnings[0]


def test_the_next_sync_updates_unfinished_generations(studio: Studio, backend: ThirdParty) -> None:
    studio.start("paint", "a river")
    studio.history.sync()
    for order in backend.orders.values():
        order["polled"] = backend.polls

    assert studio.history.sync().added == 1
    assert studio.history.sql("select status from generations")["status"].tolist() == ["completed"]


def test_the_account_is_requested_once(studio: Studio, api: Server, settings: Settings) -> None:
    studio.history.sync()
    studio.history.sync()
    with Studio(settings) as again:
        again.history.sync()

    assert len(api.requests("GET", "/v1/account")) == 1


def test_keys_of_two_accounts_have_separate_histories(studio: Studio, api: Server) -> None:
    studio.generate("paint", "a lake")
    studio.history.sync()
    assert len(studio.history.frame(sync=False)) == 1

    api.script("GET", "/v1/account", Answer(200, {"id": "a2"}))
    changed = Settings(api.url, "tp_test_another_key", data=studio.client.settings.data)
    with Studio(changed) as stranger:
        assert stranger.history.sql("select * from generations", sync=False).empty


def test_a_failed_page_is_an_error_and_loses_no_rows(studio: Studio, api: Server) -> None:
    studio.generate("paint", "a lake")
    studio.history.sync()
    studio.generate("paint", "a river")
    api.script("GET", LIST, *[Answer(drop=True)] * 9)
    with pytest.raises(NoAnswerError):
        studio.history.sync()
    api.scripted.clear()

    assert studio.history.sync().rows == 2


def test_no_key_and_no_signed_url_is_on_disk(studio: Studio, settings: Settings) -> None:
    studio.generate("paint", "a lake")
    studio.history.sync()
    found = read_files(settings.data / "notebook" / "history")

    assert found
    assert settings.api_key.encode() not in found
    assert b"sig=abc" not in found


def test_a_limit_asks_the_service_and_saves_nothing(studio: Studio, settings: Settings) -> None:
    for prompt in ("one", "two", "three"):
        studio.generate("paint", prompt)
    frame = studio.history.frame(2, columns=["prompt", "parameters.style"])

    assert frame["prompt"].tolist() == ["three", "two"]
    assert not (settings.data / "notebook" / "history").exists()


def test_filters_work_where_the_service_has_none(studio: Studio) -> None:
    studio.generate("paint", "a lake")

    assert len(studio.history.frame(5, status="completed")) == 1
    assert len(studio.history.frame(5, status="failed")) == 0
    assert len(studio.history.frame(5, model=["paint", "retouch"], since="2027-01-01")) == 0


def test_progress_shows_the_numbers_of_rows_and_pages(settings: Settings) -> None:
    line, shown = ShownLine(), replace(settings, progress=True)
    with Studio(shown, operations=Operations(shown, line=line)) as studio:
        studio.start("paint", "a lake")
        studio.history.sync()

    assert re.fullmatch(r"history: 1 row · 1 page · [\d,]+ rows/s( · back to .*)?", line.labels[-2])
    assert line.labels[-1] == ""


def test_a_history_has_a_length_and_contains_its_generations(studio: Studio) -> None:
    made = [studio.generate("paint", prompt) for prompt in ("a", "b", "c")]

    assert len(studio.history) == 3
    assert studio.history[0] == made[-1]
    assert studio.history[:2] == made[:0:-1]
    assert made[0] in studio.history
    assert made[0].id in studio.history
    assert "gen_elsewhere" not in studio.history
