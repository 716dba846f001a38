"""A job on a pipeline: its arguments, the run in a thread of its own, and the file that comes out.

All work of the library happens in one thread. The job's own thread only watches it, so that a
cancel is heard while weights load or a long step computes; what was canceled ends with its step.
"""

from __future__ import annotations

import inspect
import itertools
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageOps

from kit.engines.base import Asset, CanceledError, Job, Progress
from kit.engines.configured.pictures import opaque
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.pipelines import loaded
from kit.engines.diffusers.shape import MEDIA, Shape
from kit.engines.media import picture
from kit.engines.media.clip import CONTENT_TYPE, Clip, rgb_frame
from kit.engines.media.color import Bytes
from kit.engines.media.footage import Footage
from kit.errors import EngineError

_log = logging.getLogger(__name__)
_LOOK_EVERY = 0.2
#: Parts of the whole: until the weights are there, and until the last step.
_LOADED, _STEPPED = 0.05, 0.9
_OWN = {"seed", "format"}  # settings that are not the pipeline's
_SIDES = ("width", "height")
_RATES = ("frame_rate", "fps")
_MOST_FRAMES = 81  # of an input clip, where no setting says how many

_lane = ThreadPoolExecutor(1, thread_name_prefix="pipeline")


@dataclass(slots=True)
class _Run:
    """What the two threads know of each other."""

    fraction: float = 0.0
    canceled: threading.Event = field(default_factory=threading.Event)

    def step(self, pipeline: Any, number: int, _: Any, values: dict[str, Any]) -> dict[str, Any]:
        """Take note of a step; the pipeline calls it and goes on with the values returned."""
        if self.canceled.is_set():
            raise CanceledError("canceled")
        steps = max(1, getattr(pipeline, "num_timesteps", 0) or number + 1)
        self.fraction = _LOADED + (_STEPPED - _LOADED) * min(1.0, (number + 1) / steps)
        return values


def draw(entry: PipelineEntry, shape: Shape, job: Job, progress: Progress) -> Asset:
    """Render a job with a pipeline.

    Raises
    ------
    EngineError
        The pipeline cannot be loaded, refuses the job, or ran out of memory.
    CanceledError
        Within a fraction of a second, whatever the pipeline does just now.
    """
    run = _Run()
    frames = _watched(_lane.submit(_frames, entry, shape, job, run), run, progress)
    written = {"image": _still, "video": _clip}[shape.asset_type]
    return written(frames, shape, job, progress.part(_STEPPED, 1.0))


def _watched(future: Future[Any], run: _Run, progress: Progress) -> Any:
    try:
        while not wait([future], timeout=_LOOK_EVERY).done:
            progress.report(run.fraction)
        progress.check()
    except CanceledError:
        run.canceled.set()
        future.cancel()
        raise
    return future.result()


def _frames(entry: PipelineEntry, shape: Shape, job: Job, run: _Run) -> Any:
    """Return what the pipeline makes: floats from 0 to 1, shape ([frames,] height, width, 3)."""
    task = _task(shape, job)
    pipeline = loaded(entry).pipeline(task)
    run.fraction = _LOADED
    if run.canceled.is_set():
        raise CanceledError("canceled")
    arguments = {**entry.always, **_arguments(entry, shape, job, run, pipeline)}
    try:
        made = pipeline(**arguments)
    except ValueError as error:
        sentence = f"the pipeline refuses the job: {_first_line(error)}"
        raise EngineError(sentence, code="bad_parameters") from None
    except RuntimeError as error:
        raise _failure(entry, error) from error
    if any(getattr(made, "nsfw_content_detected", None) or ()):
        raise EngineError("the model's safety checker holds the picture back", code="held_back")
    return (made.frames if shape.asset_type == "video" else made.images)[0]


def _task(shape: Shape, job: Job) -> str:
    """Return which of the pipelines on one set of weights a job is for."""
    image, mask = job.media.get("image"), job.media.get("mask_image")
    if mask and not image:
        raise EngineError("a mask needs the image that it is for", code="missing_image")
    if not shape.also or not image:
        return "text"
    if mask and "inpaint" in shape.also:
        return "inpaint"
    if "image" not in shape.also:
        raise EngineError("this model takes an image only with a mask", code="missing_mask")
    return "image"


