from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from kit import pricing
from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.media import sound
from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.sound import Sound
from kit.engines.models.video_join import Join
from kit.errors import EngineError
from kit.wire import Model
from tests.engines.films import filmed

DEFAULTS = {p.name: p.default for p in Join.definition.settings if p.default is not None}
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
    heard = None
    if pitch:
        wave = 0.2 * np.sin(2 * np.pi * pitch * np.arange(round(seconds * 48_000)) / 48_000)
        heard = Sound(np.stack([wave, wave]).astype(np.float32))
    with Clip(path, *size, fps=fps, sound=heard) as clip:
        for _ in range(round(seconds * fps)):
            clip.add(rgb_frame(np.full((size[1], size[0], 3), color, np.uint8)))
    return path


def three(folder: Path, **how: Any) -> list[Path]:
    return [plain(folder / f"{n}.mp4", color, **how) for n, color in enumerate((RED, GREEN, BLUE))]


def render(
    folder: Path, clips: Sequence[Path], progress: Progress | None = None, **values: Any
) -> Asset:
    target = folder / "result"
    target.mkdir(exist_ok=True)
    media: dict[str, Sequence[Path]] = {"clips": clips}
    if music := values.pop("music", None):
        media["music"] = [music]
    job = Job(prompt="", parameters={**DEFAULTS, **values}, folder=target, media=media)
    return Join().render(job, progress or Progress())


def colors(asset: Asset) -> list[np.ndarray]:
    with Footage(asset.path) as footage:
        return [frame.mean(axis=(0, 1)) for frame in footage.frames(footage.fps)]


def near(color: np.ndarray, other: Sequence[int]) -> bool:
    return bool(np.abs(color - np.array(other)).max() < 14)


def test_clips_follow_one_another_at_a_cut(tmp_path: Path) -> None:
    asset = render(tmp_path, three(tmp_path))

    shown = colors(asset)
    assert (asset.duration_seconds, len(shown)) == (3.0, 90)
    assert [near(shown[n], c) for n, c in ((0, RED), (29, RED), (30, GREEN), (59, GREEN))] == [
        True
    ] * 4
    assert near(shown[60], BLUE)
    assert near(shown[89], BLUE)


