"""Weights: which are read, that they are read once, and errors of memory and devices."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.engines.base import Asset
from kit.engines.diffusers import pipelines
from kit.engines.diffusers.engine import diffusers as engines
from kit.errors import ConfigError, EngineError

pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from tests.engines.diffusers.tiny import torch
from tests.engines.diffusers.tiny_engines import Weights, engine

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about each other


@pytest.fixture
def cached(weights: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a tiny pipeline in a hub cache: ``someone/something``."""
    repository = tmp_path / "hub" / "models--someone--something"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("abc123")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return Path(shutil.copytree(weights("sd"), repository / "snapshots" / "abc123"))


def test_pickled_weights_are_not_read(
    weights: Weights, render: Callable[..., Asset], tmp_path: Path
) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(weights("sd"), folder)
    entry = {"id": "pickled", "path": str(folder), "price": 1}
    (pipeline,) = engines(entry, Path(), False)
    for file in folder.rglob("*.safetensors"):
        torch.save({}, file.with_suffix(".bin"))
        file.unlink()

    with pytest.raises(ConfigError, match="'text_encoder' are not in safetensors files"):
        engines(entry, Path(), False)
    with pytest.raises(EngineError, match="cannot be loaded") as caught:
        render(pipeline)
    assert caught.value.code == "not_loadable"
    assert str(tmp_path) not in str(caught.value)


def test_code_that_comes_with_weights_is_not_run(
    cached: Path, render: Callable[..., Asset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = json.loads((cached / "model_index.json").read_text())
    index["unet"] = ["planted", "Net"]
    (cached / "model_index.json").write_text(json.dumps(index))
    (tmp_path / "planted.py").write_text("raise SystemExit('ran')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    entry = {"id": "hub", "hub_id": "someone/something", "price": 1, "hub": True}
    # The class is named, so the index is not read before the first job.
    (pipeline,) = engines(entry | {"pipeline": "StableDiffusionPipeline"}, Path(), False)

    with pytest.raises(EngineError, match="cannot be loaded"):
        render(pipeline)
    assert "planted" not in sys.modules


@pytest.mark.usefixtures("cached")
def test_weights_in_the_hub_cache_need_no_network(render: Callable[..., Asset]) -> None:
    entry = {"id": "hub", "hub_id": "someone/something", "price": 1, "threads": 1}
    (pipeline,) = engines(entry, Path(), False)

    assert render(pipeline).width == 64


def test_weights_are_loaded_once_and_only_one_model_is_kept(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    pipeline = engine(weights, "wan")
    render(pipeline)
    (held,) = pipelines.loaded
    render(pipeline, seed=9)
    assert pipelines.loaded[0] is held

    render(engine(weights, "wan", title="Wan, cheaper", price=0.05, defaults={"num_frames": 9}))
    assert pipelines.loaded[0] is held

    render(engine(weights, "flux"))
    assert [type(one.pipeline("text")).__name__ for one in pipelines.loaded] == ["FluxPipeline"]


def test_listing_does_not_import_the_library(weights: Weights) -> None:
    entry = {"id": "sd", "path": str(weights("sd")), "price": 0.1}
    script = (
        "import sys; from pathlib import Path;"
        "from kit.engines.diffusers.engine import diffusers as engines;"
        f"print(engines({entry!r}, Path(), False)[0].definition.id);"
        "print(sorted({'torch', 'diffusers', 'transformers', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert done.stdout.splitlines() == ["sd", "[]"], done.stderr


def test_a_missing_device_is_reported(weights: Weights, render: Callable[..., Asset]) -> None:
    with pytest.raises(EngineError, match="cannot be loaded") as caught:
        render(engine(weights, "sd", device="cuda:9"))
    assert caught.value.code == "not_loadable"


def test_too_little_memory_for_the_weights_is_reported(
    weights: Weights, render: Callable[..., Asset], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr("diffusers.DiffusionPipeline.to", full)
    with pytest.raises(EngineError, match="more memory") as caught:
        render(engine(weights, "sd", threads=2))
    assert caught.value.code == "out_of_memory"
