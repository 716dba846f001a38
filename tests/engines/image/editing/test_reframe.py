from pathlib import Path

import numpy as np
import pytest

from kit.engines.models.reframe import Reframe
from kit.engines.sizes import ASPECTS, longest_side
from tests.engines.image.editing.pictures import ball, pixels_of, render, saved

MODES = ("smart_crop", "blurred_fill", "stretch_edges")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("aspect", ASPECTS)
def test_every_mode_gives_every_shape(tmp_path: Path, mode: str, aspect: str) -> None:
    image = saved(ball(90, 70), tmp_path / "in.png")

    asset = render(
        Reframe(),
        tmp_path / "out",
        media={"image": image},
        mode=mode,
        aspect_ratio=aspect,
        size=256,
    )

    assert (asset.width, asset.height) == longest_side(aspect, 256)
    assert pixels_of(asset).shape == (asset.height, asset.width, 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(1, 1), (3, 400), (400, 2)])
def test_the_strangest_pictures_can_be_reframed(
    tmp_path: Path, mode: str, size: tuple[int, int]
) -> None:
    image = saved(np.full((*size, 3), 99, np.uint8), tmp_path / "in.png")

    asset = render(Reframe(), tmp_path / "out", media={"image": image}, mode=mode, size=256)

    middle = pixels_of(asset)[(asset.height - 1) // 2, (asset.width - 1) // 2]
    assert np.abs(middle.astype(int) - 99).max() < 6


def test_a_blurred_fill_keeps_the_whole_picture_in_the_middle(tmp_path: Path) -> None:
    pixels = ball(256, 144)
    image = saved(pixels, tmp_path / "in.png")

    asset = render(
        Reframe(),
        tmp_path / "out",
        media={"image": image},
        mode="blurred_fill",
        aspect_ratio="1:1",
        size=256,
    )

    out = pixels_of(asset)
    assert np.array_equal(out[56:200], pixels)
    assert out[:50].mean() < pixels.mean()


def test_stretched_edges_leave_the_middle_in_proportion(tmp_path: Path) -> None:
    pixels = np.full((256, 256, 3), 40, np.uint8)
    pixels[118:138, 118:138] = 230
    image = saved(pixels, tmp_path / "in.png")

    asset = render(
        Reframe(),
        tmp_path / "out",
        media={"image": image},
        mode="stretch_edges",
        aspect_ratio="16:9",
        size=455,
    )

    rows, columns = np.nonzero(pixels_of(asset)[..., 0] > 135)
    assert abs(np.ptp(columns) - np.ptp(rows)) <= 3
    assert abs(columns.mean() - asset.width / 2) < 2


def test_a_turned_photo_is_reframed_upright(tmp_path: Path) -> None:
    from PIL import Image

    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = np.zeros((60, 100, 3), np.uint8)
    pixels[:, :50] = 255
    image = saved(pixels, tmp_path / "in.jpg", exif=exif)

    asset = render(
        Reframe(), tmp_path / "out", media={"image": image}, aspect_ratio="2:3", size=300
    )

    out = pixels_of(asset)
    assert out[20].mean() > 200
    assert out[-20].mean() < 50


@pytest.mark.parametrize("mode", ["smart_crop", "stretch_edges"])
def test_transparency_is_kept(tmp_path: Path, mode: str) -> None:
    pixels = ball(120, 90)
    alpha = np.full((90, 120), 255, np.uint8)
    alpha[:45] = 0
    image = saved(np.dstack([pixels, alpha]), tmp_path / "in.png")

    asset = render(
        Reframe(), tmp_path / "out", media={"image": image}, mode=mode, aspect_ratio="1:1", size=256
    )

    out = pixels_of(asset)
    assert out.shape == (256, 256, 4)
    assert out[:100, :, 3].max() == 0
    assert out[160:, :, 3].min() == 255


def test_a_blurred_fill_covers_everything(tmp_path: Path) -> None:
    image = saved(np.dstack([ball(60, 40), np.zeros((40, 60), np.uint8)]), tmp_path / "in.png")

    asset = render(
        Reframe(), tmp_path / "out", media={"image": image}, mode="blurred_fill", size=256
    )

    assert pixels_of(asset).shape[2] == 3