@pytest.mark.parametrize(
    ("transition", "seconds"),
    [("crossfade", 2.2), ("slide", 2.2), ("wipe", 2.2), ("fade_black", 3.0)],
)
def test_transitions_take_their_time_and_leave_the_middles_alone(
    tmp_path: Path, transition: str, seconds: float
) -> None:
    asset = render(tmp_path, three(tmp_path), transition=transition, transition_seconds=0.4)

    shown = colors(asset)
    assert asset.duration_seconds == pytest.approx(seconds)
    assert len(shown) == round(seconds * 30)
    assert near(shown[5], RED)
    assert near(shown[len(shown) // 2], GREEN)
    assert near(shown[-5], BLUE)
    mixed = [c for c in shown if not any(near(c, known) for known in (RED, GREEN, BLUE))]
    assert 12 <= len(mixed) <= 26


def test_fading_through_black_reaches_black(tmp_path: Path) -> None:
    shown = colors(render(tmp_path, three(tmp_path), transition="fade_black"))

    assert min(color.max() for color in shown[25:35]) < 16
    assert near(shown[0], RED)
    assert near(shown[-1], BLUE)


def test_a_transition_is_never_longer_than_half_a_clip(tmp_path: Path) -> None:
    clips = [
        plain(tmp_path / "a.mp4", RED),
        plain(tmp_path / "b.mp4", GREEN, seconds=0.2),
        plain(tmp_path / "c.mp4", BLUE),
    ]

    asset = render(tmp_path, clips, transition="crossfade", transition_seconds=2)

    assert asset.duration_seconds == pytest.approx(2.0)


@pytest.mark.parametrize("fit", ["smart_crop", "blurred_fill"])
def test_clips_of_all_sizes_and_rates_become_one(tmp_path: Path, fit: str) -> None:
    clips = [
        plain(tmp_path / "a.mp4", RED, size=(128, 72), fps=30),
        plain(tmp_path / "b.mp4", GREEN, size=(72, 128), fps=24),
        filmed(
            tmp_path / "c.webm", [np.full((71, 127, 3), BLUE, np.uint8)] * 30, codec="libvpx-vp9"
        ),
    ]

    asset = render(tmp_path, clips, fit=fit)

    shown = colors(asset)
    assert (asset.width, asset.height) == (128, 72)
    assert len(shown) == 90
    assert near(shown[10], RED)
    assert shown[45].argmax() == 1
    assert near(shown[80], BLUE)


def test_wishes_for_shape_size_and_rate_are_met(tmp_path: Path) -> None:
    asset = render(
        tmp_path, three(tmp_path, seconds=0.2), aspect_ratio="1:1", resolution="480p", fps=24
    )

    assert (asset.width, asset.height) == (480, 480)
    assert asset.metadata["fps"] == 24


def test_each_clip_is_heard_when_it_is_seen_and_a_silent_one_is_silent(tmp_path: Path) -> None:
    clips = [
        plain(tmp_path / "a.mp4", RED, pitch=400),
        plain(tmp_path / "b.mp4", GREEN),
        plain(tmp_path / "c.mp4", BLUE, pitch=1200),
    ]

    heard = sound.opened(render(tmp_path, clips).path).samples[0]

    def strength(start: float, pitch: int) -> float:
        part = heard[round(start * 48_000) : round(start * 48_000) + 24_000]
        return float(np.abs(np.fft.rfft(part))[pitch // 2]) / 12_000

    assert strength(0.25, 400) > 0.1 > 0.01 > strength(0.25, 1200)
    assert max(strength(1.25, 400), strength(1.25, 1200)) < 0.005
    assert strength(2.25, 1200) > 0.1 > 0.01 > strength(2.25, 400)


def test_a_crossfade_is_heard_too_without_a_dip(tmp_path: Path) -> None:
    clips = [plain(tmp_path / f"{p}.mp4", RED, pitch=p) for p in (400, 1200)]

    line = sound.opened(
        render(tmp_path, clips, transition="crossfade", transition_seconds=0.5).path
    ).samples[0]

    power = np.square(line[4800 : 4800 * 14]).reshape(-1, 4800).mean(axis=1)
    assert power.min() > 0.6 * power.max()


def test_music_runs_under_silent_clips(tmp_path: Path) -> None:
    music = plain(tmp_path / "m.mp4", RED, pitch=700)

    asset = render(tmp_path, three(tmp_path), music=music)
    heard = sound.opened(asset.path)

    assert heard.seconds == pytest.approx(3.0, abs=0.05)
    assert np.abs(heard.samples[0, 24_000:120_000]).reshape(-1, 4800).max(axis=1).min() > 0.05
    with av.open(str(render(tmp_path, three(tmp_path), sound="mute").path)) as container:
        assert not container.streams.audio


def test_the_same_clips_give_the_same_bytes(tmp_path: Path) -> None:
    clips = three(tmp_path, seconds=0.4, pitch=500)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()

    one, two = (render(tmp_path / n, clips, transition="wipe") for n in ("one", "two"))

    assert one.path.read_bytes() == two.path.read_bytes()


def test_what_cannot_be_joined_is_told_in_a_sentence(tmp_path: Path) -> None:
    one = plain(tmp_path / "a.mp4", RED, seconds=0.2)
    (tmp_path / "b.mp4").write_bytes(b"no video")

    with pytest.raises(EngineError, match="only one clip") as told:
        render(tmp_path, [one])
    assert told.value.code == "too_few"
    with pytest.raises(EngineError, match="not a video in MP4"):
        render(tmp_path, [one, tmp_path / "b.mp4"])
    with pytest.raises(EngineError, match="nothing to replace it by"):
        render(tmp_path, [one, one], sound="replace")


def test_the_preview_progress_and_cancel(tmp_path: Path) -> None:
    clips = three(tmp_path, seconds=0.4)
    told: list[float] = []
    asset = render(tmp_path, clips, Progress(told.append))

    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)
    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as preview:
        assert (preview.format, preview.size) == ("JPEG", (128, 72))
    progress = Progress(lambda done: progress.cancel() if done > 0.4 else None)
    with pytest.raises(CanceledError):
        render(tmp_path, clips, progress, transition="crossfade")


def test_the_definition_is_valid_and_priced_by_all_clips_together() -> None:
    told = Join.definition
    model = Model(
        id=told.id,
        asset_type=told.asset_type,
        setting_parameters=list(told.settings),
        media_parameters=list(told.media),
        pricing=told.pricing,
    )
    pricing.check_rule(model)

    def price(*seconds: int) -> float:
        media = {"clips": [pricing.Medium("video", s) for s in seconds]}  # type: ignore[arg-type]
        return float(pricing.price(told.pricing, DEFAULTS, media).total)

    assert price(5, 5) < price(5, 5, 5) < price(20, 20)
    assert 0 < pricing.least(model) <= pricing.at_defaults(model)


def test_the_poster_shows_a_clip_and_not_the_black_between_two(tmp_path: Path) -> None:
    dark = plain(tmp_path / "dark.mp4", (2, 2, 2), seconds=1.4)
    clips = [plain(tmp_path / "red.mp4", RED, seconds=0.6), dark]

    asset = render(tmp_path, clips, transition="fade_black", transition_seconds=0.5)

    assert asset.thumbnail is not None
    with Image.open(asset.thumbnail) as poster:
        middle = np.asarray(poster)[36, 64].astype(int)
    assert np.abs(middle - RED).max() < 25
