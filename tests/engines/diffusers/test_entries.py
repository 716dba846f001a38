"""What an entry changes of a model, and invalid entries."""

from pathlib import Path
from typing import Any

import pytest

from kit.engines.diffusers.engine import diffusers as engines
from kit.errors import ConfigError

pytest.importorskip("torch")
pytest.importorskip("diffusers")
pytest.importorskip("transformers")

from tests.engines.diffusers.tiny_engines import Weights, engine

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries warn about each other


def test_an_entry_sets_defaults_limits_choices_and_hidden_settings(weights: Weights) -> None:
    pipeline = engine(
        weights,
        "sd",
        edit=False,
        defaults={"num_inference_steps": 4},
        limits={"width": [128, 512]},
        choices={"height": [128, 256]},
        hidden=["clip_skip", "guidance_rescale", "format"],
        price={"units": [{"parameter": "num_inference_steps", "credits": 0.01}]},
    )

    found = {p.name: p for p in pipeline.definition.settings}
    assert pipeline.definition.media == ()
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
def test_an_invalid_entry_is_refused(
    weights: Weights, change: dict[str, Any], sentence: str
) -> None:
    entry = {"id": "sd", "path": str(weights("sd")), "price": 0.1, **change}

    with pytest.raises(ConfigError, match=sentence):
        engines({k: v for k, v in entry.items() if v is not None}, Path(), False)
