"""Local pipelines: their media, and the pictures and clips that they draw."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, Progress
from kit.engines.diffusers import pipelines
from kit.engines.media.clip import Clip, rgb_frame
from kit.errors import EngineError

pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from tests.engines.diffusers.tiny_engines import Weights, engine

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about each other


@pytest.mark.parametrize("name", ["sd", "flux"])
def test_a_picture_is_drawn_from_a_prompt(
    weights: Weights, render: Callable[..., Asset], name: str
) -> None:
    model = engine(weights, name)
    seen: list[float] = []

    first = render(model, progress=Progress(seen.append))
    again, other = render(model), render(model, seed=6)

    assert (first.width, first.height, first.content_type) == (64, 64, "image/png")
    assert first.path.read_bytes() == again.path.read_bytes()
    assert first.path.read_bytes() != other.path.read_bytes()
    assert np.asarray(Image.open(first.path)).std() > 1
    assert first.thumbnail
    assert first.thumbnail.stat().st_size > 0
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("name", ["sd", "flux"])
def test_the_same_weights_edit_a_picture_and_fill_a_mask(
    weights: Weights, render: Callable[..., Asset], name: str, photo: Path, mask: Path
) -> None:
    model = engine(weights, name)
    assert [(p.name, p.required) for p in model.definition.media] == [
        ("image", False),
        ("mask_image", False),
    ]

    plain = render(model)
    changed = render(model, media={"image": [photo]}, strength=0.6, num_inference_steps=4)
    filled = render(model, media={"image": [photo], "mask_image": [mask]}, strength=1)

    results = {asset.path.read_bytes() for asset in (plain, changed, filled)}
    assert len(results) == 3
    (held,) = pipelines.loaded
    assert {id(p.vae) for p in held.pipelines.values()} == {id(held.pipeline("text").vae)}
    with pytest.raises(EngineError, match="mask needs its image"):
        render(model, media={"mask_image": [mask]})
    with pytest.raises(EngineError, match="leaves none of 2 steps"):
        render(model, media={"image": [photo]}, strength=0.1)


def test_an_inpainting_model_needs_a_picture_and_a_mask(
    weights: Weights, render: Callable[..., Asset], photo: Path, mask: Path
) -> None:
    model = engine(weights, "sd-inpaint")

    assert model.definition.category == "Editing"
    assert [(p.name, p.required) for p in model.definition.media] == [
        ("image", True),
        ("mask_image", True),
    ]
    assert render(model, media={"image": [photo], "mask_image": [mask]}).width == 64


def test_a_clip_is_drawn_from_a_prompt(weights: Weights, render: Callable[..., Asset]) -> None:
    model = engine(weights, "wan")

    first, again = render(model), render(model)

    assert model.definition.category == "Video Generation"
    assert model.definition.media == ()
    assert (first.width, first.height, first.content_type) == (64, 64, "video/mp4")
    assert first.duration_seconds == round(5 / 16, 3)
    assert first.path.read_bytes() == again.path.read_bytes()
    assert first.thumbnail


def test_a_clip_is_drawn_from_a_first_picture(
    weights: Weights, render: Callable[..., Asset], photo: Path
) -> None:
    model = engine(weights, "wan-i2v")

    assert [(p.name, p.required) for p in model.definition.media] == [
        ("image", True),
        ("last_image", False),
    ]
    assert render(model, media={"image": [photo]}, width=95).width == 80  # a multiple of 16


def test_an_entry_may_name_another_pipeline_for_the_same_weights(
    weights: Weights, render: Callable[..., Asset], tmp_path: Path
) -> None:
    path = tmp_path / "clip.mp4"
    with Clip(path, 96, 64, fps=16) as clip:
        for number in range(8):
            clip.add(rgb_frame(np.full((64, 96, 3), number * 30, np.uint8)))
    model = engine(weights, "wan", pipeline="WanVideoToVideoPipeline")

    assert [(p.name, p.type, p.required) for p in model.definition.media] == [
        ("video", "video", True)
    ]
    asset = render(model, media={"video": [path]}, strength=0.9)
    assert (asset.width, asset.height, asset.content_type) == (64, 64, "video/mp4")
    assert type(pipelines.loaded[0].pipeline("text")).__name__ == "WanVideoToVideoPipeline"


def test_a_picture_keeps_its_proportions(
    weights: Weights, render: Callable[..., Asset], photo: Path
) -> None:
    model, small = engine(weights, "flux"), {"num_inference_steps": 4}

    plain = render(model, media={"image": [photo]}, small=small)
    narrow = render(model, media={"image": [photo]}, small=small, width=64)

    assert (plain.width, plain.height) == (128, 80)  # of 133 x 91
    assert (narrow.width, narrow.height) == (64, 32)
