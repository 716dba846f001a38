"""What a pipeline made as a file: floats from 0 to 1 become a picture or a clip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.diffusers.shape import Shape
from kit.engines.media.clip import CONTENT_TYPE, Clip, rgb_frame
from kit.engines.media.color import Bytes
from kit.engines.media.picture import still, write_thumbnail
from kit.errors import EngineError

_CHANNELS = (1, 3, 4)
_RATES = ("frame_rate", "fps")
#: A frame may hold a few values that are no numbers; beyond this share there is nothing to see.
_MOST_VOID = 0.01


def written(made: Any, shape: Shape, job: Job, progress: Progress) -> Asset:
    """Return a file of what a pipeline returned.

    Parameters
    ----------
    made : object
        The pipeline's own: its ``images`` or ``frames`` are floats of the shape
        (1, [frames,] height, width, channels).

    Raises
    ------
    EngineError
        It was held back (``held_back``), or there is nothing to see in it (``engine_failed``).
    CanceledError
        Raised by `progress`.
    """
    # One library has two words for it.
    for name in ("nsfw_content_detected", "nsfw_detected"):
        if any(getattr(made, name, None) or ()):
            raise EngineError("the model's safety checker holds the picture back", code="held_back")
    video = shape.asset_type == "video"
    pixels = _first(made)
    _check(pixels, video)
    return (_clip if video else _still)(pixels, shape, job, progress)


def _first(made: Any) -> Any:
    """Return what is asked for: one picture, or the frames of one clip."""
    for name in ("frames", "images"):
        found = getattr(made, name, None)
        if found is not None and len(found):
            return found[0]
    return ()


def _check(pixels: Any, video: bool) -> None:
    """Refuse what is no picture: it would be black, or fail in a way that nobody understands."""
    if np.ndim(pixels) != (4 if video else 3) or np.shape(pixels)[-1] not in _CHANNELS:
        sentence = f"the model made no {'clip' if video else 'picture'}"
        raise EngineError(sentence, code="engine_failed", detail=f"shape {np.shape(pixels)}")
    # Frame by frame: a clip is large.
    for frame in pixels if video else [pixels]:
        if np.isnan(frame).mean() > _MOST_VOID:
            raise EngineError(
                "the model's numbers overflowed, so there is nothing to see",
                code="engine_failed",
                detail="another 'dtype' may help: bfloat16 or float32",
            )


def _still(pixels: Any, shape: Shape, job: Job, progress: Progress) -> Asset:
    return still(_bytes(pixels), job, "picture", progress, facts=_facts(shape, job))


def _clip(frames: Sequence[Any], shape: Shape, job: Job, progress: Progress) -> Asset:
    rate = next((job.parameters[n] for n in _RATES if n in job.parameters), shape.fps)
    fps = max(1, round(rate))
    height, width = (side // 2 * 2 for side in frames[0].shape[:2])
    path = job.folder / "clip.mp4"
    with Clip(path, width, height, fps=fps) as clip:
        for frame in progress.over(frames):
            clip.add(rgb_frame(_bytes(frame[:height, :width])))
    poster = _bytes(frames[round((len(frames) - 1) * 0.4)])
    return Asset(
        path=path,
        content_type=CONTENT_TYPE,
        width=width,
        height=height,
        duration_seconds=round(len(frames) / fps, 3),
        thumbnail=write_thumbnail(poster, job.folder),
        metadata=_facts(shape, job),
    )


def _bytes(pixels: Any) -> Bytes:
    """Return floats from 0 to 1 as opaque pixels; what is not a number is black."""
    scaled = np.nan_to_num(np.asarray(pixels, dtype=np.float32)) * 255.0
    whole = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    if whole.shape[-1] == 1:
        return np.asarray(cv2.cvtColor(whole, cv2.COLOR_GRAY2RGB))
    return np.ascontiguousarray(whole[..., :3])


def _facts(shape: Shape, job: Job) -> dict[str, Any]:
    return {"pipeline": shape.pipeline, "seed": job.seed}
