"""The render process: runs tasks from its parent, one at a time, and stays alive between them.

It ends together with its parent, even during a task. A canceled job is asked to end, and is soon
killed with its process. This code knows nothing of accounts, credits or databases.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NoReturn

import orjson

from kit import file_metadata
from kit.engines.base import CanceledError, Job, Progress, SpentError
from kit.engines.configured.place import ModelSource
from kit.engines.media.lengths import limit_seconds
from kit.engines.registry import engine_for, software_of
from kit.errors import ConfigError, EngineError
from kit.file_metadata import ALGORITHMIC, COMPOSITE, ENHANCED, TRAINED, FileMetadata
from kit.private import make_folder
from kit.service.storage.output_folder import OutputFolder
from kit.service.worker.environment import set_variables
from kit.service.worker.results import store_result
from kit.service.worker.sandbox import block_network, limit_cpu, limit_memory, lower_priority

#: Threads of this process that do not belong to an engine.
_OWN_THREADS = {"MainThread", "parent"}
#: Maximum of characters of an engine's error: in the response, and in the log.
_MAX_SENTENCE, _MAX_DETAIL = 500, 4000
#: Message of an error without one, and maximum of characters of the name of an error's class.
_NO_REASON, _MAX_NAME = "the engine gives no reason", 64
#: Minimum of seconds between two progress reports of a job.
_PAUSE_SECONDS = 0.1
_CODE = re.compile(r"[\w.-]{1,64}", re.ASCII)


class ChildChannel:
    """The socket to the parent: one JSON object per line, in both directions.

    A thread receives tasks and requests to cancel the running one, and ends the process with its
    parent. Each line names its task. Only the process that the parent started may send: a copy of
    it that an engine forks ends instead.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.set_inheritable(False)  # else child processes of engines would keep it open
        self._connection = connection
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._tasks: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._running = self._canceled = ""
        self.progress = Progress()
        if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
            os.register_at_fork(after_in_child=self._disconnect)
        threading.Thread(target=self._receive, name="parent", daemon=True).start()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send the parent a message about the current task."""
        if os.getpid() != self._process:
            os._exit(0)
        with self._lock:
            self._connection.sendall(orjson.dumps({**message, "task": self._running}) + b"\n")

    def begin_task(self, progress: Progress) -> dict[str, Any]:
        """Wait for a task, which requests of the parent then cancel by its progress."""
        task = self._tasks.get()
        self.progress, self._running = progress, task["task"]
        if self._canceled == self._running:  # in the meantime
            progress.cancel()
        return task

    def _receive(self) -> None:
        try:
            for line in self._connection.makefile("rb"):
                message = orjson.loads(line)
                if "cancel" not in message:
                    self._tasks.put(message)
                    continue
                self._canceled = message["cancel"]
                if self._canceled == self._running:
                    self.progress.cancel()
        finally:
            _end()

    def _disconnect(self) -> None:
        # The descriptor stays in use, so that no file that the copy opens gets its number.
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, self._connection.fileno(), inheritable=False)
        os.close(null)


class ProgressReporter:
    """Sends the progress of a task, 0 to 1, at most once per `every` seconds, never decreasing.

    After its ``with`` block, it ignores calls of threads that an engine has left running.
    """

    def __init__(self, send: Callable[[float], None], *, every: float = _PAUSE_SECONDS) -> None:
        self._send = send
        self._every = every
        self._lock = threading.Lock()
        self._fraction = self._next_due = 0.0
        self._is_ended = False

    def __enter__(self) -> ProgressReporter:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._is_ended = True

    def __call__(self, fraction: float) -> None:
        """Report the completed fraction."""
        with self._lock:
            # Engines may pass numpy numbers, which JSON does not support.
            self._fraction = max(self._fraction, float(fraction))
            now = time.monotonic()
            if now >= self._next_due and not self._is_ended:
                self._next_due = now + self._every
                self._send(self._fraction)


def render(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Render a job, store its files and return their facts."""
    folder = Path(task["folder"])
    # The folder is reused for all jobs: creating it each time nearly doubles the time of a flush.
    make_folder(folder)
    os.chdir(folder)  # relative paths of an engine are in the folder of its job
    try:
        return _render_in(folder, task, progress)
    finally:
        os.chdir(folder.parent)  # Windows cannot remove the working directory of a process
        with suppress(OSError):  # an engine may have removed it, or its permissions
            if any(folder.iterdir()):  # files left over, also after an error
                shutil.rmtree(folder)


