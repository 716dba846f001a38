"""An engine that misbehaves: the prompt selects how."""

import atexit
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

from demo_engines import _PIXEL

from kit.engines.base import Asset, CanceledError, Definition, Engine, Job, Progress
from kit.errors import EngineError
from kit.wire import Rule


class Unruly(Engine):
    """Renders one pixel, and misbehaves."""

    definition = Definition(
        id="unruly",
        title="Unruly",
        asset_type="image",
        category="Low Cost",
        description="Mischief, for tests.",
        pricing=Rule(base=Decimal("0.5")),
    )

    def render(self, job: Job, progress: Progress) -> Asset:
        """Run the behavior that the prompt names."""
        return _BEHAVIORS[job.prompt](job, progress)


def _connection() -> socket.socket:
    """Return a copy of the connection to the parent."""
    return socket.fromfd(int(sys.argv[1]), socket.AF_INET, socket.SOCK_STREAM)


def _pixel(job: Job, **metadata: Any) -> Asset:
    path = job.folder / "pixel.png"
    path.write_bytes(_PIXEL)
    return Asset(path=path, content_type="image/png", width=1, height=1, metadata=metadata)


def _behave(job: Job, progress: Progress) -> Asset:
    return _pixel(job, folder=str(job.folder), process=os.getpid())


def _fork(job: Job, progress: Progress) -> Asset:
    copy = os.fork()
    if not copy:
        return Asset(path=Path("copy"), content_type="image/png", width=1, height=1)
    _, status = os.waitpid(copy, 0)
    return _pixel(job, copy=status)


def _fork_and_raise(job: Job, progress: Progress) -> Asset:
    copy = os.fork()
    if not copy:
        raise RuntimeError("in a copy")
    os.waitpid(copy, 0)
    return _pixel(job, folder=job.folder.exists())


def _fork_and_report(job: Job, progress: Progress) -> Asset:
    copy = os.fork()
    if not copy:
        try:
            progress.report(0.9)
            time.sleep(0.3)
            progress.report(0.9)
        finally:
            os._exit(7)
    _, status = os.waitpid(copy, 0)
    return _pixel(job, copy=os.waitstatus_to_exitcode(status))


def _return_nothing(job: Job, progress: Progress) -> Any:
    return None


def _say(text: bytes) -> Callable[[Job, Progress], Asset]:
    def say(job: Job, progress: Progress) -> Asset:
        _connection().sendall(text)
        return _pixel(job)

    return say


def _say_later(job: Job, progress: Progress) -> Asset:
    def say() -> None:
        while job.folder.exists():
            time.sleep(0.01)
        time.sleep(0.5)  # the result was sent by then
        _connection().sendall(b'{"task":"","result":{"metadata":{"who":"a thread"}}}\n')

    threading.Thread(target=say, daemon=True).start()
    return _pixel(job)


def _report_later(job: Job, progress: Progress) -> Asset:
    def report() -> None:
        while True:
            with contextlib.suppress(CanceledError):
                progress.report(0.9)
            time.sleep(0.001)

    threading.Thread(target=report, daemon=True).start()
    return _pixel(job)


def _dawdle(job: Job, progress: Progress) -> Asset:
    time.sleep(1)
    return _pixel(job)


def _hang_up(job: Job, progress: Progress) -> Asset:
    threading.Thread(target=time.sleep, args=(60,)).start()
    atexit.register(time.sleep, 60)
    _connection().shutdown(socket.SHUT_RDWR)
    return _pixel(job)


def _cling(job: Job, progress: Progress) -> Asset:
    threading.Thread(target=time.sleep, args=(60,)).start()
    atexit.register(time.sleep, 60)
    return _pixel(job)


def _leave_a_process(job: Job, progress: Progress) -> Asset:
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    return _pixel(job, left=left.pid)


def _hoard(job: Job, progress: Progress) -> Asset:
    return _pixel(job, hoard="y" * 20_000_000)


def _shout(job: Job, progress: Progress) -> Asset:
    raise EngineError("no\ud800\x1b[31m " * 100_000, code="odd code\n<b>", detail="d" * 1_000_000)


def _ask(job: Job, progress: Progress) -> Asset:
    return _pixel(job, answer=input("Are you sure? "))


def _write_here(job: Job, progress: Progress) -> Asset:
    Path("note.txt").write_text("left behind")
    Path("mine.png").write_bytes(_PIXEL)
    return Asset(path=Path("mine.png"), content_type="image/png", width=1, height=1)


def _wander(job: Job, progress: Progress) -> Asset:
    os.chdir("/")
    return _pixel(job)


_KEPT: list[bytearray] = []


def _keep_memory(job: Job, progress: Progress) -> Asset:
    _KEPT.append(bytearray(600 << 20))
    return _behave(job, progress)


def _need_too_much(job: Job, progress: Progress) -> Asset:
    bytearray(1 << 34)
    return _pixel(job)


def _spoil_a_library(job: Job, progress: Progress) -> Asset:
    warnings.simplefilter("error")
    return _behave(job, progress)


def _use_that_library(job: Job, progress: Progress) -> Asset:
    warnings.warn("the clay is old", stacklevel=2)
    return _behave(job, progress)


def _clean_up_and_fail(job: Job, progress: Progress) -> Asset:
    shutil.rmtree(job.folder, ignore_errors=True)
    raise EngineError("the clay is too dry", code="dry")


def _clean_up_too_much(job: Job, progress: Progress) -> Asset:
    asset = _pixel(job)
    shutil.rmtree(job.folder, ignore_errors=True)
    return asset


def _give_up(job: Job, progress: Progress) -> Asset:
    raise CanceledError("nobody asked for that")


def _raise_an_odd_name(job: Job, progress: Progress) -> Asset:
    raise type("Too\x1b[31m\nDry" * 20, (Exception,), {})


def _fail_without_a_word(job: Job, progress: Progress) -> Asset:
    raise EngineError("")


class _Panic(BaseException):
    """An exception as bindings to other languages raise it."""


def _panic(job: Job, progress: Progress) -> Asset:
    raise _Panic


_BEHAVIORS: dict[str, Callable[[Job, Progress], Asset]] = {
    "asks": _ask,
    "behaves": _behave,
    "forks": _fork,
    "forks and raises": _fork_and_raise,
    "forks and reports": _fork_and_report,
    "returns nothing": _return_nothing,
    "says something else": _say(b'{"task":"other","result":{}}\n'),
    "says nonsense": _say(b"nonsense\n"),
    "says a list": _say(b"[1]\n"),
    "says too much": _say(b"y" * 3_000_000),
    "says half": _say(b'{"task":'),
    "says something later": _say_later,
    "reports later": _report_later,
    "dawdles": _dawdle,
    "hangs up": _hang_up,
    "clings": _cling,
    "leaves a process": _leave_a_process,
    "hoards": _hoard,
    "shouts": _shout,
    "wanders": _wander,
    "writes here": _write_here,
    "panics": _panic,
    "keeps memory": _keep_memory,
    "needs too much": _need_too_much,
    "spoils a library": _spoil_a_library,
    "uses that library": _use_that_library,
    "cleans up and fails": _clean_up_and_fail,
    "cleans up too much": _clean_up_too_much,
    "gives up": _give_up,
    "raises an odd name": _raise_an_odd_name,
    "fails without a word": _fail_without_a_word,
}
