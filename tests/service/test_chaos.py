"""Render processes and the service are killed at random under load; then the books are audited."""

import asyncio
import hashlib
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from kit.service import settings
from kit.service.databases import open_database
from kit.service.domain import accounts, credits, keys, outputs
from kit.service.machine import clock
from kit.service.settings import ServiceSettings
from tests.conftest import sql
from tests.ports import free_port
from tests.waiting import until

#: How often the service is killed; render processes are three times as often.
KILLS = int(os.environ.get("KIT_TEST_CHAOS_KILLS", "3"))
DEEDS = ("works", "works", "works", "dawdles", "dawdles", "fails", "crashes", "raises")
PATH = "/v1/creative-studio/generations"


class Victim:
    """A service in a process of its own that is killed and started again on the same folder."""

    def __init__(self, config: ServiceSettings, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.kills: Counter[str] = Counter()
        self._command = [
            *(sys.executable, "-m", "kit", "serve", "--port", str(port), "--workers", "2"),
            *("--data", str(config.data)),
        ]
        limits = {"KIT_REQUESTS_PER_MINUTE": "1000000", "KIT_STARTS_PER_MINUTE": "1000000"}
        self._environment = os.environ | limits | {"PYTHONFAULTHANDLER": "1"}
        self._errors = config.data.parent / "errors.txt"
        self.start()

    def start(self) -> None:
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                self._command, env=self._environment, stdout=subprocess.DEVNULL, stderr=errors
            )

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self.kills["service"] += 1
        self.start()

    def kill_a_render(self, dice: random.Random) -> None:
        # Before it answers, its child is what looks at the plug-ins.
        renders = children(self._process.pid) if self._answers() else []
        if renders:
            with suppress(ProcessLookupError):
                os.kill(dice.choice(renders), signal.SIGKILL)
            self.kills["render"] += 1

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=1, verify=False).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        # Not SIGINT, which Python may lose while it imports: the process may have just begun.
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGABRT)  # it writes down where each thread is
            self._process.wait()
            pytest.fail(f"the service did not stop:\n{self._errors.read_text()[-20_000:]}")


def children(pid: int) -> list[int]:
    """Return the child processes of a process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            command = stat.with_name("cmdline").read_text()
        except OSError:
            continue
        # And not the process that tries plug-ins while the service starts.
        if int(fields[1]) == pid and "kit.service.worker.child" in command:
            found.append(int(stat.parent.name))
    return found


def order(client: httpx.Client, dice: random.Random) -> str | None:
    """Start a generation, again and again under one key until it is answered."""
    key = {"Idempotency-Key": f"chaos-{dice.getrandbits(64):x}"}
    body = {"modelId": "flat", "prompt": "x", "parameters": {"does": dice.choice(DEEDS)}}
    pause, end = threading.Event(), time.monotonic() + 60
    while time.monotonic() < end:
        try:
            answer = client.post(PATH, json=body, headers=key)
        except httpx.TransportError:
            pause.wait(0.05)
            continue
        assert answer.status_code in (202, 409, 503), answer.text
        assert answer.status_code == 202 or int(answer.headers["Retry-After"]) >= 1
        if answer.status_code == 202:
            return str(answer.json()["id"])
        pause.wait(0.05)
    return None


@contextmanager
def load(url: str, key: str, seeds: Sequence[int] = range(4)) -> Iterator[set[str]]:
    """Order from a thread a seed in a block; yields the ids that were acknowledged."""
    over = threading.Event()
    acknowledged: set[str] = set()
    failures: list[Exception] = []

    def work(seed: int) -> None:
        dice = random.Random(seed)
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=url, headers=headers, timeout=10) as client:
            try:
                while not over.is_set():
                    if made := order(client, dice):
                        acknowledged.add(made)
                    # About what two workers get done, so that there is little left at the end.
                    over.wait(dice.random() * 1.2)
            except Exception as error:  # noqa: BLE001 - raised again by whoever joins
                failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in seeds]
    for thread in threads:
        thread.start()
    try:
        yield acknowledged
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert failures == []


async def audit(config: ServiceSettings) -> dict[str, list[Any]]:
    """Read everything that was written down."""
    database = open_database(config)
    rows = await database.read(sql("SELECT * FROM generations"))
    entries = await database.read(sql("SELECT * FROM ledger"))
    unbalanced = await database.read(credits.verify())
    await database.close()
    return {"generations": rows, "ledger": entries, "unbalanced": unbalanced}


async def prepared(config: ServiceSettings) -> str:
    database = open_database(config)
    account = await database.write(accounts.create("Ada", "a@b", 10**9, clock()))
    wish = keys.KeyRequest(account_id=account.id, name="chaos", scopes=("creative:generate",))
    made = await database.write(keys.create(wish, config.secret(), clock()))
    await database.close()
    return str(made.text)


def drained(url: str, key: str, seconds: float) -> None:
    """Wait until nothing is processing any more."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=url, headers=headers, timeout=10) as client:
        while True:
            try:
                left = client.get(PATH, params={"status": "processing", "limit": 1})
                if left.status_code == 200 and left.json() == []:
                    return
            except httpx.TransportError:
                pass
            assert time.monotonic() < deadline, "the queue did not drain"
            pause.wait(0.2)


def stored(config: ServiceSettings) -> set[str]:
    """Return the keys of the outputs that lie in the storage."""
    found = (config.objects / "outputs").rglob("*.*")
    return {path.relative_to(config.objects).as_posix() for path in found}


def named(books: dict[str, list[Any]]) -> set[str]:
    """Return the keys of the outputs that generations have."""
    rows = books["generations"]
    return {key for row in rows if row.output for key in outputs.keys_of(row.output)}


@pytest.mark.slow
@pytest.mark.timeout(300 + 20 * KILLS)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes through /proc")
def test_nothing_is_lost_or_paid_twice_whatever_is_killed(tmp_path: Path) -> None:
    config = settings.load({}, data=tmp_path / "data")
    key = asyncio.run(prepared(config))
    victim = Victim(config, free_port())
    dice, pause = random.Random(7), threading.Event()
    next_kill = time.monotonic() + 3
    try:
        with load(victim.url, key) as acknowledged:
            while victim.kills["service"] < KILLS or victim.kills["render"] < 3 * KILLS:
                pause.wait(dice.random() * 0.5)
                victim.kill_a_render(dice)
                if time.monotonic() > next_kill:
                    victim.kill()
                    next_kill = time.monotonic() + dice.uniform(3, 5)
        drained(victim.url, key, 150)
        victim.kill()  # whoever starts removes what nobody has
        until(lambda: stored(config) == named(asyncio.run(audit(config))), seconds=30)
    finally:
        victim.stop()

    books = asyncio.run(audit(config))

    rows = {row.id: row for row in books["generations"]}
    charges = Counter(e.subject for e in books["ledger"] if e.kind == "generation")
    refunds = Counter(e.subject for e in books["ledger"] if e.kind == "refund")
    assert len(acknowledged) > 5 * KILLS
    assert acknowledged <= set(rows)
    assert {row.state for row in rows.values()} == {"completed", "failed"}
    assert charges == Counter(dict.fromkeys(rows, 1))
    assert refunds == Counter({i: 1 for i, row in rows.items() if row.state == "failed"})
    assert books["unbalanced"] == []
    for row in rows.values():
        if row.state == "completed":
            output = orjson.loads(row.output)
            content = (config.objects / output["key"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == output["sha256"]
