"""Binder: the image that it would build, without a container engine."""

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_binder_builds_on_python_3_11_with_locked_packages() -> None:
    command = [sys.executable, "-W", "ignore", "-m", "repo2docker", "--no-build", "--debug", "."]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)

    log = done.stdout + done.stderr
    assert done.returncode == 0, log
    assert "Building conda environment for python=3.11" in log
    # The lock file is in the checkout, which therefore has to be copied first.
    before, _, after = log.partition(" src/ ${REPO_DIR}/")
    assert "RUN ./binder/postBuild" not in before
    assert "RUN ./binder/postBuild" in after
    assert "pip install" not in after


@pytest.mark.parametrize("name", ["jupyterlab", "ipykernel", "ipywidgets"])
def test_packages_of_widgets_are_locked_to_the_tested_major_version(name: str) -> None:
    locked = (ROOT / "kit/deploy/requirements.txt").read_text(encoding="utf-8")
    found = re.search(rf"^{name}==(\S+)", locked, re.MULTILINE)

    assert found is not None
    assert version(name).partition(".")[0] == found[1].partition(".")[0]


@pytest.mark.parametrize("before", [None, "grace/other"])
def test_the_binder_links_name_the_repository(tmp_path: Path, before: str | None) -> None:
    for name in ("README.md", "binder/README.md", ".ci/address"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for repository in filter(None, (before, "ada/the.fork")):
        subprocess.run([tmp_path / ".ci/address", repository], check=True, timeout=20)

    pages = [(tmp_path / name).read_text() for name in ("README.md", "binder/README.md")]
    links = [
        link
        for page in pages
        for link in re.findall(r"https://mybinder.org/v2/\S+?(?=[)\s])", page)
    ]
    assert len(links) == 3
    assert all(link.startswith("https://mybinder.org/v2/gh/ada/the.fork/") for link in links)
    assert "github.com%252Fada%252Fthe.fork%26" in links[-1]
    assert links[-1].endswith("lab%252Ftree%252Fthe.fork%252Fnotebooks%252F01_quickstart.ipynb")
