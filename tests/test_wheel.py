"""The wheel and the sdist: code, data, tutorials and licenses, and nothing else."""

import json
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from kit.version import __version__

ROOT = Path(__file__).parents[1]
NAME = f"creative_studio_kit-{__version__}"
INFO = f"{NAME}.dist-info"


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel and an sdist."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(dist / f"{NAME}-py3-none-any.whl")


def tracked_files(folder: str) -> set[str]:
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("needs git and its checkout")
    listed = subprocess.run(
        ["git", "ls-files", folder], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return {name for name in listed.stdout.splitlines() if (ROOT / name).exists()}


def test_the_wheel_has_every_file_of_the_package_and_the_tutorials(wheel: zipfile.ZipFile) -> None:
    names = {name for name in wheel.namelist() if not name.startswith(INFO)}

    assert names >= tracked_files("kit")
    assert {f"kit/{name}" for name in tracked_files("notebooks")} <= names
    assert {name.partition("/")[0] for name in names} == {"kit"}


def test_the_sdist_has_the_sources_of_the_wheel_and_the_tests(dist: Path) -> None:
    with tarfile.open(dist / f"{NAME}.tar.gz") as sdist:
        names = {name.removeprefix(f"{NAME}/") for name in sdist.getnames()}

    assert names >= tracked_files("kit") | tracked_files("notebooks") | tracked_files("tests")
    assert {"pyproject.toml", "README.md"} <= names


def test_the_wheel_names_its_version_and_license(wheel: zipfile.ZipFile) -> None:
    metadata = Parser().parsestr(wheel.read(f"{INFO}/METADATA").decode())

    assert (metadata["Version"], metadata["License-Expression"]) == (__version__, "MIT")
    assert f"{INFO}/licenses/kit/LICENSE" in wheel.namelist()
    for path in metadata.get_all("License-File"):
        assert wheel.getinfo(f"{INFO}/licenses/{path}").file_size > 1000


def test_every_font_and_neural_network_has_its_license(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    licenses = {Path(name).stem for name in names if name.endswith(".txt") and "/media/" in name}
    fonts = [Path(name).stem.partition("-")[0] for name in names if name.endswith(".ttf")]

    assert fonts
    assert {f"OFL-{font}" for font in fonts} <= licenses
    networks = [name for name in names if name.endswith((".onnx", ".tflite"))]
    about = wheel.read("kit/engines/media/networks/README.md").decode()
    assert networks
    assert all(Path(name).name in about for name in networks)
    assert {"MIT-YuNet", "APACHE-MediaPipe"} <= licenses


def test_every_fact_of_a_topic_has_a_source(wheel: zipfile.ZipFile) -> None:
    banks = [name for name in wheel.namelist() if name.startswith("kit/engines/text/topics/")]
    facts = [bank for bank in map(json.loads, map(wheel.read, banks)) if bank["manner"] == "facts"]

    assert facts
    assert all(entry["source"] for bank in facts for entry in bank["entries"])
