"""The pipelines of a library are read from its source, so these tests need none installed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit.engines.base import Definition
from kit.engines.configured.entries import read
from kit.engines.diffusers.engine import Pipeline
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.library import Library
from kit.engines.diffusers.shape import shape_of
from kit.errors import ConfigError


def entry(pipeline: str, **more: Any) -> PipelineEntry:
    facts = {"id": "a", "hub_id": "some/where", "pipeline": pipeline, "price": 1}
    return read(PipelineEntry, facts | more)


Define = Callable[..., Definition]
Settings = Callable[..., dict[str, Any]]


@pytest.fixture
def define(library: Library, tmp_path: Path) -> Define:
    """Return the definition of a pipeline's model, with more keys of its entry."""

    def define_pipeline(pipeline: str, **more: Any) -> Definition:
        return Pipeline(entry(pipeline, hub=True, **more), library=library).definition

    return define_pipeline


@pytest.fixture
def settings(define: Define) -> Settings:
    return lambda pipeline, **more: {p.name: p for p in define(pipeline, **more).settings}


def test_arguments_are_read_with_their_defaults(library: Library) -> None:
    found = {a.name: (a.default, a.required) for a in library.arguments("PlainPipeline")}

    assert found["width"] == (512, False)
    assert found["guidance_scale"] == (7, False)
    assert found["size"] == ((1, 2), False)
    assert found["mode"] == (None, False)  # only the library knows that value
    assert found["clip_skip"] == (None, False)
    assert not {"self", "kwargs"} & found.keys()
    assert [a.name for a in library.arguments("WanThingPipeline") if a.required] == ["image"]


def test_an_inherited_call_is_found(library: Library) -> None:
    assert library.arguments("LonePipeline") == library.arguments("PlainPipeline")
    with pytest.raises(ConfigError, match="cannot be called"):
        library.arguments("SilentPipeline")
    with pytest.raises(ConfigError, match="did you mean 'PlainPipeline'"):
        library.arguments("PlainPipelin")


def test_pipelines_for_the_same_weights_are_siblings(library: Library) -> None:
    assert library.siblings("PlainPipeline") == {
        "image": "PlainImg2ImgPipeline",
        "inpaint": "PlainInpaintPipeline",
    }
    assert library.siblings("LonePipeline") == {}
    assert library.siblings("PlainImg2ImgPipeline") == {}


def test_known_arguments_become_settings_and_the_rest_is_hidden(settings: Settings) -> None:
    found = settings("PlainPipeline")

    assert found.keys() == {
        "height",
        "width",
        "num_inference_steps",
        "guidance_scale",
        "negative_prompt",
        "clip_skip",
        "strength",
        "format",
        "seed",
    }
    assert found["guidance_scale"].type == "number"
    assert found["num_inference_steps"].type == "integer"
    assert found["negative_prompt"].default is None
    assert "left out" in found["height"].description
    assert "left out" not in found["width"].description
    assert "multiple of 16" in found["width"].description
    assert "multiple of 32" in settings("LTXThingPipeline")["width"].description


def test_media_are_required_if_the_pipeline_needs_them(define: Define) -> None:
    def media(pipeline: str, **more: Any) -> list[tuple[str, bool, int | None]]:
        return [(p.name, p.required, p.max_items) for p in define(pipeline, **more).media]

    assert media("WanThingPipeline") == [("image", True, None), ("last_image", False, None)]
    assert media("PlainImg2ImgPipeline") == [("image", True, None)]
    assert media("PlainPipeline", required=["image"])[0] == ("image", True, None)
    assert media("Flux2ThingPipeline") == [("image", False, 4)]


def test_a_controlled_pipeline_needs_its_picture_and_has_no_siblings(
    library: Library, define: Define
) -> None:
    assert library.siblings("PlainControlNetPipeline")  # the library names some; they need more

    media = define("PlainControlNetPipeline").media
    assert [(p.name, p.required) for p in media] == [("image", True)]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"defaults": {"width": 5000}}, "the default of its parameter 'width'"),
        ({"defaults": {"num_inference_steps": "many"}}, "the default of its parameter"),
        ({"limits": {"width": [512, 128]}}, "a minimum of 512, above its maximum of 128"),
        ({"choices": {"width": []}}, "an empty list of choices"),
    ],
)
def test_settings_that_can_never_be_used_are_refused(
    settings: Settings, change: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        settings("PlainPipeline", **change)


def test_clips_have_the_frame_rate_of_their_family(library: Library) -> None:
    assert shape_of(entry("WanThingPipeline"), library).fps == 16
    assert shape_of(entry("WanThingPipeline", fps=30), library).fps == 30
    assert shape_of(entry("LTXThingPipeline"), library).asset_type == "video"


@pytest.mark.parametrize(
    ("pipeline", "sentence"),
    [
        ("StableAudioPipeline", "neither pictures nor video"),
        ("TextPipeline", "neither pictures nor video"),
        ("PoseVideoPipeline", "needs 'pose_video'"),
        ("PosedPipeline", "needs 'conditioning_frames'"),
        ("PlainPriorPipeline", "generates neither pictures nor videos by itself"),
    ],
)
def test_a_pipeline_without_pictures_or_video_is_refused(
    library: Library, pipeline: str, sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        shape_of(entry(pipeline), library)


def test_the_pipeline_class_is_read_from_the_model_index(library: Library, tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model_index.json").write_text(json.dumps({"_class_name": "LonePipeline"}))
    facts = {"id": "a", "path": str(folder), "price": 0.5, "title": "Lone"}

    engine = Pipeline(read(PipelineEntry, facts), library=library)
    assert engine.definition.title == "Lone"
    assert "LonePipeline" in engine.definition.description
