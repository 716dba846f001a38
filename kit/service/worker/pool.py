"""A pool of render processes, one job each: a crash, a hang or a cancel affects only that job.

They are started with `subprocess`, not `multiprocessing`, which would import a notebook's main
module again, and controlled over a socket pair that also ends them with their parent.
"""

from __future__ import annotations

import asyncio
import math
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any

from kit.errors import KitError
from kit.service.worker.channel import Channel, LostError
from kit.service.worker.environment import allowed_variables

__all__ = ["JobError", "LostError", "Pool"]

#: Settings of libraries in a render process. A job uses one core: libraries with one thread per
#: core would slow each other down. glibc keeps freed memory for the next picture (up to 64 MiB;
#: arrays from 16 MiB on are returned at once): new memory costs a sixth of the time of a small
#: picture, and as much of a large one if Linux does not use pages of 2 MiB.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(16 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
#: Seconds for a canceled job to end by itself, which keeps its process with all loaded data.
_GRACE_SECONDS = 0.8
#: Errors that the state of the process may have caused: an earlier engine may have kept memory or
#: changed a library. The state of the process is also unknown afterwards.
_UNEXPECTED_CODES = frozenset({"engine_failed", "out_of_memory"})

_SCRIPT = (
    "import runpy, sys; sys.path += [place for place in {path!r} if place not in sys.path]; "
    "runpy.run_module('kit.service.worker.child', run_name='__main__', alter_sys=True)"
)
#: The signal that ends a process at its limit of processor time; Windows has no such limit.
_XCPU: int | None = getattr(signal, "SIGXCPU", None)


