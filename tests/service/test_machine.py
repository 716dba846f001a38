"""The processors and memory that the control groups of a container allow."""

import os
from pathlib import Path

import pytest

from kit.service import machine, settings

V2 = "0::/kubepods.slice/pod1/box\n"
V1 = "9:name=systemd:/\n4:memory:/docker/1a\n2:cpu,cpuacct:/docker/1a\n0::/\n"
TOP = "sys/fs/cgroup"
BOX = f"{TOP}/kubepods.slice/pod1/box"


@pytest.fixture(autouse=True)
def large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 16 processors and 64 GiB."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": (64 << 30) // 4096}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__, raising=False)


def write_files(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


@pytest.mark.parametrize(
    ("files", "processors", "gib"),
    [
        ({}, 16, 64),
        # in a container with its own namespace the top is its group
        ({"proc/self/cgroup": "0::/", f"{TOP}/cpu.max": "100000 100000"}, 1, 64),
        ({"proc/self/cgroup": V2, f"{TOP}/cpu.max": "150000 100000"}, 2, 64),
        ({"proc/self/cgroup": V2, f"{TOP}/memory.max": str(2 << 30)}, 16, 2),
        # elsewhere an outer group may have the tighter limit
        ({"proc/self/cgroup": V2, f"{BOX}/cpu.max": "max 100000"}, 16, 64),
        (
            {
                "proc/self/cgroup": V2,
                f"{BOX}/cpu.max": "400000 100000",
                f"{TOP}/kubepods.slice/cpu.max": "300000 100000",
                f"{BOX}/memory.max": "max",
                f"{TOP}/kubepods.slice/memory.max": str(1 << 30),
            },
            3,
            1,
        ),
        # version 1; without a limit the number is larger than any memory
        (
            {
                "proc/self/cgroup": V1,
                f"{TOP}/cpu/cpu.cfs_quota_us": "50000",
                f"{TOP}/cpu/cpu.cfs_period_us": "100000",
                f"{TOP}/memory/memory.limit_in_bytes": str(3 << 30),
            },
            1,
            3,
        ),
        (
            {
                "proc/self/cgroup": V1,
                f"{TOP}/cpu/cpu.cfs_quota_us": "-1",
                f"{TOP}/cpu/cpu.cfs_period_us": "100000",
                f"{TOP}/memory/memory.limit_in_bytes": "9223372036854771712",
            },
            16,
            64,
        ),
        ({"proc/self/cgroup": "0::/", f"{TOP}/cpu.max": "nonsense"}, 16, 64),
    ],
)
def test_the_tightest_limit_applies(
    tmp_path: Path, files: dict[str, str], processors: int, gib: int
) -> None:
    root = write_files(tmp_path, files)

    assert machine.processors(root) == processors
    assert machine.memory(root) == gib << 30


@pytest.mark.parametrize(
    ("cpu", "memory", "jobs"),
    [("max 100000", 64 << 30, 4), ("max 100000", 2 << 30, 2), ("100000 100000", 2 << 30, 1)],
)
def test_the_number_of_jobs_follows_from_processors_and_memory(
    tmp_path: Path, cpu: str, memory: int, jobs: int
) -> None:
    files = {"proc/self/cgroup": "0::/", f"{TOP}/cpu.max": cpu, f"{TOP}/memory.max": str(memory)}

    assert machine.workers(write_files(tmp_path, files)) == jobs


def test_a_process_that_is_bound_to_one_processor_renders_one_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)

    assert settings.load({}).workers == 1
    assert settings.load({"KIT_WORKERS": "3"}).workers == 3
