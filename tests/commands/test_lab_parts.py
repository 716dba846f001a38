import json
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import pytest

from kit.commands.doctor import Finding, examine_lab

HERE = Path(sys.executable)
PYTHON = (subprocess.list2cmdline if os.name == "nt" else shlex.join)([sys.executable])
IPYWIDGETS, ANYWIDGET = "@jupyter-widgets/jupyterlab-manager", "anywidget"


def extension(folder: Path, name: str, release: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "package.json").write_text(json.dumps({"version": release}))


@pytest.fixture
def right(tmp_path: Path) -> Path:
    """A folder in which everything is as it should be."""
    extension(tmp_path / "share", IPYWIDGETS, "5.0.16")
    extension(tmp_path / "share", ANYWIDGET, version("anywidget"))
    return tmp_path / "share"


def examine(folders: Sequence[Path], kernel: Path = HERE, lab: Path = HERE) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine_lab(folders, kernel, lab)}


def test_what_fits_is_fine(right: Path, tmp_path: Path) -> None:
    found = examine([tmp_path / "nothing", right])

    assert all(finding.ok for finding in found.values())
    assert found["Lab's part of ipywidgets"].found.startswith("5.0.16 for ipywidgets 8")


@pytest.mark.parametrize(
    ("name", "package", "old"),
    [(IPYWIDGETS, "ipywidgets", "3.1.11"), (ANYWIDGET, "anywidget", "0.1.0")],
)
def test_an_extension_that_does_not_fit_is_named_with_its_cure(
    right: Path, tmp_path: Path, name: str, package: str, old: str
) -> None:
    extension(tmp_path / "home", name, old)

    for folders, cure in (
        ([tmp_path / "home", right], f"remove the folder {tmp_path / 'home' / name}"),
        ([tmp_path / "home"], f"{PYTHON} -m pip install --force-reinstall {package}"),
        ([], f"{PYTHON} -m pip install --force-reinstall {package}"),
    ):
        found = examine(folders)[f"Lab's part of {package}"]
        assert not found.ok
        assert found.remedy.startswith(cure)


def test_a_kernel_of_another_environment_is_named(right: Path) -> None:
    found = examine([right], kernel=Path("/usr/bin/python3.99"))["kernel"]

    assert not found.ok
    assert found.remedy == f"{PYTHON} -m ipykernel install --sys-prefix"


def test_a_lab_of_another_environment_is_named(right: Path) -> None:
    found = examine([right], lab=Path("/opt/conda/bin/jupyter-lab"))["JupyterLab"]

    assert "belongs to another environment" in found.found
    assert "kit lab" in found.remedy
