"""A folder is checked when models are listed: faults that fail every job are reported then."""

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
    """A complete pipeline, with empty files."""
    root = tmp_path / "weights"
    for part in ("unet", "safety_checker", "tokenizer"):
        (root / part).mkdir(parents=True)
        (root / part / "config.json").write_text("{}")
    (root / "unet" / PLAIN).touch()
    (root / "safety_checker" / "model-00001-of-00002.safetensors").touch()
    (root / "model_index.json").write_text(json.dumps(INDEX))
    return root


def find(path: Path, library: Library, variant: str | None = None) -> str:
    """Return the problem of a folder."""
    try:
        folder.class_name(path / "model_index.json", library)
        folder.check(path, variant)
    except ConfigError as error:
        return str(error)
    pytest.fail("the folder has no problem")


def test_a_complete_pipeline_is_accepted(weights: Path, library: Library) -> None:
    assert folder.class_name(weights / "model_index.json", library) == "PlainPipeline"
    folder.check(weights, None)


def alter(root: Path, **changed: object) -> None:
    (root / "model_index.json").write_text(json.dumps(INDEX | changed))


def swap(root: Path, *names: str) -> None:
    """Replace the weights of a part by other files."""
    (root / "unet" / PLAIN).unlink()
    for name in names:
        (root / "unet" / name).touch()


POINTER = "version https://git-lfs.github.com/spec/v1\noid 1\n"
NO_CODE = "contains its own code"
FAULTS: list[tuple[Callable[[Path], object], str]] = [
    (lambda root: shutil.rmtree(root / "tokenizer"), "the part 'tokenizer' is not in"),
    (swap, "the weights of 'unet' are missing: copy the whole folder"),
    (lambda root: swap(root, "model.ckpt"), "'unet' are not in safetensors files (model.ckpt)"),
    (lambda root: swap(root, "model.pickle"), "not in safetensors files (model.pickle)"),
    (lambda root: swap(root, HALF), "only as the variant 'fp16': set variant = \"fp16\""),
    (lambda root: (root / "unet" / PLAIN).write_text(POINTER), "run 'git lfs pull'"),
    (lambda root: alter(root, unet=["my_net", "Net"]), f"the part 'unet' {NO_CODE} ('my_net')"),
    (lambda root: alter(root, unet=["subprocess", "Net"]), NO_CODE),
    (lambda root: alter(root, unet=["../plain", "Net"]), NO_CODE),
    (lambda root: alter(root, _class_name=["my_pipeline", "Mine"]), f"the pipeline {NO_CODE}"),
    *(
        (
            lambda root, text=text: (root / "model_index.json").write_text(text),
            "is missing, or is not",
        )
        for text in ("", "[]", "{}", "7")
    ),
]


@pytest.mark.parametrize(("change", "sentence"), FAULTS)
def test_a_fault_that_fails_every_job_is_reported(
    weights: Path, library: Library, change: Callable[[Path], object], sentence: str
) -> None:
    change(weights)

    assert sentence in find(weights, library)


def test_a_variant_of_the_weights_must_be_named(weights: Path, library: Library) -> None:
    assert (
        find(weights, library, "fp16") == "no part has weights of the variant 'fp16'; there is none"
    )
    shards = [f"fp16-0000{n}-of-00002" for n in (1, 2)]
    swap(weights, *(f"diffusion_pytorch_model.{name}.safetensors" for name in shards))

    folder.check(weights, "fp16")
    assert 'set variant = "fp16"' in find(weights, library, "ema")


@pytest.mark.parametrize("name", ["v1-5.safetensors", "old.ckpt"])
def test_a_checkpoint_in_one_file_is_recognized(
    tmp_path: Path, library: Library, name: str
) -> None:
    single = tmp_path / "single"
    single.mkdir()
    (single / name).touch()

    assert f"contains a checkpoint in one file ({name})" in find(single, library)
    assert "is a single file: save it as a folder first" in find(single / name, library)
