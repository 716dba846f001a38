"""The lock files: current, hashed, and only with packages of PyPI; checked without a network."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SERVICE, TOOLS = "kit/deploy/requirements.txt", ".ci/tools.txt"


def check(root: Path) -> tuple[int, str]:
    command = [sys.executable, str(root / ".ci" / "lock"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the files that are checked."""
    for name in ("pyproject.toml", ".ci/lock", ".ci/tools.in", SERVICE, TOOLS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def alter(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text(encoding="utf-8")
    changed = change(text)
    assert changed != text
    path.write_text(changed, encoding="utf-8")


def test_the_lock_files_are_current(copy: Path) -> None:
    assert check(ROOT) == (0, "")
    assert check(copy) == (0, "")


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("pyproject.toml", lambda t: t.replace("httpx>=0.28", "httpx>=0.99"), "'httpx>=0.99"),
        ("pyproject.toml", lambda t: t.replace('"orjson>=3.10",', ""), "requirements have changed"),
        (
            "pyproject.toml",
            lambda t: t.replace('"orjson>=3.10",', '"orjson>=3.10", "left-pad",'),
            "'left-pad' is not satisfied by anything",
        ),
        (".ci/tools.in", lambda t: f"{t}bandit\n", "'bandit' is not satisfied by anything"),
        (
            SERVICE,
            lambda t: re.sub(r"(\nhttpx==[^ ]+ \\)(\n +--hash\S+( \\)?)+", r"\1", t),
            "httpx has no hash",
        ),
        (SERVICE, lambda t: t.replace("httpx==", "httpx>="), "it does not pin 'httpx>="),
        (SERVICE, lambda t: f"{t}--extra-index-url foo\n", "it names an index"),
        (TOOLS, lambda t: f"{t}--find-links wheels\n", "it names an index"),
        (SERVICE, lambda t: t.replace("httpx==", "httpx @ file:///x "), "an address or a file"),
    ],
)
def test_an_outdated_or_untrusted_requirement_is_reported(
    copy: Path, name: str, change: Callable[[str], str], problem: str
) -> None:
    alter(copy / name, change)

    code, errors = check(copy)

    assert code == 1
    assert problem in errors
    assert "run .ci/lock" in errors


def test_the_actions_of_the_workflow_are_pinned_by_commit() -> None:
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    used = [
        line.strip()
        for path in workflows
        for line in path.read_text(encoding="utf-8").splitlines()
        if "uses:" in line
    ]

    assert used
    for line in used:
        assert re.fullmatch(r"- uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line
