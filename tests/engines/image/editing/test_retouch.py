from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.editing.picture.denoising import denoised, noise_of
from kit.engines.editing.picture.repairs import sharpened
from kit.engines.models.retouch import Retouch
from kit.errors import EngineError
from tests.engines.image.editing.pictures import ball, pixels_of, render, saved


def stripes(height: int = 150, width: int = 200) -> np.ndarray:
    columns = np.where(np.arange(width) % 20 < 10, 60, 190)
    return np.repeat(np.repeat(columns[None, :, None], height, 0), 3, 2).astype(np.uint8)


def masked(shape: tuple[int, ...], box: tuple[int, int, int, int]) -> np.ndarray:
    mask = np.zeros(shape[:2], np.uint8)
    x, y, width, height = box
    mask[y : y + height, x : x + width] = 255
    return mask


def erase(tmp_path: Path, pixels: np.ndarray, mask: np.ndarray, **values: object) -> np.ndarray:
    media = {"image": saved(pixels, tmp_path / "i.png"), "mask": saved(mask, tmp_path / "m.png")}
    return pixels_of(render(Retouch(), tmp_path / "out", media=media, operation="erase", **values))


def test_erasing_continues_the_pattern_around_the_hole(tmp_path: Path) -> None:
    whole = stripes()
    spoiled = whole.copy()
    cv2.circle(spoiled, (100, 75), 18, (255, 0, 0), -1)
    mask = masked(whole.shape, (78, 53, 44, 44))

    out = erase(tmp_path, spoiled, mask)

    off = np.abs(out.astype(int) - whole)[55:95, 80:120]
    assert (off.max(axis=2) < 40).mean() > 0.9
    assert np.array_equal(out[:30], whole[:30])


def test_erasing_takes_the_object_away(tmp_path: Path) -> None:
    pixels = ball(120, 90)

    out = erase(tmp_path, pixels, masked(pixels.shape, (35, 20, 50, 50)))

    assert out[45, 60, 0] < 110
    assert out[45, 60, 2] > 120


