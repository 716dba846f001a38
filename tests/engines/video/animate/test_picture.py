import threading
from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.film.animate.standing import found
from kit.engines.media.cutout import subject
from kit.engines.models.animate import Animate
from kit.errors import EngineError
from tests.engines.video.showing import decoded, distance, job_for, rendered, saved, with_disc

CAMERAS = next(p.enum for p in Animate.definition.settings if p.name == "camera") or []


@pytest.fixture
def image(tmp_path: Path) -> Path:
    return saved(with_disc(), tmp_path / "in")


def left_edge(frame: np.ndarray) -> float:
    """Return the column in which the red disc begins, halfway down."""
    row = frame[frame.shape[0] // 2]
    return float(np.flatnonzero(row[:, 0] - row[:, 1] > 90)[0])


def test_a_subject_moves_before_its_background(tmp_path: Path, image: Path) -> None:
    asset = rendered(
        Animate(), tmp_path / "job", media={"image": image}, camera="pan_right", motion=1.0, fps=6
    )
    first, last = decoded(asset)[0], decoded(asset)[-1]

    assert asset.metadata["technique"] == "cutout"
    moved = abs(left_edge(last) - left_edge(first))
    # The wall, by the shift that fits its upper rows best.
    middle = first[20:60, 120:360]
    costs = [np.abs(last[20:60, 120 + s : 360 + s] - middle).mean() for s in range(-60, 61)]
    wall = abs(int(np.argmin(costs)) - 60)
    assert moved > wall + 4
    # No red is left where the disc has been.
    assert (last[:, :40, 0] - last[:, :40, 1]).max() < 60


@pytest.mark.parametrize("camera", [camera for camera in CAMERAS if camera != "still"])
def test_every_camera_moves_in_every_technique(tmp_path: Path, image: Path, camera: str) -> None:
    for technique in ("parallax", "ken_burns"):
        asset = rendered(
            Animate(),
            tmp_path / technique,
            media={"image": image},
            camera=camera,
            technique=technique,
            motion=1.0,
            aspect_ratio="1:1",
            fps=6,
        )
        shown = decoded(asset)
        assert distance(shown[0], shown[2]) > 0.5
        assert asset.metadata["technique"] == technique


def test_a_picture_without_a_subject_is_bent_instead(tmp_path: Path) -> None:
    plain = saved(np.full((200, 300, 3), 128, np.uint8), tmp_path / "in")

    asset = rendered(Animate(), tmp_path / "job", media={"image": plain}, technique="cutout")

    assert asset.metadata["technique"] == "parallax"


def test_a_patch_of_a_texture_is_not_torn_out(tmp_path: Path) -> None:
    rough = cv2.GaussianBlur(np.random.default_rng(6).normal(0, 1, (300, 450)), (0, 0), 6)
    pixels = np.repeat((rough / rough.std() * 30 + 120).clip(0, 255)[..., None], 3, axis=2)
    pixels = pixels.astype(np.uint8)
    assert found(subject(pixels))  # something stands out everywhere
    image = saved(pixels, tmp_path / "in")

    asset = rendered(Animate(), tmp_path / "job", media={"image": image}, fps=6)

    assert asset.metadata["technique"] == "parallax"


def test_a_camera_that_stands_still_shows_the_picture(tmp_path: Path, image: Path) -> None:
    def shown(technique: str) -> np.ndarray:
        asset = rendered(
            Animate(),
            tmp_path / technique,
            media={"image": image},
            technique=technique,
            camera="still",
            fps=6,
        )
        return decoded(asset)[0]

    whole, torn = shown("parallax"), shown("cutout")

    assert np.quantile(np.abs(whole - torn), 0.999) < 36
    assert distance(whole, torn) < 1.0


def test_snow_falls_before_a_picture_that_stands_still(tmp_path: Path, image: Path) -> None:
    def moved(weather: str) -> float:
        shown = decoded(
            rendered(
                Animate(),
                tmp_path / weather,
                media={"image": image},
                camera="still",
                weather=weather,
                technique="ken_burns",
                fps=6,
            )
        )
        return distance(shown[0], shown[3])

    assert moved("snow") > 3 * moved("none") + 0.5


def test_the_same_seed_gives_the_same_bytes_and_a_loop_closes(tmp_path: Path, image: Path) -> None:
    one, other = (
        rendered(
            Animate(),
            tmp_path / name,
            media={"image": image},
            technique="parallax",
            loop=True,
            weather="dust",
            fps=12,
        )
        for name in ("a", "b")
    )
    shown = decoded(one)

    assert one.path.read_bytes() == other.path.read_bytes()
    assert distance(shown[0], shown[-1]) < 2.5 * distance(shown[0], shown[1]) + 0.3


def test_progress_rises_to_1(tmp_path: Path, image: Path) -> None:
    seen: list[float] = []
    job = job_for(Animate(), tmp_path / "a", media={"image": image}, fps=6)
    Animate().render(job, Progress(seen.append))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)


@pytest.mark.parametrize(("share", "technique"), [(0.1, "cutout"), (0.4, "parallax")])
def test_a_cancel_leaves_no_thread_neither_while_preparing_nor_while_drawing(
    tmp_path: Path, image: Path, share: float, technique: str
) -> None:
    progress = Progress(lambda done: progress.cancel() if done > share else None)
    job = job_for(Animate(), tmp_path / "a", media={"image": image}, fps=6, technique=technique)

    with pytest.raises(CanceledError):
        Animate().render(job, progress)

    assert [t.name for t in threading.enumerate() if t.name == "clip-encoder"] == []


def test_a_file_that_is_no_picture_is_said_to_be_none(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"\xff\xd8\xff" + bytes(100))

    with pytest.raises(EngineError):
        rendered(Animate(), tmp_path / "job", media={"image": broken})
