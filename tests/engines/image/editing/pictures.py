"""Drawn test pictures, and a way to render a job of an editing model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image

from kit.engines.base import Asset, Engine, Job, Progress

BALL = (210, 60, 40)


def ball(width: int = 240, height: int = 180) -> np.ndarray:
    """A red ball on a blue and green ground with a little noise."""
    rng = np.random.default_rng(3)
    rows = np.linspace(0, 1, height)[:, None, None]
    pixels = np.array([60, 110, 190]) * (1 - rows) + np.array([70, 150, 120]) * rows
    pixels = np.repeat(pixels, width, axis=1) + rng.normal(0, 3, (height, width, 1))
    pixels = pixels.clip(0, 255).astype(np.uint8)
    cv2.circle(pixels, (width // 2, height // 2), height // 4, BALL, -1, cv2.LINE_AA)
    return pixels


def busy(seed: int) -> np.ndarray:
    """A spot hardly told by its color from the bright patches all around it."""
    rng = np.random.default_rng(seed)
    patches = cv2.GaussianBlur(rng.normal(0, 1, (180, 240, 3)), (0, 0), 3)
    spot = np.zeros((180, 240), np.float32)
    cv2.ellipse(spot, (120, 95), (60, 55), 0, 0, 360, 1, -1)
    spot = cv2.GaussianBlur(spot, (0, 0), 2)[..., None] * np.array([18, 7, -11])
    return (125 + 45 * patches / patches.std() + spot).clip(0, 255).astype(np.uint8)


def saved(pixels: np.ndarray, path: Path, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


def render(
    engine: Engine,
    folder: Path,
    *,
    prompt: str = "",
    seed: int = 1,
    media: dict[str, Path] | None = None,
    progress: Progress | None = None,
    **values: Any,
) -> Asset:
    defaults = {p.name: p.default for p in engine.definition.settings if p.default is not None}
    folder.mkdir(parents=True, exist_ok=True)
    job = Job(
        prompt=prompt,
        parameters={**defaults, "format": "png", **values},
        folder=folder,
        seed=seed,
        media={name: [path] for name, path in (media or {}).items()},
    )
    return engine.render(job, progress or Progress())


def pixels_of(asset: Asset) -> np.ndarray:
    with Image.open(asset.path) as picture:
        return np.asarray(picture)
