"""Clips for tests: rendered small, and looked at frame by frame."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from PIL import Image

from kit.engines.base import Asset, Engine, Job, Progress

SMALL = {"resolution": "360p", "duration": 1}


def job_for(
    engine: Engine,
    folder: Path,
    prompt: str = "",
    *,
    seed: int = 1,
    media: Mapping[str, Path] | None = None,
    **values: Any,
) -> Job:
    """Return a job with the model's defaults, short and small unless it says otherwise."""
    folder.mkdir(exist_ok=True, parents=True)
    known = {p.name: p.default for p in engine.definition.settings if p.default is not None}
    inputs = {name: [path] for name, path in (media or {}).items()}
    return Job(
        prompt=prompt,
        parameters={**known, **SMALL, **values},
        folder=folder,
        seed=seed,
        media=inputs,
    )


def rendered(engine: Engine, folder: Path, prompt: str = "", **values: Any) -> Asset:
    """Return a finished clip."""
    return engine.render(job_for(engine, folder, prompt, **values), Progress())


def decoded(asset: Asset) -> list[np.ndarray]:
    """Return the frames of a clip, RGB, as whole numbers that can be subtracted."""
    with av.open(str(asset.path)) as container:
        return [frame.to_ndarray(format="rgb24").astype(int) for frame in container.decode(video=0)]


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Return the mean difference of two frames, in steps of 8 bits."""
    return float(np.abs(one.astype(int) - other.astype(int)).mean())


def textured(width: int, height: int, seed: int = 3) -> np.ndarray:
    """Return a picture with something to see everywhere, so that every motion shows."""
    rng = np.random.default_rng(seed)
    noise = rng.integers(60, 200, (height // 12 + 1, width // 12 + 1, 3)).astype(np.uint8)
    return np.asarray(cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC))


def with_disc(width: int = 480, height: int = 360) -> np.ndarray:
    """Return a picture of a bright red disc before a dull wall."""
    pixels = np.full((height, width, 3), (120, 130, 128), np.uint8)
    pixels = cv2.addWeighted(pixels, 0.8, textured(width, height), 0.2, 0)
    cv2.circle(pixels, (width // 2, height // 2), height // 4, (230, 40, 30), -1, cv2.LINE_AA)
    return pixels


def saved(pixels: np.ndarray, folder: Path) -> Path:
    """Return the path of a PNG with some pixels."""
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / "picture.png"
    Image.fromarray(pixels).save(path)
    return path


def tone(folder: Path, seconds: float) -> Path:
    """Return the path of a WAV file with a tone of some length."""
    path = folder / "tone.wav"
    wave = 0.2 * np.sin(2 * np.pi * 440 * np.arange(int(seconds * 16000)) / 16000)
    samples = (wave * 32767).astype("<i2")[None]
    with av.open(str(path), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=16000, layout="mono")
        frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
        frame.rate = 16000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path
