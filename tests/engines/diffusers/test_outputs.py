"""The output of a pipeline becomes a file, or an error with the reason."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, Job, Progress
from kit.engines.diffusers.drawing import write
from kit.engines.diffusers.shape import PipelineShape
from kit.errors import EngineError


def write_asset(folder: Path, asset_type: Any = "image", **output: Any) -> Asset:
    shape = PipelineShape(
        pipeline="Plain",
        asset_type=asset_type,
        arguments=(),
        siblings={},
        multiple=16,
        stride=1,
        fps=10,
    )
    return write(
        SimpleNamespace(**output), shape, Job(prompt="", parameters={}, folder=folder), Progress()
    )


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_a_picture_with_any_number_of_channels_is_written(tmp_path: Path, channels: int) -> None:
    found = write_asset(tmp_path, images=np.full((1, 32, 48, channels), 0.5))

    with Image.open(found.path) as image:
        assert (image.size, image.mode) == ((48, 32), "RGB")
        assert image.getpixel((9, 9)) == (128, 128, 128)


@pytest.mark.parametrize("name", ["nsfw_content_detected", "nsfw_detected"])
def test_a_picture_that_the_safety_checker_finds_is_held_back(tmp_path: Path, name: str) -> None:
    with pytest.raises(EngineError, match="safety checker") as caught:
        write_asset(tmp_path, images=np.zeros((1, 8, 8, 3)), **{name: [True]})
    assert caught.value.code == "held_back"
    assert write_asset(tmp_path, images=np.zeros((1, 8, 8, 3)), **{name: [False]}).width == 8
    assert write_asset(tmp_path, images=np.zeros((1, 8, 8, 3)), **{name: None}).width == 8


@pytest.mark.parametrize(
    ("asset_type", "shape"), [("image", (1, 8, 8, 3)), ("video", (1, 2, 8, 8, 3))]
)
def test_overflowed_numbers_raise_an_error(
    tmp_path: Path, asset_type: str, shape: tuple[int, ...]
) -> None:
    name = "images" if asset_type == "image" else "frames"

    with pytest.raises(EngineError, match="overflowed") as caught:
        write_asset(tmp_path, asset_type, **{name: np.full(shape, np.nan)})
    assert "dtype" in caught.value.detail


@pytest.mark.parametrize(
    "output",
    [
        {"prediction": np.zeros((1, 8, 8, 3))},
        {"images": []},
        {"images": None},
        {"images": [[np.zeros((8, 8, 3))] * 4]},
        {"images": ["words"]},
        {"images": np.zeros((1, 8, 8, 7))},
    ],
)
def test_an_output_that_is_not_a_picture_is_refused(tmp_path: Path, output: dict[str, Any]) -> None:
    with pytest.raises(EngineError, match="the model returned no picture") as caught:
        write_asset(tmp_path, **output)
    assert caught.value.code == "engine_failed"
