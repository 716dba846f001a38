"""The memory of the service over many jobs that take next to no time, drawn as a picture.

    python tests/benchmarks/bench_memory.py [JOBS] [PICTURE]

A million take an hour and 16 GB on the disk. Shared pages count by share.
"""

import asyncio
import sys
from contextlib import ExitStack
from itertools import repeat
from pathlib import Path

import uvloop
from matplotlib.figure import Figure

sys.path[:0] = [str(Path(__file__).parent)]

from bench_serving import JOBS, many_jobs, our_service  # noqa: E402


async def measure(jobs: int) -> list[tuple[int, float, float]]:
    """Return after how many jobs the service, and all of it with its children, has so many MiB."""
    found = []
    with ExitStack() as ends:
        order = {"modelId": "pause", "prompt": "x", "parameters": {"milliseconds": 0}}
        peer = await our_service(ends, repeat(order))
        await peer.start()
        for done in range(JOBS, jobs + 1, JOBS):
            await many_jobs(peer)
            service, *children = peer.memory()
            found.append((done, service, service + sum(children)))
    return found


def draw(found: list[tuple[int, float, float]], picture: str) -> None:
    done, service, whole = zip(*found, strict=True)
    axes = Figure(figsize=(8, 4), layout="constrained").subplots()
    axes.plot(done, whole, label="with its render processes")
    axes.plot(done, service, label="the service")
    axes.set(xlabel="jobs", ylabel="MiB", ylim=(0, None))
    axes.legend()
    axes.figure.savefig(picture)


if __name__ == "__main__":
    given = dict(enumerate(sys.argv[1:]))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        measured = runner.run(measure(int(given.get(0, 100_000))))
    first, last = measured[len(measured) // 10], measured[-1]
    print(f"{first[1]:.0f} MiB after {first[0]:,} jobs, {last[1]:.0f} MiB after {last[0]:,}")
    draw(measured, given.get(1, "memory.png"))
