"""Plug-ins are loaded in a process of their own first: some end it, and some never come back.

What a plug-in raises is told by whoever loads it in earnest; this is for what nobody could catch,
such as a broken library below it. Without plug-ins nothing is started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib.metadata import EntryPoint

#: Seconds that they may take to load; where one never does, a service starts as much later.
SECONDS = 30.0
_SCRIPT = (
    "import sys; sys.path[:] = {path!r}; from kit.engines import trial; trial.load({points!r})"
)
_END = "end"


def fatal(points: Sequence[EntryPoint]) -> Mapping[tuple[str, str], str]:
    """Return why some plug-ins cannot be loaded by a process that has other things to do.

    The same ones are tried once in a process: what it has imported it cannot import anew.

    Parameters
    ----------
    points : sequence of EntryPoint
        All that are going to be loaded.

    Returns
    -------
    mapping of (str, str) to str
        A clause for the name and value of each that ends its process, or does not come back.
    """
    return _found(tuple((point.name, point.value) for point in points))


@cache
def _found(points: tuple[tuple[str, str], ...]) -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    rest = points
    while rest:
        begun, why = _tried(rest)
        if not why:
            break
        found[rest[begun]] = why
        rest = rest[begun + 1 :]
    return found


def load(points: Sequence[tuple[str, str]]) -> None:
    """Load plug-ins one after another, and write the number of each before; then end."""
    from kit.engines.plugins import loaded

    answers = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):  # a plug-in may talk, and ask
        os.dup2(nowhere, stream)
    for number, (name, value) in enumerate(points):
        os.write(answers, f"{number}\n".encode())
        with suppress(BaseException):
            loaded(EntryPoint(name, value, "kit.engines"))
    os.write(answers, _END.encode())
    os._exit(0)  # what they have started or registered is not waited for


def _tried(points: Sequence[tuple[str, str]]) -> tuple[int, str]:
    """Return the number of the one that a process did not come back from, and what happened."""
    script = _SCRIPT.format(path=sys.path, points=points)
    with tempfile.TemporaryFile() as answers:
        try:
            ended = subprocess.run(  # noqa: S603 - this interpreter
                [sys.executable, "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=answers,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=False,
            )
            why = f"it ends the process that loads it ({_way(ended.returncode)})"
        except subprocess.TimeoutExpired:
            why = f"it is not loaded within {SECONDS:g} s: import what is heavy inside its render"
        except OSError:  # no process can be started: then nothing is known against any of them
            return 0, ""
        answers.seek(0)
        told = answers.read().decode().split()
    if not told or told[-1] == _END:
        return 0, ""
    return int(told[-1]), why


def _way(code: int) -> str:
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"exit code {code}"
