"""Retouching: erasing with masks of any kind, denoising, sharpening and upscaling."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines.base import Order
from kit.engines.registry import engine_for
from kit.errors import EngineError
from kit.pricing import price
from tests.engines.drawings import ball
from tests.engines.rendering import edit, parameters_of, pixels_of, save


def stripes(height: int = 150, width: int = 200) -> np.ndarray:
    columns = np.where(np.arange(width) % 20 < 10, 60, 190)
    return np.repeat(np.repeat(columns[None, :, None], height, 0), 3, 2).astype(np.uint8)


def make_mask(shape: tuple[int, ...], box: tuple[int, int, int, int]) -> np.ndarray:
    mask = np.zeros(shape[:2], np.uint8)
    x, y, width, height = box
    mask[y : y + height, x : x + width] = 255
    return mask


def erase(folder: Path, pixels: np.ndarray, mask: np.ndarray, **values: object) -> np.ndarray:
    how = {"operation": "erase", "others": {"mask": mask}, **values}
    return pixels_of(edit("retouch", folder, pixels, **how))  # type: ignore[arg-type]


@pytest.mark.parametrize("box", [(98, 58, 44, 44), (0, 60, 60, 50), (200, 120, 40, 40)])
def test_an_erased_area_continues_its_surroundings(
    tmp_path: Path, box: tuple[int, int, int, int]
) -> None:
    whole = stripes(160, 240)
    hole = make_mask(whole.shape, box)
    spoiled = whole.copy()
    spoiled[hole > 0] = (250, 40, 30)

    out = erase(tmp_path, spoiled, hole)

    off = np.abs(out - whole).max(axis=2)
    assert (off[hole > 0] < 40).mean() > 0.9
    away = cv2.dilate(hole, np.ones((15, 15), np.uint8)) == 0
    assert np.array_equal(out[away], whole[away])


def test_a_poor_fill_of_an_erased_area_is_noted(tmp_path: Path) -> None:
    plain = np.full((160, 200, 3), (120, 160, 200), np.uint8)
    torn = plain.copy()
    # Bars of different colors that end in the hole.
    for n, color in enumerate([(200, 30, 30), (20, 20, 20), (250, 240, 60), (30, 120, 40)]):
        torn[: 70 + 10 * n, 45 + 30 * n : 62 + 30 * n] = color
        torn[80 + 5 * n :, 52 + 25 * n : 66 + 25 * n] = color[::-1]
    hole = make_mask(plain.shape, (50, 40, 100, 80))

    facts = [
        edit("retouch", tmp_path, pixels, operation="erase", others={"mask": hole}).metadata
        for pixels in (plain, torn)
    ]

    assert facts[0]["fit"] > 0.9 > 0.35 > facts[1]["fit"]
    assert "note" not in facts[0]
    assert "may be visible" in facts[1]["note"]


@pytest.mark.parametrize("size", [(9, 9), (5, 40)])
def test_a_tiny_picture_is_filled(tmp_path: Path, size: tuple[int, int]) -> None:
    pixels = np.full((*size, 3), 80, np.uint8)
    mask = make_mask(size, (2, 2, 2, 2))
    pixels[mask > 0] = 255

    assert erase(tmp_path, pixels, mask).max() < 120


_MARK = make_mask((180, 240), (70, 40, 100, 100))
_NONE = np.zeros_like(_MARK)
#: Masks as people draw them: each marks the ball.
MASKS = {
    "white": _MARK,
    "red": np.dstack([_MARK, _NONE, _NONE]),
    "white on nothing": np.dstack([_NONE + 255] * 3 + [_MARK]),
    "light gray": _MARK // 4 * 3,
    "half as large": _MARK[::2, ::2],
}
#: Masks that mark nothing or everything, with their error code and message.
REFUSED = {
    "nothing": (_NONE, "mask_empty", "covers 0%"),
    "all": (_NONE + 255, "mask_full", "covers 100%"),
    "black for white": (255 - _MARK // 4 * 3, "mask_full", "invert the mask"),
    "a hole": (np.dstack([_NONE + 90] * 3 + [255 - _MARK]), "", "transparent parts count as black"),
    "another shape": (_MARK[:, :100], "mask_shape", "another shape"),
}


@pytest.mark.parametrize("mask", MASKS)
def test_masks_of_any_kind_are_accepted(tmp_path: Path, mask: str) -> None:
    assert erase(tmp_path, ball(), MASKS[mask])[90, 120, 0] < 110


@pytest.mark.parametrize(
    ("model", "mask"),
    [*(("retouch", m) for m in REFUSED), *(("background", m) for m in REFUSED if "white" not in m)],
)
def test_a_wrong_mask_is_refused_with_a_reason(tmp_path: Path, model: str, mask: str) -> None:
    pixels, code, sentence = REFUSED[mask]
    values = {"operation": "erase"} if model == "retouch" else {}

    with pytest.raises(EngineError, match=sentence) as caught:
        edit(model, tmp_path, ball(), others={"mask": pixels}, **values)

    assert code in caught.value.code


@pytest.mark.parametrize("operation", ["denoise", "sharpen"])
def test_zero_strength_changes_nothing_and_a_clean_picture_hardly_changes(
    tmp_path: Path, operation: str
) -> None:
    how = {"operation": operation}

    none = pixels_of(edit("retouch", tmp_path, ball(), strength=0, **how))
    clean = pixels_of(edit("retouch", tmp_path, stripes(), **how)) if operation == "denoise" else 0

    assert np.array_equal(none, ball())
    assert np.abs(clean - stripes()).max() <= 1 or operation == "sharpen"


def test_a_result_that_is_too_large_is_refused_before_the_picture_is_decoded(
    tmp_path: Path,
) -> None:
    image = save(np.zeros((1500, 1800, 3)), tmp_path / "in.png")
    image.write_bytes(image.read_bytes()[:100])
    clear = np.zeros((1260, 1260, 4), np.uint8)

    with pytest.raises(EngineError, match="1800 x 1500") as caught:
        edit("retouch", tmp_path, image, scale=4)
    with pytest.raises(EngineError, match=r"24 megapixels .* or png"):
        edit("retouch", tmp_path, clear, scale=4, format="webp")

    assert caught.value.code == "too_large"


def test_a_larger_scale_costs_more_and_is_only_for_upscaling() -> None:
    engine = engine_for("retouch")
    twice, four = (
        price(engine.definition.pricing, parameters_of(engine, scale=scale)).total
        for scale in (2, 4)
    )
    orders = {
        name: Order(prompt="", parameters=parameters_of(engine, operation=name, scale=4))
        for name in ("upscale", "denoise")
    }

    assert four > twice
    assert not list(engine.check(orders["upscale"]))
    assert [name for name, _ in engine.check(orders["denoise"])] == ["scale"]
