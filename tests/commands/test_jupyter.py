from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kit.commands.findings import Finding
from kit.commands.jupyter import Place, examine

HERE = Path(sys.executable)
EXTENSION = "@jupyter-widgets/jupyterlab-manager"
DROPS = "extension of drop zones and keys"


def extension(folder: Path, release: str, name: str = EXTENSION) -> Path:
    """Put an extension into a folder and return the folder."""
    (folder / name).mkdir(parents=True)
    (folder / name / "package.json").write_text(json.dumps({"version": release}))
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Everything as it should be."""
    right = extension(tmp_path / "share", "5.0.16")
    extension(right, "0.11.0", "anywidget")
    releases = {"ipywidgets": "8.1.9", "anywidget": "0.11.0"}
    return Place([tmp_path / "nothing", right], [tmp_path], HERE, HERE.with_name("lab"), releases)


def of(place: Place) -> dict[str, Finding]:
    return {finding.name: finding for finding in examine(place)}


def test_what_fits_is_fine(place: Place) -> None:
    assert all(finding.ok for finding in of(place).values())
    assert of(place)["widget extension"].found == "5.0.16 for ipywidgets 8.1.9"
    assert of(place)[DROPS].found == "0.11.0 for anywidget 0.11.0"


def test_an_older_extension_that_hides_the_right_one_is_named(place: Place, tmp_path: Path) -> None:
    old = extension(tmp_path / "home", "3.1.11")

    found = of(replace(place, extensions=[old, *place.extensions]))["widget extension"]

    assert not found.ok
    assert "3.1.11" in found.found
    assert "does not fit ipywidgets 8.1.9, which needs 5.x" in found.found
    assert found.remedy == f"remove the folder {old / EXTENSION}: it hides the right one"


def test_a_missing_or_wrong_extension_is_installed(place: Place, tmp_path: Path) -> None:
    wrong = extension(tmp_path / "only", "3.1.11")

    for folders in ([], [wrong]):
        found = of(replace(place, extensions=folders))["widget extension"]
        assert not found.ok
        assert found.remedy.startswith("pip install --force-reinstall 'jupyterlab_widgets>=3,<4'")


@pytest.mark.parametrize("listed", [{EXTENSION: True}, [EXTENSION]])
def test_an_extension_that_is_switched_off_is_named(
    place: Place, tmp_path: Path, listed: object
) -> None:
    (tmp_path / "labconfig").mkdir()
    config = tmp_path / "labconfig" / "page_config.json"
    config.write_text(json.dumps({"disabledExtensions": listed}))

    found = of(place)["widget extension"]

    assert (found.ok, found.remedy) == (False, f"jupyter labextension enable {EXTENSION}")


def test_a_kernel_of_another_environment_is_named(place: Place) -> None:
    found = of(replace(place, kernel=Path("/usr/bin/python3.99")))["kernel"]

    assert not found.ok
    assert found.remedy == f"{sys.executable} -m ipykernel install --sys-prefix"
    assert not of(replace(place, kernel=None))["kernel"].ok


def test_a_lab_of_another_environment_is_named(place: Place) -> None:
    found = of(replace(place, lab=Path("/opt/conda/bin/jupyter-lab")))["JupyterLab's environment"]

    assert "belongs to another environment" in found.found
    assert "kit lab" in found.remedy
    assert of(replace(place, lab=None))["JupyterLab's environment"].ok


@pytest.mark.parametrize("release", ["0.1.0", "0.10.2", "1.11.0"])
def test_what_draws_drop_zones_has_the_minor_release_of_its_package(
    place: Place, tmp_path: Path, release: str
) -> None:
    old = extension(tmp_path / "home", release, "anywidget")

    found = of(replace(place, extensions=[old, *place.extensions]))[DROPS]

    assert not found.ok
    assert "does not fit anywidget 0.11.0, which needs 0.11.x" in found.found
    assert found.remedy == f"remove the folder {old / 'anywidget'}: it hides the right one"


def test_drop_zones_that_nothing_draws_are_named(place: Place) -> None:
    found = of(replace(place, extensions=[]))[DROPS]

    assert (found.ok, "anywidget" in found.remedy) == (False, True)
