import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.models.drift import Drift

DEFAULTS = {p.name: p.default for p in Drift.definition.settings if p.default is not None}
CAMERAS = next(p.enum for p in Drift.definition.settings if p.name == "camera") or []


def job(folder: Path, prompt: str = "mountains at sunset", seed: int = 1, **values: Any) -> Job:
    folder.mkdir(exist_ok=True)
    parameters = {**DEFAULTS, "resolution": "360p", "aspect_ratio": "1:1", "duration": 1, **values}
    return Job(prompt=prompt, parameters=parameters, folder=folder, seed=seed)


def render(folder: Path, *args: Any, **values: Any) -> Asset:
    return Drift().render(job(folder, *args, **values), Progress())


def decoded(asset: Asset) -> list[np.ndarray]:
    with av.open(str(asset.path)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


def distance(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one - other).mean())


@pytest.mark.parametrize(
    ("resolution", "aspect", "fps", "size"),
    [
        ("360p", "16:9", 24, (640, 360)),
        ("480p", "9:16", 30, (480, 854)),
        ("360p", "4:5", 60, (360, 450)),
    ],
)
def test_a_clip_has_the_asked_size_rate_and_length(
    tmp_path: Path, resolution: str, aspect: str, fps: int, size: tuple[int, int]
) -> None:
    asset = render(tmp_path, resolution=resolution, aspect_ratio=aspect, fps=fps)

    assert (asset.content_type, asset.duration_seconds) == ("video/mp4", 1.0)
    with av.open(str(asset.path)) as container:
        stream = container.streams.video[0]
        found = (stream.width, stream.height)
        assert len(list(container.decode(video=0))) == fps
        assert stream.average_rate == fps
    assert found == size == (asset.width, asset.height)
    content = asset.path.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    one, again, other = (
        render(tmp_path / name, "a lake at dawn", seed).path.read_bytes()
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )

    assert one == again
    assert one != other


@pytest.mark.parametrize("camera", [camera for camera in CAMERAS if camera != "still"])
def test_every_camera_moves(tmp_path: Path, camera: str) -> None:
    shown = decoded(render(tmp_path, camera=camera, motion=1.0))

    assert distance(shown[0], shown[-1]) > 2.0


@pytest.mark.parametrize(
    "prompt", ["snowfall in the forest", "rain over hills", "fireflies by a lake", "starry desert"]
)
def test_the_air_moves_while_the_camera_stands_still(tmp_path: Path, prompt: str) -> None:
    shown = decoded(render(tmp_path, prompt, camera="still"))

    assert distance(shown[0], shown[12]) > 0.05


def test_a_loop_ends_one_frame_before_it_begins(tmp_path: Path) -> None:
    looped = decoded(render(tmp_path / "a", "snow on a lake", loop=True, motion=1.0))
    steps = [distance(a, b) for a, b in pairwise(looped)]

    assert distance(looped[-1], looped[0]) < 1.6 * max(steps)
    assert distance(looped[0], looped[len(looped) // 4]) > 1.2 * max(steps)


def test_no_edge_of_the_scenery_comes_into_view(tmp_path: Path) -> None:
    shown = decoded(render(tmp_path, "night forest", camera="pan_left", motion=1.0))

    for frame in (shown[0], shown[-1]):
        # The nearest ridge fills the bottom rows from side to side.
        assert frame[-4:, :, :].mean() < 40
        assert frame[-4:, :6].mean() == pytest.approx(frame[-4:, -6:].mean(), abs=12)


def test_the_preview_is_a_small_jpeg_of_the_same_shape(tmp_path: Path) -> None:
    asset = render(tmp_path, aspect_ratio="16:9")

    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        assert (preview.format, preview.size) == ("JPEG", (512, 288))
    assert asset.metadata["scene"]["time"] == "sunset"


def test_progress_rises_to_1_with_every_frame(tmp_path: Path) -> None:
    seen: list[float] = []
    Drift().render(job(tmp_path), Progress(seen.append))

    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert len(set(seen)) >= 24


@pytest.mark.parametrize("at", [0.05, 0.3, 0.95])
def test_a_canceled_clip_leaves_no_thread_and_no_open_file(tmp_path: Path, at: float) -> None:
    def report(done: float) -> None:
        if done >= at:
            progress.cancel()

    progress = Progress(report)
    opened = Path("/proc/self/fd")

    with pytest.raises(CanceledError):
        Drift().render(job(tmp_path), progress)

    assert [t.name for t in threading.enumerate() if t.name == "clip-encoder"] == []
    if opened.exists():
        targets = {fd.readlink() for fd in opened.iterdir() if fd.is_symlink()}
        assert not [target for target in targets if str(tmp_path) in str(target)]


def test_the_shortest_clip_has_one_second(tmp_path: Path) -> None:
    assert render(tmp_path, duration=1.5).metadata["frames"] == 36
