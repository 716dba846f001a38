import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.scene.brief import read
from kit.engines.video.flythrough.eye import Eye
from kit.engines.video.flythrough.journey import _bring_ashore, land_of
from kit.engines.video.flythrough.model import FlyThrough
from kit.engines.video.flythrough.patches import Atlas, box_of
from kit.engines.video.flythrough.route import Station
from kit.engines.video.flythrough.terrain import GRID, TEXEL
from tests.engines.video.showing import decoded, distance, job_for, rendered


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("an alpine lake", "alps"),
        ("rolling hills of tuscany", "hills"),
        ("dunes of the sahara", "desert"),
        ("a red canyon", "canyon"),
        ("islands in the ocean", "islands"),
        ("pine forest", "forest"),
        ("neon city", "alps"),
    ],
)
def test_the_prompt_chooses_the_land(prompt: str, kind: str) -> None:
    assert land_of(read(prompt, {"aspect_ratio": "1:1", "size": 512}, 1)) == kind


def test_water_does_not_climb_the_cliffs_behind_it() -> None:
    cliff = slice(round(300 / TEXEL), round(500 / TEXEL))
    surface = np.zeros((GRID, GRID), np.float32)
    surface[cliff] = 40.0
    colors = np.full((GRID, GRID, 4), 255, np.uint8)
    colors[cliff, :, 3] = 128  # neither water nor trees
    at = Station(x=100.0, y=100.0, heading=0.1, height=20.0, horizon=0.4, bank=0.0)
    eye = Eye(160, 90, slices=240)
    box = box_of([at], eye.widest)
    eye.over(surface, box)
    atlas = Atlas(colors, box, eye.focal, np.zeros((GRID, GRID), np.uint8), {})
    seen = eye.look(at)
    shown = atlas.seen(seen.x, seen.y, seen.inverse)
    climbing = (seen.height > 1.0) & ~seen.sky
    before = float((shown[climbing, 3] > 200).mean())
    _bring_ashore(shown, atlas, seen, at, 0.0)

    assert (shown[climbing, 3] > 200).mean() < 0.2 * before
    assert (shown[(seen.height < 0.05) & (seen.away < 150), 3] == 255).all()


def test_a_flight_moves_and_its_frames_fit_the_order(tmp_path: Path) -> None:
    asset = rendered(FlyThrough(), tmp_path, "hills at noon", aspect_ratio="9:16", fps=6)
    shown = decoded(asset)

    assert shown[0].shape == (640, 360, 3) == (asset.height, asset.width, 3)
    assert len(shown) == 6
    assert min(distance(a, b) for a, b in pairwise(shown)) > 1
    assert asset.metadata["scene"]["family"] == "hills"
    assert asset.metadata["scene"]["time_of_day"] == "day"


def test_night_is_darker_than_day(tmp_path: Path) -> None:
    def frame(prompt: str) -> np.ndarray:
        asset = rendered(FlyThrough(), tmp_path / prompt, prompt, land="desert", fps=2)
        return decoded(asset)[0]

    day, night = (frame(f"{words} dunes") for words in ("noon", "midnight"))

    assert night.mean() < 0.6 * day.mean()


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    one, again = (
        rendered(FlyThrough(), tmp_path / name, "islands in rain", seed=5, fps=3).path.read_bytes()
        for name in ("a", "b")
    )

    assert one == again


def test_a_loop_dissolves_into_its_beginning(tmp_path: Path) -> None:
    looped = decoded(rendered(FlyThrough(), tmp_path, "desert", loop=True, fps=12))
    steps = [distance(a, b) for a, b in pairwise(looped)]

    assert distance(looped[-1], looped[0]) < 1.5 * max(steps)
    assert distance(looped[0], looped[6]) > 1.2 * max(steps)


def test_progress_rises_to_1_and_a_cancel_leaves_no_thread(tmp_path: Path) -> None:
    seen: list[float] = []
    job = job_for(FlyThrough(), tmp_path, "dunes", fps=6, camera="orbit")
    FlyThrough().render(job, Progress(seen.append))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)

    progress = Progress(lambda done: progress.cancel() if done > 0.4 else None)
    with pytest.raises(CanceledError):
        FlyThrough().render(job, progress)
    assert [t.name for t in threading.enumerate() if t.name == "clip-encoder"] == []
