from __future__ import annotations

import asyncio
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from kit.client import loops


def make_modules(release: str) -> dict[str, Any]:
    return {"ipykernel": SimpleNamespace(__version__=release)}


def make_loop(*marks: str) -> Any:
    """Return an event loop whose class has these marks of a patch."""
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
def test_only_a_patch_that_loses_messages_causes_a_warning(
    marks: tuple[str, ...], release: str, warned: bool
) -> None:
    sentence = loops.patch_warning(make_loop(*marks), modules=make_modules(release))

    assert bool(sentence) is warned
    assert not sentence or f"ipykernel {release}" in sentence


def test_a_script_without_a_kernel_gets_no_warning() -> None:
    assert loops.patch_warning(make_loop("_nest_patched"), modules={}) is None


def test_there_is_no_warning_without_a_running_loop() -> None:
    assert loops.patch_warning() is None


def test_an_unpatched_loop_causes_no_warning() -> None:
    async def cell() -> str | None:
        return loops.patch_warning(modules=make_modules("7.4.0"))

    assert asyncio.run(cell()) is None


def test_the_warning_appears_once_and_names_the_fix() -> None:
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
