"""The full stack beside the embedded service: jobs a second, and processor time a job and part.

    python tests/benchmarks/bench_stack.py [JOBS] [ROUNDS]

All services run at once and are asked in turn, so that ratios compare neighbours in time. Then a
render of 200 ms that only waits is done by 1, 2 and 4 workers of a cluster.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import httpx
import psutil

ROOT = Path(__file__).parents[2]
if __name__ == "__main__":  # imported, it changes nothing for others
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "benchmarks" / "plugins")]
    os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])

from kit.service import settings  # noqa: E402 - after its plug-ins can be found
from tests.buckets import KEYS, S3Server, server_command  # noqa: E402
from tests.clusters import Daemon, scheduler, service, worker  # noqa: E402
from tests.ports import free_port  # noqa: E402
from tests.postgresql import server  # noqa: E402
from tests.service.test_chaos import create_key  # noqa: E402
from tests.waiting import until  # noqa: E402

PATH = "/v1/creative-studio/generations"
PAUSE = 200


def main(jobs: int, rounds: int) -> None:
    with ExitStack() as ends:
        folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        stacks = {
            "embedded": Stack(ends, folder / "embedded"),
            "PostgreSQL": Stack(ends, folder / "postgresql", database=True),
            "PostgreSQL, S3, Dask": Stack(ends, folder / "all", database=True, nodes=(2,)),
        }
        rates, costs = defaultdict(list), defaultdict(list)
        for one in stacks.values():
            one.load(50, threads=4)
        for _ in range(rounds):
            for name, one in stacks.items():
                before = one.processor()
                rates[name].append(one.load(jobs, threads=4))
                used = {part: one.processor()[part] - before[part] for part in before}
                costs[name].append({part: 1000 * spent / jobs for part, spent in used.items()})
        print("jobs/s, and ms of processor a job (median of rounds)")
        for name, found in costs.items():
            parts = {part: median(one[part] for one in found) for part in found[0]}
            own = [
                one["service"] / base["service"]
                for one, base in zip(found, costs["embedded"], strict=True)
            ]
            text = ", ".join(f"{part} {spent:.1f}" for part, spent in parts.items())
            print(f"{name:22} {median(rates[name]):7.1f}  {text}; service {median(own):.2f}x")
    first = 0.0
    print(f"workers, jobs/s of {PAUSE} ms, efficiency beside one worker and beside the pause alone")
    for count in (1, 2, 4):
        with ExitStack() as ends:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
            one = Stack(ends, folder / "all", database=True, nodes=(1,) * count)
            one.load(8 * count, threads=2 * count, pause=PAUSE)
            rate = one.load(50 * count, threads=2 * count, pause=PAUSE)
            first = first or rate
            alone = rate / count * PAUSE / 1000
            print(f"{count}  {rate:6.2f}  {rate / count / first:.2f}  {alone:.2f}")


class Stack:
    """A service with its parts, which end with `ends`; two jobs at a time, or as nodes have."""

    def __init__(
        self, ends: ExitStack, data: Path, *, database: bool = False, nodes: tuple[int, ...] = ()
    ) -> None:
        self._parts: dict[str, list[int]] = {}
        given = {"KIT_WORKERS": "2"}
        if database:
            running = ends.enter_context(server())
            given["KIT_DATABASE_URL"] = str(running.get_uri())
            self._parts["database"] = [running.get_pid()]
        if nodes:
            given |= self._start_cluster(ends, data, nodes)
        data.mkdir(parents=True, exist_ok=True)
        key = asyncio.run(create_key(settings.load(given, data=data)))
        port = free_port()
        own = service(port, data, **given)
        ends.enter_context(own.run())
        self._parts = {"service": [own.pid], **self._parts}
        self._client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {key}", "Prefer": "wait=30"},
            timeout=60,
            verify=False,
        )
        ends.callback(self._client.close)
        until(self._is_healthy, seconds=60)
        until(lambda: self.load(1, threads=1) > 0, seconds=60)

    def _start_cluster(self, ends: ExitStack, data: Path, nodes: tuple[int, ...]) -> dict[str, str]:
        place, port = f"127.0.0.1:{free_port()}", free_port()
        buckets, log = data / "buckets", data.with_name("bucket.log")
        buckets.mkdir(parents=True)
        bucket = Daemon(server_command(place, buckets), log, RCLONE_CONFIG=os.devnull)
        ends.enter_context(bucket.run())
        until(S3Server(f"http://{place}").answers)
        storage, cluster = S3Server(f"http://{place}").new_bucket(), f"tcp://127.0.0.1:{port}"
        dask = scheduler(port, data.with_name("scheduler.log"))
        workers = [
            worker(cluster, data.with_name(f"w{i}"), storage, "--workers", str(slots), **KEYS)
            for i, slots in enumerate(nodes)
        ]
        for part in (dask, *workers):
            ends.enter_context(part.run())
        for i in range(len(nodes)):
            log = data.with_name(f"w{i}.log")
            until(lambda log=log: "Rendering" in log.read_text(), seconds=60)
        self._parts |= {
            "workers": [part.pid for part in workers],
            "scheduler": [dask.pid],
            "bucket": [bucket.pid],
        }
        return {"KIT_STORAGE_URL": storage, "KIT_CLUSTER": cluster, **KEYS}

    def _is_healthy(self) -> bool:
        try:
            return self._client.get("/healthz").status_code == 200
        except httpx.TransportError:
            return False

    def load(self, jobs: int, *, threads: int, pause: int = 0) -> float:
        """Run some jobs and return how many were done a second."""
        body = {"modelId": "pause", "prompt": "x", "parameters": {"milliseconds": pause}}

        def order(_: int) -> None:
            answer = self._client.post(PATH, json=body)
            while answer.json()["status"] == "processing":
                answer = self._client.get(f"{PATH}/{answer.json()['id']}")
            assert answer.json()["status"] == "completed", answer.text

        started = time.perf_counter()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(order, range(jobs)))
        return jobs / (time.perf_counter() - started)

    def processor(self) -> dict[str, float]:
        """Return the seconds of processor time that each part has used, with what it started."""
        return {name: sum(map(_seconds, pids)) for name, pids in self._parts.items()}


def _seconds(pid: int) -> float:
    whole = psutil.Process(pid)
    times = [one.cpu_times() for one in (whole, *whole.children(recursive=True))]
    return float(sum(time.user + time.system for time in times))


if __name__ == "__main__":
    main(*(int(text) for text in (*sys.argv[1:], *("300", "5")[len(sys.argv) - 1 :])))
