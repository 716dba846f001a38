"""Clips from a picture: a still camera, a head in a wide frame, a soundtrack."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from kit.engines.media import soundfile
from kit.engines.media.faces import find
from tests.engines.drawings import face
from tests.engines.rendering import frames_of, record, render, save, tone


def make_texture(width: int = 480, height: int = 360) -> np.ndarray:
    rng = np.random.default_rng(3)
    noise = rng.integers(110, 150, (height // 12 + 1, width // 12 + 1, 3), np.uint8)
    return np.asarray(cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC))


def make_disc(x: int = 240, y: int = 180, radius: int = 90) -> np.ndarray:
    """Return a picture of a red disc in front of a gray wall."""
    pixels = make_texture()
    cv2.circle(pixels, (x, y), radius, (230, 40, 30), -1, cv2.LINE_AA)
    return pixels


def clip(model: str, folder: Path, pixels: np.ndarray, **values: Any) -> list[np.ndarray]:
    image = save(pixels, folder / "in.png")
    number = sum(1 for _ in folder.glob("job*"))
    return frames_of(render(model, folder / f"job{number}", media={"image": image}, **values))


@pytest.mark.parametrize("technique", ["cutout", "parallax", "ken_burns"])
def test_a_still_camera_shows_the_picture(tmp_path: Path, technique: str) -> None:
    shown = clip("animate", tmp_path, make_disc(), technique=technique, camera="still", motion=0)
    image = cv2.resize(make_disc(), shown[0].shape[1::-1], interpolation=cv2.INTER_AREA)

    assert np.abs(shown[0] - image).mean() < 8
    assert np.abs(shown[-1] - shown[0]).mean() < 1


@pytest.mark.parametrize("kind", ["plain", "texture"])
def test_a_picture_without_a_subject_is_animated_by_parallax(tmp_path: Path, kind: str) -> None:
    pixels = np.full((200, 300, 3), 128, np.uint8) if kind == "plain" else make_texture(300, 200)
    image = save(pixels, tmp_path / "in.png")

    asset = render("animate", tmp_path / "job", media={"image": image})

    assert asset.metadata["technique"] == "parallax"


@pytest.mark.parametrize("technique", ["auto", "ken_burns"])
def test_a_portrait_animated_in_a_wide_frame_keeps_its_head(tmp_path: Path, technique: str) -> None:
    pixels = make_texture(360, 640)
    pixels[20:132, 130:230] = cv2.resize(face(), (100, 112), interpolation=cv2.INTER_AREA)
    pixels[124:, 90:270] = (210, 60, 30)

    shown = clip(
        "animate", tmp_path, pixels, technique=technique, aspect_ratio="16:9", camera="push"
    )

    for frame in (shown[0], shown[-1]):
        (found,) = find(np.ascontiguousarray(frame, np.uint8))
        assert found.y - 0.15 * found.height > 0
        assert found.y + found.height < frame.shape[0]


@pytest.mark.parametrize("seconds", [0.4, 5.0])
def test_a_soundtrack_is_repeated_or_cut_to_the_clip_and_fades_out(
    tmp_path: Path, seconds: float
) -> None:
    media = {
        "image": save(make_disc(), tmp_path / "in.png"),
        "soundtrack": record(tone(seconds, level=0.05), tmp_path / "tone.wav"),
    }

    asset = render("ken-burns", tmp_path / "job", media=media, duration=2)

    audio = soundfile.open_sound(asset.path)
    assert audio.seconds == pytest.approx(2.0, abs=0.06)
    levels = [float(np.abs(part).mean()) for part in np.array_split(audio.samples[0], 8)]
    assert min(levels[1:6]) > 0.1, "as loud as usual"
    assert np.abs(audio.samples[0][-1200:]).mean() < 0.3 * min(levels[1:6])
