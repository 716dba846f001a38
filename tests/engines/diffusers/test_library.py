"""What a library offers is read from its source, so these tests need none installed."""

import json
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import pytest

from kit.engines.configured.entries import read
from kit.engines.diffusers import library
from kit.engines.diffusers.engine import engines
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.shape import definition_of, shape_of
from kit.errors import ConfigError

AUTO = """
from collections import OrderedDict
AUTO_TEXT2IMAGE_PIPELINES_MAPPING = OrderedDict([("plain", PlainPipeline), ("lone", LonePipeline)])
AUTO_IMAGE2IMAGE_PIPELINES_MAPPING = OrderedDict([("plain", PlainImg2ImgPipeline)])
AUTO_INPAINT_PIPELINES_MAPPING = OrderedDict([("plain", PlainInpaintPipeline)])
SOMETHING_ELSE = 7
"""
SOURCE = """
import torch  # is not there, and nobody minds

class PlainPipeline(DiffusionPipeline):
    @torch.no_grad()
    def __call__(self, prompt=None, height=None, width=512, num_inference_steps: int = 30,
                 guidance_scale: float = 7, negative_prompt="", sigmas=None, latents=None,
                 size=(1, 2), mode=torch.float32, *, clip_skip=None, **kwargs):
        pass

class PlainImg2ImgPipeline(PlainPipeline):
    def __call__(self, prompt=None, image=None, strength=0.8): pass

class PlainInpaintPipeline(PlainPipeline): pass
class LonePipeline(PlainPipeline): pass
class WanThingPipeline:
    def __call__(self, image, prompt=None, num_frames=81, last_image=None, height=480, width=832):
        pass
class LTXThingPipeline:
    def __call__(self, prompt, num_frames=161, frame_rate=25, height=512, width=704): pass
class StableAudioPipeline:
    def __call__(self, prompt=None, width=1): pass
class TextPipeline:
    def __call__(self, prompt=None): pass
class PoseVideoPipeline:
    def __call__(self, pose_video, height=1, width=1): pass
class SilentPipeline: pass
class Flux2ThingPipeline:
    def __call__(self, image=None, prompt=None, height=None, width=None): pass
"""


def _forget() -> None:
    for cached in (library.arguments, library.siblings, library._files, library._tables):
        cached.cache_clear()


@pytest.fixture(autouse=True)
def _library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A library of a few pipelines, as source text."""
    pipelines = tmp_path / "diffusers" / "pipelines"
    (pipelines / "plain").mkdir(parents=True)
    (pipelines / "auto_pipeline.py").write_text(AUTO)
    (pipelines / "plain" / "pipeline_plain.py").write_text(SOURCE)
    spec = ModuleSpec("diffusers", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path / "diffusers")]
    monkeypatch.setattr(library, "find_spec", lambda _: spec)
    _forget()
    yield
    _forget()


def entry(pipeline: str, **more: Any) -> PipelineEntry:
    facts = {"id": "a", "hub_id": "some/where", "pipeline": pipeline, "price": 1}
    return read(PipelineEntry, facts | more)


def settings(pipeline: str, **more: Any) -> dict[str, Any]:
    made = entry(pipeline, **more)
    return {p.name: p for p in definition_of(made, shape_of(made)).settings}


def test_arguments_come_with_their_defaults() -> None:
    found = {a.name: (a.default, a.required) for a in library.arguments("PlainPipeline")}

    assert found["width"] == (512, False)
    assert found["guidance_scale"] == (7, False)
    assert found["size"] == ((1, 2), False)
    assert found["mode"] == (None, False)  # only the library knows that one
    assert found["clip_skip"] == (None, False)
    assert not {"self", "kwargs"} & found.keys()
    assert [a.name for a in library.arguments("WanThingPipeline") if a.required] == ["image"]


def test_a_call_may_be_inherited() -> None:
    assert library.arguments("LonePipeline") == library.arguments("PlainPipeline")
    with pytest.raises(ConfigError, match="cannot be called"):
        library.arguments("SilentPipeline")
    with pytest.raises(ConfigError, match="did you mean 'PlainPipeline'"):
        library.arguments("PlainPipelin")


def test_siblings_share_the_weights_of_a_family() -> None:
    assert library.siblings("PlainPipeline") == {
        "image": "PlainImg2ImgPipeline",
        "inpaint": "PlainInpaintPipeline",
    }
    assert library.siblings("LonePipeline") == {}
    assert library.siblings("PlainImg2ImgPipeline") == {}


def test_known_arguments_become_settings_and_the_rest_is_hidden() -> None:
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


def test_editing_can_be_switched_off() -> None:
    made = entry("PlainPipeline", edit=False)

    assert definition_of(made, shape_of(made)).media == ()
    assert "strength" not in settings("PlainPipeline", edit=False)


def test_media_are_required_where_the_pipeline_cannot_do_without() -> None:
    def media(pipeline: str, **more: Any) -> list[tuple[str, bool, int | None]]:
        made = entry(pipeline, **more)
        found = definition_of(made, shape_of(made)).media
        return [(p.name, p.required, p.max_items) for p in found]

    assert media("WanThingPipeline") == [("image", True, None), ("last_image", False, None)]
    assert media("PlainImg2ImgPipeline") == [("image", True, None)]
    assert media("PlainPipeline", required=["image"])[0] == ("image", True, None)
    assert media("Flux2ThingPipeline") == [("image", False, 4)]


def test_clips_have_the_rate_of_their_family() -> None:
    assert shape_of(entry("WanThingPipeline")).fps == 16
    assert shape_of(entry("WanThingPipeline", fps=30)).fps == 30
    assert shape_of(entry("LTXThingPipeline")).asset_type == "video"


@pytest.mark.parametrize(
    ("pipeline", "sentence"),
    [
        ("StableAudioPipeline", "neither pictures nor video"),
        ("TextPipeline", "neither pictures nor video"),
        ("PoseVideoPipeline", "needs 'pose_video'"),
    ],
)
def test_what_is_no_model_of_ours_is_refused(pipeline: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        shape_of(entry(pipeline))


def test_the_class_is_in_the_index_beside_the_weights(tmp_path: Path) -> None:
    (tmp_path / "model_index.json").write_text(json.dumps({"_class_name": "LonePipeline"}))
    facts = {"id": "a", "path": str(tmp_path), "price": 0.5, "title": "Lone"}

    (engine,) = engines(facts, Path(), False)
    assert engine.definition.title == "Lone"
    assert "LonePipeline" in engine.definition.description
