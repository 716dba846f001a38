"""What is told of the picture that came in, and how large it may stay."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Engine
from kit.engines.editing.picture.finish import over
from kit.engines.models.background import Background
from kit.engines.models.reframe import Reframe
from kit.engines.models.restyle import Restyle
from kit.engines.models.retouch import Retouch
from kit.engines.sizes import MOST
from kit.errors import EngineError
from tests.engines.image.editing.pictures import ball, render, saved

LONG = 4500
#: Where the ball of such a picture is: so thin a one is hardly searched.
BALL = {"subject_x": 0.493, "subject_y": 0.25, "subject_width": 0.014, "subject_height": 0.5}


@pytest.mark.parametrize(
    ("engine", "values", "keeps"),
    [
        (Retouch(), {"operation": "sharpen"}, True),
        (Retouch(), {"operation": "denoise"}, True),
        (Restyle(), {"look": "warm"}, True),
        (Restyle(), {"look": "warm", "text": "Lake"}, False),
        (Background(), {"operation": "remove", **BALL}, False),
    ],
)
def test_the_true_size_is_told_and_kept_where_it_is_cheap(
    tmp_path: Path, engine: Engine, values: dict[str, Any], keeps: bool
) -> None:
    image = saved(ball(LONG, 120), tmp_path / "in.png")

    asset = render(engine, tmp_path / "out", media={"image": image}, **values)

    assert asset.metadata["from"] == [LONG, 120]
    assert asset.width == (LONG if keeps else MOST)


def test_a_large_picture_with_transparency_is_made_smaller(tmp_path: Path) -> None:
    clear = np.dstack([ball(LONG, 60), np.full((60, LONG), 120, np.uint8)])
    image = saved(clear, tmp_path / "in.png")

    asset = render(Retouch(), tmp_path / "out", media={"image": image}, operation="sharpen")

    assert (asset.width, asset.metadata["from"]) == (MOST, [LONG, 60])


def test_a_mask_of_another_shape_is_told_the_sizes_that_were_sent(tmp_path: Path) -> None:
    image = saved(ball(LONG, 120), tmp_path / "in.png")
    mask = saved(np.full((300, 5000), 255, np.uint8), tmp_path / "mask.png")

    with pytest.raises(EngineError, match=r"mask of 5000 x 300 .* picture of 4500 x 120"):
        render(Retouch(), tmp_path / "out", media={"image": image, "mask": mask}, operation="erase")


def test_it_is_told_that_the_first_picture_of_an_animation_is_used(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (80, 60), (gray, gray, gray)) for gray in (0, 120, 250)]
    path = tmp_path / "moving.gif"
    frames[0].save(path, save_all=True, append_images=frames[1:])

    asset = render(Reframe(), tmp_path / "out", media={"image": path}, size=256)

    assert asset.metadata["used"] == "the first of 3 pictures"
    assert "first picture" in Reframe.definition.media[0].description


def test_pictures_lie_on_each_other_the_same_in_every_band() -> None:
    rng = np.random.default_rng(1)
    below, above = rng.integers(0, 256, (2, 700, 9, 3), dtype=np.uint8)
    alpha = rng.integers(0, 256, (700, 9), dtype=np.uint8)

    share = alpha[..., None].astype(float) / 255
    expected = above * share + below * (1 - share)
    assert np.abs(over(below, above, alpha) - expected).max() <= 0.51
