"""Local pipelines: what they take, that they draw it, and that they can be called off."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit import parameters
from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.diffusers import pipelines
from kit.engines.diffusers.engine import Pipeline, engines
from kit.engines.media.clip import Clip, rgb_frame
from kit.errors import ConfigError, EngineError
from kit.wire import Model

pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from tests.engines.diffusers.tiny import build, torch

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn of each other

Weights = Callable[[str], Path]
SHORT = {"max_sequence_length": 16}
ALWAYS = {"flux": SHORT, "wan": SHORT, "wan-i2v": SHORT, "wan-v2v": SHORT, "ltx": SHORT}
SMALL = {"width": 64, "height": 64, "num_inference_steps": 2}


def engine(weights: Weights, name: str, **more: Any) -> Pipeline:
    entry = {"id": name, "path": str(weights(name)), "price": 0.1, "threads": 1}
    (made,) = engines(entry | {"always": ALWAYS.get(name, {})} | more, Path(), False)
    assert isinstance(made, Pipeline)
    return made


@pytest.fixture(scope="session")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Weights:
    """Return the folder of a tiny pipeline by its short name; each is built once."""
    root = tmp_path_factory.mktemp("weights")

    def folder(name: str) -> Path:
        path = root / name
        if not path.exists():
            build(name, path)
        return path

    return folder


@pytest.fixture
def render(tmp_path: Path) -> Callable[..., Asset]:
    """Check a request the way the service does, and render it in a folder of its own."""
    count = iter(range(100))

    def rendered(
        made: Pipeline,
        *,
        seed: int = 5,
        media: dict[str, list[Path]] | None = None,
        progress: Progress | None = None,
        **values: Any,
    ) -> Asset:
        found = made.definition
        model = Model(
            id=found.id,
            setting_parameters=list(found.settings),
            media_parameters=list(found.media),
        )
        media = media or {}
        known = {parameter.name for parameter in found.settings}
        wanted = SMALL | ({"num_frames": 5} if "num_frames" in known else {}) | values
        full = parameters.check(model, prompt="a cat", parameters=wanted, media=media)
        folder = tmp_path / f"job{next(count)}"
        folder.mkdir()
        job = Job(prompt="a cat", parameters=full, folder=folder, seed=seed, media=media)
        return made.render(job, progress or Progress())

    return rendered


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """A picture of noise, of an odd size."""
    pixels = np.random.default_rng(0).integers(0, 255, (91, 133, 3), dtype=np.uint8)
    path = tmp_path / "photo.png"
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture
def mask(tmp_path: Path) -> Path:
    """White on the left half."""
    pixels = np.zeros((91, 133), np.uint8)
    pixels[:, :66] = 255
    path = tmp_path / "mask.png"
    Image.fromarray(pixels).save(path)
    return path


@pytest.mark.parametrize("name", ["sd", "sdxl", "flux"])
def test_a_picture_is_drawn_from_a_prompt(
    weights: Weights, render: Callable[..., Asset], name: str
) -> None:
    made = engine(weights, name)
    seen: list[float] = []

    first = render(made, progress=Progress(seen.append))
    again, other = render(made), render(made, seed=6)

    assert (first.width, first.height, first.content_type) == (64, 64, "image/png")
    assert first.path.read_bytes() == again.path.read_bytes()
    assert first.path.read_bytes() != other.path.read_bytes()
    assert np.asarray(Image.open(first.path)).std() > 1
    assert first.thumbnail
    assert first.thumbnail.stat().st_size > 0
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("name", ["sd", "flux"])
def test_the_same_weights_change_a_picture_and_fill_a_mask(
    weights: Weights, render: Callable[..., Asset], name: str, photo: Path, mask: Path
) -> None:
    made = engine(weights, name)
    assert [(p.name, p.required) for p in made.definition.media] == [
        ("image", False),
        ("mask_image", False),
    ]

    plain = render(made)
    changed = render(made, media={"image": [photo]}, strength=0.6, num_inference_steps=4)
    filled = render(made, media={"image": [photo], "mask_image": [mask]}, strength=1)

    results = {asset.path.read_bytes() for asset in (plain, changed, filled)}
    assert len(results) == 3
    (held,) = pipelines._held
    assert {id(p.vae) for p in held.pipelines.values()} == {id(held.pipeline("text").vae)}
    with pytest.raises(EngineError, match="mask needs the image"):
        render(made, media={"mask_image": [mask]})
    with pytest.raises(EngineError, match="leaves none of 2 steps"):
        render(made, media={"image": [photo]}, strength=0.1)


def test_an_inpainting_model_needs_a_picture_and_a_mask(
    weights: Weights, render: Callable[..., Asset], photo: Path, mask: Path
) -> None:
    made = engine(weights, "sd-inpaint")

    assert made.definition.category == "Editing"
    assert [(p.name, p.required) for p in made.definition.media] == [
        ("image", True),
        ("mask_image", True),
    ]
    assert render(made, media={"image": [photo], "mask_image": [mask]}).width == 64


@pytest.mark.parametrize(("name", "rate"), [("wan", 16), ("ltx", 25)])
def test_a_clip_is_drawn_from_a_prompt(
    weights: Weights, render: Callable[..., Asset], name: str, rate: int
) -> None:
    made = engine(weights, name)

    first, again = render(made), render(made)

    assert made.definition.category == "Video Generation"
    assert made.definition.media == ()
    assert (first.width, first.height, first.content_type) == (64, 64, "video/mp4")
    assert first.duration_seconds == round(5 / rate, 3)
    assert first.path.read_bytes() == again.path.read_bytes()
    assert first.thumbnail


def test_a_clip_begins_with_a_picture(
    weights: Weights, render: Callable[..., Asset], photo: Path
) -> None:
    made = engine(weights, "wan-i2v")

    assert [(p.name, p.required) for p in made.definition.media] == [
        ("image", True),
        ("last_image", False),
    ]
    assert render(made, media={"image": [photo]}, width=95).width == 80  # a multiple of 16


def test_a_clip_is_changed(weights: Weights, render: Callable[..., Asset], tmp_path: Path) -> None:
    path = tmp_path / "clip.mp4"
    with Clip(path, 96, 64, fps=16) as clip:
        for number in range(8):
            clip.add(rgb_frame(np.full((64, 96, 3), number * 30, np.uint8)))
    made = engine(weights, "wan-v2v")

    assert [(p.name, p.type, p.required) for p in made.definition.media] == [
        ("video", "video", True)
    ]
    asset = render(made, media={"video": [path]}, strength=0.9)
    assert (asset.width, asset.height, asset.content_type) == (64, 64, "video/mp4")


def test_an_entry_shapes_the_form(weights: Weights) -> None:
    made = engine(
        weights,
        "sd",
        edit=False,
        defaults={"num_inference_steps": 4},
        limits={"width": [128, 512]},
        choices={"height": [128, 256]},
        hidden=["clip_skip", "guidance_rescale", "format"],
        price={"units": [{"parameter": "num_inference_steps", "credits": 0.01}]},
    )

    found = {p.name: p for p in made.definition.settings}
    assert made.definition.media == ()
    assert found.keys() == {
        "height",
        "width",
        "num_inference_steps",
        "guidance_scale",
        "negative_prompt",
        "seed",
    }
    assert found["num_inference_steps"].default == 4
    assert (found["width"].minimum, found["width"].maximum) == (128, 512)
    assert found["height"].enum == [128, 256]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"defaults": {"num_inference_step": 4}}, "did you mean 'num_inference_steps'"),
        ({"hidden": ["nothing"]}, "no such setting"),
        ({"required": ["video"]}, "takes no 'video'"),
        ({"always": {"max_length": 1}}, "no such argument"),
        ({"always": {"generator": 1}}, "no such argument"),
        ({"pipeline": "StableDiffusionPipelin"}, "did you mean 'StableDiffusionPipeline'"),
        ({"pipeline": "AudioLDMPipeline"}, "no pipeline|neither"),
        ({"pipeline": "WanAnimatePipeline"}, "'pose_video'"),
        ({"path": "/nowhere"}, "model_index.json"),
        ({"path": None, "hub_id": "nobody/nothing-at-all"}, "not in the local hub cache"),
        ({"device": "tpu"}, "'device'"),
        ({"price": {"units": [{"parameter": "prompt", "credits": 1}]}}, "'prompt'"),
    ],
)
def test_an_entry_that_makes_no_sense_is_refused(
    weights: Weights, change: dict[str, Any], sentence: str
) -> None:
    entry = {"id": "sd", "path": str(weights("sd")), "price": 0.1, **change}

    with pytest.raises(ConfigError, match=sentence):
        engines({k: v for k, v in entry.items() if v is not None}, Path(), False)


def test_a_pipeline_that_brings_code_is_refused(tmp_path: Path) -> None:
    index = {"_class_name": ["my_pipeline", "MyPipeline"]}
    (tmp_path / "model_index.json").write_text(json.dumps(index))

    with pytest.raises(ConfigError, match="never run"):
        engines({"id": "mine", "path": str(tmp_path), "price": 1}, Path(), False)


def test_weights_that_could_hold_code_are_not_read(
    weights: Weights, render: Callable[..., Asset], tmp_path: Path
) -> None:
    folder = tmp_path / "pickled"
    shutil.copytree(weights("sd"), folder)
    for file in folder.rglob("*.safetensors"):
        torch.save({}, file.with_suffix(".bin"))
        file.unlink()
    (made,) = engines({"id": "pickled", "path": str(folder), "price": 1}, Path(), False)

    with pytest.raises(EngineError, match="cannot be loaded") as caught:
        render(made)
    assert caught.value.code == "not_loadable"
    assert str(tmp_path) not in str(caught.value)


def test_weights_in_the_hub_cache_need_no_network(
    weights: Weights,
    render: Callable[..., Asset],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cached = tmp_path / "hub" / "models--someone--something"
    (cached / "refs").mkdir(parents=True)
    (cached / "refs" / "main").write_text("abc123")
    shutil.copytree(weights("sd"), cached / "snapshots" / "abc123")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    entry = {"id": "hub", "hub_id": "someone/something", "price": 1, "threads": 1}
    (made,) = engines(entry, Path(), False)

    assert render(made).width == 64


def test_weights_are_loaded_once_and_one_model_is_held(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    made = engine(weights, "wan")
    render(made)
    (held,) = pipelines._held
    render(made, seed=9)
    assert pipelines._held[0] is held

    render(engine(weights, "ltx"))
    assert [type(one.pipeline("text")).__name__ for one in pipelines._held] == ["LTXPipeline"]


def test_a_cancel_between_steps_ends_the_job_and_leaves_the_model_sound(
    weights: Weights, render: Callable[..., Asset]
) -> None:
    made = engine(weights, "wan")
    before = render(made)
    progress = Progress(lambda fraction: progress.cancel() if fraction > 0.05 else None)

    with pytest.raises(CanceledError):
        render(made, progress=progress, num_inference_steps=150)
    assert render(made).path.read_bytes() == before.path.read_bytes()


def test_a_cancel_is_heard_while_the_model_is_busy(
    weights: Weights, render: Callable[..., Asset], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine(weights, "wan")
    busy, release = threading.Event(), threading.Event()

    def slow(entry: Any) -> Any:
        busy.set()
        release.wait(20)
        raise EngineError("never heard")

    monkeypatch.setattr("kit.engines.diffusers.drawing.loaded", slow)
    progress = Progress(lambda _: progress.cancel() if busy.is_set() else None)

    with pytest.raises(CanceledError):
        render(made, progress=progress)
    release.set()


def test_what_a_pipeline_refuses_is_told(weights: Weights, render: Callable[..., Asset]) -> None:
    made = engine(weights, "sd", always={"callback_on_step_end_tensor_inputs": ["no_such"]})

    with pytest.raises(EngineError, match="refuses the job") as caught:
        render(made)
    assert caught.value.code == "bad_parameters"


def test_too_little_memory_is_told(
    weights: Weights, render: Callable[..., Asset], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = engine(weights, "sd")
    render(made)

    def full(*_: Any, **__: Any) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")

    monkeypatch.setattr(pipelines._held[0].pipeline("text").vae, "decode", full)
    with pytest.raises(EngineError, match="more memory") as caught:
        render(made)
    assert caught.value.code == "out_of_memory"


def test_memory_options_are_switched_on(weights: Weights, render: Callable[..., Asset]) -> None:
    made = engine(weights, "sd", vae_tiling=True, vae_slicing=True, attention_slicing=True)

    assert render(made).width == 64
    vae = pipelines._held[0].pipeline("text").vae
    assert vae.use_tiling
    assert vae.use_slicing


def test_half_precision_gives_a_picture(weights: Weights, render: Callable[..., Asset]) -> None:
    assert render(engine(weights, "sd", dtype="bfloat16")).width == 64
    assert str(pipelines._held[0].pipeline("text").unet.dtype) == "torch.bfloat16"


def test_listing_does_not_import_the_library(weights: Weights) -> None:
    entry = {"id": "sd", "path": str(weights("sd")), "price": 0.1}
    script = (
        "import sys; from pathlib import Path;"
        "from kit.engines.diffusers.engine import engines;"
        f"print(engines({entry!r}, Path(), False)[0].definition.id);"
        "print(sorted({'torch', 'diffusers', 'transformers', 'numpy'} & sys.modules.keys()))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert told.stdout.splitlines() == ["sd", "[]"], told.stderr
