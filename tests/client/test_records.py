from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kit.client.addresses import ServiceLocation
from kit.client.settings import Settings

KEY = "cs_test_0123456789"


@pytest.fixture
def mine(tmp_path: Path) -> Settings:
    return Settings("https://a.test", KEY, tmp_path, name="mine")


def embedded_settings(folder: Path, port: int) -> Settings:
    url = f"http://127.0.0.1:{port}"
    location = ServiceLocation(url, lambda refused: refused)
    return Settings(url, KEY, folder, name="embedded", location=location)


def test_records_are_separate_for_each_profile_and_url(mine: Settings) -> None:
    yours = replace(mine, name="yours")
    elsewhere = replace(mine, base_url="https://b.test")
    nameless = replace(mine, name="")

    everyone = [mine, yours, elsewhere, nameless]
    assert len({each.records("prices").path for each in everyone}) == 4
    assert len({each.records_folder("history") for each in everyone}) == 4
    assert mine.records("prices").path == replace(mine, api_key="other").records("prices").path


def test_the_embedded_service_has_the_same_records_on_any_port(tmp_path: Path) -> None:
    one, two = embedded_settings(tmp_path, 1), embedded_settings(tmp_path, 2)

    assert one.records("journal").path == two.records("journal").path
    assert one.records("journal").path.name == "embedded.jsonl"
    assert one.records_folder("history") == two.records_folder("history")


def test_a_profile_named_embedded_has_records_of_its_own(tmp_path: Path, mine: Settings) -> None:
    theirs = embedded_settings(tmp_path, 1)
    file = theirs.records("journal").path
    file.parent.mkdir(parents=True)
    file.write_text("theirs")
    theirs.records_folder("history").mkdir(parents=True)
    named = replace(mine, name="embedded")

    assert not named.records("journal").path.exists()
    assert not named.records_folder("history").exists()
    assert file.read_text() == "theirs"


def test_asking_for_records_creates_no_files(tmp_path: Path, mine: Settings) -> None:
    assert list(mine.records("journal")) == []
    mine.records_folder("history")

    assert list(tmp_path.iterdir()) == []
