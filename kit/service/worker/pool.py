"""A pool of render processes, one job each: a crash, a hang or a cancel touches only that job.

They are started with `subprocess` and not `multiprocessing`, which would import a notebook's main
module again, and are driven over a socket pair that also ends them with their parent.
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kit.errors import KitError
from kit.service.worker.environment import allowed_variables
from kit.service.worker.link import Link, LostError

__all__ = ["JobError", "LostError", "Pool"]

#: How libraries run in a render process. One job is one core: those that start a thread per core
#: only slow each other down. And glibc keeps what a picture took for the next one (up to 64 MiB;
#: from 16 MiB on an array goes back at once): new memory costs a small picture a sixth of its time.
ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(16 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
}
#: What a canceled job gets to say goodbye; its process, and what it has loaded, is kept then.
_GRACE_SECONDS = 0.8
_START_SECONDS = 60.0
#: Failures that nobody foresaw. What ran before in the process may be to blame, such as an engine
#: that keeps memory or changes a library for all; and nobody knows what state it is in now.
_UNFORESEEN = frozenset({"engine_failed", "out_of_memory"})

#: What ends a process that used up its processor time; Windows has no such limit.
_XCPU: int | None = getattr(signal, "SIGXCPU", None)


class JobError(KitError):
    """The job failed for good; the sentence is for whoever ordered it."""

    def __init__(self, sentence: str, code: str) -> None:
        super().__init__(sentence)
        self.code = code


@dataclass(frozen=True, slots=True)
class _Child:
    process: subprocess.Popen[bytes]
    link: Link
    folder: Path
    #: Whether it is kept for the jobs that take turns.
    resident: bool
    #: Whether it has had a job before.
    used: bool = False

    def stop(self) -> None:
        """Have it end, and whatever an engine has started in it."""
        # Nobody has fetched its end yet, so the number is still that of its group and no other.
        if self.process.returncode is None and hasattr(os, "killpg"):
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def kill(self) -> None:
        """End it; it is gone a little later, for there may be gigabytes in it."""
        self.stop()
        self.link.close()
        threading.Thread(target=self._clear, daemon=True).start()

    def _clear(self) -> None:
        self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Pool:
    """Warm render processes, started when they are first needed.

    Jobs of engines that keep large weights take turns in one more process, which is not bounded:
    drivers of GPUs reserve more addresses than there is memory. See `Engine.resident`.

    Parameters
    ----------
    slots : int
        Jobs at the same time.
    seconds : float
        Wall clock that a job may use; a process that takes longer is killed.
    cpu_seconds : float
        Processor time that a job may use.
    memory : int
        Address space that a process may use, in bytes.
    scratch : Path
        Where each process has a folder of its own to write to.
    log : Path, optional
        A file for what they say on standard error; else it goes where ours goes.
    offline : bool
        Whether they get no network, see `kit.service.worker.offline`.
    """

    def __init__(
        self,
        slots: int,
        *,
        seconds: float,
        cpu_seconds: float,
        memory: int,
        scratch: Path,
        log: Path | None = None,
        offline: bool = False,
    ) -> None:
        self.slots = slots
        self._offline = offline
        self._seconds = seconds
        self._memory = memory
        self._scratch = scratch
        self._log = log
        self._cpu_seconds = math.ceil(cpu_seconds)
        self._idle: list[_Child] = []
        self._busy: dict[str, _Child] = {}
        self._free = asyncio.Semaphore(slots)
        self._turn = asyncio.Lock()

    async def warm(self) -> None:
        """Start bounded processes ahead of their jobs, until there is one for each slot."""
        while self._started < self.slots:
            child = await self._start()
            if self._started < self.slots:
                self._idle.append(child)
            else:
                child.kill()

    @property
    def _started(self) -> int:
        children = (*self._idle, *self._busy.values())
        return sum(not child.resident for child in children)

    async def run(
        self,
        name: str,
        task: Mapping[str, Any],
        on_progress: Callable[[float], None],
        *,
        resident: bool = False,
    ) -> dict[str, Any]:
        """Run a task in a process of its own and return what it answers.

        Parameters
        ----------
        name : str
            What `cancel` knows the task by.
        resident : bool
            Whether it takes turns with others in the process that is kept for them.

        Raises
        ------
        JobError
            The task failed, or took too long.
        LostError
            The process ended under it.
        """
        async with self._turn if resident else nullcontext(), self._free:
            child = await self._fit(resident)
            answer = await self._answer(child, name, task, on_progress)
            if child.used and not self._is_kept(child, answer):
                child = await self._start(resident)
                answer = await self._answer(child, name, task, on_progress)
        if "error" in answer:
            raise JobError(answer["error"], answer["code"])
        result: dict[str, Any] = answer["result"]
        return result

    async def _answer(
        self,
        child: _Child,
        name: str,
        task: Mapping[str, Any],
        on_progress: Callable[[float], None],
    ) -> dict[str, Any]:
        """Return what a process answers to a task; it waits for the next one then, or is ended."""
        self._busy[name] = child
        try:
            async with asyncio.timeout(self._seconds):
                asked = {**task, "folder": str(child.folder)}
                # A name that was never there: nothing can answer to it that was not asked.
                answer = await child.link.ask(secrets.token_hex(8), asked, on_progress)
        except TimeoutError:
            child.kill()
            sentence = f"the job took longer than {self._seconds:g} s"
            raise JobError(sentence, "timed_out") from None
        except LostError:
            child.kill()
            self._explain(child)
            raise
        except BaseException:
            child.kill()
            raise
        finally:
            self._busy.pop(name, None)
        if self._is_kept(child, answer):
            # What an engine has left running may write to the old folder.
            folder = child.folder if answer.get("alone") else self._folder()
            self._idle.append(replace(child, folder=folder, used=True))
        else:
            child.kill()
        return answer

    def _is_kept(self, child: _Child, answer: Mapping[str, Any]) -> bool:
        """Return whether a process is fit for another job: large weights are not loaded anew."""
        return child.resident or answer.get("code") not in _UNFORESEEN

    def cancel(self, name: str) -> bool:
        """Ask the process of a task to stop, and kill it if it does not; False if there is none."""
        child = self._busy.get(name)
        if child is None:
            return False
        child.process.terminate()
        asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._end, name, child)
        return True

    def _end(self, name: str, child: _Child) -> None:
        if self._busy.get(name) is child:
            child.stop()

    def close(self) -> None:
        """Kill every process."""
        children = [*self._idle, *self._busy.values()]
        for child in children:
            child.kill()
        for child in children:
            child.process.wait()
        self._idle.clear()

    def _explain(self, child: _Child) -> None:
        """Raise what is known of a process that ended under its job."""
        if _XCPU is not None and child.process.wait() == -_XCPU:
            sentence = f"the job used more than {self._cpu_seconds} s of processor time"
            raise JobError(sentence, "timed_out")

    async def _fit(self, resident: bool) -> _Child:
        """Return a process that waits, or a new one; those that cannot be trusted are ended."""
        for child in [child for child in reversed(self._idle) if child.resident == resident]:
            self._idle.remove(child)
            if not child.link.broken:
                return child
            child.kill()
        return await self._start(resident)

    def _folder(self) -> Path:
        return self._scratch / secrets.token_hex(8)

    async def _start(self, resident: bool = False) -> _Child:
        ours, theirs = socket.socketpair()
        with theirs:
            loop = asyncio.get_running_loop()
            _, link = await loop.create_connection(Link, sock=ours)
            bounds = (0, 0) if resident else (self._memory, self._cpu_seconds)
            process = _spawned(theirs.fileno(), *bounds, self._offline, self._log)
            child = _Child(process, link, self._folder(), resident)
        try:
            async with asyncio.timeout(_START_SECONDS):
                await link.ready()
        except TimeoutError:
            child.kill()
            raise LostError("a render process did not start") from None
        except BaseException:  # it ended, or is called off
            child.kill()
            raise
        return child


def _spawned(
    descriptor: int, memory: int, cpu_seconds: int, offline: bool, log: Path | None
) -> subprocess.Popen[bytes]:
    environment = allowed_variables(os.environ, network=not offline) | ENVIRONMENT
    limits = (descriptor, memory, cpu_seconds, int(offline))
    with log.open("ab") if log else nullcontext() as said:
        return subprocess.Popen(  # noqa: S603 - our own module, our own arguments
            # Not from the folder that we happen to be in: a notebook may lie beside a `random.py`.
            [sys.executable, "-P", "-m", "kit.service.worker.child", *map(str, limits)],
            pass_fds=(descriptor,),
            stdin=subprocess.PIPE,  # never written to: it ends when we do
            stdout=subprocess.DEVNULL,
            stderr=said,
            env=environment,
            start_new_session=True,  # a Ctrl-C in the terminal is for the service, not for it
        )
