from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines.editing.picture.repairs import enlarged
from kit.engines.models.retouch import Retouch
from kit.errors import EngineError
from tests.engines.image.editing.pictures import ball, pixels_of, render, saved


@pytest.mark.parametrize("scale", [2, 4])
def test_an_enlarged_picture_shrinks_back_to_what_it_was(scale: int) -> None:
    pixels = cv2.GaussianBlur(ball(), (0, 0), 1)
    large = enlarged(pixels, scale, 0.5)

    height, width = pixels.shape[:2]
    back = cv2.resize(large, (width, height), interpolation=cv2.INTER_AREA)
    assert large.shape == (scale * height, scale * width, 3)
    assert np.abs(back.astype(int) - pixels).mean() < 1.0


def test_bands_of_an_enlarged_picture_meet_without_a_seam(tmp_path: Path) -> None:
    pixels = ball(60, 400)
    image = saved(pixels, tmp_path / "in.png")

    asset = render(Retouch(), tmp_path / "out", media={"image": image}, operation="upscale")

    whole = enlarged(pixels, 2, 0.5)
    assert np.abs(pixels_of(asset).astype(int) - whole).max() <= 1


def test_upscaling_keeps_transparency(tmp_path: Path) -> None:
    pixels = np.dstack([ball(40, 30), np.full((30, 40), 255, np.uint8)])
    pixels[:, :20, 3] = 0
    image = saved(pixels, tmp_path / "in.png")

    out = pixels_of(render(Retouch(), tmp_path / "out", media={"image": image}, scale=4))

    assert out.shape == (120, 160, 4)
    assert out[60, 10, 3] == 0
    assert out[60, 150, 3] == 255


def test_a_result_of_more_than_40_megapixels_is_refused(tmp_path: Path) -> None:
    image = saved(np.zeros((1500, 1800, 3), np.uint8), tmp_path / "in.png")

    with pytest.raises(EngineError, match="1800 x 1500") as caught:
        render(Retouch(), tmp_path / "out", media={"image": image}, scale=4)

    assert caught.value.code == "too_large"


def test_a_result_that_is_too_large_is_told_before_the_picture_is_decoded(tmp_path: Path) -> None:
    image = saved(np.zeros((1500, 1800, 3), np.uint8), tmp_path / "in.png")
    image.write_bytes(image.read_bytes()[:100])

    with pytest.raises(EngineError) as caught:
        render(Retouch(), tmp_path / "out", media={"image": image}, scale=4)

    assert caught.value.code == "too_large"


def test_a_large_webp_with_transparency_is_refused(tmp_path: Path) -> None:
    pixels = np.zeros((1260, 1260, 4), np.uint8)
    image = saved(pixels, tmp_path / "in.png")

    with pytest.raises(EngineError, match=r"24 megapixels .* or png") as caught:
        render(Retouch(), tmp_path / "out", media={"image": image}, scale=4, format="webp")

    assert caught.value.code == "too_large"