class JobError(KitError):
    """The job failed permanently; the message is for the customer."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class RenderProcess:
    process: subprocess.Popen[bytes]
    channel: Channel
    folder: Path
    #: Whether it is the process for engines that keep large weights.
    resident: bool
    #: Whether it had a job before.
    is_used: bool = False

    def stop(self) -> None:
        """Kill the process, and all processes that an engine has started in it."""
        # Not waited for yet, so the process id cannot belong to another process.
        if self.process.returncode is None and hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def kill(self) -> None:
        """Kill the process and remove its folder later: freeing gigabytes may take a while."""
        self.stop()
        self.channel.close()
        threading.Thread(target=self._clean_up, daemon=True).start()

    def _clean_up(self) -> None:
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass(eq=False)
class Pool:
    """Warm render processes, started on demand or by `warm`.

    Jobs of engines that keep large weights run one after another in an additional process without
    limits: GPU drivers reserve more addresses than there is memory. See `Engine.resident`.

    A job has limits of wall clock, which its task may lower, and of processor time; a process has a
    limit of address space, its own folder in `scratch`, and with `offline` no network. `log` is a
    file for its standard error, which is otherwise inherited.
    """

    slots: int
    _: KW_ONLY
    seconds: float
    cpu_seconds: float
    memory: int
    scratch: Path
    log: Path | None = None
    offline: bool = False
    #: Idle processes.
    idle: list[RenderProcess] = field(default_factory=list, init=False)
    _busy: dict[str, RenderProcess] = field(default_factory=dict, init=False)
    _resident_lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.slots)

    async def warm(self, most: int | None = None) -> None:
        """Start processes in advance: at most `most`, by default one per slot."""
        most = self.slots if most is None else min(most, self.slots)
        with suppress(OSError):  # if no process can be started, a job reports the error
            while self._process_count < most:
                child = await self._start()
                if self._process_count < most:
                    self.idle.append(child)
                else:
                    child.kill()

    @property
    def _process_count(self) -> int:
        return sum(not child.resident for child in (*self.idle, *self._busy.values()))

    async def run(
        self,
        name: str,
        task: Mapping[str, Any],
        on_progress: Callable[[float], None],
        *,
        resident: bool = False,
    ) -> dict[str, Any]:
        """Run a task in its own process and return the response; `cancel` takes the same `name`.

        Raises `JobError` if the task failed or took too long, `LostError` if the process ended.
        """
        async with self._resident_lock if resident else nullcontext(), self._free:
            child = await self._take_process(resident)
            answer = await self._run_in(child, name, task, on_progress)
            if child.is_used and not self._is_kept(child, answer):
                child = await self._start(resident)
                answer = await self._run_in(child, name, task, on_progress)
        if "error" in answer:
            more = f"; more in {self.log}" if self.log and answer.get("logged") else ""
            raise JobError(answer["error"] + more, answer["code"])
        result: dict[str, Any] = answer["result"]
        return result

    async def _run_in(
        self,
        child: RenderProcess,
        name: str,
        task: Mapping[str, Any],
        on_progress: Callable[[float], None],
    ) -> dict[str, Any]:
        """Return the response of a process to a task; the process is then kept or killed."""
        self._busy[name] = child
        most = min(self.seconds, task.get("most_seconds", self.seconds))
        try:
            await child.channel.wait_ready()
            async with asyncio.timeout(most):
                task = {**task, "folder": str(child.folder)}
                # A new id, so that nothing left over from an earlier task can respond to it.
                answer = await child.channel.run(secrets.token_hex(8), task, on_progress)
        except TimeoutError:
            child.kill()
            sentence = f"the job took longer than {most:g} s"
            raise JobError(sentence, "timed_out") from None
        except LostError as error:
            child.kill()
            code = child.process.wait()
            if _XCPU is not None and code == -_XCPU:
                sentence = f"the job used more than {self.cpu_seconds:g} s of processor time"
                raise JobError(sentence, "timed_out") from None
            raise LostError(f"{error}, with exit code {code}") from None
        except BaseException:
            child.kill()
            raise
        finally:
            self._busy.pop(name, None)
        if self._is_kept(child, answer):
            # Threads or processes of the job may still write to the old folder.
            folder = child.folder if answer.get("alone") else self._new_folder()
            self.idle.append(replace(child, folder=folder, is_used=True))
        else:
            child.kill()
        return answer

    def _is_kept(self, child: RenderProcess, answer: Mapping[str, Any]) -> bool:
        """Whether a process may run another job; large weights are never reloaded."""
        return child.resident or answer.get("code") not in _UNEXPECTED_CODES

    def cancel(self, name: str) -> bool:
        """Request the process of a task to stop, then kill it; False if there is no such task."""
        child = self._busy.get(name)
        if child is None:
            return False
        child.channel.cancel()
        asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._kill_running, name, child)
        return True

    def _kill_running(self, name: str, child: RenderProcess) -> None:
        if self._busy.get(name) is child:
            child.stop()

    def close(self) -> None:
        """Kill all processes."""
        children = [*self.idle, *self._busy.values()]
        for child in children:
            child.kill()
        for child in children:
            child.process.wait()
        self.idle.clear()

    async def _take_process(self, resident: bool) -> RenderProcess:
        """Return an idle process, or a new one; untrusted ones are killed."""
        for child in [child for child in reversed(self.idle) if child.resident == resident]:
            self.idle.remove(child)
            if not child.channel.broken:
                return child
            child.kill()
        return await self._start(resident)

    def _new_folder(self) -> Path:
        return self.scratch / secrets.token_hex(8)

    async def _start(self, resident: bool = False) -> RenderProcess:
        ours, theirs = socket.socketpair()
        with theirs:
            _, channel = await asyncio.get_running_loop().create_connection(Channel, sock=ours)
            bounds = (0, 0) if resident else (self.memory, math.ceil(self.cpu_seconds))
            process = _spawn(theirs, *bounds, self.offline, self.log)
            return RenderProcess(process, channel, self._new_folder(), resident)


def _spawn(
    connection: socket.socket, memory: int, cpu_seconds: int, offline: bool, log: Path | None
) -> subprocess.Popen[bytes]:
    environment = allowed_variables(os.environ, network=not offline) | ENVIRONMENT
    descriptor = connection.fileno()
    limits = (descriptor, memory, cpu_seconds, int(offline))
    path: list[str] = []  # scripts and archives of `shiv` may have extended ours
    for place in sys.path:
        with suppress(FileNotFoundError):  # the working directory was removed
            path.append(os.path.abspath(place))  # noqa: PTH100 - zipped ones too
    # Ctrl-C in the terminal is for the service, not for this process.
    options: dict[str, Any] = {"pass_fds": (descriptor,), "start_new_session": True}
    if sys.platform == "win32":
        connection.set_inheritable(True)
        startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [descriptor]})
        options = {"startupinfo": startup, "creationflags": subprocess.CREATE_NO_WINDOW}
    with log.open("ab") if log else nullcontext() as errors:
        return subprocess.Popen(  # noqa: S603 - our own module, our own arguments
            # -P excludes the working directory: a notebook may have a `random.py` beside it.
            [sys.executable, "-P", "-c", _SCRIPT.format(path=path), *map(str, limits)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            env=environment,
            **options,
        )
