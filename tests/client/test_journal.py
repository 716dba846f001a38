from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path

import pytest

from kit.client.journal import Journal
from kit.client.settings import Settings
from kit.private import JsonLines
from kit.wire import Generation, Receipt
from tests.rights import is_private

KEY = "cs_test_0123456789"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "journal.jsonl"


@pytest.fixture
def journal(path: Path) -> Journal:
    return Journal(path)


def receipt(number: str, credits: str | None = "0.05") -> Receipt:
    return Receipt.model_validate({"id": number, "creditsCharged": credits})


def test_a_started_generation_is_pending_until_it_ends(journal: Journal) -> None:
    journal.add_start(receipt("a"))
    journal.add_start(receipt("b"))
    journal.add_end(Generation(id="a", status="completed"))

    assert journal.pending() == ["b"]


def test_credits_come_from_the_receipts(journal: Journal) -> None:
    journal.add_start(receipt("a", "0.10"))
    journal.add_start(receipt("b", None))

    assert journal.credits() == {"a": Decimal("0.10")}


def test_an_equal_request_finds_its_earlier_generations(journal: Journal) -> None:
    journal.add_start(receipt("a"), request="x")
    journal.add_start(receipt("b"), request="x")
    journal.add_start(receipt("c"), request="y")

    assert journal.find_earlier("x") == ["a", "b"]
    assert journal.find_earlier("z") == []


def test_the_own_generations_come_before_those_of_another_account(path: Path) -> None:
    theirs, mine = Journal(path, by="theirs"), Journal(path, by="mine")
    theirs.add_start(receipt("a"), request="x")
    Journal(path).add_start(receipt("b"), request="x")  # an earlier release kept no key
    mine.add_start(receipt("c"), request="x")
    theirs.add_start(receipt("d"), request="x")

    assert mine.find_earlier("x") == ["b", "c", "a", "d"]
    assert theirs.find_earlier("x") == ["a", "b", "d", "c"]


@pytest.mark.parametrize("status", ["failed", "canceled"])
def test_a_request_that_failed_is_not_found_again(journal: Journal, status: str) -> None:
    journal.add_start(receipt("a"), request="x")
    journal.add_start(receipt("b"), request="x")
    journal.add_end(Generation(id="b", status=status))

    assert journal.find_earlier("x") == ["a"]


def test_the_journal_is_persistent_and_private(journal: Journal, path: Path) -> None:
    journal.add_start(receipt("a"))

    assert Journal(path).pending() == ["a"]
    assert is_private(path)


@pytest.mark.parametrize(
    "fields", [{"id": 77}, {"credits": "much"}, {"credits": "NaN"}, {"at": 5}], ids=str
)
def test_an_invalid_line_is_skipped(
    journal: Journal, path: Path, fields: dict[str, object]
) -> None:
    journal.add_start(receipt("gen_1"))
    line = {"id": "gen_2", "at": "2026-01-01T00:00:00Z", "credits": "0.5", **fields}
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")

    assert journal.credits() == {"gen_1": Decimal("0.05")}
    assert journal.pending() == ["gen_1"]


def test_a_truncated_line_is_skipped(journal: Journal, path: Path) -> None:
    journal.add_start(receipt("a"))
    with path.open("a") as file:
        file.write('{"id": "b", "at"\n[]\n{"no": "id"}\n\n')
    journal.add_start(receipt("c"))

    assert journal.pending() == ["a", "c"]


def test_a_truncated_last_line_does_not_corrupt_the_next_one(journal: Journal, path: Path) -> None:
    journal.add_start(receipt("a"))
    with path.open("a") as file:
        file.write('{"id": "b", "at": "20')

    journal.add_start(receipt("c"))

    assert journal.pending() == ["a", "c"]
    assert Journal(path).pending() == ["a", "c"]


def test_entries_of_another_kernel_are_read(journal: Journal, path: Path) -> None:
    journal.add_start(receipt("a", "0.10"), request="x")
    assert journal.pending() == ["a"]

    other = Journal(path)
    other.add_end(Generation(id="a", status="completed"))
    other.add_start(receipt("b", "0.25"), request="x")

    assert journal.pending() == ["b"]
    assert journal.start("b").charged == Decimal("0.25")
    assert journal.start("c").charged is None
    assert journal.starts() == {"x": [("a", True), ("b", True)]}


