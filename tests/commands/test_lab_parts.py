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


def write_extension(folder: Path, name: str, release: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "package.json").write_text(json.dumps({"version": release}))


@pytest.fixture
def valid_folder(tmp_path: Path) -> Path:
    """A folder with matching lab extensions."""
    write_extension(tmp_path / "share", IPYWIDGETS, "5.0.16")
    write_extension(tmp_path / "share", ANYWIDGET, version("anywidget"))
    return tmp_path / "share"


def examine(folders: Sequence[Path], kernel: Path = HERE, lab: Path = HERE) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine_lab(folders, kernel, lab)}


def test_matching_extensions_are_ok(valid_folder: Path, tmp_path: Path) -> None:
    found = examine([tmp_path / "nothing", valid_folder])

    assert all(finding.ok for finding in found.values())
    assert found["Lab's part of ipywidgets"].found.startswith("5.0.16 for ipywidgets 8")


@pytest.mark.parametrize(
    ("name", "package", "old"),
    [(IPYWIDGETS, "ipywidgets", "3.1.11"), (ANYWIDGET, "anywidget", "0.1.0")],
)
def test_an_incompatible_extension_is_named_with_a_remedy(
    valid_folder: Path, tmp_path: Path, name: str, package: str, old: str
) -> None:
    write_extension(tmp_path / "home", name, old)

    for folders, remedy in (
        ([tmp_path / "home", valid_folder], f"remove the folder {tmp_path / 'home' / name}"),
        ([tmp_path / "home"], f"{PYTHON} -m pip install --force-reinstall {package}"),
        ([], f"{PYTHON} -m pip install --force-reinstall {package}"),
    ):
        found = examine(folders)[f"Lab's part of {package}"]
        assert not found.ok
        assert found.remedy.startswith(remedy)


def test_a_kernel_and_a_jupyterlab_of_another_environment_are_reported(valid_folder: Path) -> None:
    lab = Path("/opt/conda/bin/jupyter-lab")
    found = examine([valid_folder], kernel=Path("/usr/bin/python3.99"), lab=lab)

    assert not found["kernel"].ok
    assert found["kernel"].remedy == f"{PYTHON} -m ipykernel install --sys-prefix"
    assert "belongs to another environment" in found["JupyterLab"].found
    assert "kit lab" in found["JupyterLab"].remedy
