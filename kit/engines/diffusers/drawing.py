"""A job on a pipeline: runs in its own thread, watched by the job's thread.

All work of the library happens in one thread. The job's own thread only watches it, so that a
cancel works while weights are loading or a long step runs; the canceled run ends with its step.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.diffusers import inputs, pipelines
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.shape import PipelineShape
from kit.engines.media.clip import CONTENT_TYPE, Clip, rgb_frame
from kit.engines.media.color import Bytes
from kit.engines.media.picture import write_still, write_thumbnail
from kit.errors import EngineError

_log = logging.getLogger(__name__)
_POLL_SECONDS = 0.2
#: Progress when the weights are loaded, and after the last step.
_LOADED, _STEPPED = 0.05, 0.9
_CHANNEL_COUNTS = (1, 3, 4)
_RATE_SETTINGS = ("frame_rate", "fps")
#: A frame may have a few NaN values; above this share there is nothing to see.
_MAX_NAN_SHARE = 0.01

_executor = ThreadPoolExecutor(1, thread_name_prefix="pipeline")


@dataclass(slots=True)
class _Run:
    """The state that the two threads share."""

    fraction: float = 0.0
    steps: int = 0
    canceled: threading.Event = field(default_factory=threading.Event)

    def record(self, number: int, steps: int | None) -> None:
        """Record a step, from 0, out of `steps`."""
        if self.canceled.is_set():
            raise CanceledError("canceled")
        share = min(1.0, (number + 1) / max(1, steps or number + 1))
        self.fraction = max(self.fraction, _LOADED + (_STEPPED - _LOADED) * share)

    def step(self, pipeline: Any, number: int, _: Any, values: dict[str, Any]) -> dict[str, Any]:
        """Record a step; the pipeline calls it and continues with the returned values."""
        self.record(number, getattr(pipeline, "num_timesteps", 0))
        return values

    @contextmanager
    def watch_steps(self, pipeline: Any, is_called: bool) -> Iterator[None]:
        """Record the steps of a scheduler, for a pipeline that does not call `step`."""
        scheduler: Any = getattr(pipeline, "scheduler", None)
        if is_called or not hasattr(scheduler, "step"):
            yield
            return
        original, self.steps = scheduler.step, 0

        def step(*values: Any, **kwargs: Any) -> Any:
            result = original(*values, **kwargs)
            self.record(self.steps, len(getattr(scheduler, "timesteps", ())))
            self.steps += 1
            return result

        scheduler.step = step
        try:
            yield
        finally:
            del scheduler.step


def draw(
    entry: PipelineEntry,
    shape: PipelineShape,
    job: Job,
    progress: Progress,
    load: Callable[[PipelineEntry], pipelines.LoadedPipeline],
) -> Asset:
    """Render a job; a cancel takes effect within a fraction of a second, at any time."""
    run = _Run()
    future = _executor.submit(_run, entry, shape, job, run, load)
    try:
        while not wait([future], timeout=_POLL_SECONDS).done:
            progress.report(run.fraction)
        progress.check()
    except CanceledError:
        run.canceled.set()
        future.cancel()
        raise
    return write(future.result(), shape, job, progress.part(_STEPPED, 1.0))


def _run(
    entry: PipelineEntry,
    shape: PipelineShape,
    job: Job,
    run: _Run,
    load: Callable[[PipelineEntry], pipelines.LoadedPipeline],
) -> Any:
    """Return the pipeline's result."""
    pipeline = load(entry).pipeline(inputs.task(shape, job))
    run.fraction = _LOADED
    if run.canceled.is_set():
        raise CanceledError("canceled")
    import torch

    # Some parts of pipelines do not use the given generator.
    torch.manual_seed(job.seed)
    values = inputs.arguments(entry, shape, job, pipeline, run.step)
    try:
        with run.watch_steps(pipeline, "callback_on_step_end" in values):
            return pipeline(**values)
    except ValueError as error:
        sentence = f"the pipeline refuses the job: {_first_line(error)}"
        raise EngineError(sentence, code="bad_parameters") from None
    except RuntimeError as error:
        _log.warning("the model %r failed: %s", entry.id, _first_line(error))
        pipelines.free_frames(error)
        if pipelines.is_out_of_memory(error):
            sentence = "the model needs more memory than available; choose a smaller size"
            raise EngineError(sentence, code="out_of_memory") from error
        sentence = f"the model failed ({type(error).__name__})"
        raise EngineError(sentence, code="engine_failed") from error
    except CanceledError as error:
        pipelines.free_frames(error)
        raise
    finally:
        pipelines.free_memory()


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__


def write(result: Any, shape: PipelineShape, job: Job, progress: Progress) -> Asset:
    """Write the result of a pipeline to a file.

    Its ``images`` or ``frames`` are floats of the shape (1, [frames,] height, width, channels).

    Raises
    ------
    EngineError
        It was blocked (``held_back``), or there is nothing to see in it (``engine_failed``).
    """
    # The library has two names for this.
    for name in ("nsfw_content_detected", "nsfw_detected"):
        if any(getattr(result, name, None) or ()):
            raise EngineError("the model's safety checker blocked the picture", code="held_back")
    results = (getattr(result, name, None) for name in ("frames", "images"))
    pixels = next((found[0] for found in results if found is not None and len(found)), ())
    is_clip = shape.asset_type == "video"
    if np.ndim(pixels) != (4 if is_clip else 3) or np.shape(pixels)[-1] not in _CHANNEL_COUNTS:
        sentence = f"the model returned no {'clip' if is_clip else 'picture'}"
        raise EngineError(sentence, code="engine_failed", detail=f"shape {np.shape(pixels)}")
    # Frame by frame, because a clip is large.
    if any(np.isnan(frame).mean() > _MAX_NAN_SHARE for frame in (pixels if is_clip else [pixels])):
        raise EngineError(
            "the model's numbers overflowed, so there is no picture",
            code="engine_failed",
            detail="another 'dtype' may help: bfloat16 or float32",
        )
    facts = {"pipeline": shape.pipeline, "seed": job.seed}
    if not is_clip:
        return write_still(_to_bytes(pixels), job, "picture", progress, facts=facts)
    rate = next((job.parameters[n] for n in _RATE_SETTINGS if n in job.parameters), shape.fps)
    return _clip(pixels, max(1, round(rate)), job, progress, facts)


def _clip(
    frames: Sequence[Any], fps: int, job: Job, progress: Progress, facts: dict[str, Any]
) -> Asset:
    height, width = (side // 2 * 2 for side in frames[0].shape[:2])
    path = job.folder / "clip.mp4"
    with Clip(path, width, height, fps=fps) as clip:
        for frame in progress.over(frames):
            clip.add(rgb_frame(_to_bytes(frame[:height, :width])))
    poster = _to_bytes(frames[round((len(frames) - 1) * 0.4)])
    return Asset(
        path=path,
        content_type=CONTENT_TYPE,
        width=width,
        height=height,
        duration_seconds=round(len(frames) / fps, 3),
        thumbnail=write_thumbnail(poster, job.folder),
        metadata=facts,
    )


def _to_bytes(pixels: Any) -> Bytes:
    """Return floats from 0 to 1 as opaque pixels; NaN becomes black."""
    scaled = np.nan_to_num(np.asarray(pixels, dtype=np.float32)) * 255.0
    rounded = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    if rounded.shape[-1] == 1:
        return np.asarray(cv2.cvtColor(rounded, cv2.COLOR_GRAY2RGB))
    return np.ascontiguousarray(rounded[..., :3])
