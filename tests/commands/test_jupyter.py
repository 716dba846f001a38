from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import pytest

from kit.commands.jupyter import Finding, JupyterPlace, examine

HERE = Path(sys.executable)
EXTENSION = "@jupyter-widgets/jupyterlab-manager"
DROPS = "extension of drop zones and keys"


def extension(folder: Path, release: str, name: str = EXTENSION) -> Path:
    """Put an extension into a folder and return the folder."""
    (folder / name).mkdir(parents=True)
    (folder / name / "package.json").write_text(json.dumps({"version": release}))
    return folder


@pytest.fixture
def place(tmp_path: Path) -> JupyterPlace:
    """Everything as it should be."""
    right = extension(tmp_path / "share", "5.0.16")
    extension(right, "0.11.0", "anywidget")
    releases = {"ipywidgets": "8.1.9", "anywidget": "0.11.0"}
    return JupyterPlace(
        [tmp_path / "nothing", right], [tmp_path], HERE, HERE.with_name("lab"), releases
    )


def of(place: JupyterPlace) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(place)}


def test_what_fits_is_fine(place: JupyterPlace) -> None:
    assert all(finding.ok for finding in of(place).values())
    assert of(place)["widget extension"].found == "5.0.16 for ipywidgets 8.1.9"
    assert of(place)[DROPS].found == "0.11.0 for anywidget 0.11.0"


def test_an_older_extension_that_hides_the_right_one_is_named(
    place: JupyterPlace, tmp_path: Path
) -> None:
    old = extension(tmp_path / "home", "3.1.11")

    found = of(replace(place, extensions=[old, *place.extensions]))["widget extension"]

    assert not found.ok
    assert "3.1.11" in found.found
    assert "does not fit ipywidgets 8.1.9, which needs 5.x" in found.found
    assert found.remedy == f"remove the folder {old / EXTENSION}: it hides the right one"


def test_a_missing_or_wrong_extension_is_installed(place: JupyterPlace, tmp_path: Path) -> None:
    wrong = extension(tmp_path / "only", "3.1.11")

    for folders in ([], [wrong]):
        found = of(replace(place, extensions=folders))["widget extension"]
        assert not found.ok
        assert found.remedy == (
            f"{sys.executable} -m pip install --force-reinstall 'jupyterlab_widgets>=3,<4', "
            "and reload the page"
        )


@pytest.mark.parametrize("listed", [{EXTENSION: True}, [EXTENSION]])
def test_an_extension_that_is_switched_off_is_named(
    place: JupyterPlace, tmp_path: Path, listed: object
) -> None:
    (tmp_path / "labconfig").mkdir()
    config = tmp_path / "labconfig" / "page_config.json"
    config.write_text(json.dumps({"disabledExtensions": listed}))

    found = of(place)["widget extension"]

    assert (found.ok, found.remedy) == (False, f"jupyter labextension enable {EXTENSION}")


def test_a_kernel_of_another_environment_is_named(place: JupyterPlace) -> None:
    found = of(replace(place, kernel=Path("/usr/bin/python3.99")))["kernel"]

    assert not found.ok
    assert found.remedy == f"{sys.executable} -m ipykernel install --sys-prefix"
    assert not of(replace(place, kernel=None))["kernel"].ok


def test_a_lab_of_another_environment_is_named(place: JupyterPlace) -> None:
    found = of(replace(place, lab=Path("/opt/conda/bin/jupyter-lab")))["JupyterLab's environment"]

    assert "belongs to another environment" in found.found
    assert "kit lab" in found.remedy
    assert of(replace(place, lab=None))["JupyterLab's environment"].ok


@pytest.mark.parametrize("release", ["0.1.0", "0.10.2", "1.11.0"])
def test_what_draws_drop_zones_has_the_minor_release_of_its_package(
    place: JupyterPlace, tmp_path: Path, release: str
) -> None:
    old = extension(tmp_path / "home", release, "anywidget")

    found = of(replace(place, extensions=[old, *place.extensions]))[DROPS]

    assert not found.ok
    assert "does not fit anywidget 0.11.0, which needs 0.11.x" in found.found
    assert found.remedy == f"remove the folder {old / 'anywidget'}: it hides the right one"


def test_drop_zones_that_nothing_draws_are_named(place: JupyterPlace) -> None:
    found = of(replace(place, extensions=[]))[DROPS]

    assert (found.ok, "anywidget" in found.remedy) == (False, True)


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """A server of another environment, and what it tells its kernels."""
    prefix = tmp_path / "hub"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "python").symlink_to(Path(sys.executable).resolve())
    lab = prefix / "bin" / "jupyter-lab"
    lab.write_text("#!/bin/sh\necho 4.6.6\n")
    lab.chmod(0o755)
    command = [prefix / "bin" / "python", "-c", "print(); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout
        server.stdout.readline()  # until it runs, nobody can see what it is
        try:
            yield prefix, {"JPY_PARENT_PID": str(server.pid)}
        finally:
            server.communicate(b"\n")


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="nobody tells which Lab it is")
def test_in_a_lab_of_another_environment_that_one_counts(
    hub: tuple[Path, Mapping[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prefix, environ = hub
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "user"))

    wrong = of(JupyterPlace.here(environ))

    assert wrong["JupyterLab's environment"].ok
    assert wrong["JupyterLab's environment"].found.endswith("with JupyterLab 4.6.6")
    assert wrong["widget extension"].remedy.startswith(f"{prefix}/bin/python -m pip install")
    assert wrong["kernel"].found == f"{prefix}/bin/python is not where the kit is installed"
    assert wrong["kernel"].remedy.startswith(f"{sys.executable} -m ipykernel install --user")

    right = extension(prefix / "share" / "jupyter" / "labextensions", "5.0.16")
    extension(right, version("anywidget"), "anywidget")
    kernel = tmp_path / "user" / "kernels" / "creative-studio"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({"argv": [sys.executable, "-m", "ipykernel"]}))

    assert all(finding.ok for finding in of(JupyterPlace.here(environ)).values())


def test_a_lab_of_another_environment_that_is_too_old_is_named(place: JupyterPlace) -> None:
    lab = Path("/opt/conda/bin/jupyter-lab")

    found = of(replace(place, lab=lab, inside="3.6.8"))["JupyterLab's environment"]

    assert (found.ok, "with JupyterLab 3.6.8" in found.found) == (False, True)
    assert found.remedy.startswith("/opt/conda/bin/python -m pip install 'jupyterlab>=4.4,<5'")
