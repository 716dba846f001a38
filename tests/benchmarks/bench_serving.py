"""Compare the service with the smallest one of its kind and a bare loop, in turns.

    python tests/benchmarks/bench_serving.py [--rounds N] [--write]

All draw the same picture. Ours stores each job durably, charges it and renders it in another
process; the smallest service (`plugins/smallest_service.py`), with the same callers, does none of
that. The loop (`plugins/bare_loop.py`) has no HTTP and does only what every durable job needs: two
commits, a picture, one flush of its file. A ratio compares two measurements made one after the
other, so that the load of the machine matters less. The table has the medians of the rounds, with
minimum and maximum; ``--write`` puts it into the README.
"""

import argparse
import asyncio
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import count, product
from pathlib import Path
from typing import Any

import psutil
import uvloop

PLUGINS, ROOT = Path(__file__).with_name("plugins"), Path(__file__).parents[2]
if __name__ == "__main__":  # imported, it changes nothing for others
    sys.path[:0] = [str(ROOT)]

from kit.service import settings  # noqa: E402 - from this checkout
from kit.service.databases import open_database  # noqa: E402
from kit.service.domain import accounts, keys  # noqa: E402
from kit.service.machine import clock  # noqa: E402
from tests.ports import free_port  # noqa: E402

PROMPT = "a red fox in the snow, golden hour"
CALLERS, JOBS, JOBS_ALONE, GET_SECONDS = 16, 500, 100, 2.0
OURS = "/v1/creative-studio/generations"
MARKS = "<!-- serving: bench_serving.py --write -->", "<!-- /serving -->"
#: Figure -> its row in the table, and how it is written.
ROWS = {
    "jobs": ("jobs a second, 16 callers", "{:,.0f}"),
    "cpu": ("processor time a job", "{:.1f} ms"),
    "p50": ("from start to result, one caller, p50", "{:.1f} ms"),
    "p99": ("the same, p99", "{:.1f} ms"),
    "accepted": ("starts accepted a second", "{:,.0f}"),
    "status": ("status requests a second", "{:,.0f}"),
    "list": ("lists of 50 a second", "{:,.0f}"),
    "memory": ("idle memory, all processes", "{:.0f} MiB"),
    "start": ("first result after the command", "{:.2f} s"),
}


