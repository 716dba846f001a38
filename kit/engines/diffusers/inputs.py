"""The arguments of a pipeline: a job's settings and pictures, in sizes that it supports."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps

from kit.engines.base import Job
from kit.engines.diffusers.entry import PipelineEntry
from kit.engines.diffusers.shape import LENGTHS, MEDIA, PipelineShape
from kit.engines.media.color import Bytes
from kit.engines.media.footage import Footage
from kit.engines.media.stills import open_still
from kit.errors import EngineError

_OTHER_SETTINGS = {"seed", "format"}  # settings that are not arguments of the pipeline
_OWN_SIZE_PARTS = ("Edit", "SuperResolution")
_SIDES = ("width", "height")
_STRIDE_NAMES = (
    "vae_scale_factor_temporal",
    "vae_temporal_compression_ratio",
    "vae_temporal_scale_factor",
)
_MAX_SIDE = 4096  # of a side that is computed from the other one
_MAX_FRAMES = 81  # of an input clip, if no setting determines it


def task(shape: PipelineShape, job: Job) -> str:
    """Return the pipeline for a job among those of the same weights: text, image, inpaint."""
    image, mask = job.media.get("image"), job.media.get("mask_image")
    if mask and not image:
        raise EngineError("a mask needs its image", code="missing_image")
    if not shape.siblings or not image:
        return "text"
    if mask and "inpaint" in shape.siblings:
        return "inpaint"
    if "image" not in shape.siblings:
        raise EngineError("this model takes an image only with a mask", code="missing_mask")
    return "image"


def arguments(
    entry: PipelineEntry, shape: PipelineShape, job: Job, pipeline: Any, step: Callable[..., Any]
) -> dict[str, Any]:
    """Return the arguments for a pipeline, which calls `step` after each of its steps."""
    import torch

    if shape.stride > 1:
        # The value of the loaded weights, otherwise the usual one.
        found = (getattr(pipeline, name, 0) for name in _STRIDE_NAMES)
        shape = replace(shape, stride=next((int(n) for n in found if n), shape.stride))
    accepted = inspect.signature(type(pipeline).__call__).parameters
    values = {name: value for name, value in job.parameters.items() if name not in _OTHER_SETTINGS}
    for names, fit in ((_SIDES, _round_side), (LENGTHS, _round_length)):
        values |= {n: fit(values[n], shape) for n in names if values.get(n) is not None}
    pictures = dict(_read_pictures(entry, shape, job, values))
    first = next(iter(pictures.values()), None)
    image = first[0] if isinstance(first, list) and first else first
    if image and not any(part in shape.pipeline for part in _OWN_SIZE_PARTS):
        # The library would distort any picture to a square. Pipelines that edit choose sizes that
        # the model was trained on, and those that enlarge have their own size.
        sides = zip(_SIDES, image.size, strict=True)
        values |= {side: size for side, size in sides if values.get(side) is None}
    values |= pictures
    values |= {
        "prompt": job.prompt,
        "generator": torch.Generator("cpu").manual_seed(job.seed),
        "output_type": "np",
        "callback_on_step_end": step,
    }
    values = {name: value for name, value in values.items() if name in accepted}
    effective = {name: argument.default for name, argument in accepted.items()} | values
    steps: Any = effective.get("num_inference_steps")
    strength: Any = effective.get("strength")
    numbers = isinstance(steps, int) and isinstance(strength, (int, float))
    if numbers and effective.get("image") is not None and int(steps * strength) < 1:
        # The library's error is unreadable if no step is left.
        sentence = f"a strength of {strength:g} leaves none of {steps} steps; increase one of them"
        raise EngineError(sentence, code="bad_parameters")
    return {**entry.always, **values}


def _round_side(side: float, shape: PipelineShape) -> int:
    return max(1, int(side) // shape.multiple) * shape.multiple


def _round_length(count: int, shape: PipelineShape) -> int:
    return max(0, count - 1) // shape.stride * shape.stride + 1


def _read_pictures(
    entry: PipelineEntry, shape: PipelineShape, job: Job, values: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    # All are cropped to the size of the result.
    size = None
    for name, paths in ((name, job.media[name]) for name in MEDIA if job.media.get(name)):
        stills = (open_still(path, side=entry.most_side).flatten() for path in paths)
        frames = _read_clip(paths[0], shape, values) if name == "video" else stills
        found = []
        for image in map(Image.fromarray, frames):
            size = size or _choose_size(image.size, shape, values)
            found.append(ImageOps.fit(image, size, Image.Resampling.LANCZOS))
        if name == "video":
            yield name, found[: _round_length(len(found), shape)]
        else:
            yield name, found if len(found) > 1 else found[0]


def _read_clip(path: Path, shape: PipelineShape, values: Mapping[str, Any]) -> Iterator[Bytes]:
    most = next((values[n] for n in LENGTHS if values.get(n)), _MAX_FRAMES)
    with Footage(path) as footage:
        yield from itertools.islice(footage.frames(shape.fps), most)


def _choose_size(
    image: tuple[int, int], shape: PipelineShape, values: Mapping[str, Any]
) -> tuple[int, int]:
    width, height = (values.get(side) for side in _SIDES)
    if width and height:
        return width, height
    scale = width / image[0] if width else height / image[1] if height else 1.0
    across, down = (min(_round_side(side * scale, shape), _MAX_SIDE) for side in image)
    return width or across, height or down
