"""Jobs for the built-in models, rendered as small as they allow, and their results."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image

from kit.engines.base import Asset, Definition, Engine, Job, Progress
from kit.engines.media.clip import Clip, rgb_frame
from kit.engines.media.sound import Sound
from kit.engines.registry import engine_for
from kit.wire import Parameter
from tests.engines import drawings

RATE = 48_000
#: Values of parameters by name, unless a test has others: those that take the least time.
_SMALL = {"resolution": "360p", "detail": "low"}
#: Seconds of a clip: less than an order allows, which is enough for a test.
_SECONDS = 0.4


def definition_of(model: str) -> Definition:
    """Return the definition of a built-in model."""
    return engine_for(model).definition


def parameters_of(engine: Engine, **values: Any) -> dict[str, Any]:
    """Return the defaults of a model, as small as possible, with other values of the test."""
    settings = {parameter.name: parameter for parameter in engine.definition.settings}
    known = {name: p.default for name, p in settings.items() if p.default is not None}
    if "size" in settings:
        known["size"] = settings["size"].minimum
    if "duration" in settings:
        known["duration"] = _SECONDS
    small = {
        name: v for name, v in _SMALL.items() if name in settings and _may_be(settings[name], v)
    }
    return {**known, **small, **values}


def _may_be(parameter: Parameter, value: Any) -> bool:
    return value in (parameter.enum or ())


def job_for(
    model: str | Engine,
    folder: Path,
    prompt: str = "",
    *,
    seed: int = 1,
    media: Mapping[str, Path | list[Path]] | None = None,
    **values: Any,
) -> Job:
    """Return a job of a model, named by its id, in a new folder."""
    engine = engine_for(model) if isinstance(model, str) else model
    folder.mkdir(parents=True, exist_ok=True)
    files = {n: p if isinstance(p, list) else [p] for n, p in (media or {}).items()}
    values = parameters_of(engine, **values)
    return Job(prompt=prompt, parameters=values, folder=folder, seed=seed, media=files)


def render(
    model: str | Engine,
    folder: Path,
    prompt: str = "",
    *,
    progress: Progress | None = None,
    **order: Any,
) -> Asset:
    """Render a job of a model; see `job_for`."""
    engine = engine_for(model) if isinstance(model, str) else model
    return engine.render(job_for(engine, folder, prompt, **order), progress or Progress())


def pixels_of(asset: Asset | Path) -> np.ndarray:
    """Return a picture as whole numbers that can be subtracted."""
    with Image.open(asset if isinstance(asset, Path) else asset.path) as picture:
        return np.asarray(picture).astype(int)


def frames_of(asset: Asset | Path) -> list[np.ndarray]:
    """Return the frames of a clip, RGB, as whole numbers that can be subtracted."""
    with av.open(str(asset if isinstance(asset, Path) else asset.path)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


def seen_in(asset: Asset) -> np.ndarray:
    """Return the picture, or the frame in the middle of the clip."""
    if asset.content_type.startswith("image/"):
        return pixels_of(asset)
    frames = frames_of(asset)
    return frames[len(frames) // 2]


def save(pixels: np.ndarray, path: Path, **options: Any) -> Path:
    """Save a picture and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels.astype(np.uint8)).save(path, **options)
    return path


def tone(seconds: float, pitch: float = 440, level: float = 0.3) -> np.ndarray:
    """Return a tone of two channels."""
    wave = level * np.sin(2 * np.pi * pitch * np.arange(round(seconds * RATE)) / RATE)
    return np.stack([wave, wave]).astype(np.float32)


def record(samples: np.ndarray, path: Path) -> Path:
    """Write a sound of two channels as a WAV file and return its path."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=RATE, layout="stereo")
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="stereo")
        frame.sample_rate = RATE
        container.mux(stream.encode(frame))
    return path


def film(
    path: Path,
    frames: list[np.ndarray],
    *,
    fps: int | Fraction = 25,
    samples: np.ndarray | None = None,
) -> Path:
    """Encode pictures with the kit's own encoder and return the path."""
    height, width = frames[0].shape[:2]
    sound = None if samples is None else Sound.of(samples)
    with Clip(path, width, height, fps=fps, sound=sound) as clip:
        for frame in frames:
            clip.add(rgb_frame(frame))
    return path


def _speak(seconds: float = 1.0) -> np.ndarray:
    """Return five syllables in a second: a voice's harmonics that swell and fade."""
    time = np.arange(round(seconds * RATE)) / RATE
    voice = sum(np.cos(2 * np.pi * 120 * n * time + n * n) / n for n in range(1, 30))
    wave = 0.15 * voice * np.sin(np.pi * 5 * time) ** 2
    return np.stack([wave, wave]).astype(np.float32)


def _roll(start: int) -> list[np.ndarray]:
    """Return a second of a ball that rolls to the right."""
    ground = drawings.ball(320, 180)
    return [np.roll(ground, start + 3 * number, axis=1)[10:106, 40:168] for number in range(25)]


FILES: Mapping[str, Callable[[Path], Path]] = {
    "ball": lambda folder: save(drawings.ball(), folder / "ball.png"),
    "mask": lambda folder: save(drawings.ball_mask(), folder / "mask.png"),
    "corner": lambda folder: save(np.roll(drawings.ball_mask(), 60, axis=1), folder / "corner.png"),
    "face": lambda folder: save(drawings.face(), folder / "face.png"),
    "smile": lambda folder: save(drawings.face(smile=True), folder / "smile.png"),
    "other": lambda folder: save(drawings.ball(200, 160)[:, ::-1] // 2, folder / "other.png"),
    "clip": lambda folder: film(folder / "clip.mp4", _roll(0), samples=tone(1.0, 300)),
    "next": lambda folder: film(folder / "next.mp4", _roll(90), samples=tone(1.0, 500)),
    "speaker": lambda folder: film(folder / "speaker.mp4", [drawings.face()] * 25),
    "voice": lambda folder: record(_speak(), folder / "voice.wav"),
    "longer": lambda folder: record(_speak(4.0), folder / "longer.wav"),
    "music": lambda folder: record(tone(0.4, 700), folder / "music.wav"),
}


def make_library(folder: Path) -> Callable[[str], Path]:
    """Return a function that creates each of `FILES` once and returns its path."""
    return cache(lambda name: FILES[name](folder))


def edit(
    model: str,
    folder: Path,
    pixels: np.ndarray | Path,
    prompt: str = "",
    *,
    others: Mapping[str, np.ndarray | Path] | None = None,
    progress: Progress | None = None,
    **values: Any,
) -> Asset:
    """Render a job of a model that edits the picture ``image``, by default to a PNG."""
    given = {"image": pixels, **(others or {})}
    number = sum(1 for _ in folder.glob("job*")) if folder.exists() else 0
    media = {
        name: p if isinstance(p, Path) else save(p, folder / f"{name}{number}.png")
        for name, p in given.items()
    }
    how: dict[str, Any] = {"format": "png", **values}
    return render(model, folder / f"job{number}", prompt, media=media, progress=progress, **how)
