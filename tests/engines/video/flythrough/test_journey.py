import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.film.flight.journey import land_of
from kit.engines.models.flythrough import FlyThrough
from kit.engines.prompt.brief import read
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


def test_a_flight_moves_and_its_frames_fit_the_order(tmp_path: Path) -> None:
    asset = rendered(FlyThrough(), tmp_path, "hills at noon", aspect_ratio="9:16", fps=6)
    shown = decoded(asset)

    assert shown[0].shape == (640, 360, 3) == (asset.height, asset.width, 3)
    assert len(shown) == 6
    assert min(distance(a, b) for a, b in pairwise(shown)) > 1
    assert asset.metadata["scene"]["family"] == "hills"
    assert asset.metadata["scene"]["time_of_day"] == "day"


@pytest.mark.parametrize(
    ("prompt", "camera"),
    [("an aerial of hills", "high"), ("hills", "glide"), ("aerial, a skimming flight", "skim")],
)
def test_land_seen_from_the_air_is_flown_over_high(
    prompt: str, camera: str, tmp_path: Path
) -> None:
    asset = rendered(FlyThrough(), tmp_path, prompt, fps=2, land="desert", camera="auto")

    assert asset.metadata["camera"] == camera


def test_words_of_composition_show_more_of_the_sky(tmp_path: Path) -> None:
    def sky(prompt: str) -> float:
        asset = rendered(FlyThrough(), tmp_path / prompt, prompt, land="desert", fps=2)
        blue = decoded(asset)[0].astype(int)
        return float((blue[..., 2] > blue[..., 0]).mean())

    assert sky("simple dunes at noon") > sky("dunes at noon") + 0.1


def test_night_is_darker_than_day(tmp_path: Path) -> None:
    def frame(prompt: str) -> np.ndarray:
        asset = rendered(FlyThrough(), tmp_path / prompt, prompt, land="desert", fps=2)
        return decoded(asset)[0]

    day, night = (frame(f"{words} dunes") for words in ("noon", "midnight"))

    assert night.mean() < 0.6 * day.mean()


def test_islands_in_a_storm_lie_under_a_gray_sky(tmp_path: Path) -> None:
    asset = rendered(FlyThrough(), tmp_path, "islands in rain and storm", seed=6, fps=2)
    sky = decoded(asset)[0][:90]

    assert asset.metadata["scene"]["time_of_day"] == "day"
    assert np.ptp(sky.mean(axis=(0, 1))) < 25  # it was 110 under an orange one


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