def _render_in(folder: Path, task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    job = Job(
        prompt=task["prompt"],
        parameters=task["parameters"],
        seed=task["seed"],
        folder=folder,
        media={name: [Path(path) for path in paths] for name, paths in task["media"].items()},
        seconds=task["seconds"],
    )
    paid = {
        path: seconds
        for name, group in job.seconds.items()
        for path, seconds in zip(job.media[name], group, strict=True)
    }
    started = time.perf_counter()
    source = ModelSource(*map(Path, task["engines"]))
    with _end_copies(), limit_seconds(paid), set_variables(task.get("environment", {})):
        try:
            engine = engine_for(task["model_id"], source)
        except ConfigError as error:
            sentence, detail = "the model is not offered any more", str(error)
            raise EngineError(sentence, code="model_gone", detail=detail) from None
        asset = engine.render(job, progress)
    seconds = time.perf_counter() - started
    asset_type = engine.definition.asset_type
    outputs = OutputFolder(Path(task["outputs"]))
    metadata = None
    if task.get("file_metadata"):
        kinds = (COMPOSITE, ENHANCED) if task["media"] else (TRAINED, ALGORITHMIC)
        metadata = FileMetadata(
            model=task["model_id"],
            prompt=task["prompt"] or None,
            parameters=task["parameters"],
            generation_id=task["generation_id"],
            service="Creative Studio",
            software=software_of(task["model_id"]),
            inputs=task.get("inputs", ()),
            source_type=kinds[0] if engine.trained else kinds[1],
        )
    facts = store_result(asset, asset_type, task["generation_id"], folder, outputs, metadata)
    return {**facts, "seconds": seconds}


@contextmanager
def _end_copies() -> Iterator[None]:
    """Run a block that may fork; a copy of the process ends after the block."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            os._exit(0)


def inspect(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """Decode an uploaded file as far as needed to verify its content type."""
    from kit.engines.media.inspection import inspect as inspect_media

    progress.check()
    path = Path(task["path"])
    metadata = file_metadata.read(path)
    made_by = metadata and metadata.generation_id
    return {**inspect_media(path, task["content_type"]), "made_by": made_by}


TASKS = {"render": render, "inspect": inspect}


def main(descriptor: int, memory: int, cpu_seconds: int, offline: int) -> None:
    """Run tasks until the parent is gone; limits of 0 leave only the limit of wall clock."""
    if offline:
        block_network()  # first: it does not affect threads that are already running
    sys.stdout = sys.stderr  # what engines print is in the log
    os.umask(0o077)  # new files are private, whatever the umask of the service
    limit_memory(memory)
    lower_priority()
    channel = ChildChannel(_open_connection(descriptor))
    # First a request, then a kill: an engine may have to cancel a job on another machine.
    signal.signal(signal.SIGTERM, lambda *_: channel.progress.cancel())
    channel.send({"result": {"process": os.getpid()}})
    while True:
        with ProgressReporter(lambda fraction: channel.send({"progress": fraction})) as report:
            progress = Progress(report)
            task = channel.begin_task(progress)
            limit_cpu(cpu_seconds)
            answer = _run_task(task, progress)
        progress.cancel()  # a thread that the engine has left running ends at its next report
        channel.send({**answer, "alone": _is_alone(task["folder"])})


def _open_connection(descriptor: int) -> socket.socket:
    if sys.platform == "win32":  # the inherited handle must become a socket of this process
        os.set_handle_inheritable(descriptor, False)
        return socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM)
    return socket.socket(fileno=descriptor)


def _is_alone(folder: str) -> bool:
    """Whether nothing of a job can still write to its folder; otherwise the folder is removed."""
    threads = {thread.name for thread in threading.enumerate()}
    alone = threads <= _OWN_THREADS and not _has_children()
    if not alone:
        shutil.rmtree(folder, ignore_errors=True)
    return alone


def _has_children() -> bool:
    if not hasattr(os, "waitid"):
        return True  # unknown on this system
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _end() -> NoReturn:
    """End the process immediately, with all processes that engines have started.

    A normal exit could be delayed by threads and exit hooks of engines.
    """
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _run_task(task: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    try:
        progress.check()
        return {"result": TASKS[task["do"]](task, progress)}
    except EngineError as error:
        return _engine_error(error, task)
    except CanceledError as error:
        if not progress.is_canceled:  # the engine canceled without a request
            return _unexpected_error(error, task)
        return {"error": "canceled", "code": "canceled"}
    except SpentError as error:
        _log(task, _clean(error, _MAX_SENTENCE))
        _end()
    except MemoryError as error:
        traceback.clear_frames(error.__traceback__)  # they hold what logging needs
        error.add_note("KIT_JOB_MEMORY_BYTES limits the memory of engines that are not resident")
        facts = {"error": "the job needs more memory than it may use", "code": "out_of_memory"}
        return _unexpected_error(error, task) | facts
    except BaseException as error:  # noqa: BLE001 - an engine may raise anything
        return _unexpected_error(error, task)


def _log(task: Mapping[str, Any], text: str) -> None:
    """Write to the log of the service what a job failed of."""
    job = "{generation_id} of {model_id}" if "generation_id" in task else "an upload"
    sys.stderr.write(f"{job.format(**task)}: {text}\n")


def _engine_error(error: EngineError, task: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response for an error that an engine explains; its detail is only logged."""
    sentence = _clean(error, _MAX_SENTENCE).strip() or _NO_REASON
    if error.detail:
        _log(task, f"{sentence} ({error.code!s:.64}): {_clean(error.detail, _MAX_DETAIL)}")
    code = str(error.code) if _CODE.fullmatch(str(error.code)) else "render_failed"
    return {"error": sentence, "code": code, "logged": bool(error.detail)}


def _unexpected_error(error: BaseException, task: Mapping[str, Any]) -> dict[str, Any]:
    """Log an unexpected exception, and return the response without its message and paths."""
    _log(task, "".join(traceback.format_exception(error)).rstrip())
    if getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT):
        return {"error": "there is no room for the result; try again later", "code": "not_stored"}
    kind = " ".join(_clean(type(error).__name__, _MAX_NAME).split())
    return {"error": f"the engine failed ({kind})", "code": "engine_failed", "logged": True}


def _clean(value: object, most: int) -> str:
    """Return the start of a text, without control characters."""
    text = str(value)
    cut = text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
    return "".join(c if c.isprintable() or c == "\n" else " " for c in cut)


if __name__ == "__main__":
    try:
        main(*map(int, sys.argv[1:]))
    except BaseException:  # noqa: BLE001 - printed, and the process ends anyway
        traceback.print_exc()
    finally:
        _end()
