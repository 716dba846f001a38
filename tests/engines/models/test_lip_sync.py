"""Talking portraits: the mouth moves with the voice, and only then."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kit.engines.base import Asset, Progress
from kit.engines.editing.lipsync.voice import analyze_voice
from kit.engines.media import sound, soundfile
from kit.errors import EngineError
from tests.engines.drawings import LINE, face, locate
from tests.engines.rendering import RATE, film, frames_of, record, render, save

AT = {"x": 160.0, "y": 175.0, "size": 115.0}
STILL = face(**AT)
#: First two formants in Hz. Source: Peterson and Barney (1952), men's means.
VOWELS = {"ah": (730, 1090), "ee": (270, 2290), "oo": (300, 870)}


def vowel(seconds: float, level: float = 0.5, name: str = "ah", pitch: float = 120.0) -> np.ndarray:
    """Return a vowel whose root mean square is about half of `level`."""
    time = np.arange(round(seconds * RATE)) / RATE
    total = np.zeros_like(time)
    for number in range(1, int(5000 / pitch)):
        near = [(number * pitch - formant) / 90 for formant in (*VOWELS[name], 2500)]
        loud = sum(g / (1 + x * x) for g, x in zip((1.0, 0.5, 0.15), near, strict=True))
        total += (loud + 0.12 / number) * np.cos(2 * np.pi * number * pitch * time + number**2)
    edge = min(len(time) // 4, round(0.015 * RATE))
    rise = np.minimum(np.arange(len(time)), np.arange(len(time))[::-1]) / edge
    return total / np.sqrt((total**2).mean()) * level / 2 * rise.clip(0, 1)


def pause(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE))


@pytest.fixture(scope="module")
def speak(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Asset]:
    """Render the drawn face with a sound, each only once."""
    folder = tmp_path_factory.mktemp("spoken")
    portrait = save(STILL, folder / "face.png")

    @cache
    def render_once(name: str, intensity: float) -> Asset:
        voice = recording(folder / f"{name}.wav", STEPS[name]())
        values = {"head_motion": 0, "blink": False, "intensity": intensity}
        job = folder / f"{name} {intensity}"
        return render("lip-sync", job, media={"portrait": portrait, "audio": voice}, **values)

    return lambda name, intensity=1.0: render_once(name, intensity)


STEPS: Mapping[str, Callable[[], np.ndarray]] = {
    "once": lambda: np.concatenate([pause(0.28), vowel(0.24, 0.7), pause(0.28)]),
    "louder": lambda: np.concatenate([vowel(0.4, 0.3), pause(0.2), vowel(0.4, 0.8)]),
    "open and round": lambda: np.concatenate([vowel(0.4), pause(0.2), vowel(0.4, name="oo")]),
}
Speak = Callable[..., Asset]


def recording(path: Path, line: np.ndarray) -> Path:
    return record(np.stack([line, line]).astype(np.float32), path)


def darkness(frame: np.ndarray) -> int:
    """Count the dark pixels in the open mouth of the drawing."""
    scale = frame.shape[0] / STILL.shape[0]
    x, y = (round(value * scale) for value in locate(0, LINE + 0.06, **AT))
    reach = round(28 * scale)
    return int((frame[y - reach : y + reach, x - reach : x + reach].max(axis=2) < 75).sum())


def mouth_opening(asset: Asset) -> np.ndarray:
    """Return how far the mouth is open in each frame, compared with the closed mouth."""
    counts = np.array([darkness(frame) for frame in frames_of(asset)])
    return np.asarray(counts - counts.min())


def test_the_mouth_opens_in_sync_with_the_voice(speak: Speak) -> None:
    asset = speak("once")

    opened = np.flatnonzero(mouth_opening(asset) > 0.4 * mouth_opening(asset).max()) / 25
    assert mouth_opening(asset).max() > 150
    assert opened[0] == pytest.approx(0.28, abs=0.07)
    assert opened[-1] == pytest.approx(0.50, abs=0.09)
    level = np.abs(soundfile.open_sound(asset.path).samples.mean(axis=0))
    loud = np.flatnonzero(level > 0.2 * level.max()) / sound.RATE
    assert (loud[0], loud[-1]) == (pytest.approx(0.28, abs=0.02), pytest.approx(0.52, abs=0.02))


def test_louder_and_more_open_vowels_open_the_mouth_more(speak: Speak, tmp_path: Path) -> None:
    louder = mouth_opening(speak("louder"))
    voice = soundfile.open_sound(recording(tmp_path / "voice.wav", STEPS["open and round"]()))
    jaw = analyze_voice(voice, 25, Progress()).jaw

    assert 20 < louder[2:10].max() < louder[17:24].max()
    assert jaw[2:10].max() > 1.1 * jaw[17:24].max()


@pytest.mark.parametrize(
    ("kind", "moves"), [("white noise", False), ("hum", False), ("voice", True)]
)
def test_a_voice_moves_the_mouth_and_noise_does_not(kind: str, moves: bool, tmp_path: Path) -> None:
    rng, times = np.random.default_rng(3), np.arange(2 * RATE) / RATE
    lines = {
        "white noise": 0.2 * rng.standard_normal(2 * RATE),
        "hum": 0.3 * np.sin(2 * np.pi * 100 * times) + 0.1 * np.sin(2 * np.pi * 200 * times),
        "voice": np.concatenate([STEPS["louder"](), STEPS["open and round"]()]),
    }
    voice = soundfile.open_sound(recording(tmp_path / "sound.wav", lines[kind]))

    assert (analyze_voice(voice, 25, Progress()).jaw.mean() > 0.3) == moves


def test_intensity_sets_how_far_the_mouth_opens(speak: Speak) -> None:
    none, some, usual = (mouth_opening(speak("once", intensity)).max() for intensity in (0, 0.5, 1))

    assert none < 30 < some < usual


@pytest.fixture(scope="module")
def swaying_video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A silent video of the face, which moves to the right and back in 0.6 s."""
    shifts = (0, 1, 3, 5, 7, 8, 8, 7, 5, 3, 1, 0)
    frames = [np.roll(STILL, shift, axis=1) for shift in shifts]
    return film(tmp_path_factory.mktemp("swaying") / "video.mp4", frames, fps=20)


