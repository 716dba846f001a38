"""Render processes and the service are killed at random under load; then the ledger is checked."""

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

#: How often the service is killed; render processes are killed three times as often.
KILLS = int(os.environ.get("KIT_TEST_CHAOS_KILLS", "3"))
BEHAVIORS = ("works", "works", "works", "dawdles", "dawdles", "fails", "crashes", "raises")
PATH = "/v1/creative-studio/generations"


class KilledService:
    """A service in its own process that is killed and started again on the same folder."""

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
        # Before the service responds, its child is the process that tries the plug-ins.
        renders = children(self._process.pid) if self._is_healthy() else []
        if renders:
            with suppress(ProcessLookupError):
                os.kill(dice.choice(renders), signal.SIGKILL)
            self.kills["render"] += 1

    def _is_healthy(self) -> bool:
        try:
            return httpx.get(f"{self.url}/healthz", timeout=1, verify=False).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        # Not SIGINT, which Python may lose while it imports: the process may have just started.
        self._process.terminate()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGABRT)  # it writes the stack of each thread
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
        # Not the process that tries plug-ins while the service starts.
        if int(fields[1]) == pid and "kit.service.worker.child" in command:
            found.append(int(stat.parent.name))
    return found


def start_generation(client: httpx.Client, dice: random.Random) -> str | None:
    """Start a generation; retry with the same idempotency key until it is accepted."""
    key = {"Idempotency-Key": f"chaos-{dice.getrandbits(64):x}"}
    body = {"modelId": "flat", "prompt": "x", "parameters": {"does": dice.choice(BEHAVIORS)}}
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
    """Start generations from one thread per seed in a block; yield the ids that were accepted."""
    over = threading.Event()
    acknowledged: set[str] = set()
    failures: list[Exception] = []

    def work(seed: int) -> None:
        dice = random.Random(seed)
        headers = {"Authorization": f"Bearer {key}"}
        with httpx.Client(base_url=url, headers=headers, timeout=10) as client:
            try:
                while not over.is_set():
                    if made := start_generation(client, dice):
                        acknowledged.add(made)
                    # About as fast as two workers render, so that the queue stays short.
                    over.wait(dice.random() * 1.2)
            except Exception as error:  # noqa: BLE001 - checked after the join
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
    """Read all generations, the ledger and its discrepancies."""
    database = open_database(config)
    rows = await database.read(sql("SELECT * FROM generations"))
    entries = await database.read(sql("SELECT * FROM ledger"))
    unbalanced = await database.read(credits.verify())
    await database.close()
    return {"generations": rows, "ledger": entries, "unbalanced": unbalanced}


async def create_key(config: ServiceSettings) -> str:
    database = open_database(config)
    account = await database.write(accounts.create("Ada", "a@b", 10**9, clock()))
    request = keys.KeyRequest(account_id=account.id, name="chaos", scopes=("creative:generate",))
    key = await database.write(keys.create(request, config.secret(), clock()))
    await database.close()
    return str(key.text)


def drain(url: str, key: str, seconds: float) -> None:
    """Wait until no generation is processing."""
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


def stored_keys(config: ServiceSettings) -> set[str]:
    """Return the keys of the outputs in the storage."""
    found = (config.objects / "outputs").rglob("*.*")
    return {path.relative_to(config.objects).as_posix() for path in found}


def output_keys(audited: dict[str, list[Any]]) -> set[str]:
    """Return the keys of the outputs of all generations."""
    rows = audited["generations"]
    return {key for row in rows if row.output for key in outputs.keys_of(row.output)}


@pytest.mark.slow
@pytest.mark.timeout(300 + 20 * KILLS)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes through /proc")
def test_killed_processes_lose_no_generation_and_charge_nothing_twice(tmp_path: Path) -> None:
    config = settings.load({}, data=tmp_path / "data")
    key = asyncio.run(create_key(config))
    service = KilledService(config, free_port())
    dice, pause = random.Random(7), threading.Event()
    next_kill = time.monotonic() + 3
    try:
        with load(service.url, key) as acknowledged:
            while service.kills["service"] < KILLS or service.kills["render"] < 3 * KILLS:
                pause.wait(dice.random() * 0.5)
                service.kill_a_render(dice)
                if time.monotonic() > next_kill:
                    service.kill()
                    next_kill = time.monotonic() + dice.uniform(3, 5)
        drain(service.url, key, 150)
        service.kill()  # the next start removes files without a generation
        until(lambda: stored_keys(config) == output_keys(asyncio.run(audit(config))), seconds=30)
    finally:
        service.stop()

    audited = asyncio.run(audit(config))

    rows = {row.id: row for row in audited["generations"]}
    charges = Counter(e.subject for e in audited["ledger"] if e.kind == "generation")
    refunds = Counter(e.subject for e in audited["ledger"] if e.kind == "refund")
    assert len(acknowledged) > 5 * KILLS
    assert acknowledged <= set(rows)
    assert {row.state for row in rows.values()} == {"completed", "failed"}
    assert charges == Counter(dict.fromkeys(rows, 1))
    assert refunds == Counter({i: 1 for i, row in rows.items() if row.state == "failed"})
    assert audited["unbalanced"] == []
    for row in rows.values():
        if row.state == "completed":
            output = orjson.loads(row.output)
            content = (config.objects / output["key"]).read_bytes()
            assert hashlib.sha256(content).hexdigest() == output["sha256"]
