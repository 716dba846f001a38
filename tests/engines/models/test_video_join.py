"""Clips become one film: in order, at cuts or transitions, with their sound or under music."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import pytest

from kit.engines.base import Asset, Order
from kit.engines.media import soundfile
from kit.engines.media.faces import find
from kit.engines.registry import engine_for
from kit.errors import EngineError
from tests.engines.drawn import face
from tests.engines.films import filmed as encoded
from tests.engines.rendering import filmed, frames_of, parameters_of, recorded, render, tone

RED, GREEN, BLUE = (200, 40, 30), (40, 170, 60), (40, 60, 200)


def plain(
    path: Path,
    color: Sequence[int],
    *,
    seconds: float = 1.0,
    size: tuple[int, int] = (128, 72),
    fps: int = 30,
    pitch: float | None = None,
) -> Path:
    """Film one color, with a tone where a pitch is given."""
    frames = [np.full((size[1], size[0], 3), color, np.uint8)] * round(seconds * fps)
    return filmed(path, frames, fps=fps, heard=tone(seconds, pitch, 0.2) if pitch else None)


def three(folder: Path, **how: Any) -> list[Path]:
    return [plain(folder / f"{n}.mp4", color, **how) for n, color in enumerate((RED, GREEN, BLUE))]


def joined(folder: Path, clips: Sequence[Path], **values: Any) -> Asset:
    media: dict[str, Any] = {"clips": list(clips)}
    if "music" in values:
        media["music"] = values.pop("music")
    number = sum(1 for _ in folder.glob("job*"))
    return render("video-join", folder / f"job{number}", media=media, **values)


def colors(asset: Asset) -> list[np.ndarray]:
    return [frame.mean(axis=(0, 1)) for frame in frames_of(asset)]


def near(color: np.ndarray, other: Sequence[int]) -> bool:
    return bool(np.abs(color - np.array(other)).max() < 14)


def test_clips_follow_one_another_at_a_cut(tmp_path: Path) -> None:
    asset = joined(tmp_path, three(tmp_path))

    shown = colors(asset)
    assert (asset.duration_seconds, len(shown)) == (3.0, 90)
    for color, at in ((RED, (0, 29)), (GREEN, (30, 59)), (BLUE, (60, 89))):
        assert all(near(shown[number], color) for number in at)


@pytest.mark.parametrize(
    ("transition", "seconds"),
    [("crossfade", 2.2), ("slide", 2.2), ("wipe", 2.2), ("fade_black", 3.0)],
)
def test_transitions_take_their_time_and_leave_the_middles_alone(
    tmp_path: Path, transition: str, seconds: float
) -> None:
    asset = joined(tmp_path, three(tmp_path), transition=transition, transition_seconds=0.4)

    shown = colors(asset)
    assert asset.duration_seconds == pytest.approx(seconds)
    assert len(shown) == round(seconds * 30)
    assert near(shown[5], RED)
    assert near(shown[len(shown) // 2], GREEN)
    assert near(shown[-5], BLUE)
    mixed = [c for c in shown if not any(near(c, known) for known in (RED, GREEN, BLUE))]
    assert 12 <= len(mixed) <= 26
    assert (min(color.max() for color in shown) < 40) == (transition == "fade_black")


@pytest.mark.parametrize("transition", ["slide", "wipe"])
def test_a_slide_and_a_wipe_bring_the_new_clip_from_one_side(
    tmp_path: Path, transition: str
) -> None:
    clips = three(tmp_path)[:2]
    shown = frames_of(joined(tmp_path, clips, transition=transition, transition_seconds=0.6))

    half = shown[30 - 9]
    sides = half[36, 8], half[36, -8]
    assert sum(near(side, GREEN) for side in sides) == 1
    assert sum(near(side, RED) for side in sides) == 1


def test_a_transition_is_never_longer_than_half_a_clip(tmp_path: Path) -> None:
    clips = [plain(tmp_path / f"{n}.mp4", RED, seconds=s) for n, s in enumerate((1.0, 0.2, 1.0))]

    asset = joined(tmp_path, clips, transition="crossfade", transition_seconds=2)

    assert asset.duration_seconds == pytest.approx(2.0)


@pytest.mark.parametrize("fit", ["smart_crop", "blurred_fill"])
def test_clips_of_all_sizes_and_rates_become_one(tmp_path: Path, fit: str) -> None:
    blue = [np.full((71, 127, 3), BLUE, np.uint8)] * 30
    clips = [
        plain(tmp_path / "a.mp4", RED),
        plain(tmp_path / "b.mp4", GREEN, size=(72, 128), fps=24),
        encoded(tmp_path / "c.webm", blue, codec="libvpx-vp9"),
    ]

    asset = joined(tmp_path, clips, fit=fit)

    shown = colors(asset)
    assert (asset.width, asset.height) == (128, 72)
    assert len(shown) == 90
    assert near(shown[10], RED)
    assert shown[45].argmax() == 1
    assert near(shown[80], BLUE)


def test_clips_of_one_shape_become_as_large_as_the_largest_of_them(tmp_path: Path) -> None:
    sizes = [(64, 64), (64, 64), (96, 96), (96, 160)]
    clips = [plain(tmp_path / f"{n}.mp4", RED, size=s) for n, s in enumerate(sizes)]

    asset = joined(tmp_path, clips)

    assert (asset.width, asset.height) == (96, 96)


def standing(x: int, y: int, size: tuple[int, int]) -> np.ndarray:
    """Return somebody in a bright suit before a wall, the face's corner at a place."""
    pixels = np.full((size[1], size[0], 3), (120, 130, 140), np.uint8)
    pixels[y + 170 :, max(0, x - 40) : x + 200] = (210, 60, 30)
    pixels[y : y + 180, x : x + 160] = cv2.resize(face(), (160, 180), interpolation=cv2.INTER_AREA)
    return pixels


