"""The render process: takes tasks from its parent over one socket, one at a time, and stays warm.

It ends with its parent: when the socket closes, so does the process, whatever it is doing. Nothing
in here knows of accounts, credits or databases.
"""

from __future__ import annotations

import hashlib
import os
import queue
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.registry import engine_for
from kit.errors import EngineError

#: Seconds between two reports of a job's progress.
REPORT_EVERY = 0.25
_CHUNK = 1 << 20
_FILE_LIMIT = 2 << 30


class Line:
    """The socket to the parent: one JSON object a line, both ways."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._tasks: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._progress: Progress | None = None
        threading.Thread(target=self._listen, daemon=True).start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Tell the parent something."""
        with self._lock:
            self._link.sendall(orjson.dumps(message) + b"\n")

    def next_task(self) -> tuple[dict[str, Any], Progress]:
        """Wait for a task and return it with the progress that a cancel of it stops."""
        task = self._tasks.get()
        self._progress = Progress(self._reporter())
        return task, self._progress

    def _reporter(self) -> Callable[[float], None]:
        last = time.monotonic()

        def report(fraction: float) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= REPORT_EVERY:
                last = now
                self.send({"progress": fraction})

        return report

    def _listen(self) -> None:
        try:
            with self._link.makefile("rb") as lines:
                for line in lines:
                    message = orjson.loads(line)
                    if message.get("do") != "cancel":
                        self._tasks.put(message)
                    elif self._progress:
                        self._progress.cancel()
        finally:
            # The parent is gone, in good order or not: nobody wants the result.
            os._exit(0)


def render(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Render a job and return the facts about its output, and the seconds that it took."""
    folder = Path(task["folder"])
    folder.mkdir(mode=0o700, parents=True)
    job = Job(
        prompt=task["prompt"],
        parameters=task["parameters"],
        seed=task["seed"],
        folder=folder,
        media={name: [Path(path) for path in paths] for name, paths in task["media"].items()},
    )
    started = time.perf_counter()
    asset = engine_for(task["model_id"]).render(job, progress)
    return {**_facts(asset), "seconds": time.perf_counter() - started}


def inspect(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Decode an uploaded file as far as needed to know that it is what it claims to be."""
    from kit.engines.media.inspection import inspect as inspected

    progress.check()
    return dict(inspected(Path(task["path"]), task["content_type"]))


TASKS: Mapping[str, Callable[[Mapping[str, Any], Progress], dict[str, Any]]] = {
    "render": render,
    "inspect": inspect,
}


def main(descriptor: int, memory: int) -> None:
    """Serve tasks until the parent is gone."""
    _limit(memory)
    line = Line(socket.socket(fileno=descriptor))
    line.send({"ready": os.getpid()})
    while True:
        task, progress = line.next_task()
        line.send(_attempted(task, progress))


def _attempted(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    try:
        return {"result": TASKS[task["do"]](task, progress)}
    except EngineError as error:
        return {"error": str(error), "code": error.code}
    except CanceledError:
        return {"error": "canceled", "code": "canceled"}
    except MemoryError:
        return {"error": "the job needs more memory than it may use", "code": "out_of_memory"}
    except Exception as error:  # noqa: BLE001 - an engine may raise anything
        # The trace goes to the log; the message may hold paths and stays out of the answer.
        traceback.print_exc(file=sys.stderr)
        return {"error": f"the engine failed ({type(error).__name__})", "code": "engine_failed"}


def _facts(asset: Asset) -> dict[str, Any]:
    digest, size = _measured(asset.path)
    return {
        "path": str(asset.path),
        "thumbnail": str(asset.thumbnail) if asset.thumbnail else None,
        "content_type": asset.content_type,
        "width": asset.width,
        "height": asset.height,
        "duration_seconds": asset.duration_seconds,
        "metadata": dict(asset.metadata),
        "sha256": digest,
        "size_bytes": size,
    }


def _measured(path: Path) -> tuple[str, int]:
    """Return a file's SHA-256 and size."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return digest.hexdigest(), size


def _limit(memory: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits; the wall clock still holds
        return
    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: _FILE_LIMIT,
        resource.RLIMIT_CORE: 0,
    }
    for limit, most in limits.items():
        _, hard = resource.getrlimit(limit)
        bounded = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (bounded, hard))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
