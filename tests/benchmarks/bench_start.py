"""How soon `kit serve` answers, beside the smallest FastAPI application.

Both are started in turn, so that a machine whose speed drifts slows both down. Wall time is from
the start of the command to its first answer; CPU is what the process has used by then. The first
round is not counted: it writes the bytecode that an installed package has.

    python tests/benchmarks/bench_start.py [rounds]
"""

import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

SMALLEST = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()

@app.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}

uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
"""


#: An environment that asks for no bytecode would have our modules compiled at each start, and not
#: those that were installed.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def measured(command: list[str], port: int) -> tuple[float, float, float]:
    """Return the seconds of wall and of CPU until a command's first answer, and its MiB then."""
    pause = threading.Event()
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    )
    while True:
        try:
            with urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                break
        except URLError:
            pause.wait(0.002)
    wall = time.perf_counter() - started
    cpu, memory = cpu_of(process.pid), memory_of(process.pid)
    process.send_signal(signal.SIGINT)
    process.wait(30)
    return wall, cpu, memory


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process and its threads, where the system tells."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    nanoseconds = [int(thread.read_text().split()[0]) for thread in threads]
    return sum(nanoseconds) / 1e9 if nanoseconds else float("nan")


def memory_of(pid: int) -> float:
    """Return the memory of a process in MiB, shared pages by share, where the system tells."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return float("nan")
    return int(rollup.partition("\nPss:")[2].split()[0]) / 1024


def main(rounds: int) -> None:
    figures: dict[str, list[tuple[float, float, float]]] = {
        "smallest": [],
        "kit, new data": [],
        "kit": [],
    }
    with tempfile.TemporaryDirectory() as kept:
        for counted in [False, *[True] * rounds]:
            for name, runs in figures.items():
                port = free_port()
                with tempfile.TemporaryDirectory() as new:
                    data = new if name == "kit, new data" else kept
                    serve = ["-m", "kit", "serve", "--port", str(port), "--data", data]
                    arguments = ["-c", SMALLEST, str(port)] if name == "smallest" else serve
                    run = measured([sys.executable, *arguments], port)
                    runs += [run] if counted else []
    base = figures["smallest"]
    print(f"{'':16}{'wall s':>10}{'ratio':>8}{'CPU s':>10}{'ratio':>8}{'MiB':>10}{'ratio':>8}")
    for name, runs in figures.items():
        line = f"{name:16}"
        for place in range(3):
            median = statistics.median(run[place] for run in runs)
            ratios = [run[place] / first[place] for run, first in zip(runs, base, strict=True)]
            line += f"{median:10.3f}{statistics.median(ratios):8.2f}"
        print(line)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
