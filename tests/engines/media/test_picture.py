import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.engines.media import picture


def pixels(height: int = 60, width: int = 90) -> np.ndarray:
    ramp = np.linspace(0, 255, width, dtype=np.uint8)
    return np.ascontiguousarray(np.broadcast_to(ramp[None, :, None], (height, width, 3)))


@pytest.mark.parametrize("kind", picture.FORMATS)
def test_every_format_gives_the_same_bytes_for_the_same_pixels(kind: str) -> None:
    content = picture.encoded(pixels(), kind)

    assert content == picture.encoded(pixels(), kind)
    with Image.open(io.BytesIO(content)) as found:
        assert (found.format or "").lower() == kind
        assert found.size == (90, 60)


@pytest.mark.parametrize("fine", [True, False])
@pytest.mark.parametrize("kind", picture.FORMATS)
def test_every_format_keeps_its_colors(kind: str, fine: bool) -> None:
    orange = np.full((40, 50, 3), (250, 130, 10), np.uint8)

    with Image.open(io.BytesIO(picture.encoded(orange, kind, fine_color=fine))) as found:
        assert found.convert("RGB").getpixel((25, 20)) == pytest.approx((250, 130, 10), abs=5)


def test_png_keeps_every_pixel(tmp_path: Path) -> None:
    path, content_type = picture.write(pixels(), tmp_path, "gray", "png")

    assert content_type == "image/png"
    with Image.open(path) as found:
        assert np.array_equal(np.asarray(found), pixels())


def test_a_large_png_tells_how_far_it_is_and_can_be_given_up() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (400, 400, 3), np.uint8)
    told: list[float] = []

    content = picture.encoded(noise, "png", told=told.append)

    assert content == picture.encoded(noise, "png")
    assert told == sorted(told)
    assert len(told) >= 8
    assert 0.8 < told[-1] <= 1.0

    def stopped(done: float) -> None:
        if done > 0.3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        picture.encoded(noise, "png", told=stopped)


def test_lower_quality_makes_a_smaller_file() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (80, 80, 3), np.uint8)

    assert len(picture.encoded(noise, "jpeg", quality=20)) < len(picture.encoded(noise, "jpeg"))


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


def test_a_jpeg_of_coarser_color_is_smaller_and_as_light() -> None:
    noise = np.random.default_rng(1).integers(0, 255, (80, 80, 3), np.uint8)
    fine, coarse = (picture.encoded(noise, "jpeg", fine_color=fine) for fine in (True, False))

    assert len(coarse) < 0.9 * len(fine)
    light = [
        np.asarray(Image.open(io.BytesIO(file)).convert("L"), float) for file in (fine, coarse)
    ]
    assert np.abs(light[0] - light[1]).mean() < 12
