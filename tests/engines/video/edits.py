"""Jobs for the video editor, and what came out of them."""

from pathlib import Path
from typing import Any

import av
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.media import sound
from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.footage import Footage
from kit.engines.media.sound import Sound
from kit.engines.models.video_edit import Edit
from tests.engines.films import clicks

DEFAULTS = {p.name: p.default for p in Edit.definition.settings if p.default is not None}


def flashes(path: Path, seconds: int = 3, size: tuple[int, int] = (128, 96)) -> Path:
    """Film a flash with a beep in the middle of every second."""
    width, height = size
    with Clip(path, width, height, fps=30, sound=Sound(clicks(float(seconds)))) as clip:
        for number in range(30 * seconds):
            lit = 15 <= number % 30 < 21
            clip.add(rgb_frame(np.full((height, width, 3), 235 if lit else 30, np.uint8)))
    return path


def render(
    folder: Path,
    video: Path,
    progress: Progress | None = None,
    media: dict[str, Path] | None = None,
    **values: Any,
) -> Asset:
    target = folder / "result"
    target.mkdir(exist_ok=True)
    job = Job(
        prompt="",
        parameters={**DEFAULTS, **values},
        folder=target,
        media={"video": [video], **{name: [path] for name, path in (media or {}).items()}},
    )
    return Edit().render(job, progress or Progress())


def seen(asset: Asset, fps: float = 30) -> list[np.ndarray]:
    with Footage(asset.path) as footage:
        return [frame.astype(int) for frame in footage.frames(fps)]


def lit(asset: Asset, fps: float = 30) -> list[float]:
    bright = [frame.mean() > 128 for frame in seen(asset, fps)]
    return [n / fps for n in range(1, len(bright)) if bright[n] and not bright[n - 1]]


def written(path: Path, samples: np.ndarray) -> Path:
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=48_000)
        stream.codec_context.layout = "stereo"
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="stereo")
        frame.sample_rate = 48_000
        container.mux(stream.encode(frame))
    return path


def tone(seconds: float, pitch: float, level: float = 0.3) -> np.ndarray:
    wave = level * np.sin(2 * np.pi * pitch * np.arange(round(seconds * 48_000)) / 48_000)
    return np.stack([wave, wave]).astype(np.float32)


def strength(asset: Asset, pitch: float) -> float:
    """Return how loud one pitch is in the middle second of a result."""
    line = sound.opened(asset.path).samples[0]
    middle = len(line) // 2
    part = line[middle - 24_000 : middle + 24_000]
    return float(np.abs(np.fft.rfft(part))[round(pitch)]) / 24_000