class Program:
    """A program in its own process, which can be started again and again.

    Parameters
    ----------
    command : list of str
        Python's arguments; ``{port}`` and ``{data}`` are a free port and an empty folder.
    """

    def __init__(self, ends: ExitStack, command: list[str]) -> None:
        self._folder = Path(ends.enter_context(tempfile.TemporaryDirectory()))
        self._command = command
        ends.callback(self.stop)

    async def start(self) -> dict[str, float]:
        """Start it again and return the time until the first result."""
        self.port = free_port()
        data = Path(tempfile.mkdtemp(dir=self._folder))
        self.prepare(data)
        paths = os.pathsep.join((str(ROOT), str(PLUGINS)))
        given = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        many = str(10**8)
        limits = {"KIT_REQUESTS_PER_MINUTE": many, "KIT_STARTS_PER_MINUTE": many}
        began = time.perf_counter()
        self.process = psutil.Popen(
            [sys.executable, *(word.format(port=self.port, data=data) for word in self._command)],
            env=given | limits | {"PYTHONPATH": paths},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        await self.answer()
        await self.do(1, 1)
        return {"start": time.perf_counter() - began}

    def prepare(self, data: Path) -> None:
        """Prepare the data folder."""

    async def answer(self) -> None:
        """Wait until it accepts connections."""

    async def do(self, callers: int, jobs: int) -> list[float]:
        """Run jobs with a number of callers at a time and return the seconds of each."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop it and what it started."""
        process = getattr(self, "process", None)
        if process and process.is_running():
            process.terminate()
            process.communicate(timeout=30)

    def _processes(self) -> Iterator[psutil.Process]:
        yield self.process
        yield from self.process.children(recursive=True)

    def cpu(self) -> float:
        """Return the seconds of processor time so far, with what it started.

        Read from the clock of each process, which Linux names by its id: its other figures count
        in ticks of 10 ms, and rarely see what is short.
        """
        return sum(time.clock_gettime(~one.pid << 3 | 2) for one in self._processes())

    def memory(self) -> list[float]:
        """Return the MiB of each of its processes, shared pages by share."""
        return [one.memory_full_info().pss / 2**20 for one in self._processes()]


class BareLoop(Program):
    """The loop, which has no callers."""

    async def do(self, callers: int, jobs: int) -> list[float]:
        self.process.stdin.write(f"{callers} {jobs}\n".encode())
        self.process.stdin.flush()
        times: list[float] = json.loads(self.process.stdout.readline())
        return times


class Peer(Program):
    """A service, and how to call it.

    Parameters
    ----------
    orders : iterator of dict
        The bodies of the orders, one after the other.
    """

    def __init__(
        self,
        ends: ExitStack,
        command: list[str],
        path: str,
        orders: Iterator[dict[str, Any]],
        key: str = "",
    ) -> None:
        super().__init__(ends, command)
        self.path, self._orders = path, orders
        self._headers = f"Authorization: Bearer {key}\r\n" if key else ""

    def body(self) -> bytes:
        """Return the next order."""
        return json.dumps(next(self._orders)).encode()

    def prepare(self, data: Path) -> None:
        if self.path == OURS:
            shutil.copytree(self._folder.parent / "template", data, dirs_exist_ok=True)

    async def answer(self) -> None:
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            except OSError:
                await asyncio.sleep(0.002)

    async def do(self, callers: int, jobs: int) -> list[float]:
        left, times = iter(range(jobs)), []

        async def work(caller: Connection) -> None:
            for _ in left:
                began = time.perf_counter()
                await finish(caller, self, 0.02 if callers > 1 else 0.002)
                times.append(time.perf_counter() - began)

        await run_all(self, callers, work)
        return times

    async def connect(self) -> "Connection":
        """Return a new connection."""
        loop = asyncio.get_running_loop()
        head = f"Host: 127.0.0.1:{self.port}\r\n{self._headers}"
        _, made = await loop.create_connection(lambda: Connection(head), "127.0.0.1", self.port)
        return made


class Connection(asyncio.Protocol):
    """HTTP/1.1 that costs the machine as little as possible: one request after the other."""

    def __init__(self, head: str) -> None:
        self._head, self._buffer, self._answer = head, b"", asyncio.Future[bytes]()

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        if len(body) >= length:
            self._buffer = b""
            assert head[9:10] == b"2", head + body
            self._answer.set_result(body)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._answer.done():
            self._answer.set_exception(error or ConnectionError("closed"))

    async def ask(self, method: str, path: str, body: bytes = b"", *, wait: bool = True) -> bytes:
        self._answer = asyncio.get_running_loop().create_future()
        size = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else ""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{size}"
        head += "Prefer: wait=30\r\n\r\n" if wait else "\r\n"
        self.transport.write(head.encode() + body)
        return await self._answer


async def finish(caller: Connection, peer: Peer, pause: float, job: str = "") -> str:
    """Run a job, or wait for one that was accepted, and return its id."""
    if not job:
        answer = json.loads(await caller.ask("POST", peer.path, peer.body()))
        job = answer["id"]
        if answer["status"] == "completed":
            return job
    while True:
        answer = json.loads(await caller.ask("GET", f"{peer.path}/{job}"))
        if answer["status"] == "completed":
            return job
        assert answer["status"] == "processing", answer
        await asyncio.sleep(0 if peer.path == OURS else pause)  # ours answers when it is done


async def run_all(peer: Peer, callers: int, work: Callable[[Connection], Awaitable[Any]]) -> float:
    """Run some callers concurrently and return the seconds."""
    connections = [await peer.connect() for _ in range(callers)]
    began = time.perf_counter()
    await asyncio.gather(*(work(one) for one in connections))
    took = time.perf_counter() - began
    for one in connections:
        one.transport.close()
    return took


async def many_jobs(program: Program) -> dict[str, float]:
    before, began = program.cpu(), time.perf_counter()
    await program.do(CALLERS, JOBS)
    took = time.perf_counter() - began
    return {"jobs": JOBS / took, "cpu": 1000 * (program.cpu() - before) / JOBS}


async def one_caller(program: Program) -> dict[str, float]:
    times = sorted(await program.do(1, JOBS_ALONE))
    middle, late = times[JOBS_ALONE // 2], times[int(JOBS_ALONE * 0.99) - 1]
    return {"p50": 1000 * middle, "p99": 1000 * late}


async def many_orders(peer: Peer) -> dict[str, float]:
    """Send orders as fast as they are accepted; then wait until all are done."""
    left, made = iter(range(JOBS)), []

    async def order(caller: Connection) -> None:
        path = peer.path
        for _ in left:
            answer = await caller.ask("POST", path, peer.body(), wait=False)
            made.append(json.loads(answer)["id"])

    async def wait(caller: Connection) -> None:
        while made:
            await finish(caller, peer, 0.02, made.pop())

    took = await run_all(peer, CALLERS, order)
    await run_all(peer, CALLERS, wait)
    return {"accepted": JOBS / took}


async def many_reads(peer: Peer) -> dict[str, float]:
    caller = await peer.connect()
    job = await finish(caller, peer, 0.02)
    found = {}
    for name, path in (("status", f"{peer.path}/{job}"), ("list", peer.path)):
        answers, ends = count(), time.perf_counter() + GET_SECONDS

        async def read(
            caller: Connection, path: str = path, ends: float = ends, answers: Any = answers
        ) -> None:
            while time.perf_counter() < ends:
                await caller.ask("GET", path)
                next(answers)

        before = peer.cpu()
        took = await run_all(peer, CALLERS, read)
        number = next(answers)
        found[name] = number / took
        found[f"{name} cpu"] = 1000 * (peer.cpu() - before) / number
    return found


async def create_account(folder: Path) -> str:
    """Create a data folder with an account that can pay for everything, and return its key."""
    config = settings.load({}, data=folder)
    database = open_database(config)
    owner = await database.write(accounts.create("Bench", "bench@localhost", 10**12, clock()))
    request = keys.KeyRequest(account_id=owner.id, name="bench", scopes=("creative:generate",))
    made = await database.write(keys.create(request, config.secret(), clock()))
    await database.close()
    return made.text


async def our_service(ends: ExitStack, orders: Iterator[dict[str, Any]]) -> Peer:
    """Return our service, with an account that can pay for all orders."""
    tempfile.tempdir = ends.enter_context(tempfile.TemporaryDirectory())
    key = await create_account(Path(tempfile.tempdir) / "template")
    serve = ["-m", "kit", "serve", "--port={port}", "--data={data}", "--workers=2"]
    return Peer(ends, serve, OURS, orders, key)


Figures = dict[str, list[dict[str, float]]]


async def measure(rounds: int) -> Figures:
    """Return the figures of each round, of ours and of the others."""
    figures: Figures = defaultdict(list)
    with ExitStack() as ends:
        smallest = [str(PLUGINS / "smallest_service.py"), "{port}", "{data}"]
        orders = ({"prompt": PROMPT, "seed": seed} for seed in count())
        ours = (
            {"modelId": "gradient", "prompt": PROMPT, "parameters": {"seed": seed}}
            for seed in count()
        )
        peers = {
            "ours": await our_service(ends, ours),
            "smallest": Peer(ends, smallest, "/generations", orders),
        }
        loop = BareLoop(ends, [str(PLUGINS / "bare_loop.py"), "{data}"])
        programs = {**peers, "loop": loop}
        for program in programs.values():
            await program.start()  # writes the bytecode that others have
        for _, (name, program) in product(range(rounds), programs.items()):
            program.stop()
            figures[name].append(await program.start())
        await asyncio.sleep(2)
        idle = {name: {"memory": sum(one.memory())} for name, one in programs.items()}
        for number in range(rounds):
            for take, (name, program) in product((one_caller, many_jobs), programs.items()):
                figures[name][number] |= await take(program) | idle[name]
            for ask, (name, peer) in product((many_orders, many_reads), peers.items()):
                figures[name][number] |= await ask(peer)
    return figures


def format_table(figures: Figures) -> str:
    """Return the table, and a line with the date and the machine."""
    ours = figures["ours"]
    text = f"Measured {datetime.now(UTC):%Y-%m-%d} on {_machine()}; medians of {len(ours)} rounds"
    lines = [
        f"{text}, with minimum and maximum.",
        "",
        "| | ours | beside the smallest service | beside the bare loop |",
        "|---|---|---|---|",
    ]
    for name, (row, form) in ROWS.items():
        mine = form.format(statistics.median(one[name] for one in ours))
        others = (_ratio(name, ours, figures[other]) for other in ("smallest", "loop"))
        lines.append(f"| {row} | {mine} | {' | '.join(others)} |")
    return "\n".join(lines)


def _ratio(name: str, ours: list[dict[str, float]], other: list[dict[str, float]]) -> str:
    """Return the ratio of a figure, with minimum and maximum; "" if the other has none."""
    if name not in other[0]:
        return ""
    ratios = sorted(a[name] / b[name] for a, b in zip(ours, other, strict=True))
    spread = f" ({ratios[0]:.2f} to {ratios[-1]:.2f})" if ratios[0] != ratios[-1] else ""
    return f"{statistics.median(ratios):.2f}{spread}"


def _machine() -> str:
    known = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    name = known.partition("Model name:")[2].partition("\n")[0].strip() or platform.processor()
    load = os.getloadavg()[1]
    return f"{os.cpu_count()} × {name} (Python {platform.python_version()}, load {load:.1f})"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="Put the table into the README.")
    given = parser.parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        made = format_table(runner.run(measure(given.rounds)))
    print(made)
    if given.write:
        readme = ROOT / "README.md"
        before, _, rest = readme.read_text().partition(MARKS[0])
        after = rest.partition(MARKS[1])[2]
        if not after:
            raise SystemExit(f"{readme} lacks the marks {MARKS[0]} and {MARKS[1]}")
        readme.write_text(f"{before}{MARKS[0]}\n{made}\n{MARKS[1]}{after}")
