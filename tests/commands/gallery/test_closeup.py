import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from kit.commands.gallery.closeup import closeup
from kit.errors import EngineError


def saved(path: Path, pixels: np.ndarray) -> Path:
    Image.fromarray(pixels).save(path)
    return path


def scene(width: int = 300) -> np.ndarray:
    """A gray picture with red and green stripes in its right half."""
    pixels = np.full((width * 2 // 3, width, 3), 128, np.uint8)
    for step in range(6):
        left = width * 2 // 3 + step * width // 40
        color = (220, 30, 30) if step % 2 else (30, 200, 30)
        pixels[width // 4 : width // 2, left : left + width // 40] = color
    return pixels


def halves(content: bytes) -> tuple[np.ndarray, np.ndarray]:
    sheet = np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)
    middle = sheet.shape[1] // 2
    return sheet[:, : middle - 4], sheet[:, middle + 4 :]


def test_both_halves_show_what_stands_out(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.png", scene())

    before, after = halves(closeup(path, path))

    assert before.shape == after.shape
    assert (before == after).all()
    vivid = np.abs(before[..., 0] - before[..., 1]) > 100
    assert vivid.mean() > 0.3


def test_a_small_input_is_enlarged_and_softer_than_the_result(tmp_path: Path) -> None:
    small = Image.fromarray(scene()).resize((75, 50), Image.Resampling.BOX)

    before, after = halves(
        closeup(saved(tmp_path / "a.png", np.asarray(small)), saved(tmp_path / "b.png", scene()))
    )

    def sharpness(pixels: np.ndarray) -> float:
        return float(np.abs(np.diff(pixels[..., 0], axis=1)).max())

    assert sharpness(after) > 1.5 * sharpness(before)
    assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.8


@pytest.mark.parametrize("size", [(40, 400), (400, 40), (3, 3)])
def test_pictures_of_any_shape_have_a_part(size: tuple[int, int], tmp_path: Path) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (size[1], size[0], 3)).astype(np.uint8)
    path = saved(tmp_path / "a.png", pixels)

    before, after = halves(closeup(path, path))

    assert (before == after).all()


def test_what_is_no_picture_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"no picture")

    with pytest.raises(EngineError):
        closeup(path, path)
