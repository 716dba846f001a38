from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.engines.editing.video.plan import (
    Plan,
    check_work,
    common_rate,
    frame_size,
    plan_of,
    slowed,
)
from kit.engines.media.footage import Footage
from kit.errors import EngineError
from tests.engines.films import filmed

VALUES = {"start": 0, "speed": 1, "aspect_ratio": "keep", "resolution": "keep"}


def plan(tmp_path: Path, seconds: float = 2.0, fps: int = 30, **values: Any) -> Plan:
    pixels = np.full((48, 64, 3), 90, np.uint8)
    times = [number / fps for number in range(round(seconds * fps))]
    path = filmed(tmp_path / "a.mp4", [pixels] * len(times), fps=fps)
    with Footage(path) as footage:
        return plan_of({**VALUES, **values}, footage)


def test_without_wishes_the_plan_is_the_video(tmp_path: Path) -> None:
    found = plan(tmp_path)

    assert (found.start, found.end, found.fps, found.frames) == (0.0, 2.0, Fraction(30), 60)


@pytest.mark.parametrize(
    ("values", "seconds"),
    [
        ({"start": 0.5}, 1.5),
        ({"end": 0.5}, 0.5),
        ({"start": 0.5, "end": 1.0, "speed": 2}, 0.25),
        ({"speed": 0.5}, 4.0),
        ({"end": 99}, 2.0),
    ],
)
def test_trim_and_speed_decide_the_length(
    tmp_path: Path, values: dict[str, Any], seconds: float
) -> None:
    assert plan(tmp_path, **values).seconds == pytest.approx(seconds, abs=0.02)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"start": 5}, "begins at 5 s, but the video lasts only 2 s"),
        ({"start": 1, "end": 1}, "ends at 1 s, but begins"),
        ({"start": 1, "end": 0}, "ends at 0 s, but begins"),
    ],
)
def test_a_part_that_is_not_there_is_refused(
    tmp_path: Path, values: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(EngineError, match=sentence) as told:
        plan(tmp_path, **values)
    assert told.value.code == "bad_range"


class Long:
    """A video of which only the facts matter."""

    def __init__(
        self,
        seconds: float,
        size: tuple[int, int] = (640, 360),
        *,
        fps: float = 30.0,
        quick: float = 0.0,
    ) -> None:
        self.seconds, self.fps, self.quick = seconds, fps, quick or fps
        self.width, self.height = size


def test_what_is_too_long_is_refused_before_anything_is_decoded() -> None:
    with pytest.raises(EngineError, match="lasts 700 s; at most 600 s") as told:
        plan_of(VALUES, Long(700))  # type: ignore[arg-type]
    assert told.value.code == "too_long"
    with pytest.raises(EngineError, match="would last 1,200 s"):
        plan_of({**VALUES, "speed": 0.25}, Long(300))  # type: ignore[arg-type]
    assert plan_of(VALUES, Long(600)).seconds == 600  # type: ignore[arg-type]


def test_more_work_than_a_job_may_take_is_refused_before_it_begins() -> None:
    usual, large = Long(600, (1920, 1080)), Long(600, (3840, 2160))
    check_work(plan_of(VALUES, usual), usual, passes=1, steady=False)  # type: ignore[arg-type]

    for film, passes in ((usual, 2), (large, 2)):
        plan = plan_of(VALUES, film)  # type: ignore[arg-type]
        with pytest.raises(EngineError, match="too much for one job") as told:
            check_work(plan, film, passes=passes, steady=True)  # type: ignore[arg-type]
        assert told.value.code == "too_much_work"


@pytest.mark.parametrize(
    ("sizes", "values", "expected"),
    [
        ([(1280, 720)], {}, (1280, 720)),
        ([(641, 359)], {}, (640, 360)),
        ([(3840, 2160)], {}, (1920, 1080)),
        ([(1280, 720)], {"aspect_ratio": "9:16"}, (720, 1280)),
        ([(1280, 720)], {"aspect_ratio": "9:16", "resolution": "480p"}, (480, 854)),
        ([(1280, 720)], {"resolution": "1080p"}, (1920, 1080)),
        ([(20, 12)], {}, (106, 64)),
        ([(2000, 100)], {}, (2000, 100)),
        ([(100, 2000)], {}, (100, 2000)),
        ([(4000, 100)], {"resolution": "1080p"}, (4096, 102)),
        ([(8192, 1024)], {}, (4096, 512)),
        ([(720, 1280), (640, 360), (1280, 720)], {}, (640, 360)),
        ([(1280, 720), (720, 1280)], {"aspect_ratio": "1:1"}, (720, 720)),
    ],
)
def test_sizes_are_even_and_follow_wish_or_input(
    sizes: list[tuple[int, int]], values: dict[str, str], expected: tuple[int, int]
) -> None:
    width, height = frame_size({**VALUES, **values}, sizes)

    assert (width, height) == expected or (sizes[0] == (720, 1280) and height < width)
    assert width % 2 == height % 2 == 0


def test_a_shape_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(EngineError, match="choose an aspect ratio") as told:
        frame_size(VALUES, [(8000, 100)])
    assert told.value.code == "bad_shape"
    assert frame_size({**VALUES, "aspect_ratio": "16:9"}, [(8000, 100)]) == (178, 100)


@pytest.mark.parametrize(
    ("fps", "quick", "expected"),
    [(18.5, 50.0, 50), (29.9, 33.0, 30), (55.0, 120.0, 60), (8.0, 12.0, 12), (30.0, 30.0, 30)],
)
def test_a_varying_rate_is_shown_as_smooth_as_its_fast_stretches(
    fps: float, quick: float, expected: int
) -> None:
    film: Any = Long(10, fps=fps, quick=quick)

    assert round(plan_of(VALUES, film).fps) == expected


def test_a_varying_rate_that_is_too_much_work_is_shown_at_its_mean() -> None:
    film: Any = Long(600, (1920, 1080), fps=24.0, quick=60.0)

    plan = plan_of(VALUES, film)
    assert plan.fps == 24
    check_work(plan, film, passes=1, steady=False)


@pytest.mark.parametrize(
    ("rates", "expected"),
    [
        ([29.97], Fraction(30000, 1001)),
        ([29.93], Fraction(30000, 1001)),
        ([30.0], Fraction(30)),
        ([25.0, 60.0, 60.0], Fraction(60)),
        ([12.4], Fraction(12)),
        ([1.0], Fraction(10)),
        ([240.0], Fraction(60)),
    ],
)
def test_rates_are_usual_ones(rates: list[float], expected: Fraction) -> None:
    assert common_rate(rates) == expected


@pytest.mark.parametrize("speed", [0.25, 0.3, 0.5, 0.9])
def test_slow_motion_shows_every_frame_equally_long(speed: float) -> None:
    fps = slowed(Fraction(30), speed)

    assert fps >= 23
    assert (fps / (30 * Fraction(speed).limit_denominator(1000))).denominator == 1
    assert slowed(Fraction(30), 2.0) == 30
