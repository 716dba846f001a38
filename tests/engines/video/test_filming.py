from pathlib import Path

import av
import numpy as np
import pytest

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.film.filming import Take, filmed, take_of
from kit.errors import EngineError
from tests.engines.video.showing import tone

VALUES = {"fps": 24, "duration": 1.5, "motion": 0.5, "loop": False, "format": "mp4"}


def film(folder: Path, progress: Progress | None = None, **values: object) -> Asset:
    media = {"soundtrack": [values.pop("soundtrack")]} if "soundtrack" in values else {}
    settings = {**VALUES, **values}
    take = take_of(settings, (64, 48))

    def draw(number: int) -> np.ndarray:
        return np.full((72, 64), 40 + 4 * number, np.uint8)

    job = Job(prompt="", parameters=settings, folder=folder, media=media)  # type: ignore[arg-type]
    return filmed(job, progress or Progress(), take, draw, name="clip", metadata={"a": 1})


def heard(asset: Asset) -> np.ndarray:
    with av.open(str(asset.path)) as container:
        parts = [frame.to_ndarray() for frame in container.decode(audio=0)]
    return np.concatenate(parts, axis=1)


def test_a_take_counts_its_frames_and_moments() -> None:
    take = take_of(VALUES, (64, 48))
    loop = take_of({**VALUES, "loop": True}, (64, 48))

    assert (take.frames, take.seconds) == (36, 1.5)
    assert (take.moment(0), take.moment(35)) == (0.0, 1.0)
    assert loop.moment(36) == 1.0
    assert Take(width=2, height=2, fps=24, frames=1).moment(0) == 0.0


@pytest.mark.parametrize(
    ("kind", "content_type", "codec"),
    [
        ("mp4", "video/mp4", "h264"),
        ("mp4-av1", "video/mp4", "av1"),
        ("webm", "video/webm", "vp9"),
    ],
)
def test_every_format_holds_all_frames(
    tmp_path: Path, kind: str, content_type: str, codec: str
) -> None:
    asset = film(tmp_path, format=kind)

    with av.open(str(asset.path)) as container:
        name = container.streams.video[0].codec_context.name
        count = sum(1 for _ in container.decode(video=0))
    assert asset.content_type == content_type
    assert codec in name or (codec, name) == ("av1", "libdav1d")
    assert count == 36
    assert asset.metadata == {"a": 1, "seed": 0, "frames": 36}


@pytest.mark.parametrize("seconds", [0.4, 5.0])
def test_a_soundtrack_is_repeated_or_cut_to_the_length_of_the_clip(
    tmp_path: Path, seconds: float
) -> None:
    asset = film(tmp_path, soundtrack=tone(tmp_path, seconds), duration=2)

    sound = heard(asset)
    assert sound.shape[1] / 48000 == pytest.approx(2.0, abs=0.06)
    # Heard in the middle of every part, also beyond the length of a short one.
    levels = [float(np.abs(part).mean()) for part in np.array_split(sound[0], 8)[1:6]]
    assert min(levels) > 0.02
    # It ends softly.
    assert np.abs(sound[0][-1200:]).mean() < 0.3 * min(levels)


def test_a_broken_soundtrack_is_told_before_any_frame_is_drawn(tmp_path: Path) -> None:
    broken = tmp_path / "sound.mp3"
    broken.write_bytes(b"ID3" + bytes(200))
    seen: list[float] = []

    with pytest.raises(EngineError):
        film(tmp_path, Progress(seen.append), soundtrack=broken)

    assert seen == []


def test_a_canceled_film_stops_at_the_next_frame(tmp_path: Path) -> None:
    seen: list[float] = []

    def report(done: float) -> None:
        seen.append(done)
        if done > 0.3:
            progress.cancel()

    progress = Progress(report)
    with pytest.raises(CanceledError):
        film(tmp_path, progress)

    assert len([done for done in seen if done > 0.3]) == 1


def test_progress_never_goes_back_and_is_told_while_the_encoder_empties_itself(
    tmp_path: Path,
) -> None:
    seen: list[float] = []
    film(tmp_path, Progress(seen.append))

    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    drawn = seen.index(0.98)
    assert 0.98 in seen[drawn + 1 :], "and once more after the last frame"
