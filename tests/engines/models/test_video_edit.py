"""Edits of videos: trim, speed, size, captions and sound."""

import threading
import tracemalloc
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest
from PIL import Image

from kit.engines.base import Asset, CanceledError, Order, Progress
from kit.engines.media import soundfile
from kit.engines.media.sound import measure
from kit.engines.registry import engine_for
from kit.errors import EngineError
from tests.engines.films import clicks, encode, onsets
from tests.engines.rendering import film, frames_of, parameters_of, record, render, tone

EDIT = engine_for("video-edit")
GREEN = np.full((96, 128, 3), (60, 160, 90), np.uint8)
CAPTION = np.full((180, 320, 3), (60, 120, 80), np.uint8)


def edit(folder: Path, video: Path, progress: Progress | None = None, **values: Any) -> Asset:
    number = sum(1 for _ in folder.glob("job*"))
    media = {name: values.pop(name) for name in ("voice", "music") if name in values}
    how = {"media": {"video": video, **media}, **values}
    return render("video-edit", folder / f"job{number}", progress=progress, **how)


def film_flashes(folder: Path, seconds: int = 3) -> Path:
    """Film a flash with a beep in the middle of every second."""
    lit = [15 <= number % 30 < 21 for number in range(30 * seconds)]
    frames = [np.full((96, 128, 3), 235 if light else 30, np.uint8) for light in lit]
    return film(folder / "flashes.mp4", frames, fps=30, samples=clicks(float(seconds)))


def film_hum(folder: Path, seconds: float, samples: np.ndarray, fps: int = 30) -> Path:
    frames = [GREEN[:48, :64]] * round(seconds * fps)
    return film(folder / "humming.mp4", frames, fps=fps, samples=samples)


def fps_of(asset: Asset) -> float:
    with av.open(str(asset.path)) as container:
        return float(container.streams.video[0].average_rate or 0)


