"""Masks: what a user painted over in a picture, read in one way wherever a mask is given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import cv2
import numpy as np

from kit.engines.base import Job
from kit.engines.editing.picture.finish import flat, source
from kit.engines.media.color import Bytes
from kit.engines.media.stills import origin
from kit.errors import EngineError

_SHAPES = 0.02  # by which the shapes of a mask and of its picture may differ


@dataclass(frozen=True, slots=True)
class Painted:
    """What a mask marks.

    Parameters
    ----------
    mask : ndarray of uint8
        Shape (height, width), 255 where something is marked and 0 elsewhere.
    share : float
        Of the picture that is marked, 0 to 1.
    see_through : bool
        Whether the mask has transparency, which counts as black.
    """

    mask: Bytes
    share: float
    see_through: bool


def painted(job: Job, shape: tuple[int, int]) -> Painted:
    """Return what the input "mask" marks, in the size of the picture.

    Parameters
    ----------
    shape : tuple of int
        Height and width of the picture.

    Raises
    ------
    EngineError
        The mask is not given, or has another shape than the picture (``mask_shape``).
    """
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
    return Painted(mask, float(np.count_nonzero(mask)) / mask.size, given.alpha is not None)
