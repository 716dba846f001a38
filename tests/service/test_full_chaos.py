"""Every part of the full stack is killed at random under load; then the ledger is checked.

PostgreSQL, a server of S3, a Dask scheduler with two workers, and two services.
"""

import asyncio
import hashlib
import os
import random
import shutil
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from kit.service import settings
from kit.service.app import create_storage
from kit.service.settings import ServiceSettings
from tests.buckets import KEYS, S3Server, server_command
from tests.clusters import Daemon, scheduler, service, worker
from tests.ports import free_port
from tests.postgresql import server
from tests.service.test_chaos import audit, children, create_key, drain, load, output_keys
from tests.waiting import until

#: How often each part is killed.
KILLS = int(os.environ.get("KIT_TEST_CHAOS_KILLS", "3")) - 1
#: What is started after the database and the bucket.
KINDS = ("scheduler", "worker", "service")


@dataclass
class Stack:
    """All parts of a running stack."""

    config: ServiceSettings
    urls: list[str]
    parts: dict[str, list[Daemon]]
    database: Any
    dice: random.Random

    def kill(self, kind: str) -> None:
        """Kill one of a kind."""
        if kind == "render":
            until(self._kill_render)
        elif kind == "database":
            self._restart_database()
        else:
            self.dice.choice(self.parts[kind]).kill()

    def _kill_render(self) -> bool:
        workers = [part.pid for part in self.parts["worker"]]
        renders = [child for worker in workers for child in children(worker)]
        try:
            os.kill(self.dice.choice(renders), signal.SIGKILL)
        except (IndexError, ProcessLookupError):  # there is none, or it has just ended
            return False
        return True

    def _restart_database(self) -> None:
        pid = self.database.get_pid()
        os.kill(pid, signal.SIGQUIT)  # at once: the database recovers from its log
        until(lambda: not Path(f"/proc/{pid}").exists())
        self.database.ensure_postgres_running()


@contextmanager
def run_stack(folder: Path) -> Iterator[Stack]:
    """Run all parts."""
    with ExitStack() as exits:
        database = exits.enter_context(server())
        s3_port, scheduler_port, *ports = (free_port() for _ in range(4))
        (folder / "buckets").mkdir()
        place = f"127.0.0.1:{s3_port}"
        command = server_command(place, folder / "buckets")
        s3 = Daemon(command, folder / "s3.log", RCLONE_CONFIG=os.devnull)
        exits.enter_context(s3.run())
        s3_server = S3Server(f"http://{place}")
        until(s3_server.answers)
        bucket, cluster = s3_server.new_bucket(), f"tcp://127.0.0.1:{scheduler_port}"
        config = settings.load(
            {},
            data=folder / "first",
            database_url=str(database.get_uri()),
            storage_url=bucket,
            aws=KEYS,
        )
        dask = scheduler(scheduler_port, folder / "scheduler.log")
        workers = [
            worker(cluster, folder / name, bucket, "--workers", "1", **KEYS)
            for name in ("worker-1", "worker-2")
        ]
        given = {"KIT_STORAGE_URL": bucket, "KIT_CLUSTER": cluster, **KEYS}
        given |= {"KIT_DATABASE_URL": config.database_url, "KIT_LEASE_SECONDS": "5"}
        services = [
            service(port, data, **given)
            for port, data in zip(ports, (config.data, folder / "second"), strict=True)
        ]
        parts = {"s3": [s3], "scheduler": [dask], "worker": workers, "service": services}
        urls = [f"http://127.0.0.1:{port}" for port in ports]
        yield Stack(config, urls, parts, database, random.Random(11))


def kill_parts(stack: Stack) -> None:
    """Kill all parts, in another order each time."""
    pause = threading.Event()
    for _ in range(KILLS):
        kinds = ["render", *stack.parts, "database", "render"]
        stack.dice.shuffle(kinds)
        for kind in kinds:
            pause.wait(stack.dice.uniform(0.4, 1.4))
            stack.kill(kind)


def is_healthy(url: str) -> bool:
    """Return whether a service is healthy."""
    try:
        return httpx.get(f"{url}/healthz", verify=False).status_code == 200
    except httpx.TransportError:
        return False


async def read_hashes(config: ServiceSettings) -> dict[str, str]:
    """Return the hashes of all outputs in the bucket, by key."""
    storage, found = create_storage(config, bytes(32)), {}
    scratch = config.data / "read"
    for folder in await storage.names("outputs/"):
        for name in await storage.names(f"outputs/{folder}"):
            path = await storage.fetch_local(key := f"outputs/{folder}/{name}", scratch)
            found[key] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


@pytest.mark.slow
@pytest.mark.timeout(240 + 30 * KILLS)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes through /proc")
def test_killed_parts_lose_no_generation_and_charge_nothing_twice(tmp_path: Path) -> None:
    with run_stack(tmp_path) as stack, ExitStack() as exits:
        key = asyncio.run(create_key(stack.config))
        (tmp_path / "second").mkdir(mode=0o700)
        shutil.copy(stack.config.secret_path, tmp_path / "second" / "secret")
        first, second = stack.urls
        for part in [part for kind in KINDS for part in stack.parts[kind]]:
            exits.enter_context(part.run())
        until(lambda: is_healthy(first) and is_healthy(second), seconds=60)
        with load(first, key, [1]) as one, load(second, key, [2]) as two:
            kill_parts(stack)
        drain(first, key, 120)
        for part in stack.parts["service"]:
            part.kill()  # the next start removes files without a generation
        until(
            lambda: (
                set(asyncio.run(read_hashes(stack.config)))
                == output_keys(asyncio.run(audit(stack.config)))
            ),
            seconds=40,
        )
        audited = asyncio.run(audit(stack.config))
        hashes = asyncio.run(read_hashes(stack.config))

    rows = {row.id: row for row in audited["generations"]}
    charges = Counter(e.subject for e in audited["ledger"] if e.kind == "generation")
    refunds = Counter(e.subject for e in audited["ledger"] if e.kind == "refund")
    assert len(one | two) > 5 * KILLS
    assert one | two <= set(rows)
    assert {row.state for row in rows.values()} == {"completed", "failed"}
    assert charges == Counter(dict.fromkeys(rows, 1))
    assert refunds == Counter({i: 1 for i, row in rows.items() if row.state == "failed"})
    assert audited["unbalanced"] == []
    for row in rows.values():
        if row.state == "completed":
            output = orjson.loads(row.output)
            assert hashes[output["key"]] == output["sha256"], "a stored file is complete"
