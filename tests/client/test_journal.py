from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest

from kit.client import journal as module
from kit.client.journal import Journal
from kit.client.settings import Settings
from kit.wire import Generation, Receipt

KEY = "cs_test_0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "journal.jsonl"


@pytest.fixture
def journal(path: Path) -> Journal:
    return Journal(path)


def receipt(number: str, credits: str | None = "0.05") -> Receipt:
    return Receipt.model_validate({"id": number, "creditsCharged": credits})


def test_what_was_started_is_pending_until_it_ends(journal: Journal) -> None:
    journal.started(receipt("a"))
    journal.started(receipt("b"))
    journal.finished(Generation(id="a", status="completed"))

    assert journal.pending() == ["b"]


def test_receipts_say_what_was_charged(journal: Journal) -> None:
    journal.started(receipt("a", "0.10"))
    journal.started(receipt("b", None))

    assert journal.credits() == {"a": Decimal("0.10")}


def test_an_equal_request_finds_what_it_led_to(journal: Journal) -> None:
    journal.started(receipt("a"), request="x")
    journal.started(receipt("b"), request="x")
    journal.started(receipt("c"), request="y")

    assert journal.earlier("x") == ["b", "a"]
    assert journal.earlier("z") == []


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_a_request_that_failed_is_not_found_again(journal: Journal, status: str) -> None:
    journal.started(receipt("a"), request="x")
    journal.started(receipt("b"), request="x")
    journal.finished(Generation(id="b", status=status))

    assert journal.earlier("x") == ["a"]


def test_it_survives_its_process_and_is_for_the_user_only(journal: Journal, path: Path) -> None:
    journal.started(receipt("a"))

    assert Journal(path).pending() == ["a"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_line_cut_short_by_a_crash_is_skipped(journal: Journal, path: Path) -> None:
    journal.started(receipt("a"))
    with path.open("a") as file:
        file.write('{"id": "b", "at"\n[]\n{"no": "id"}\n\n')
    journal.started(receipt("c"))

    assert journal.pending() == ["a", "c"]


def test_a_last_line_cut_short_takes_no_other_along(journal: Journal, path: Path) -> None:
    journal.started(receipt("a"))
    with path.open("a") as file:
        file.write('{"id": "b", "at": "20')

    journal.started(receipt("c"))

    assert journal.pending() == ["a", "c"]
    assert Journal(path).pending() == ["a", "c"]


def test_what_another_kernel_adds_is_seen(journal: Journal, path: Path) -> None:
    journal.started(receipt("a", "0.10"), request="x")
    assert journal.pending() == ["a"]

    other = Journal(path)
    other.finished(Generation(id="a", status="completed"))
    other.started(receipt("b", "0.25"), request="x")

    assert journal.pending() == ["b"]
    assert journal.charged("b") == Decimal("0.25")
    assert journal.charged("c") is None
    assert journal.starts() == {"x": [("a", True), ("b", True)]}


def test_a_journal_that_was_put_aside_begins_anew(journal: Journal, path: Path) -> None:
    journal.started(receipt("a"))
    assert journal.pending() == ["a"]
    path.rename(path.with_suffix(".old"))
    assert journal.pending() == []

    journal.started(receipt("b"))

    assert journal.pending() == ["b"]


def test_a_long_journal_is_read_once(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[bytes] = []
    read = module._parsed
    monkeypatch.setattr(module, "_parsed", lambda line: parsed.append(line) or read(line))
    for number in range(50):
        journal.started(receipt(f"g{number}"))
    for _ in range(20):
        journal.credits()

    assert len(parsed) == 50


def test_lines_of_many_threads_do_not_mix(journal: Journal) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: journal.started(receipt(f"g{n}"), request="x" * 500), range(200)))

    assert sorted(journal.pending()) == sorted(f"g{n}" for n in range(200))


def test_each_service_has_its_own_and_the_embedded_one_keeps_it(tmp_path: Path) -> None:
    def of(url: str, name: str = "") -> Journal:
        return Journal.of(Settings(url, KEY, tmp_path, name=name))

    of("https://a.test").started(receipt("a"))
    of("http://127.0.0.1:1", "embedded").started(receipt("e"))
    of("https://a.test", "../../odd name").started(receipt("o"))

    assert of("https://b.test").pending() == []
    assert of("https://a.test").pending() == ["a"]
    assert of("http://127.0.0.1:2", "embedded").pending() == ["e"]
    assert {p.parent for p in tmp_path.rglob("*.jsonl")} == {tmp_path / "notebook" / "journal"}


def test_no_key_is_written_down(tmp_path: Path) -> None:
    Journal.of(Settings("https://a.test", KEY, tmp_path)).started(receipt("a"), request="x")

    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert files
    assert not [p for p in files if KEY in p.read_text() or KEY in p.name]
