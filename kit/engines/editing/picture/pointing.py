"""Pointing: where the user says that the subject of a picture is, by a mask or by numbers."""

from __future__ import annotations

import cv2
import numpy as np

from kit.engines.base import Job
from kit.engines.editing.picture.masks import painted
from kit.engines.media.color import Bytes
from kit.engines.sizes import BOX
from kit.errors import EngineError

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
    found = painted(job, shape)
    if _LEAST < found.share < _MOST:
        return found.mask
    sentence = (
        f"the mask covers {found.share:.0%} of the picture; it must be white about where the"
        " subject is and black elsewhere"
    )
    if found.share > _LEAST:
        raise EngineError(sentence, code="mask_full")
    if found.see_through:
        sentence += ", and what is see-through counts as black"
    raise EngineError(sentence, code="mask_empty")


def _boxed(x: float, y: float, wide: float, high: float, *, shape: tuple[int, int]) -> Bytes:
    """Return an ellipse that fills a box given in shares of the picture."""
    height, width = shape
    mask = np.zeros(shape, np.uint8)
    axes = (max(1, round(_FULL * wide * width / 2)), max(1, round(_FULL * high * height / 2)))
    center = (round(x * width), round(y * height))
    cv2.ellipse(mask, center, axes, 0, 0, 360, 255, -1)
    return mask