def shore(height: int = 160, width: int = 240) -> np.ndarray:
    """A bright sky that darkens to one side, over dark water; the shore is halfway down."""
    pixels = np.full((height, width, 3), (200, 210, 220), np.float32)
    pixels[height // 2 :] = (40, 70, 90)
    pixels -= np.linspace(0, 40, width)[None, :, None]
    noise = np.random.default_rng(5).normal(0, 2, pixels.shape)
    return np.rint(pixels + noise).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("box", [(90, 50, 60, 60), (0, 60, 60, 50), (60, 30, 90, 100)])
def test_a_horizon_goes_on_behind_what_is_erased(
    tmp_path: Path, box: tuple[int, int, int, int]
) -> None:
    whole = shore()
    spoiled = whole.copy()
    hole = masked(whole.shape, box)
    spoiled[hole > 0] = (250, 40, 30)

    out = erase(tmp_path, spoiled, hole)

    off = np.abs(out.astype(int) - whole).max(axis=2)[hole > 0]
    assert (off < 30).mean() > 0.95


def test_what_is_filled_in_takes_the_tone_of_where_it_lies(tmp_path: Path) -> None:
    whole = np.repeat(np.linspace(60, 190, 240)[None, :, None], 160, 0).repeat(3, 2)
    pixels = np.rint(whole).astype(np.uint8)

    out = erase(tmp_path, pixels, masked(pixels.shape, (90, 50, 60, 60)))

    steps = np.abs(np.diff(out[80, :, 0].astype(int)))
    assert steps.max() <= 6


def test_the_finest_texture_comes_back_in_a_large_picture(tmp_path: Path) -> None:
    noise = np.random.default_rng(6).normal(0, 20, (480, 640, 1))
    pixels = np.rint(120 + noise).clip(0, 255).astype(np.uint8).repeat(3, 2)
    hole = masked(pixels.shape, (240, 160, 160, 140))

    out = erase(tmp_path, pixels, hole)

    assert out[hole > 0].std() > 0.6 * pixels.std()


def test_erasing_twice_gives_equal_bytes(tmp_path: Path) -> None:
    pixels, mask = stripes(80, 100), masked((80, 100), (40, 30, 15, 15))

    assert np.array_equal(erase(tmp_path, pixels, mask), erase(tmp_path, pixels, mask))


def test_a_mask_of_the_same_shape_in_another_size_is_scaled(tmp_path: Path) -> None:
    pixels = ball(120, 90)
    large = masked((180, 240), (70, 40, 100, 100))

    assert erase(tmp_path, pixels, large)[45, 60, 0] < 110


@pytest.mark.parametrize(
    ("mask", "code"),
    [
        (np.zeros((150, 200), np.uint8), "mask_empty"),
        (np.full((150, 200), 255, np.uint8), "mask_full"),
        (masked((200, 200), (10, 10, 50, 50)), "mask_shape"),
    ],
)
def test_a_mask_that_cannot_be_meant_is_refused(
    tmp_path: Path, mask: np.ndarray, code: str
) -> None:
    with pytest.raises(EngineError) as caught:
        erase(tmp_path, stripes(), mask)

    assert caught.value.code == code


def test_erasing_without_a_mask_says_what_is_missing(tmp_path: Path) -> None:
    image = saved(ball(), tmp_path / "in.png")

    with pytest.raises(EngineError, match="'mask'") as caught:
        render(Retouch(), tmp_path / "out", media={"image": image}, operation="erase")

    assert caught.value.code == "medium_missing"


@pytest.mark.parametrize("edge", [(0, 0, 30, 30), (75, 50, 25, 25), (0, 20, 100, 15)])
def test_a_hole_may_touch_the_edge_of_the_picture(
    tmp_path: Path, edge: tuple[int, int, int, int]
) -> None:
    pixels = stripes(75, 100)

    out = erase(tmp_path, pixels, masked(pixels.shape, edge))

    assert out.shape == pixels.shape


@pytest.mark.parametrize("size", [(9, 9), (5, 40)])
def test_a_tiny_picture_is_filled_too(tmp_path: Path, size: tuple[int, int]) -> None:
    pixels = np.full((*size, 3), 80, np.uint8)
    mask = masked(size, (2, 2, 2, 2))
    pixels[mask > 0] = 255

    assert erase(tmp_path, pixels, mask).max() < 120


def test_no_product_of_denoising_is_large_enough_for_several_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    widths, product = [], np.matmul

    def watched(one: np.ndarray, other: np.ndarray, **asked: np.ndarray) -> np.ndarray:
        widths.append(other.shape[-1])
        return product(one, other, **asked)

    monkeypatch.setattr(np, "matmul", watched)
    pixels = ball(501, 83)

    assert denoised(pixels, noise_of(pixels), 0.5).shape == pixels.shape
    assert set(widths) == {64}


def test_denoising_takes_out_noise_and_leaves_edges(tmp_path: Path) -> None:
    clean = stripes(100, 120)
    noisy = clean + np.random.default_rng(1).normal(0, 10, clean.shape)
    image = saved(noisy.clip(0, 255).astype(np.uint8), tmp_path / "in.png")

    asset = render(
        Retouch(), tmp_path / "out", media={"image": image}, operation="denoise", strength=0.8
    )

    assert (
        np.abs(pixels_of(asset) - clean.astype(float)).mean() < 0.5 * np.abs(noisy - clean).mean()
    )


def speckled(clean: np.ndarray, strong: float) -> np.ndarray:
    noise = np.random.default_rng(2).normal(0, strong, clean.shape)
    return np.rint(clean + noise).clip(0, 255).astype(np.uint8)


@pytest.mark.parametrize("strong", [5, 12, 25])
def test_noise_is_taken_out_as_strong_as_it_is(strong: int) -> None:
    clean = cv2.GaussianBlur(ball(), (0, 0), 1)
    noisy = speckled(clean, strong)

    out = denoised(noisy, noise_of(noisy), 0.5)

    assert np.std(out - clean.astype(float)) < 0.4 * np.std(noisy - clean.astype(float))


def test_a_saturated_color_is_left_without_specks() -> None:
    clean = np.full((96, 128, 3), 120, np.uint8)
    clean[24:72, 30:100] = (214, 30, 20)
    noisy = speckled(clean, 14)

    out = denoised(noisy, noise_of(noisy), 0.5)

    assert np.abs(out.astype(int) - clean)[30:66, 36:94].max() < 20


def test_fine_stripes_survive_denoising() -> None:
    clean = np.full((96, 128, 3), 120, np.uint8)
    clean[:, 64::4] = 60
    noisy = speckled(clean, 8)

    out = denoised(noisy, noise_of(noisy), 0.5).astype(float)

    assert out[:, 70:120].std() > 0.9 * clean[:, 70:120].std()


def test_a_picture_without_noise_is_hardly_changed() -> None:
    assert np.abs(denoised(stripes(), noise_of(stripes()), 0.5).astype(int) - stripes()).max() <= 1


def test_bands_of_a_denoised_picture_meet_without_a_seam(tmp_path: Path) -> None:
    pixels = speckled(ball(60, 400), 10)
    image = saved(pixels, tmp_path / "in.png")

    asset = render(Retouch(), tmp_path / "out", media={"image": image}, operation="denoise")

    whole = denoised(pixels, noise_of(pixels), 0.5)
    assert np.abs(pixels_of(asset).astype(int) - whole)[80:320].max() <= 1


def test_sharpening_steepens_an_edge_without_halos() -> None:
    pixels = np.full((40, 40, 3), 60, np.uint8)
    pixels[:, 20:] = 180
    soft = cv2.GaussianBlur(pixels, (0, 0), 1.5)

    crisp = sharpened(soft, 1.5, 1.0)

    steepest = np.abs(np.diff(crisp[20, :, 0].astype(int))).max()
    assert steepest > 1.25 * np.abs(np.diff(soft[20, :, 0].astype(int))).max()
    assert crisp.max() <= 180 + 16
    assert crisp.min() >= 60 - 16


@pytest.mark.parametrize("operation", ["denoise", "sharpen"])
def test_no_strength_changes_nothing(tmp_path: Path, operation: str) -> None:
    image = saved(ball(60, 40), tmp_path / "in.png")

    asset = render(
        Retouch(), tmp_path / "out", media={"image": image}, operation=operation, strength=0
    )

    assert np.array_equal(pixels_of(asset), ball(60, 40))


@pytest.mark.parametrize("operation", ["denoise", "upscale", "erase"])
def test_long_work_reports_and_can_be_stopped(tmp_path: Path, operation: str) -> None:
    media = {
        "image": saved(ball(200, 400), tmp_path / "i.png"),
        "mask": saved(masked((400, 200), (60, 60, 80, 90)), tmp_path / "m.png"),
    }
    seen: list[float] = []
    progress = Progress(lambda done: (seen.append(done), progress.cancel() if done > 0.3 else 0))

    with pytest.raises(CanceledError):
        render(Retouch(), tmp_path / "out", media=media, operation=operation, progress=progress)

    assert len(seen) >= 3
    assert seen[-1] < 0.9
