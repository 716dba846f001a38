from __future__ import annotations

import asyncio
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from kit.client import loops


def kernel(release: str) -> dict[str, Any]:
    return {"ipykernel": SimpleNamespace(__version__=release)}


def loop(*marks: str) -> Any:
    """Return something of a class that was patched."""
    return type("Loop", (SimpleNamespace,), dict.fromkeys(marks, True))()


@pytest.mark.parametrize(
    ("marks", "release", "warned"),
    [
        ((), "7.4.0", False),
        (("_nest_patched",), "7.4.0", True),
        (("_nest_patched",), "7.1", True),
        (("_nest_patched",), "7.0.1", False),
        (("_nest_patched",), "6.31.0", False),
        (("_nest_patched", "_nest_asyncio2"), "7.4.0", False),
    ],
)
def test_only_what_loses_messages_is_warned_of(
    marks: tuple[str, ...], release: str, warned: bool
) -> None:
    sentence = loops.patch_warning(loop(*marks), modules=kernel(release))

    assert bool(sentence) is warned
    assert not sentence or f"ipykernel {release}" in sentence


def test_a_script_has_no_kernel_that_could_lose_something() -> None:
    assert loops.patch_warning(loop("_nest_patched"), modules={}) is None


def test_without_a_running_loop_there_is_nothing_to_lose() -> None:
    assert loops.patch_warning() is None


def test_a_loop_that_nobody_patched_is_left_in_peace() -> None:
    async def cell() -> str | None:
        return loops.patch_warning(modules=kernel("7.4.0"))

    assert asyncio.run(cell()) is None


def test_the_warning_comes_once_and_names_the_cure() -> None:
    code = """
import asyncio, ipykernel, tempfile, nest_asyncio
from pathlib import Path
from kit.client.settings import Settings
from kit.client.sync import Client

async def cell():
    nest_asyncio.apply()
    for _ in range(2):
        client = Client(Settings("http://127.0.0.1:9", "cs_test_x", Path(tempfile.mkdtemp())))
        client.run(iter(()))

asyncio.run(cell())
"""
    code = code.replace("client.run(iter(()))", "client.run((_ for _ in ()))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert done.returncode == 0, done.stderr
    assert done.stderr.count("RuntimeWarning") == 1
    assert "Restart the kernel and leave the call out" in done.stderr
