"""Binder: what it would build, without a container engine."""

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BINDER = ROOT / "binder"


@pytest.mark.slow
def test_binder_builds_on_our_python_with_what_is_locked() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)

    made = done.stdout + done.stderr
    assert done.returncode == 0, made
    assert "Building conda environment for python=3.11" in made
    install = made.index('pip install --no-cache-dir -r "binder/requirements.txt"')
    # What is locked lies in the checkout, which therefore has to be there first.
    assert re.search(r"COPY --chown=\S+ src/ \$\{REPO_DIR\}/\n", made[:install])
    assert "RUN ./binder/postBuild" in made


def test_binder_installs_what_is_locked_and_adds_the_checkout_alone() -> None:
    lines = (BINDER / "requirements.txt").read_text(encoding="utf-8").splitlines()
    [only] = [line for line in lines if line and not line.startswith("#")]

    locked = (BINDER / only.removeprefix("-r ")).resolve()
    assert locked == ROOT / "kit" / "deploy" / "requirements.txt"
    built = (BINDER / "postBuild").read_text(encoding="utf-8")
    assert "pip install --no-deps --no-build-isolation ." in built


@pytest.mark.parametrize("name", ["jupyterlab", "ipykernel", "ipywidgets"])
def test_what_decides_how_widgets_behave_is_locked_as_it_is_tested(name: str) -> None:
    locked = (ROOT / "kit/deploy/requirements.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{name}==(\S+)", locked, re.MULTILINE)

    assert found is not None
    assert version(name).partition(".")[0] == found[1].partition(".")[0]
