"""Motion in clips of all models, measured between their frames."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines.film.weather import Weather
from kit.engines.models.settings import WEATHERS
from tests.engines.rendering import frames_of, render, save

Files = Callable[[str], Path]
PROMPTS = {"drift": "hills", "living-scene": "hills at noon", "flythrough": "desert"}
PICTURE_MODELS = ("animate", "ken-burns")


@pytest.fixture(scope="module")
def patches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A picture with details everywhere, so that every motion shows."""
    noise = np.random.default_rng(3).integers(60, 200, (30, 40, 3)).astype(np.uint8)
    pixels = cv2.resize(noise, (640, 480), interpolation=cv2.INTER_CUBIC)
    return save(pixels, tmp_path_factory.mktemp("patches") / "patches.png")


@pytest.fixture
def clip(patches: Path, tmp_path: Path) -> Callable[..., list[np.ndarray]]:
    """Return the frames of a short clip."""

    def frames(model: str, **values: object) -> list[np.ndarray]:
        how: dict[str, object] = {"prompt": PROMPTS.get(model, ""), **values}
        if model in PICTURE_MODELS:
            how["media"] = {"image": patches}
        if model == "animate":
            how["technique"] = "ken_burns"
        if model == "living-scene":
            how |= {"clouds": False, "weather": "none"}
        count = len(list(tmp_path.iterdir()))
        return frames_of(render(model, tmp_path / str(count), **how))  # type: ignore[arg-type]

    return frames


Frames = Callable[..., list[np.ndarray]]


def distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).mean())


def shift(frames: list[np.ndarray]) -> tuple[float, float]:
    """Return how far the picture moves to the right and down over a clip."""
    gray = [frame.mean(axis=2).astype(np.float32) for frame in frames]
    window = cv2.createHanningWindow(gray[0].shape[::-1], cv2.CV_32F)
    steps = [cv2.phaseCorrelate(*pair, window)[0] for pair in pairwise(gray)]
    return float(sum(x for x, _ in steps)), float(sum(y for _, y in steps))


@pytest.mark.parametrize(
    ("model", "ways"),
    [
        *((m, ("left", "right")) for m in ("drift", "living-scene", "animate", "ken-burns")),
        ("ken-burns", ("up", "down")),
    ],
)
def test_the_picture_moves_against_the_camera(
    model: str, ways: tuple[str, str], clip: Frames
) -> None:
    first, second = (
        shift(clip(model, camera=f"pan_{way}", motion=1)[3::6])[way in ("up", "down")]
        for way in ways
    )

    assert second < 0 < first


@pytest.mark.parametrize(
    ("model", "nearer", "wider"),
    [
        ("ken-burns", "zoom_in", "zoom_out"),
        *((model, "push", "pull") for model in ("animate", "drift", "living-scene")),
    ],
)
def test_moving_nearer_enlarges_the_picture(
    model: str, nearer: str, wider: str, clip: Frames
) -> None:
    def growth(camera: str) -> float:
        """Return how much more the right half moves to the right than the left half."""
        frames = clip(model, camera=camera, motion=1)
        half = frames[0].shape[1] // 2
        sides = (slice(None, half), slice(half, None))
        left, right = (shift([frame[:, side] for frame in frames])[0] for side in sides)
        return right - left

    assert growth(nearer) > 0 > growth(wider)


@pytest.mark.parametrize("model", ["drift", "living-scene", "ken-burns", "animate"])
def test_more_motion_moves_more_and_a_still_camera_does_not(model: str, clip: Frames) -> None:
    nearer = "zoom_in" if model == "ken-burns" else "push"
    still, little, much = (
        distance(frames[0], frames[-1])
        for frames in (
            clip(model, camera="still", motion=0),
            clip(model, camera=nearer, motion=0.2),
            clip(model, camera=nearer, motion=1),
        )
    )

    assert still < little < much


@pytest.mark.parametrize("model", ["drift", "living-scene", "ken-burns", "animate", "flythrough"])
def test_a_loop_ends_at_its_first_frame(model: str, clip: Frames) -> None:
    def seam(loop: bool) -> float:
        """Return the step from the last frame to the first, relative to the other steps."""
        frames = clip(model, loop=loop, motion=1)
        return distance(frames[-1], frames[0]) / max(distance(*pair) for pair in pairwise(frames))

    assert seam(True) < seam(False)


@pytest.mark.parametrize("kind", WEATHERS[1:])
def test_weather_of_a_loop_moves_and_ends_at_its_first_frame(kind: str) -> None:
    weather = Weather(kind, (160, 96), np.random.default_rng(1), seconds=2.0, loop=True)

    def luma(moment: float) -> np.ndarray:
        frame = tuple(np.full(size, 90, np.uint8) for size in ((96, 160), (48, 80), (48, 80)))
        weather.draw(frame, moment)  # type: ignore[arg-type]
        return frame[0]

    assert (luma(0.0) == luma(1.0)).all()
    assert (luma(0.0) != luma(0.5)).any()
