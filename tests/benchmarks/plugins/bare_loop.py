"""The minimal work of a durable job, in a loop without a service.

python bare_loop.py FOLDER

A job is a row that is committed, a picture that another process draws and flushes, and a second
commit. A line of input has the numbers of callers and of jobs; a line of output has the
seconds of each job.
"""

import json
import multiprocessing
import os
import signal
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from time import perf_counter

PROMPT, WORKERS = "a red fox in the snow, golden hour", 2
ORDER = "INSERT INTO jobs (id, prompt, status) VALUES (?, ?, 'processing')"
SETTLE = "UPDATE jobs SET status = 'completed', output = ? WHERE id = ?"


def draw(folder: Path, channel: Connection) -> None:
    """Draw pictures for the seeds that arrive."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    from gradient import render  # beside this file

    while True:
        path = render(PROMPT, channel.recv(), folder)
        with path.open("rb") as file:
            os.fsync(file.fileno())
        channel.send(str(path))


def main(folder: Path) -> None:
    """Run the jobs that the input names."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # with the workers
    workers: SimpleQueue[Connection] = SimpleQueue()
    forks = multiprocessing.get_context("fork")
    for _ in range(WORKERS):
        ours, theirs = forks.Pipe()
        forks.Process(target=draw, args=(folder, theirs), daemon=True).start()
        workers.put(ours)
    database = sqlite3.connect(folder / "jobs.db", isolation_level=None, check_same_thread=False)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE jobs (id INTEGER PRIMARY KEY, prompt, status, output)")
    lock, seeds = Lock(), count()

    def commit(statement: str, *values: object) -> None:
        with lock:
            database.execute(statement, values)

    def work(_: int) -> float:
        began, seed = perf_counter(), next(seeds)
        commit(ORDER, seed, PROMPT)
        worker = workers.get()
        worker.send(seed)
        path = worker.recv()
        workers.put(worker)
        commit(SETTLE, path, seed)
        return perf_counter() - began

    for line in sys.stdin:
        callers, jobs = map(int, line.split())
        with ThreadPoolExecutor(callers) as pool:
            print(json.dumps([*pool.map(work, range(jobs))]), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
