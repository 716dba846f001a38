"""The render process: takes tasks from its parent over one socket, one at a time, and stays warm.

It ends with its parent, whatever it is doing. Whoever cancels a job kills its process. Nothing in
here knows of accounts, credits or databases.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from kit.engines.base import CanceledError, Job, Progress
from kit.engines.configured.place import Place
from kit.engines.registry import engine_for
from kit.errors import EngineError
from kit.service.storage.shelf import Shelf
from kit.service.worker.outcome import kept
from kit.service.worker.pulse import Pulse

_FILE_LIMIT = 2 << 30
#: How much a render gives way to the service, and to whatever else is asked of the machine.
_NICENESS = 5


class Line:
    """The socket to the parent: one JSON object a line, both ways."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lines = link.makefile("rb")
        self._lock = threading.Lock()

    def send(self, message: Mapping[str, Any]) -> None:
        """Tell the parent something."""
        with self._lock:
            self._link.sendall(orjson.dumps(message) + b"\n")

    def tasks(self) -> Iterator[dict[str, Any]]:
        """Yield what the parent asks for, until it is gone."""
        for line in self._lines:
            yield orjson.loads(line)

    def pulse(self) -> Pulse:
        """Return what tells the parent how far a task is, also while an engine is silent."""
        return Pulse(lambda fraction: self.send({"progress": fraction}))


def render(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Render a job, put its files on the shelf and return the facts about them."""
    folder = Path(task["folder"])
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return _rendered(task, folder, progress)
    finally:
        if any(folder.iterdir()):  # what an engine left, or one that failed
            shutil.rmtree(folder)


def _rendered(task: Mapping[str, Any], folder: Path, progress: Progress) -> dict[str, Any]:
    job = Job(
        prompt=task["prompt"],
        parameters=task["parameters"],
        seed=task["seed"],
        folder=folder,
        media={name: [Path(path) for path in paths] for name, paths in task["media"].items()},
    )
    started = time.perf_counter()
    place = Place(*map(Path, task["engines"]))
    asset = engine_for(task["model_id"], place).render(job, progress)
    seconds = time.perf_counter() - started
    facts = kept(asset, task["generation_id"], folder, Shelf(Path(task["shelf"])))
    return {**facts, "seconds": seconds}


def inspect(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Decode an uploaded file as far as needed to know that it is what it claims to be."""
    from kit.engines.media.inspection import inspect as inspected

    progress.check()
    return dict(inspected(Path(task["path"]), task["content_type"]))


TASKS: Mapping[str, Callable[[Mapping[str, Any], Progress], dict[str, Any]]] = {
    "render": render,
    "inspect": inspect,
}


def main(descriptor: int, memory: int, cpu_seconds: int) -> None:
    """Serve tasks until the parent is gone."""
    _limit(memory)
    _give_way()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    line = Line(socket.socket(fileno=descriptor))
    line.send({"ready": os.getpid()})
    pulse = line.pulse()
    for task in line.tasks():
        _limit_processor(cpu_seconds)
        with pulse:
            progress = Progress(pulse.report)
            # Whoever cancels asks first: an engine may have something to say to another machine.
            signal.signal(signal.SIGTERM, lambda *_, progress=progress: progress.cancel())
            outcome = _attempted(task, progress)
        line.send(outcome)


def _end_with_parent() -> None:
    """End the process, whatever it is doing, when the other end of its standard input is gone."""
    while os.read(0, 1):
        pass
    os._exit(0)


def _attempted(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    try:
        return {"result": TASKS[task["do"]](task, progress)}
    except EngineError as error:
        if error.detail:
            model = task.get("model_id", "an upload")
            sys.stderr.write(f"{model}: {error} ({error.code}): {error.detail}\n")
        return {"error": str(error), "code": error.code}
    except CanceledError:
        return {"error": "canceled", "code": "canceled"}
    except MemoryError:
        return {"error": "the job needs more memory than it may use", "code": "out_of_memory"}
    except (Exception, SystemExit) as error:  # noqa: BLE001 - an engine may raise anything
        # The trace goes to the log; the message may hold paths and stays out of the answer.
        traceback.print_exc(file=sys.stderr)
        return {"error": f"the engine failed ({type(error).__name__})", "code": "engine_failed"}


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


def _limit_processor(seconds: int) -> None:
    """Let the next task use so much processor time; more ends the process."""
    with suppress(ImportError):  # Windows
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        soft = int(used.ru_utime + used.ru_stime) + 1 + seconds
        bounded = soft if hard == resource.RLIM_INFINITY else min(soft, hard)
        resource.setrlimit(resource.RLIMIT_CPU, (bounded, hard))


def _give_way() -> None:
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    # Linux may weigh sessions and not processes, and this one has a session of its own.
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(_NICENESS))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
