"""A folder is looked at when models are listed: what would fail at every job is said then."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kit.engines.diffusers import folder
from kit.engines.diffusers.library import Library
from kit.errors import ConfigError

INDEX = {
    "_class_name": "PlainPipeline",
    "unet": ["diffusers", "UNet2DConditionModel"],
    "safety_checker": ["plain", "Checker"],
    "tokenizer": ["transformers", "CLIPTokenizer"],
    "feature_extractor": [None, None],
    "requires_safety_checker": True,
}
PLAIN = "diffusion_pytorch_model.safetensors"
HALF = "diffusion_pytorch_model.fp16.safetensors"


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    """A whole pipeline, with files that hold nothing."""
    root = tmp_path / "weights"
    for part in ("unet", "safety_checker", "tokenizer"):
        (root / part).mkdir(parents=True)
        (root / part / "config.json").write_text("{}")
    (root / "unet" / PLAIN).touch()
    (root / "safety_checker" / "model-00001-of-00002.safetensors").touch()
    (root / "model_index.json").write_text(json.dumps(INDEX))
    return root


def told(path: Path, library: Library, variant: str | None = None) -> str:
    """Return what is wrong with a folder."""
    try:
        folder.class_name(path / "model_index.json", library)
        folder.check(path, variant)
    except ConfigError as error:
        return str(error)
    pytest.fail("nothing is wrong with it")


def test_a_whole_pipeline_is_taken(weights: Path, library: Library) -> None:
    assert folder.class_name(weights / "model_index.json", library) == "PlainPipeline"
    folder.check(weights, None)


def index(root: Path, **changed: object) -> None:
    (root / "model_index.json").write_text(json.dumps(INDEX | changed))


def moved(root: Path, *names: str) -> None:
    """Put other files where the weights of a part were."""
    (root / "unet" / PLAIN).unlink()
    for name in names:
        (root / "unet" / name).touch()


POINTER = "version https://git-lfs.github.com/spec/v1\noid 1\n"
NO_CODE = "contains its own code"
FAULTS: list[tuple[Callable[[Path], object], str]] = [
    (lambda root: shutil.rmtree(root / "tokenizer"), "the part 'tokenizer' is not in"),
    (moved, "the weights of 'unet' are missing: copy the whole folder"),
    (lambda root: moved(root, "model.ckpt"), "'unet' are not in safetensors files (model.ckpt)"),
    (lambda root: moved(root, "model.pickle"), "not in safetensors files (model.pickle)"),
    (lambda root: moved(root, HALF), "only as the variant 'fp16': set variant = \"fp16\""),
    (lambda root: (root / "unet" / PLAIN).write_text(POINTER), "run 'git lfs pull'"),
    (lambda root: index(root, unet=["my_net", "Net"]), f"the part 'unet' {NO_CODE} ('my_net')"),
    (lambda root: index(root, unet=["subprocess", "Net"]), NO_CODE),
    (lambda root: index(root, unet=["../plain", "Net"]), NO_CODE),
    (lambda root: index(root, _class_name=["my_pipeline", "Mine"]), f"the pipeline {NO_CODE}"),
    *(
        (
            lambda root, text=text: (root / "model_index.json").write_text(text),
            "is missing, or is not",
        )
        for text in ("", "[]", "{}", "7")
    ),
]


@pytest.mark.parametrize(("change", "sentence"), FAULTS)
def test_what_would_fail_at_every_job_is_said(
    weights: Path, library: Library, change: Callable[[Path], object], sentence: str
) -> None:
    change(weights)

    assert sentence in told(weights, library)


def test_a_variant_has_to_be_asked_for_by_its_name(weights: Path, library: Library) -> None:
    assert (
        told(weights, library, "fp16") == "no part has weights of the variant 'fp16'; there is none"
    )
    shards = [f"fp16-0000{n}-of-00002" for n in (1, 2)]
    moved(weights, *(f"diffusion_pytorch_model.{name}.safetensors" for name in shards))

    folder.check(weights, "fp16")
    assert 'set variant = "fp16"' in told(weights, library, "ema")


@pytest.mark.parametrize("name", ["v1-5.safetensors", "old.ckpt"])
def test_a_checkpoint_in_one_file_is_recognized(
    tmp_path: Path, library: Library, name: str
) -> None:
    single = tmp_path / "single"
    single.mkdir()
    (single / name).touch()

    assert f"contains a checkpoint in one file ({name})" in told(single, library)
    assert "is a single file: save it as a folder first" in told(single / name, library)
