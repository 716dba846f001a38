"""Binder: what it would build, without a container engine."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PINS = [
    Requirement(line)
    for line in (ROOT / "binder" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    if re.match(r"[a-z]", line)
]


@pytest.mark.slow
def test_binder_builds_on_our_python_with_our_requirements() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)

    made = done.stdout + done.stderr
    assert done.returncode == 0, made
    assert "Building conda environment for python=3.11" in made
    assert 'pip install --no-cache-dir -r "binder/requirements.txt"' in made
    assert "RUN ./binder/postBuild" in made


def test_every_pin_is_one_that_the_project_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = {r.name: r for r in map(Requirement, project["dependencies"])}

    for pin in PINS:
        (only,) = pin.specifier
        assert only.operator == "=="
        assert pin.name not in allowed or allowed[pin.name].specifier.contains(only.version)


@pytest.mark.parametrize("name", ["jupyterlab", "ipykernel", "ipywidgets"])
def test_what_decides_how_widgets_behave_is_pinned(name: str) -> None:
    assert name in {pin.name for pin in PINS}
    assert version(name)
