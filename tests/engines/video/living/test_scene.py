import threading
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import av
import cv2
import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.film.animate.relief import large
from kit.engines.film.filming import Take
from kit.engines.film.living.scene import Living, quiet
from kit.engines.models.living_scene import LivingScene
from kit.engines.painting.families import paint
from kit.engines.painting.land import motion as stirring
from kit.engines.prompt.brief import read
from tests.engines.video.showing import decoded, distance, job_for, rendered

SPACE = "a nebula with a ringed planet"


def test_a_scene_moves_and_says_what_it_shows(tmp_path: Path) -> None:
    asset = rendered(LivingScene(), tmp_path, SPACE, camera="pan_left", motion=1.0, fps=6)
    shown = decoded(asset)

    assert (asset.width, asset.height) == (640, 360)
    assert distance(shown[0], shown[-1]) > 1.5
    assert asset.metadata["scene"]["family"] == "space"
    assert asset.metadata["weather"] == "none"
    assert asset.thumbnail is not None


def test_ink_flows_while_the_camera_stands_still_and_a_loop_closes(tmp_path: Path) -> None:
    asset = rendered(
        LivingScene(), tmp_path, "blue ink", camera="still", loop=True, motion=1.0, fps=12
    )
    shown = decoded(asset)
    steps = [distance(a, b) for a, b in pairwise(shown)]

    assert distance(shown[0], shown[6]) > 2
    assert distance(shown[-1], shown[0]) < 1.7 * max(steps)


def test_the_hour_can_pass(tmp_path: Path) -> None:
    asset = rendered(LivingScene(), tmp_path, "desert dunes", hours="day_to_night", fps=6)
    first, last = decoded(asset)[0], decoded(asset)[-1]

    assert asset.metadata["hours"] == ["day", "sunset", "night"]
    assert last.mean() < 0.6 * first.mean()


def test_the_prompt_directs_camera_and_hours(tmp_path: Path) -> None:
    prompt = "slow pan left over flat hills, from day to night"
    asset = rendered(LivingScene(), tmp_path, prompt, family="poster", fps=2)

    assert asset.metadata["camera"] == "pan_left"
    assert asset.metadata["hours"] == ["day", "sunset", "night"]


def test_no_rain_is_painted_into_a_street_before_which_it_falls(tmp_path: Path) -> None:
    values = {"aspect_ratio": "16:9", "size": 128}
    wet = read("a city street in the rain", values, 3)
    film = quiet(wet, wet.time_of_day)

    assert film.weather == "rain"
    assert distance(paint(wet, Progress()), paint(film, Progress())) > 1


@pytest.mark.parametrize(
    ("prompt", "asked", "shown"),
    [
        ("snowfall over a lake", "auto", "snow"),
        ("a foggy lake", "auto", "fog"),
        ("fireflies by a lake", "auto", "fireflies"),
        ("a clear lake", "auto", "none"),
        ("a clear lake", "embers", "embers"),
        ("snowfall over a lake", "none", "none"),
    ],
)
def test_the_air_follows_the_prompt_or_the_setting(
    tmp_path: Path, prompt: str, asked: str, shown: str
) -> None:
    asset = rendered(LivingScene(), tmp_path, prompt, weather=asked, family="poster", fps=2)

    assert asset.metadata["weather"] == shown


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    one, again, other = (
        rendered(LivingScene(), tmp_path / name, SPACE, seed=seed, fps=6).path.read_bytes()
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )

    assert one == again
    assert one != other


def test_a_tall_webm_is_a_tall_webm(tmp_path: Path) -> None:
    asset = rendered(
        LivingScene(), tmp_path, SPACE, aspect_ratio="9:16", format="webm", fps=6, camera="rise"
    )

    with av.open(str(asset.path)) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height) == (360, 640)
        assert "vp9" in stream.codec_context.name
    assert asset.content_type == "video/webm"


def test_progress_rises_to_1_and_a_cancel_leaves_no_thread(tmp_path: Path) -> None:
    seen: list[float] = []
    job = job_for(LivingScene(), tmp_path, SPACE, fps=6)
    LivingScene().render(job, Progress(seen.append))
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)
    assert max(np.diff(seen)) < 0.3

    progress = Progress(lambda done: progress.cancel() if done > 0.4 else None)
    with pytest.raises(CanceledError):
        LivingScene().render(job, progress)
    assert [t.name for t in threading.enumerate() if t.name == "clip-encoder"] == []


def test_hours_that_pass_keep_the_weather_of_the_film(tmp_path: Path) -> None:
    def middle(name: str, prompt: str, **values: object) -> tuple[list[str], np.ndarray]:
        job = {"hours": "day_to_night", "camera": "still", "fps": 5, "seed": 5, **values}
        asset = rendered(LivingScene(), tmp_path / name, prompt, **job)
        return asset.metadata["hours"], decoded(asset)[2]

    hours, wet = middle("wet", "a rainy neon city street, from day to night")
    assert hours == ["day", "dusk", "night"]
    assert (wet.min(axis=2) > 235).mean() < 0.003  # no sun at the end of the street
    hours, _ = middle("named", "a rainy street, sunset to night")
    assert hours == ["day", "sunset", "night"]
    hours, lake = middle("lake", "a mountain lake", weather="rain")
    assert hours == ["day", "dusk", "night"]
    red, _, blue = lake[:100].mean(axis=(0, 1))
    assert red < blue < red + 40  # no burning sky, and no blue one


