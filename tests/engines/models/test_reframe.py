"""Another shape for a picture: what is kept, and where."""

from pathlib import Path

import numpy as np
import pytest

from tests.engines.drawn import ball, face
from tests.engines.rendering import edit, frames_of, pixels_of, render, saved

MODES = ("smart_crop", "blurred_fill", "stretch_edges")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [(1, 1), (3, 400), (400, 2)])
def test_the_strangest_pictures_can_be_reframed(
    tmp_path: Path, mode: str, size: tuple[int, int]
) -> None:
    out = pixels_of(edit("reframe", tmp_path, np.full((*size, 3), 99, np.uint8), mode=mode))

    assert np.abs(out[(out.shape[0] - 1) // 2, (out.shape[1] - 1) // 2] - 99).max() < 6


@pytest.mark.parametrize("left", [10, 380])
def test_a_crop_keeps_a_face_wherever_it_is(tmp_path: Path, left: int) -> None:
    pixels = np.full((360, 700, 3), (150, 165, 180), np.uint8)
    pixels[:, left : left + 320] = face()

    out = pixels_of(edit("reframe", tmp_path, pixels, aspect_ratio="4:5", size=360))

    skin = np.abs(out - (224, 178, 152)).max(axis=2) < 40
    assert skin.sum() > 0.95 * (np.abs(face().astype(int) - (224, 178, 152)).max(axis=2) < 40).sum()


def test_a_crop_keeps_what_stands_out(tmp_path: Path) -> None:
    pixels = np.full((180, 600, 3), (70, 130, 150), np.uint8)
    pixels[:, 340:580] = ball()

    out = pixels_of(edit("reframe", tmp_path, pixels, aspect_ratio="1:1", size=256))

    assert (out[..., 0] > 180).mean() > 0.9 * np.pi * 45**2 / 180**2


def test_a_blurred_fill_keeps_the_whole_picture_in_the_middle(tmp_path: Path) -> None:
    pixels = ball(256, 144)

    out = pixels_of(
        edit("reframe", tmp_path, pixels, mode="blurred_fill", aspect_ratio="1:1", size=256)
    )

    assert np.array_equal(out[56:200], pixels)
    assert out[:50].mean() < pixels.mean()


def test_stretched_edges_leave_the_middle_in_proportion(tmp_path: Path) -> None:
    pixels = np.full((256, 256, 3), 40, np.uint8)
    pixels[118:138, 118:138] = 230

    asset = edit("reframe", tmp_path, pixels, mode="stretch_edges", aspect_ratio="16:9", size=455)

    rows, columns = np.nonzero(pixels_of(asset)[..., 0] > 135)
    assert abs(np.ptp(columns) - np.ptp(rows)) <= 3
    assert abs(columns.mean() - asset.width / 2) < 2


@pytest.mark.parametrize("mode", MODES)
def test_transparency_is_kept_but_below_a_fill(tmp_path: Path, mode: str) -> None:
    alpha = np.full((90, 120), 255, np.uint8)
    alpha[:45] = 0

    out = pixels_of(
        edit(
            "reframe",
            tmp_path,
            saved(np.dstack([ball(120, 90), alpha]), tmp_path / "in.png"),
            mode=mode,
            aspect_ratio="1:1",
        )
    )

    if mode == "blurred_fill":
        assert out.shape == (256, 256, 3)
    else:
        assert out[:100, :, 3].max() == 0
        assert out[160:, :, 3].min() == 255


@pytest.mark.parametrize("left", [0, 440])
@pytest.mark.parametrize("kind", ["face", "ball", "face and ball"])
def test_a_crop_keeps_what_a_camera_move_over_the_picture_shows(
    tmp_path: Path, kind: str, left: int
) -> None:
    pixels, color = np.full((360, 760, 3), (150, 165, 180), np.uint8), (224, 178, 152)
    pixels[:, left : left + 320] = face(size=60.0)
    if "ball" in kind:
        place = left if kind == "ball" else 520 - left
        pixels[90:270, place : place + 240] = ball()
    if kind == "ball":
        color = (210, 60, 40)

    def shown(picture: np.ndarray) -> float:
        """Return how large the subject is, in shares of the picture's height squared."""
        near = np.abs(picture - color).max(axis=2) < 45
        return float(near.sum() / picture.shape[0] ** 2)

    crop = pixels_of(edit("reframe", tmp_path, pixels, aspect_ratio="4:5", size=450))
    image = saved(pixels, tmp_path / "film.png")
    how = {"camera": "still", "aspect_ratio": "4:5", "media": {"image": image}}
    film = frames_of(render("ken-burns", tmp_path / "film", **how))[0]

    assert shown(crop) > 0.95 * shown(pixels)
    assert shown(film) > 0.95 * shown(pixels)
