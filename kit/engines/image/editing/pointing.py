"""Pointing: where the user says that the subject of a picture is, by a mask or by numbers."""

from __future__ import annotations

from functools import reduce

import cv2
import numpy as np

from kit.engines.base import Job
from kit.engines.image.editing.finish import flat, source
from kit.engines.image.editing.subjects import BOX
from kit.engines.media.color import Bytes
from kit.engines.media.stills import origin
from kit.errors import EngineError

_SHAPES = 0.02  # by which the shapes of a mask and of its picture may differ
_LEAST, _MOST = 0.001, 0.97  # shares of the picture that a mask may cover
_FULL = 0.94  # of half a box's sides: what is taken for the subject in it at first


def pointed(job: Job, shape: tuple[int, int]) -> Bytes | None:
    """Return 255 about where the user says the subject is, None where nothing is said.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the picture.

    Raises
    ------
    EngineError
        The mask has another shape than the picture (``mask_shape``), or covers nothing or nearly
        all of it (``mask_empty``, ``mask_full``).
    """
    if job.media.get("mask"):
        return _painted(job, shape)
    told = [job.parameters.get(name) for name in BOX]
    box = [float(number) for number in told if number is not None]
    return _boxed(*box, shape=shape) if len(box) == len(BOX) else None


def _painted(job: Job, shape: tuple[int, int]) -> Bytes:
    given = source(job, "mask")
    tall, wide = given.pixels.shape[:2]
    height, width = shape
    if abs(wide / tall / (width / height) - 1.0) > _SHAPES:
        mask_of, picture = (origin(job.media[name][0]) for name in ("mask", "image"))
        raise EngineError(
            f"the mask of {mask_of.width} x {mask_of.height} pixels has another shape than the"
            f" picture of {picture.width} x {picture.height}",
            code="mask_shape",
        )
    # The brightest channel: what is painted over in red or blue is meant as well.
    gray = reduce(cv2.max, cv2.split(flat(given, 0)))
    gray = cv2.resize(gray, (width, height), interpolation=cv2.INTER_LINEAR)
    mask = np.asarray(gray > 127, np.uint8) * np.uint8(255)
    share = float(np.count_nonzero(mask)) / mask.size
    if not _LEAST < share < _MOST:
        raise EngineError(
            f"the mask covers {share:.0%} of the picture; it must be white about where the subject"
            " is and black elsewhere",
            code="mask_full" if share > _LEAST else "mask_empty",
        )
    return mask


def _boxed(x: float, y: float, wide: float, high: float, *, shape: tuple[int, int]) -> Bytes:
    """Return an ellipse that fills a box given in shares of the picture."""
    height, width = shape
    mask = np.zeros(shape, np.uint8)
    axes = (max(1, round(_FULL * wide * width / 2)), max(1, round(_FULL * high * height / 2)))
    center = (round(x * width), round(y * height))
    cv2.ellipse(mask, center, axes, 0, 0, 360, 255, -1)
    return mask
