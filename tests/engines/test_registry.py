"""Which engines there are: entry points, and no plug-in can keep the others from working."""

import subprocess
import sys
from pathlib import Path

import pytest

from kit.engines.registry import engine_for, installed
from kit.errors import ConfigError

_LISTED = "from kit.engines.registry import installed; print(*installed())"


def listed(folder: Path, points: str, module: str) -> subprocess.CompletedProcess[str]:
    """List the engines in a process that has one more plug-in."""
    info = folder / "more-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: more\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[kit.engines]\n{points}\n")
    (folder / "more.py").write_text(module)
    script = f"import sys; sys.path.insert(0, {str(folder)!r}); {_LISTED}"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)


def test_plug_ins_stand_beside_the_built_in_ones() -> None:
    assert {"flat", "clay", "poster", "drift"} <= installed().keys()
    assert list(installed()) == sorted(installed())
    assert all(engine.definition.id == name for name, engine in installed().items())


def test_a_broken_plug_in_is_left_out() -> None:
    assert "broken" not in installed()
    with pytest.raises(ConfigError, match="'broken'"):
        engine_for("broken")


def test_an_engine_is_found_by_its_model() -> None:
    assert engine_for("flat").definition.title == "Flat"
    with pytest.raises(ConfigError, match="'nothing'"):
        engine_for("nothing")


def test_definitions_load_nothing_heavy() -> None:
    heavy = {"numpy", "cv2", "av", "PIL"}
    script = f"{_LISTED}; import sys; print(sorted({heavy} & sys.modules.keys()))"
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert told.stdout.splitlines()[1] == "[]"


@pytest.mark.parametrize(
    ("points", "module", "sentence"),
    [
        ("odd = more:thing", "thing = 7", "is no Engine"),
        ("odd = more:thing", "raise RuntimeError('no license')", "RuntimeError: no license"),
        ("odd = demo_engines:Flat", "", "its model's id is 'flat'"),
    ],
)
def test_a_plug_in_that_is_no_engine_is_reported_and_left_out(
    tmp_path: Path, points: str, module: str, sentence: str
) -> None:
    told = listed(tmp_path, points, module)

    assert told.returncode == 0, told.stderr
    assert "flat" in told.stdout.split()
    assert "odd" not in told.stdout.split()
    assert sentence in told.stderr


def test_two_engines_for_one_model_are_refused(tmp_path: Path) -> None:
    told = listed(tmp_path, "flat = demo_engines:Flat", "")

    assert told.returncode == 1
    assert "two engines serve the model 'flat'" in told.stderr