def strength(asset: Asset, pitch: float) -> float:
    """Return the loudness of one pitch in the middle second of a result."""
    line = soundfile.open_sound(asset.path).samples[0]
    part = line[len(line) // 2 - 24_000 : len(line) // 2 + 24_000]
    return float(np.abs(np.fft.rfft(part))[round(pitch)]) / 24_000


def test_a_video_without_edits_stays_the_same(tmp_path: Path) -> None:
    source = film_flashes(tmp_path)
    asset = edit(tmp_path, source)

    assert (asset.width, asset.height, asset.duration_seconds) == (128, 96, 3.0)
    assert fps_of(asset) == 30
    assert np.abs(np.array(frames_of(asset)) - np.array(frames_of(source))).mean() < 3


@pytest.mark.parametrize("speed", [0.5, 1, 2])
@pytest.mark.parametrize("kind", ["mp4", "webm"])
def test_picture_and_sound_stay_in_sync_with_trim_and_speed(
    tmp_path: Path, speed: float, kind: str
) -> None:
    asset = edit(tmp_path, film_flashes(tmp_path), start=0.25, end=2.75, speed=speed, format=kind)

    expected = [(moment - 0.25) / speed for moment in (0.5, 1.5, 2.5)]
    bright = [frame.mean() > 128 for frame in frames_of(asset)]
    lit = [n / fps_of(asset) for n in range(1, len(bright)) if bright[n] and not bright[n - 1]]
    assert asset.duration_seconds == pytest.approx(2.5 / speed, abs=0.05)
    assert lit == pytest.approx(expected, abs=0.05)
    assert onsets(soundfile.open_sound(asset.path).samples) == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("fps", [12, Fraction("12.5"), 24, 25, 30, 50, 60])
def test_a_usual_frame_rate_is_kept(tmp_path: Path, fps: int | Fraction) -> None:
    asset = edit(tmp_path, film(tmp_path / "a.mp4", [GREEN] * 12, fps=fps))

    assert fps_of(asset) == pytest.approx(float(fps), rel=0.001)
    assert asset.duration_seconds == pytest.approx(float(12 / fps), abs=0.01)


@pytest.mark.parametrize("speed", [0.25, 0.5, 0.8])
def test_slow_motion_shows_every_frame_for_the_same_time(tmp_path: Path, speed: float) -> None:
    frames = [np.full((48, 64, 3), 40 + 20 * number, np.uint8) for number in range(10)]

    shown = frames_of(edit(tmp_path, film(tmp_path / "a.mp4", frames, fps=30), speed=speed))

    light = [round((frame.mean() - 40) / 20) for frame in shown]
    counts = [light.count(number) for number in range(1, 9)]
    assert max(counts) - min(counts) <= 1
    assert light == sorted(light)


@pytest.mark.parametrize(
    ("size", "values", "expected"),
    [
        ((127, 95), {}, (126, 94)),
        ((20, 12), {}, (106, 64)),
        ((1000, 50), {}, (1280, 64)),
        ((320, 180), {"aspect_ratio": "9:16", "resolution": "480p"}, (480, 854)),
        ((320, 180), {"aspect_ratio": "4:5"}, (180, 226)),
    ],
)
def test_sizes_are_even_and_follow_the_settings_or_the_input(
    tmp_path: Path, size: tuple[int, int], values: dict[str, str], expected: tuple[int, int]
) -> None:
    pixels = [np.full((size[1], size[0], 3), 90, np.uint8)] * 3

    asset = edit(tmp_path, encode(tmp_path / "a.webm", pixels, codec="libvpx-vp9"), **values)

    assert asset.width % 2 == asset.height % 2 == 0
    assert (asset.width, asset.height) == pytest.approx(expected, abs=2)


def measure_shifts(frames: list[np.ndarray]) -> np.ndarray:
    """Return the shift of each frame from the one before."""
    gray = [frame.mean(axis=2).astype(np.float32) for frame in frames]
    return np.array([cv2.phaseCorrelate(one, other)[0] for one, other in pairwise(gray)])


@pytest.mark.parametrize("shaken", [True, False])
def test_a_stabilized_video_loses_its_shake_and_a_still_one_is_unchanged(
    tmp_path: Path, shaken: bool
) -> None:
    rng = np.random.default_rng(1)
    base = cv2.resize(
        rng.integers(20, 235, (30, 50, 3), np.uint8), (500, 300), interpolation=cv2.INTER_CUBIC
    )
    jitter = rng.normal(0, 3 * shaken, (30, 2)).round().astype(int)
    frames = [
        base[40 + y : 220 + y, 40 + n * shaken + x : 360 + n * shaken + x]
        for n, (x, y) in enumerate(jitter)
    ]
    source = film(tmp_path / "a.mp4", frames)

    before, after = (
        measure_shifts(frames_of(source)),
        measure_shifts(frames_of(edit(tmp_path, source, stabilize=True))),
    )

    if shaken:
        assert after.std(axis=0).max() < 0.4 * before.std(axis=0).min()
        assert after.sum(axis=0)[0] == pytest.approx(before.sum(axis=0)[0] * 1.08, abs=12)
    else:
        assert np.abs(after).max() < 0.5


def test_a_crop_follows_a_walking_person(tmp_path: Path) -> None:
    wall = cv2.resize(np.random.default_rng(3).integers(90, 130, (12, 20, 3), np.uint8), (320, 180))
    frames = [wall.copy() for _ in range(48)]
    for number, frame in enumerate(frames):
        x = 30 + 5 * number
        cv2.rectangle(frame, (x - 10, 70), (x + 10, 150), (220, 30, 40), -1)
        cv2.circle(frame, (x, 58), 11, (240, 200, 170), -1)

    shown = frames_of(edit(tmp_path, film(tmp_path / "a.mp4", frames), aspect_ratio="9:16"))

    red = [(frame[..., 0] - frame[..., 1] > 90).any(axis=0) for frame in shown]
    assert all(columns.sum() > 16 and not columns[[0, -1]].any() for columns in red)


@pytest.mark.parametrize("seconds", [0.5, 5])
def test_fades_begin_and_end_in_black_and_leave_the_middle_bright(
    tmp_path: Path, seconds: float
) -> None:
    source = film(tmp_path / "a.mp4", [np.full((96, 128, 3), 200, np.uint8)] * 60, fps=30)

    shown = frames_of(edit(tmp_path, source, fade_in=seconds, fade_out=seconds))

    light = [frame.mean() for frame in shown]
    assert max(light[0], light[-1]) < 4
    assert light[:15] == sorted(light[:15])
    assert max(light[25:35]) == pytest.approx(200, abs=10)


def find_letters(frame: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(frame - CAPTION[0, 0]).max(axis=2) > 40)


def caption(folder: Path, text: str, **values: Any) -> list[np.ndarray]:
    count = round(25 * values.pop("seconds", 2.0))
    return frames_of(
        edit(folder, film(folder / "c.mp4", [CAPTION] * count), captions=text, **values)
    )


@pytest.mark.parametrize(("position", "rows"), [("top", 0), ("middle", 60), ("bottom", 120)])
@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("bold", "мир и море"),
        ("clean", "Έλληνες"),
        ("karaoke", "שלום עולם"),
        ("clean", "iPhone הוא טלפון"),
        ("bold", "Donaudampfschifffahrtsgesellschaft"),
    ],
)
def test_captions_are_at_their_position_inside_the_frame(
    tmp_path: Path, position: str, rows: int, style: str, text: str
) -> None:
    shown = caption(tmp_path, text, caption_style=style, caption_position=position, seconds=1)

    where = find_letters(shown[10])
    assert where[rows : rows + 60].sum() > 0.9 * where.sum() > 100
    assert not where[:, :3].any()
    assert not where[:, -3:].any()