@pytest.mark.parametrize("y", [16, 200, 400])
def test_a_portrait_brought_to_a_wide_frame_keeps_its_head(tmp_path: Path, y: int) -> None:
    tall = filmed(tmp_path / "tall.mp4", [standing(100, y, (360, 640))] * 6)

    frame = frames_of(joined(tmp_path, [tall, tall], aspect_ratio="16:9"))[3]

    (found,) = find(np.ascontiguousarray(frame, np.uint8))
    assert found.y - 0.25 * found.height > 0
    assert found.y + found.height < frame.shape[0]


def test_a_crop_of_a_clip_follows_who_walks_through_it(tmp_path: Path) -> None:
    places = np.linspace(20, 460, 48).round().astype(int).tolist()
    wide = filmed(tmp_path / "wide.mp4", [standing(x, 60, (640, 360)) for x in places], fps=12)

    shown = frames_of(joined(tmp_path, [wide, wide], aspect_ratio="9:16"))

    assert all(len(find(np.ascontiguousarray(frame, np.uint8))) == 1 for frame in shown[:48:6])


def test_of_shapes_as_frequent_the_largest_clip_gives_its_own(tmp_path: Path) -> None:
    sizes = [(128, 96), (256, 144), (96, 160)]
    clips = [plain(tmp_path / f"{n}.mp4", RED, size=s) for n, s in enumerate(sizes)]

    asset = joined(tmp_path, clips)

    assert (asset.width, asset.height) == (256, 144)


def test_each_clip_is_heard_when_it_is_seen_and_a_silent_one_is_silent(tmp_path: Path) -> None:
    clips = [
        plain(tmp_path / f"{n}.mp4", RED, pitch=pitch) for n, pitch in enumerate((400, None, 1200))
    ]

    heard = soundfile.opened(joined(tmp_path, clips).path).samples[0]

    def strength(start: float, pitch: int) -> float:
        part = heard[round(start * 48_000) : round(start * 48_000) + 24_000]
        return float(np.abs(np.fft.rfft(part))[pitch // 2]) / 12_000

    assert strength(0.25, 400) > 0.1 > 0.01 > strength(0.25, 1200)
    assert max(strength(1.25, 400), strength(1.25, 1200)) < 0.005
    assert strength(2.25, 1200) > 0.1 > 0.01 > strength(2.25, 400)


def test_a_crossfade_is_heard_too_without_a_dip(tmp_path: Path) -> None:
    clips = [plain(tmp_path / f"{p}.mp4", RED, pitch=p) for p in (400, 1200)]

    asset = joined(tmp_path, clips, transition="crossfade", transition_seconds=0.5)

    line = soundfile.opened(asset.path).samples[0]
    power = np.square(line[4800 : 4800 * 14]).reshape(-1, 4800).mean(axis=1)
    assert power.min() > 0.6 * power.max()


def test_music_runs_under_silent_clips(tmp_path: Path) -> None:
    music = recorded(tone(1.0, 700, 0.2), tmp_path / "m.wav")

    heard = soundfile.opened(joined(tmp_path, three(tmp_path), music=music).path)

    assert heard.seconds == pytest.approx(3.0, abs=0.05)
    assert np.abs(heard.samples[0, 24_000:120_000]).reshape(-1, 4800).max(axis=1).min() > 0.05
    with av.open(str(joined(tmp_path, three(tmp_path), sound="mute").path)) as container:
        assert not container.streams.audio


def test_what_cannot_be_joined_is_told_in_a_sentence(tmp_path: Path) -> None:
    one = plain(tmp_path / "a.mp4", RED, seconds=0.2)

    with pytest.raises(EngineError, match="only one clip") as told:
        joined(tmp_path, [one])
    assert told.value.code == "too_few"
    with pytest.raises(EngineError, match="nothing to replace it by"):
        joined(tmp_path, [one, one], sound="replace")


def test_clips_that_are_too_long_together_are_refused_before_the_charge() -> None:
    engine = engine_for("video-join")
    order = Order(
        prompt="",
        parameters=parameters_of(engine),
        media={"clips": 3},
        seconds={"clips": [300, 299, 2.4]},
    )

    assert list(engine.check(order)) == [
        ("clips", "the clips last 601 s together; at most 600 s can be joined")
    ]
