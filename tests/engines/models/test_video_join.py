"""Joining clips: order, cuts, transitions, sizes, sound and music."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from kit.engines.base import Asset
from kit.engines.media import soundfile
from tests.engines.films import encode
from tests.engines.rendering import film, frames_of, record, render, tone

RED, GREEN, BLUE = (200, 40, 30), (40, 170, 60), (40, 60, 200)


def solid(
    path: Path,
    color: Sequence[int],
    *,
    seconds: float = 1.0,
    size: tuple[int, int] = (128, 72),
    fps: int = 30,
    pitch: float | None = None,
) -> Path:
    """Encode one color, with a tone if a pitch is given."""
    frames = [np.full((size[1], size[0], 3), color, np.uint8)] * round(seconds * fps)
    return film(path, frames, fps=fps, samples=tone(seconds, pitch, 0.2) if pitch else None)


def film_three(folder: Path, **how: Any) -> list[Path]:
    return [solid(folder / f"{n}.mp4", color, **how) for n, color in enumerate((RED, GREEN, BLUE))]


def join(folder: Path, clips: Sequence[Path], **values: Any) -> Asset:
    media: dict[str, Any] = {"clips": list(clips)}
    if "music" in values:
        media["music"] = values.pop("music")
    number = sum(1 for _ in folder.glob("job*"))
    return render("video-join", folder / f"job{number}", media=media, **values)


def colors(asset: Asset) -> list[np.ndarray]:
    return [frame.mean(axis=(0, 1)) for frame in frames_of(asset)]


def near(color: np.ndarray, other: Sequence[int]) -> bool:
    return bool(np.abs(color - np.array(other)).max() < 14)


def test_clips_follow_one_another_with_cuts(tmp_path: Path) -> None:
    asset = join(tmp_path, film_three(tmp_path))

    shown = colors(asset)
    assert (asset.duration_seconds, len(shown)) == (3.0, 90)
    for color, at in ((RED, (0, 29)), (GREEN, (30, 59)), (BLUE, (60, 89))):
        assert all(near(shown[number], color) for number in at)


@pytest.mark.parametrize(
    ("transition", "seconds"),
    [("crossfade", 2.2), ("slide", 2.2), ("wipe", 2.2), ("fade_black", 3.0)],
)
def test_transitions_have_their_duration_and_keep_the_middles(
    tmp_path: Path, transition: str, seconds: float
) -> None:
    asset = join(tmp_path, film_three(tmp_path), transition=transition, transition_seconds=0.4)

    shown = colors(asset)
    assert asset.duration_seconds == pytest.approx(seconds)
    assert len(shown) == round(seconds * 30)
    assert near(shown[5], RED)
    assert near(shown[len(shown) // 2], GREEN)
    assert near(shown[-5], BLUE)
    mixed = [c for c in shown if not any(near(c, known) for known in (RED, GREEN, BLUE))]
    assert 12 <= len(mixed) <= 26
    assert (min(color.max() for color in shown) < 40) == (transition == "fade_black")


def test_a_transition_is_never_longer_than_half_a_clip(tmp_path: Path) -> None:
    clips = [solid(tmp_path / f"{n}.mp4", RED, seconds=s) for n, s in enumerate((1.0, 0.2, 1.0))]

    asset = join(tmp_path, clips, transition="crossfade", transition_seconds=2)

    assert asset.duration_seconds == pytest.approx(2.0)


@pytest.mark.parametrize("fit", ["smart_crop", "blurred_fill"])
def test_clips_of_different_sizes_and_rates_are_joined(tmp_path: Path, fit: str) -> None:
    blue = [np.full((71, 127, 3), BLUE, np.uint8)] * 30
    clips = [
        solid(tmp_path / "a.mp4", RED),
        solid(tmp_path / "b.mp4", GREEN, size=(72, 128), fps=24),
        encode(tmp_path / "c.webm", blue, codec="libvpx-vp9"),
    ]

    asset = join(tmp_path, clips, fit=fit)

    shown = colors(asset)
    assert (asset.width, asset.height) == (128, 72)
    assert len(shown) == 90
    assert near(shown[10], RED)
    assert shown[45].argmax() == 1
    assert near(shown[80], BLUE)


@pytest.mark.parametrize(
    "sizes", [[(64, 64), (64, 64), (96, 96), (96, 160)], [(64, 48), (96, 96), (48, 80)]]
)
def test_the_size_is_that_of_the_largest_clip_of_the_most_frequent_shape(
    tmp_path: Path, sizes: list[tuple[int, int]]
) -> None:
    clips = [solid(tmp_path / f"{n}.mp4", RED, size=s) for n, s in enumerate(sizes)]

    asset = join(tmp_path, clips)

    assert (asset.width, asset.height) == (96, 96)


def test_each_clip_has_its_own_sound_and_a_silent_one_is_silent(tmp_path: Path) -> None:
    clips = [
        solid(tmp_path / f"{n}.mp4", RED, pitch=pitch) for n, pitch in enumerate((400, None, 1200))
    ]

    joined = soundfile.open_sound(join(tmp_path, clips).path).samples[0]

    def strength(start: float, pitch: int) -> float:
        part = joined[round(start * 48_000) : round(start * 48_000) + 24_000]
        return float(np.abs(np.fft.rfft(part))[pitch // 2]) / 12_000

    assert strength(0.25, 400) > 0.1 > 0.01 > strength(0.25, 1200)
    assert max(strength(1.25, 400), strength(1.25, 1200)) < 0.005
    assert strength(2.25, 1200) > 0.1 > 0.01 > strength(2.25, 400)


def test_a_crossfade_also_fades_the_sound_without_a_dip(tmp_path: Path) -> None:
    clips = [solid(tmp_path / f"{p}.mp4", RED, pitch=p) for p in (400, 1200)]

    asset = join(tmp_path, clips, transition="crossfade", transition_seconds=0.5)

    line = soundfile.open_sound(asset.path).samples[0]
    power = np.square(line[4800 : 4800 * 14]).reshape(-1, 4800).mean(axis=1)
    assert power.min() > 0.6 * power.max()


def test_music_plays_during_silent_clips(tmp_path: Path) -> None:
    music = record(tone(1.0, 700, 0.2), tmp_path / "m.wav")

    joined = soundfile.open_sound(join(tmp_path, film_three(tmp_path), music=music).path)

    assert joined.seconds == pytest.approx(3.0, abs=0.05)
    assert np.abs(joined.samples[0, 24_000:120_000]).reshape(-1, 4800).max(axis=1).min() > 0.05
    with av.open(str(join(tmp_path, film_three(tmp_path), sound="mute").path)) as container:
        assert not container.streams.audio
