from pathlib import Path

import cv2
import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.editing.video.framing import frame_of
from kit.engines.editing.video.paths import followed, steadied
from kit.engines.editing.video.plan import plan_of
from kit.engines.editing.video.survey import Survey, shots, survey
from kit.engines.media.footage import Footage
from tests.engines.films import filmed

VALUES = {"start": 0, "speed": 1, "aspect_ratio": "keep", "resolution": "keep"}
FRAME = frame_of((320, 180), (320, 180), "smart_crop")


def scenery(seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    small = rng.integers(20, 235, (30, 50, 3), np.uint8)
    return cv2.resize(small, (500, 300), interpolation=cv2.INTER_CUBIC)


def shaken(count: int = 40) -> list[np.ndarray]:
    """Return a slow pan by an unsteady hand."""
    rng = np.random.default_rng(3)
    jitter = rng.normal(0, 3, (count, 2)).round().astype(int)
    base = scenery()
    return [base[40 + y : 220 + y, 40 + n + x : 360 + n + x] for n, (x, y) in enumerate(jitter)]


def seen(path: Path, *, shake: bool = False, subject: bool = False) -> Survey:
    with Footage(path) as footage:
        return survey(footage, plan_of(VALUES, footage), Progress(), shake=shake, subject=subject)


def test_a_steadied_way_keeps_the_pan_and_loses_the_shake(tmp_path: Path) -> None:
    found = seen(filmed(tmp_path / "a.mp4", shaken()), shake=True)

    corrections, zoom = steadied(found, 30.0, FRAME)
    way = np.cumsum(found.moves, axis=0)[:, :2] * 320
    steady = way + corrections[:, :2] * 320

    # What the survey calls a move is the picture's: a pan to the right moves it to the left.
    assert way[-1, 0] == pytest.approx(-39, abs=8)
    assert np.diff(steady, axis=0).std(axis=0).max() < 0.25 * np.diff(way, axis=0).std(axis=0).min()
    assert steady[-1, 0] == pytest.approx(-39, abs=8)
    assert 1.04 <= zoom <= 1.14


def test_a_camera_on_a_stand_is_left_alone(tmp_path: Path) -> None:
    still = [scenery()[:180, :320]] * 20

    corrections, zoom = steadied(seen(filmed(tmp_path / "a.mp4", still), shake=True), 30.0, FRAME)

    assert np.abs(corrections).max() < 0.002
    assert zoom == pytest.approx(1.04, abs=0.01)


def test_a_new_shot_is_noticed_and_starts_a_way_of_its_own(tmp_path: Path) -> None:
    one, other = scenery(1)[:180, :320], scenery(9)[:180, :320]

    found = seen(filmed(tmp_path / "a.mp4", [one] * 12 + [other] * 12), shake=True)

    assert np.flatnonzero(found.cuts).tolist() == [0, 12]
    assert [(s.start, s.stop) for s in shots(found.cuts)] == [(0, 12), (12, 24)]
    assert not found.moves[12].any()


def test_a_crop_follows_what_moves(tmp_path: Path) -> None:
    frames = []
    for number in range(60):
        pixels = np.full((180, 320, 3), (70, 90, 80), np.uint8)
        cv2.circle(pixels, (40 + 4 * number, 90), 22, (250, 80, 40), -1)
        frames.append(pixels)

    found = seen(filmed(tmp_path / "a.mp4", frames), subject=True)
    left = followed(found, 0.32, across=True, fps=30.0) * (320 - 102)

    ball = 40 + 4 * np.arange(60)
    inside = (ball > left) & (ball < left + 102)
    assert inside.mean() > 0.9
    assert np.abs(np.diff(left, 2)).max() < 1.0, "it glides"
    assert left.min() >= 0
    assert left.max() <= 320 - 102


def walking(count: int = 60) -> list[np.ndarray]:
    """Return something sharp that crosses a ground out of focus; the camera stands still."""
    rows, columns = np.mgrid[0:180, 0:320]
    glow = np.exp(-(((columns - 150) / 55) ** 2) - ((rows - 90) / 50) ** 2)[..., None]
    ground = np.array([10, 60, 70]) * (1 - glow) + np.array([240, 130, 60]) * glow
    walker = scenery(4)[100:160, 100:134]
    frames = []
    for number in range(count):
        pixels = ground.astype(np.uint8)
        pixels[60:120, 15 + 4 * number : 49 + 4 * number] = walker
        frames.append(pixels)
    return frames


def test_a_crop_follows_what_crosses_a_ground_out_of_focus(tmp_path: Path) -> None:
    found = seen(filmed(tmp_path / "a.mp4", walking()), subject=True)

    left = followed(found, 0.32, across=True, fps=30.0) * (320 - 102)

    middle = 32 + 4 * np.arange(60)
    assert ((middle > left) & (middle < left + 102)).mean() > 0.9


def test_what_crosses_a_ground_out_of_focus_is_no_move_of_the_camera(tmp_path: Path) -> None:
    found = seen(filmed(tmp_path / "a.mp4", walking()), shake=True)

    assert np.abs(found.moves).max() < 0.002


def test_a_plain_picture_is_cropped_in_the_middle() -> None:
    cuts = np.zeros(10, bool)
    cuts[0] = True
    flat = Survey(np.zeros((10, 4)), cuts, [(0, np.ones((54, 96), np.float32))])

    assert np.allclose(followed(flat, 0.4, across=True, fps=30.0), 0.5, atol=0.02)


def test_a_survey_can_be_canceled(tmp_path: Path) -> None:
    path = filmed(tmp_path / "a.mp4", shaken(20))
    progress = Progress(lambda done: progress.cancel() if done > 0.3 else None)

    with Footage(path) as footage, pytest.raises(CanceledError):
        survey(footage, plan_of(VALUES, footage), progress, shake=True, subject=False)


def standing(places: list[float], count: int = 90) -> list[np.ndarray]:
    """Return something sharp that stands or goes before hills, at shares of the width."""
    rng = np.random.default_rng(6)
    ground = cv2.resize(scenery(3), (320, 180)) // 6 + 90
    figure = scenery(4)[100:160, 100:130]
    frames = []
    for number in range(count):
        pixels = ground.copy()
        left = round(320 * np.interp(number, np.linspace(0, count - 1, len(places)), places)) - 15
        pixels[70:130, left : left + 30] = figure
        frames.append(np.clip(pixels + rng.integers(-2, 3, pixels.shape), 0, 255).astype(np.uint8))
    return frames


def middles(path: Path) -> np.ndarray:
    """Return where the middle of an upright crop of a film is, in shares of the width."""
    return followed(seen(path, subject=True), 0.32, across=True, fps=30.0) * 0.68 + 0.16


def test_who_stands_aside_is_seen_in_the_middle_of_a_crop_that_stands_still(tmp_path: Path) -> None:
    for share in (0.25, 0.75):
        found = middles(filmed(tmp_path / "a.mp4", standing([share])))

        assert np.abs(found - share).max() < 0.05
        assert np.ptp(found) == 0


def test_who_stops_and_goes_on_stays_in_the_crop(tmp_path: Path) -> None:
    places = [0.25, 0.25, 0.25, 0.75, 0.75, 0.75]

    found = middles(filmed(tmp_path / "a.mp4", standing(places, 150)))

    at = np.interp(np.arange(150), np.linspace(0, 149, len(places)), places)
    assert (np.abs(found - at) < 0.13).mean() > 0.95
    assert np.abs(np.diff(found, 2)).max() < 0.003, "it glides"


def test_a_crop_keeps_whoever_runs_to_and_fro(tmp_path: Path) -> None:
    middle = 160 + 125 * np.sin(np.arange(150) / 15 * 0.8)
    frames = []
    for place in middle.round().astype(int).tolist():
        pixels = np.full((180, 320, 3), (120, 140, 120), np.uint8)
        cv2.rectangle(pixels, (place - 14, 60), (place + 14, 160), (230, 70, 40), -1)
        frames.append(pixels)

    found = seen(filmed(tmp_path / "a.mp4", frames), subject=True)
    left = followed(found, 0.32, across=True, fps=30.0) * (320 - 102)

    assert ((middle > left) & (middle < left + 102)).mean() > 0.95
    assert np.abs(np.diff(left, 2)).max() < 1.0, "it glides"