def test_captions_are_shown_while_they_are_spoken(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    loud = np.full(4 * 48_000, 0.0005)
    for start, end in ((0.8, 1.6), (2.6, 3.6)):
        loud[round(start * 48_000) : round(end * 48_000)] = 0.2
    line = (rng.standard_normal(len(loud)) * loud).astype(np.float32)
    voice = record(np.stack([line, line]), tmp_path / "v.wav")

    shown = caption(tmp_path, "The sea is deep. Nobody lives there.", seconds=4.0, voice=voice)

    there = np.array([find_letters(frame).any() for frame in shown])
    at = np.arange(len(there)) / 25
    spoken = ((at > 0.9) & (at < 1.6)) | ((at > 2.7) & (at < 3.6))
    quiet = (at < 0.7) | ((at > 1.9) & (at < 2.5)) | (at > 3.9)
    assert there[spoken].all()
    assert not there[quiet].any()


def test_emoji_in_captions_are_left_out_and_listed(tmp_path: Path) -> None:
    plain = edit(tmp_path, film_flashes(tmp_path, 1), captions="a b")
    asset = edit(tmp_path, film_flashes(tmp_path, 1), captions="a 🦑 b")

    assert asset.metadata["left_out"] == ["🦑"]
    assert "left_out" not in plain.metadata
    assert asset.path.read_bytes() == plain.path.read_bytes()


@pytest.mark.parametrize("moment", [0.6, 1.0, 99, 0])
def test_the_preview_shows_the_given_moment(tmp_path: Path, moment: float) -> None:
    asset = edit(tmp_path, film_flashes(tmp_path), poster_time=moment)

    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        assert (np.asarray(preview).mean() > 128) == (moment == 0.6)


@pytest.mark.parametrize(
    ("options", "own", "voice", "music"),
    [
        ({"sound": "keep"}, True, True, True),
        ({"sound": "replace"}, False, True, True),
        ({"sound": "keep", "music_volume": 0}, True, True, False),
    ],
)
def test_the_result_has_the_sounds_of_its_settings(
    tmp_path: Path, options: dict[str, Any], own: bool, voice: bool, music: bool
) -> None:
    asset = edit(
        tmp_path,
        film_hum(tmp_path, 3.0, tone(3.0, 300), fps=10),
        voice=record(tone(3.0, 700), tmp_path / "v.wav"),
        music=record(tone(1.0, 2500), tmp_path / "m.wav"),
        **options,
    )

    assert [strength(asset, pitch) > 0.005 for pitch in (300, 700, 2500)] == [own, voice, music]
    assert strength(asset, 700) > 2 * max(strength(asset, 300), strength(asset, 2500))


def test_a_mute_or_silent_video_has_no_sound_track(tmp_path: Path) -> None:
    silent = film(tmp_path / "s.mp4", [GREEN] * 4)
    for asset in (edit(tmp_path, film_flashes(tmp_path, 1), sound="mute"), edit(tmp_path, silent)):
        with av.open(str(asset.path)) as container:
            assert not container.streams.audio


def test_sound_is_brought_to_the_usual_loudness(tmp_path: Path) -> None:
    source = film_hum(tmp_path, 3.0, tone(3.0, 500, level=0.06), fps=10)
    found = [
        measure(soundfile.open_sound(edit(tmp_path, source, normalize=on).path))[0]
        for on in (True, False)
    ]

    assert found == pytest.approx([-14.0, -24.4], abs=1.0)


def test_the_sound_of_an_edit_is_never_all_in_memory(tmp_path: Path) -> None:
    source = film_hum(tmp_path, 50.0, tone(50.0, 300), fps=4)
    music = record(tone(2.0, 2500), tmp_path / "m.wav")

    tracemalloc.start()
    try:
        asset = edit(tmp_path, source, speed=4, music=music)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert asset.duration_seconds == 12.5
    assert most < 14e6, "it is 19 MB"


def test_a_part_that_begins_within_a_sound_does_not_click(tmp_path: Path) -> None:
    source = film_hum(tmp_path, 2.0, tone(2.0, 110), fps=10)

    # A quarter of a wave after its start: at its peak.
    line = soundfile.open_sound(edit(tmp_path, source, start=1 + 0.25 / 110).path).samples[0]

    assert np.abs(np.diff(line, 2))[:480].max() < 0.003
    assert np.abs(line[480:4800]).max() > 0.1


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"start": 9}, "bad_range"),
        ({"start": 0.5, "end": 0.5}, "bad_range"),
        ({"captions": "word " * 200}, "captions_too_long"),
        ({"captions": "a 日 b"}, "no_letters"),
    ],
)
def test_an_impossible_edit_is_refused_with_its_code(
    tmp_path: Path, options: dict[str, Any], code: str
) -> None:
    with pytest.raises(EngineError) as caught:
        edit(tmp_path, film_flashes(tmp_path, 1), **options)

    assert caught.value.code == code
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    ("seconds", "values", "field", "sentence"),
    [
        (5.0, {"start": 30}, "start", "begins at 30 s, but the video lasts only 5 s"),
        (5.0, {"start": 2, "end": 1}, "end", "ends at 1 s, but begins at 2 s"),
        (700.0, {}, "video", "lasts 700 s; at most 600 s"),
        (400.0, {"speed": 0.5}, "speed", "would last 800 s; at most 600 s"),
        (400.0, {"speed": 0.5, "start": 150}, "", ""),
        (None, {"start": 30}, "", ""),
        (20.0, {"captions": "honey never spoils " * 60}, "captions", "shorten them"),
        (20.0, {"captions": "honey never spoils " * 60, "speed": 0.25}, "", ""),
        (None, {"captions": "x " * 30_000}, "captions", "at most 30,000"),
        (None, {"captions": "hello שΓ"}, "captions", "others: ש"),
        (None, {"captions": "ȿ ɐ Γειά שלום Привет z\u0327 \u202eright\u202c"}, "", ""),
        (None, {"captions": "今日は", "caption_style": "karaoke"}, "captions", "今"),
    ],
)
def test_an_impossible_edit_is_refused_before_it_is_charged(
    seconds: float | None, values: dict[str, Any], field: str, sentence: str
) -> None:
    known = {} if seconds is None else {"video": [seconds]}
    parameters = parameters_of(EDIT, **values)
    order = Order(prompt="", parameters=parameters, media={"video": 1}, seconds=known)

    found = dict(EDIT.check(order))

    assert list(found) == ([field] if field else [])
    assert not field or sentence in found[field]


@pytest.mark.parametrize("at", [0.05, 0.3, 0.8])
def test_a_canceled_edit_leaves_no_thread_and_no_open_file(tmp_path: Path, at: float) -> None:
    progress = Progress(lambda done: progress.cancel() if done >= at else None)

    with pytest.raises(CanceledError):
        edit(tmp_path, film_flashes(tmp_path, 1), progress, stabilize=True, aspect_ratio="1:1")

    assert [t.name for t in threading.enumerate() if t.name == "clip-encoder"] == []
    descriptors = Path("/proc/self/fd")
    if descriptors.exists():
        targets = [str(fd.readlink()) for fd in descriptors.iterdir() if fd.is_symlink()]
        assert not [target for target in targets if str(tmp_path) in target]