def test_a_short_video_is_repeated_while_it_speaks(swaying_video: Path, tmp_path: Path) -> None:
    voice = recording(tmp_path / "steps.wav", STEPS["louder"]())
    media = {"video": swaying_video, "audio": voice}

    asset = render("lip-sync", tmp_path / "job", media=media)

    shown = frames_of(asset)
    assert len(shown) == 25
    assert asset.metadata["face_in_sight"] == 1.0
    top = [frame[: frame.shape[0] // 2] for frame in shown]
    assert np.abs(top[15] - top[0]).mean() < 0.35 * np.abs(top[7] - top[0]).mean()
    assert darkness(shown[20]) > darkness(shown[13]) + 100


@pytest.mark.parametrize("kind", ["portrait", "video"])
def test_a_missing_face_is_an_error_unless_the_mouth_is_given(tmp_path: Path, kind: str) -> None:
    blank = np.full((120, 160, 3), 180, np.uint8)
    blank[70:73, 60:100] = 40
    files = {
        "portrait": save(blank, tmp_path / "portrait.png"),
        "video": film(tmp_path / "video.mp4", [blank] * 5),
    }
    voice = recording(tmp_path / "voice.wav", STEPS["once"]())
    media = {kind: files[kind], "audio": voice}

    with pytest.raises(EngineError, match=r"no face was found.*mouth_width") as caught:
        render("lip-sync", tmp_path / "a", media=media)
    mouth = {"mouth_x": 0.5, "mouth_y": 0.6, "mouth_width": 0.25, "head_motion": 0}
    shown = frames_of(render("lip-sync", tmp_path / "b", media=media, **mouth))

    assert caught.value.code == "no_face"
    changes = [np.abs(frame - shown[0]).mean() for frame in shown]
    assert max(changes) > 1.5
    assert changes[-1] < 0.4 * max(changes)


@pytest.mark.parametrize("side", [0, 1])
def test_a_given_mouth_position_selects_one_of_two_faces(tmp_path: Path, side: int) -> None:
    crowd = save(np.hstack([STILL, STILL]), tmp_path / "crowd.png")
    voice = recording(tmp_path / "voice.wav", STEPS["once"]())
    media = {"portrait": crowd, "audio": voice}
    values: dict[str, Any] = {"mouth_x": 0.25 + 0.5 * side, "head_motion": 0, "blink": False}

    asset = render("lip-sync", tmp_path / "job", media=media, **values)

    shown = frames_of(asset)
    moved = np.abs(shown[10] - shown[0]).mean(axis=(0, 2))
    halves = [float(half.mean()) for half in np.array_split(moved, 2)]
    assert halves[side] > 3 * halves[1 - side]
    assert asset.metadata["mouth_x"] == pytest.approx(0.25 + 0.5 * side, abs=0.02)


@pytest.mark.parametrize("values", [{"mouth_x": 0.02, "mouth_y": 0.5}, {"mouth_y": 0.01}])
def test_a_mouth_position_outside_the_face_is_refused(
    tmp_path: Path, values: dict[str, float]
) -> None:
    portrait = save(STILL, tmp_path / "face.png")
    voice = recording(tmp_path / "voice.wav", pause(0.2))

    with pytest.raises(EngineError, match="outside the face") as caught:
        render("lip-sync", tmp_path / "a", media={"portrait": portrait, "audio": voice}, **values)

    assert caught.value.code == "off_face"


def test_a_video_that_shows_a_face_only_briefly_is_refused(tmp_path: Path) -> None:
    frames = [STILL] * 4 + [np.full_like(STILL, 180)] * 36
    voice = recording(tmp_path / "long.wav", vowel(1.6, 0.7))
    media = {"video": film(tmp_path / "video.mp4", frames), "audio": voice}

    with pytest.raises(EngineError, match=r"only 1\d% of the video; trim it") as caught:
        render("lip-sync", tmp_path / "a", media=media)

    assert caught.value.code == "no_face"


def test_audio_that_is_too_long_is_refused_before_any_work(tmp_path: Path) -> None:
    portrait = save(STILL, tmp_path / "face.png")
    media = {"portrait": portrait, "audio": recording(tmp_path / "long.wav", pause(121))}
    seen: list[float] = []

    with pytest.raises(EngineError, match="more than 120 s; cut it") as caught:
        render("lip-sync", tmp_path / "a", media=media, progress=Progress(seen.append))

    assert caught.value.code == "too_long"
    assert max(seen) < 0.03