def test_concurrent_appends_of_several_processes_are_all_kept(path: Path) -> None:
    program = f"""\
from pathlib import Path
from kit.private import JsonLines
for number in range(300):
    JsonLines(Path({str(path)!r})).append({{"number": number}})
"""
    kernels = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]

    assert [kernel.wait() for kernel in kernels] == [0, 0, 0]
    assert sum(1 for _ in JsonLines(path)) == 900


def test_a_journal_whose_file_was_renamed_starts_empty(journal: Journal, path: Path) -> None:
    journal.add_start(receipt("a"))
    assert journal.pending() == ["a"]
    path.rename(path.with_suffix(".old"))
    assert journal.pending() == []

    journal.add_start(receipt("b"))

    assert journal.pending() == ["b"]


def test_lines_already_read_are_not_read_again(journal: Journal, path: Path) -> None:
    for number in range(50):
        journal.add_start(receipt(f"g{number}"))
    assert len(journal.credits()) == 50
    with path.open("r+b") as file:  # damages the lines already read
        file.write(b"x" * (path.stat().st_size - 1))

    journal.add_start(receipt("g50"))

    assert len(journal.credits()) == 51


def test_lines_written_by_many_threads_are_intact(journal: Journal) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: journal.add_start(receipt(f"g{n}"), request="x" * 500), range(200)))

    assert sorted(journal.pending()) == sorted(f"g{n}" for n in range(200))


def test_each_service_and_profile_has_its_own_journal(tmp_path: Path) -> None:
    def open_journal(url: str, name: str = "") -> Journal:
        return Journal.of(Settings(url, KEY, tmp_path, name=name))

    open_journal("https://a.test").add_start(receipt("a"))
    open_journal("https://a.test", "../../odd name").add_start(receipt("o"))

    assert open_journal("https://b.test").pending() == []
    assert open_journal("https://a.test").pending() == ["a"]
    assert open_journal("https://a.test", "../../odd name").pending() == ["o"]
    assert open_journal("https://b.test", "../../odd name").pending() == []
    assert {p.parent for p in tmp_path.rglob("*.jsonl")} == {tmp_path / "notebook" / "journal"}


# ── intents ───────────────────────────────────────────────────────────────────────────────────────

BODY = {"modelId": "paint", "prompt": "a lake \u2028", "parameters": {"size": 1.5}}


def test_an_intent_is_listed_until_it_is_answered_or_settled(journal: Journal, path: Path) -> None:
    journal.add_intent("k1", BODY, request="x")
    journal.add_intent("k2", {}, request="y")

    (intent,) = Journal(path).intents("x")
    assert (intent.key, intent.body) == ("k1", BODY)
    assert intent.moment.tzinfo is not None
    assert [each.key for each in journal.intents()] == ["k1", "k2"]
    assert journal.pending() == []

    journal.add_start(receipt("a"), request="x", key="k1")
    journal.settle_intent("k2")

    assert journal.intents() == Journal(path).intents() == []
    assert journal.find_earlier("x") == ["a"]
    assert [bool(journal.start(name).at) for name in "ab"] == [True, False]


def test_a_start_without_a_key_settles_no_intent(journal: Journal) -> None:
    journal.add_intent("k1", BODY)
    journal.add_start(receipt("a"))

    assert [each.key for each in journal.intents()] == ["k1"]


def test_what_another_key_sends_settles_an_intent_for_that_key_only(path: Path) -> None:
    mine, theirs, third = (Journal(path, by=name) for name in ("mine", "theirs", "third"))
    mine.add_intent("k1", BODY, request="x")
    (sent,) = theirs.intents("x")
    theirs.add_intent(sent.key, BODY, request="x")  # it sends it again
    theirs.add_start(receipt("a"), request="x", key="k1")
    third.settle_intent("k1")
    Journal(path).add_intent("k2", BODY)  # an earlier release kept no key
    theirs.settle_intent("k2")

    assert theirs.intents() == third.intents() == []
    (intent,) = Journal(path, by="mine").intents()
    assert (intent.key, intent.by, intent.at) == ("k1", "mine", sent.at)
    mine.add_start(receipt("b"), request="x", key="k1")
    assert mine.intents() == Journal(path, by="fourth").intents() == []


def test_invalid_intents_are_skipped(journal: Journal, path: Path) -> None:
    journal.add_intent("k1", BODY)
    with path.open("a") as file:
        file.write('{"intent": "k2"}\n{"intent": "k3", "at": "soon"}\n')
        file.write('{"intent": "k4", "at": "2026-01-02T03:04:05Z", "body": 5}\n')
        file.write('{"intent": "k5", "at": "2026-01-02T03:04:05"}\n')
        file.write('{"intent": "k6", "at": "2026-01-02T03:04:05Z", "later": 1}\n')

    assert [each.key for each in journal.intents()] == ["k1", "k6"]


