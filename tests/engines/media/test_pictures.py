"""Reading pictures as upright pixels, and writing pixels as files and previews."""

import io
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms

from kit.engines.base import CanceledError, Job, Progress
from kit.engines.media import picture
from kit.engines.media.inspection import MAX_PIXELS
from kit.engines.media.picture import write_still
from kit.engines.media.stills import PictureInfo, info_of, open_still
from kit.errors import EngineError

RED = (200, 40, 30)


def save(path: Path, image: Image.Image, kind: str = "PNG", **options: Any) -> Path:
    image.save(path, kind, **options)
    return path


def corner(width: int = 40, height: int = 20) -> Image.Image:
    """Return a red picture whose upper left quarter is white."""
    image = Image.new("RGB", (width, height), RED)
    image.paste((255, 255, 255), (0, 0, width // 2, height // 2))
    return image


@pytest.mark.parametrize("tag", range(1, 9))
def test_a_picture_that_a_phone_took_sideways_is_upright(tmp_path: Path, tag: int) -> None:
    turns = {
        1: [], 2: [0], 3: [3], 4: [1], 5: [5], 6: [2], 7: [6], 8: [4],
    }  # fmt: skip
    image = corner()
    for turn in turns[tag]:
        # The camera stores the picture rotated the other way.
        image = image.transpose(Image.Transpose(turn))
    exif = Image.Exif()
    exif[0x0112] = tag

    still = open_still(save(tmp_path / "a", image, "JPEG", exif=exif, quality=95))

    assert still.pixels.shape == (20, 40, 3)
    assert still.pixels[4, 8].min() > 240
    assert np.abs(still.pixels[15, 30].astype(int) - RED).max() < 12


@pytest.mark.parametrize("times", [1, 2, 4, 8])
def test_a_jpeg_has_the_same_pixels_as_with_pillow(tmp_path: Path, times: int) -> None:
    ramp = np.add.outer(np.arange(333), np.arange(555))[..., None] * [1, 2, 3] % 256
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    path = save(tmp_path / "a", Image.fromarray(ramp.astype(np.uint8)), "JPEG", icc_profile=profile)

    still = open_still(path, cover=(555 // times, 333 // times))

    with Image.open(path) as image:
        image.draft(None, (555 // times, 333 // times))
        found = np.asarray(image).astype(int)
    assert still.pixels.shape == found.shape
    assert np.abs(still.pixels - found).max() <= 2


def test_a_truncated_jpeg_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path / "a", corner(400, 200), "JPEG")
    path.write_bytes(path.read_bytes()[:-200])

    with pytest.raises(EngineError, match="cut off or damaged"):
        open_still(path)


def gray_profile(power: float) -> bytes:
    """Return a color profile of gray by a power curve. Source: ICC.1:2001-04, 6."""
    kind = (0x2400000, b"mntr", b"GRAY", b"XYZ ", b"acsp", 63190, 65536, 54061)
    head = struct.pack(">I4xI4s4s4s12x4s28x3i48x", 160, *kind)
    tags = struct.pack(">I4sII4s4xIH2x", 1, b"kTRC", 144, 14, b"curv", 1, round(256 * power))
    return head + tags


@pytest.mark.parametrize(("mode", "gray"), [("L", 128), ("LA", (128, 90)), ("I;16", 128 * 257)])
def test_gray_of_every_mode_is_converted_by_its_profile(
    tmp_path: Path, mode: str, gray: Any
) -> None:
    image = Image.new(mode, (8, 8), gray)

    still = open_still(save(tmp_path / "a", image, icc_profile=gray_profile(1.0)))

    assert np.abs(still.pixels.astype(int) - 188).max() <= 1


@pytest.mark.parametrize("kind", ["PNG", "WEBP"])
def test_alpha_is_separate_from_the_colors(tmp_path: Path, kind: str) -> None:
    image = corner().convert("RGBA")
    image.putalpha(Image.linear_gradient("L").resize((40, 20)))

    still = open_still(
        save(tmp_path / "a", image, kind, **({"lossless": True} if kind == "WEBP" else {}))
    )

    assert still.alpha is not None
    assert still.alpha[0].max() < still.alpha[-1].min()
    assert still.pixels[15, 30].tolist() == list(RED)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_large_picture_is_scaled_down_and_a_small_one_is_kept(tmp_path: Path, kind: str) -> None:
    path = save(tmp_path / "a", corner(400, 100), kind)

    small = open_still(path, side=50).pixels
    assert small.shape == (13, 50, 3) or small.shape == (12, 50, 3)
    assert np.abs(small[10, 40].astype(int) - RED).max() < 12
    assert open_still(path, side=5000).pixels.shape == (100, 400, 3)


def test_hidden_colors_do_not_bleed_into_the_edge_when_scaled(tmp_path: Path) -> None:
    pixels = np.zeros((90, 90, 4), np.uint8)
    pixels[:, :44] = (*RED, 255)
    pixels[:, 44:] = (0, 255, 0, 0)

    still = open_still(save(tmp_path / "a", Image.fromarray(pixels)), side=30)

    assert still.alpha is not None
    seen = still.pixels[still.alpha > 60].astype(int)
    assert np.abs(seen - RED).max() <= 2


@pytest.mark.parametrize("side", [7100, 20_000])
def test_too_many_pixels_are_refused_before_they_are_decoded(tmp_path: Path, side: int) -> None:
    assert side**2 > MAX_PIXELS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        save(tmp_path / "a", Image.new("1", (side, side)))

    with pytest.raises(EngineError, match="megapixels") as caught:
        open_still(tmp_path / "a")
    assert caught.value.code == "too_large"
    with pytest.raises(EngineError, match="megapixels"):
        info_of(tmp_path / "a")


def test_picture_info_has_the_upright_size_and_the_number_of_frames(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (30, 20)).save(tmp_path / "turned.jpg", exif=exif)
    frames = [Image.new("L", (9, 5), gray) for gray in (0, 120, 250)]
    frames[0].save(tmp_path / "moving.gif", save_all=True, append_images=frames[1:])

    assert info_of(tmp_path / "turned.jpg") == PictureInfo(20, 30, coarse=True)
    assert open_still(tmp_path / "turned.jpg").pixels.shape == (30, 20, 3)
    assert info_of(tmp_path / "moving.gif") == PictureInfo(9, 5, 3)


@pytest.mark.parametrize("behind", [False, True])
def test_the_upright_size_of_a_png_is_read_without_decoding(tmp_path: Path, behind: bool) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    path = save(tmp_path / "a", corner(), exif=exif)
    content = path.read_bytes()
    at = content.index(b"eXIf") - 4
    length = 12 + int.from_bytes(content[at : at + 4], "big")
    rest = content[:at] + content[at + length :]
    end = rest.index(b"IEND") - 4
    if behind:
        path.write_bytes(rest[:end] + content[at : at + length] + rest[end:])
    else:
        # Cut in the pixels: decoding would fail.
        path.write_bytes(content[: content.index(b"IDAT") + 6])

    assert info_of(path) == PictureInfo(20, 40)


def pixels(height: int = 60, width: int = 90) -> np.ndarray:
    ramp = np.linspace(0, 255, width, dtype=np.uint8)
    return np.ascontiguousarray(np.broadcast_to(ramp[None, :, None], (height, width, 3)))


@pytest.mark.parametrize("fine", [True, False])
@pytest.mark.parametrize("kind", picture.FORMATS)
def test_every_format_keeps_its_colors(kind: str, fine: bool) -> None:
    orange = np.full((40, 50, 3), (250, 130, 10), np.uint8)

    with Image.open(io.BytesIO(picture.encode(orange, kind, fine_color=fine))) as found:
        assert found.convert("RGB").getpixel((25, 20)) == pytest.approx((250, 130, 10), abs=5)


@pytest.mark.parametrize(
    ("size", "expected"),
    [((1000, 700), (512, 358)), ((300, 200), (300, 200)), ((40, 2000), (10, 512))],
)
def test_a_thumbnail_has_at_most_512_pixels_a_side(
    tmp_path: Path, size: tuple[int, int], expected: tuple[int, int]
) -> None:
    path = picture.write_thumbnail(pixels(size[1], size[0]), tmp_path)

    with Image.open(path) as found:
        assert (found.format, found.size) == ("JPEG", expected)


def job(folder: Path, **values: object) -> Job:
    return Job(prompt="", parameters=values, folder=folder)


def test_a_cancel_during_encoding_leaves_no_file(tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (900, 900, 3), np.uint8)
    progress = Progress(lambda _: progress.cancel())

    with pytest.raises(CanceledError):
        write_still(pixels, job(tmp_path), "a", progress, facts={})
    assert list(tmp_path.iterdir()) == []


def test_transparent_parts_become_white(tmp_path: Path) -> None:
    pixels = np.zeros((4, 6, 4), np.uint8)
    pixels[..., 0] = 200
    pixels[:, :2, 3] = 255
    pixels[:, 2:4, 3] = 128
    path = tmp_path / "a"
    Image.fromarray(pixels).save(path, "PNG")

    seen = open_still(path).flatten()
    assert seen.shape == (4, 6, 3)
    assert seen[0, 0].tolist() == [200, 0, 0]
    assert seen[0, 2].tolist() == [227, 127, 127]
    assert seen[0, 5].tolist() == [255, 255, 255]