def _arguments(
    entry: PipelineEntry, shape: Shape, job: Job, run: _Run, pipeline: Any
) -> dict[str, Any]:
    import torch

    takes = inspect.signature(type(pipeline).__call__).parameters
    values = {name: value for name, value in job.parameters.items() if name not in _OWN}
    for side in _SIDES:
        if side in values:
            values[side] = max(shape.multiple, values[side] // shape.multiple * shape.multiple)
    values |= dict(_pictures(entry, shape, job, values))
    values |= {
        "prompt": job.prompt,
        "generator": torch.Generator("cpu").manual_seed(job.seed),
        "output_type": "np",
        "callback_on_step_end": run.step,
    }
    values = {name: value for name, value in values.items() if name in takes}
    _check_steps({name: argument.default for name, argument in takes.items()} | values)
    return values


def _check_steps(values: Mapping[str, Any]) -> None:
    """Refuse a strength that leaves not even one step: the library fails on it, unreadably."""
    if values.get("image") is None:
        return
    steps, strength = values.get("num_inference_steps"), values.get("strength")
    if isinstance(steps, int) and isinstance(strength, (int, float)) and int(steps * strength) < 1:
        sentence = f"a strength of {strength:g} leaves none of {steps} steps; raise one of them"
        raise EngineError(sentence, code="bad_parameters")


def _pictures(
    entry: PipelineEntry, shape: Shape, job: Job, values: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the input media by argument, all cut to the size of the result."""
    size = tuple(values[side] for side in _SIDES) if {*_SIDES} <= values.keys() else None
    for name in MEDIA:
        if not (paths := job.media.get(name)):
            continue
        found = []
        for image in _opened(name, paths, entry, shape, values):
            size = size or tuple(max(1, s // shape.multiple) * shape.multiple for s in image.size)
            found.append(ImageOps.fit(image, size, Image.Resampling.LANCZOS))
        yield name, found if len(found) > 1 else found[0]


def _opened(
    name: str, paths: Sequence[Path], entry: PipelineEntry, shape: Shape, values: Mapping[str, Any]
) -> Iterator[Any]:
    if name == "video":
        most = values.get("num_frames") or _MOST_FRAMES
        with Footage(paths[0]) as footage:
            for pixels in itertools.islice(footage.frames(shape.fps), most):
                yield Image.fromarray(pixels)
    else:
        for path in paths:
            yield Image.fromarray(opaque(path, most=entry.most_side))


def _still(pixels: Any, shape: Shape, job: Job, progress: Progress) -> Asset:
    image = _bytes(pixels)
    path, content_type = picture.write(
        image, job.folder, "picture", job.parameters.get("format", "png")
    )
    progress.report(0.8)
    thumbnail = picture.write_thumbnail(image, job.folder)
    progress.report(1.0)
    height, width = image.shape[:2]
    return Asset(
        path=path,
        content_type=content_type,
        width=width,
        height=height,
        thumbnail=thumbnail,
        metadata=_facts(shape, job),
    )


def _clip(frames: Any, shape: Shape, job: Job, progress: Progress) -> Asset:
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
        thumbnail=picture.write_thumbnail(poster, job.folder),
        metadata=_facts(shape, job),
    )


def _bytes(pixels: Any) -> Bytes:
    """Return floats from 0 to 1 as pixels; what is not a number is black."""
    scaled = np.nan_to_num(np.asarray(pixels, dtype=np.float32)) * 255.0
    whole = np.clip(np.rint(scaled), 0, 255).astype(np.uint8)
    return np.asarray(cv2.cvtColor(whole, cv2.COLOR_GRAY2RGB)) if whole.shape[-1] == 1 else whole


def _facts(shape: Shape, job: Job) -> dict[str, Any]:
    return {"pipeline": shape.pipeline, "seed": job.seed}


def _failure(entry: PipelineEntry, error: RuntimeError) -> EngineError:
    _log.warning("the model %r failed: %s", entry.id, _first_line(error))
    if "out of memory" in str(error).lower() or "can't allocate" in str(error).lower():
        sentence = "the model needs more memory than there is; ask for something smaller"
        return EngineError(sentence, code="out_of_memory")
    return EngineError(f"the model failed ({type(error).__name__})", code="engine_failed")


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__