def test_lines_of_earlier_versions_are_read(journal: Journal, path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(
        '{"id": "a", "at": "2026-01-02T03:04:05.000Z", "request": "x", "model_id": "m", '
        '"credits": "0.10", "state": "processing"}\n'
        '{"id": "a", "at": "2026-01-02T03:05:05.000Z", "request": "", "model_id": "", '
        '"credits": null, "state": "completed"}\n'
    )

    assert journal.find_earlier("x") == ["a"]
    assert journal.credits() == {"a": Decimal("0.10")}
    assert (journal.pending(), journal.shown_hash("a")) == ([], "")


def test_the_hash_of_what_the_service_showed_is_kept(journal: Journal, path: Path) -> None:
    journal.add_start(receipt("a"))
    journal.add_end(Generation(id="a", status="completed"), shown="abc")

    assert Journal(path).shown_hash("a") == "abc"
    assert journal.shown_hash("b") == ""


def test_a_partly_written_line_is_reported_as_a_full_disk(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_write = os.write
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda file, content: real_write(file, content[:9]))
        with pytest.raises(OSError, match="No space left"):
            journal.add_start(receipt("a"))
    journal.add_start(receipt("b"))

    assert journal.pending() == ["b"]


def test_the_api_key_is_not_written_to_disk(tmp_path: Path) -> None:
    Journal.of(Settings("https://a.test", KEY, tmp_path)).add_start(receipt("a"), request="x")

    files = [p for p in tmp_path.rglob("*") if p.is_file()]
    assert files
    assert not [p for p in files if KEY in p.read_text() or KEY in p.name]


def test_starts_are_listed_in_their_order_and_state(journal: Journal) -> None:
    for name in "abc":
        journal.add_start(receipt(name, "0.50"), model_id="m")
    journal.add_end(Generation(id="b", status="failed"))

    states = [(entry.id, entry.state) for entry in journal.entries()]
    assert states == [("a", "processing"), ("b", "failed"), ("c", "processing")]
    assert [entry.id for entry in journal.entries("b")] == ["c"]
    assert journal.entries("c") == []
    assert len(journal.entries("unknown")) == 3
    assert {(entry.model_id, entry.credits) for entry in journal.entries()} == {("m", "0.50")}


def test_usual_seconds_are_learned_by_model_and_price(path: Path) -> None:
    def line(name: str, at: str, **fields: str) -> str:
        return json.dumps({"id": name, "at": f"2026-01-02T03:{at}.000Z", **fields}) + "\n"

    path.parent.mkdir()
    with path.open("w") as file:
        for n, (model, credits, seconds) in enumerate(
            [("m", "0.5", 10), ("m", "0.5", 12), ("m", "0.5", 59), ("m", "1.0", 30), ("o", "9", 1)]
        ):
            file.write(line(f"{n}", f"0{n}:00", model_id=model, credits=credits))
            file.write(line(f"{n}", f"0{n}:{seconds:02}", state="completed"))
        file.write(line("bad", "10:00", model_id="m", credits="0.5"))
        file.write(line("bad", "10:01", state="failed"))
    journal = Journal(path)

    assert journal.usual_seconds("m", Decimal("0.5")) == 12
    assert journal.usual_seconds("m", Decimal("1.0")) == 30
    assert journal.usual_seconds("m", Decimal("2.0")) == pytest.approx(54)
    assert journal.usual_seconds("m", None) is None
    assert journal.usual_seconds("unknown", Decimal(1)) is None


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_forked_during_a_read_reads_the_journal_again(tmp_path: Path) -> None:
    code = """
import os, pathlib, signal, sys, threading, time
from kit.client.journal import Journal

path = pathlib.Path(sys.argv[1])
os.mkfifo(path)
journal = Journal(path)
threading.Thread(target=journal.find_earlier, args=("a",), daemon=True).start()
time.sleep(0.3)  # it waits for somebody to write
path.unlink()
child = os.fork()
if child:
    os.waitpid(child, 0)
    sys.exit()
signal.alarm(10)
print(journal.find_earlier("a"), flush=True)
os._exit(0)
"""
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "journal")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)

    assert (done.stdout, done.stderr) == ("[]\n", "")