def living(prompt: str, hours: tuple[str, ...], loop: bool = True) -> tuple[Living, np.ndarray]:
    take = Take(width=320, height=180, fps=12, frames=48, loop=loop)
    width, height = large(take)
    read_ = read(prompt, {"aspect_ratio": "16:9", "size": 320}, 1)
    brief = replace(read_, width=width, height=height)
    with stirring.heard() as told:
        paintings = [paint(quiet(brief, hour), Progress()) for hour in hours]
    night = hours.index("night") if "night" in hours else 0
    film = Living(brief, paintings, take, weather="none", clouds=False, told=told, night=night)
    edge = (height - 180) // 2, (width - 320) // 2
    return film, paintings[0][edge[0] : edge[0] + 180, edge[1] : edge[1] + 320]


def lit(frame: np.ndarray) -> np.ndarray:
    """Return the luma of a frame, as whole numbers that can be subtracted."""
    return frame[:180].astype(int)


@pytest.mark.parametrize("prompt", ["an erupting volcano at night", "a waterfall at noon, clear"])
def test_what_stirs_begins_as_it_is_painted_and_ends_where_it_began(prompt: str) -> None:
    film, painting = living(prompt, ("night" if "night" in prompt else "day",))
    shown = [lit(film.frame(number)) for number in (0, 1, 20, 47, 48)]
    still = lit(cv2.cvtColor(np.ascontiguousarray(painting), cv2.COLOR_RGB2YUV_I420))

    assert distance(shown[0], still) < 4
    assert distance(shown[0], shown[2]) > 0.2
    assert np.array_equal(shown[0], shown[4])
    assert distance(shown[3], shown[0]) < 1.5 * distance(shown[0], shown[1])


def test_ground_keeps_still_while_a_camera_does(tmp_path: Path) -> None:
    film, _ = living("an erupting volcano in the desert at noon, clear", ("day",))
    first, other = (lit(film.frame(number)) for number in (0, 15))

    assert distance(first[:70], other[:70]) > 0.3
    assert distance(first[140:], other[140:]) == 0


def test_no_northern_lights_run_over_a_sky_by_day(tmp_path: Path) -> None:
    prompt = "northern lights over a lake, from day to night"
    values = {"camera": "still", "clouds": False, "fps": 12, "weather": "none"}
    shown = decoded(rendered(LivingScene(), tmp_path, prompt, **values))

    # The first hour stays a while.
    assert distance(shown[0][:60], shown[1][:60]) < 0.5


def test_northern_lights_and_stars_come_alive_as_night_falls() -> None:
    prompt = "northern lights over a lake, clear"
    film, _ = living(prompt, ("day", "night"), loop=False)
    early, late = (
        distance(lit(film.frame(number))[:50], lit(film.frame(number + 1))[:50])
        for number in (0, 46)
    )

    assert early < 0.2  # no rays are seen by day
    assert late > 0.35
    by_day = quiet(read(prompt, {"aspect_ratio": "16:9", "size": 64}, 1), "day")
    assert "aurora" not in by_day.extras


def test_stars_glimmer_once_it_is_night() -> None:
    film, _ = living("starry desert, clear", ("day", "night"), loop=False)
    early, late = (
        np.abs(lit(film.frame(number))[:60] - lit(film.frame(number + 1))[:60]).max()
        for number in (0, 46)
    )

    assert early <= 2
    assert late > 6


def test_water_shows_the_fire_above_it() -> None:
    film, _ = living("an erupting volcano at night by a calm lake, mirror", ("night",), loop=False)
    painted = lit(film.frame(0))
    frames = [lit(film.frame(number)) for number in (0, 9, 18, 27)]
    above, below = (
        max(distance(frame[rows], painted[rows]) for frame in frames)
        for rows in (slice(0, 80), slice(100, 175))
    )

    assert above > 0.8
    assert below > 0.25 * above


@pytest.mark.parametrize(
    ("prompt", "family", "most"),
    [
        ("minimalist", "lake", 0.0),
        ("minimalist", "forest", 0.0),
        ("minimalist", "poster", 0.0),
        ("cloudless", "desert", 0.0),
        ("menacing", "lake", 2.0),
        ("gloomy", "desert", 2.0),
        ("low key", "sea", 2.0),
    ],
)
def test_clouds_that_drift_spoil_no_mood(prompt: str, family: str, most: float) -> None:
    values = {"aspect_ratio": "16:9", "size": 320, "family": family}
    brief = read(f"{prompt} {family}", values, 7)
    take = Take(width=320, height=180, fps=12, frames=24, motion=0.0)
    width, height = large(take)
    painting = paint(replace(brief, width=width, height=height), Progress())
    seen = Living(brief, [painting], take, weather="none", clouds=True).frame(0)
    bare = Living(brief, [painting], take, weather="none", clouds=False).frame(0)

    drifting = distance(lit(seen), lit(bare))
    assert drifting <= most
    assert (drifting > 0) == (most > 0)
