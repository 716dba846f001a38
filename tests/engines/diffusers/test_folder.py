"""A folder is looked at when models are listed: what would fail at every job is said then."""

import json
from pathlib import Path

import pytest

from kit.engines.diffusers import folder
from kit.errors import ConfigError

pytestmark = pytest.mark.usefixtures("fake_library")

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


def told(path: Path, variant: str | None = None) -> str:
    """Return what is wrong with a folder."""
    try:
        folder.class_name(path / "model_index.json")
        folder.check(path, variant)
    except ConfigError as error:
        return str(error)
    pytest.fail("nothing is wrong with it")


def test_a_whole_pipeline_is_taken(weights: Path) -> None:
    assert folder.class_name(weights / "model_index.json") == "PlainPipeline"
    folder.check(weights, None)


def test_a_part_that_is_not_there_is_named(weights: Path) -> None:
    (weights / "tokenizer" / "config.json").unlink()
    (weights / "tokenizer").rmdir()

    assert "the part 'tokenizer' is not in" in told(weights)


def test_missing_weights_are_named(weights: Path) -> None:
    (weights / "unet" / PLAIN).unlink()

    assert told(weights) == "the weights of 'unet' are missing: copy the whole folder"


@pytest.mark.parametrize("name", ["diffusion_pytorch_model.bin", "model.ckpt", "model.pickle"])
def test_weights_that_could_hold_code_are_refused(weights: Path, name: str) -> None:
    (weights / "unet" / PLAIN).unlink()
    (weights / "unet" / name).touch()

    assert f"the weights of 'unet' are not in safetensors files ({name})" in told(weights)


def test_a_variant_has_to_be_asked_for_by_its_name(weights: Path) -> None:
    (weights / "unet" / PLAIN).rename(weights / "unet" / HALF)

    assert "only as the variant 'fp16': set variant = \"fp16\"" in told(weights)
    folder.check(weights, "fp16")
    assert 'set variant = "fp16"' in told(weights, "ema")


def test_a_variant_that_is_nowhere_is_refused(weights: Path) -> None:
    assert told(weights, "fp16") == "no part has weights of the variant 'fp16'; there is none"


def test_shards_of_a_variant_are_recognized(weights: Path) -> None:
    (weights / "unet" / PLAIN).unlink()
    for name in ("fp16-00001-of-00002", "fp16-00002-of-00002"):
        (weights / "unet" / f"diffusion_pytorch_model.{name}.safetensors").touch()

    folder.check(weights, "fp16")


def test_a_pointer_is_no_weights(weights: Path) -> None:
    (weights / "unet" / PLAIN).write_text("version https://git-lfs.github.com/spec/v1\noid 1\n")

    assert "run 'git lfs pull'" in told(weights)


@pytest.mark.parametrize("library", ["my_net", "subprocess", "../plain"])
def test_a_part_that_brings_code_is_refused(weights: Path, library: str) -> None:
    index = INDEX | {"unet": [library, "Net"]}
    (weights / "model_index.json").write_text(json.dumps(index))

    assert (
        told(weights) == f"the part 'unet' brings code of its own ({library!r}), which is never run"
    )


def test_a_pipeline_that_brings_code_is_refused(weights: Path) -> None:
    index = INDEX | {"_class_name": ["my_pipeline", "MyPipeline"]}
    (weights / "model_index.json").write_text(json.dumps(index))

    assert told(weights) == "the pipeline brings code of its own, which is never run"


@pytest.mark.parametrize("name", ["v1-5.safetensors", "old.ckpt"])
def test_a_checkpoint_in_one_file_is_recognized(tmp_path: Path, name: str) -> None:
    single = tmp_path / "single"
    single.mkdir()
    (single / name).touch()

    assert f"holds a checkpoint in one file ({name})" in told(single)
    assert "is a single file: save it as a folder first, with from_single_file" in told(
        single / name
    )


def test_a_lora_is_recognized(tmp_path: Path) -> None:
    (tmp_path / "pytorch_lora_weights.safetensors").touch()

    assert "holds a LoRA, which only adds to a model" in told(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "{}", "7"])
def test_an_index_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "model_index.json").write_text(content)

    assert "is missing, or is not the index of a pipeline" in told(tmp_path)
