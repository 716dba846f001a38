"""How a background is changed: find the subject, make what goes behind it, put them together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.framing import scaled
from kit.engines.editing.picture.grading import color_of, finished, flat, over, source
from kit.engines.editing.picture.painted import behind
from kit.engines.media.color import Bytes
from kit.engines.media.cutout import LEAST, clean_rim, cut_out
from kit.engines.media.stills import Still, origin
from kit.engines.media.subject import crop
from kit.engines.sizes import BOX
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


_POINTING_LEAST, _MOST = 0.001, 0.97  # shares of the picture that a mask may cover
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
    if _POINTING_LEAST < found.share < _MOST:
        return found.mask
    sentence = (
        f"the mask covers {found.share:.0%} of the picture; it must be white about where the"
        " subject is and black elsewhere"
    )
    if found.share > _POINTING_LEAST:
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


_LEAST = 0.004
_SEEN = 0.9  # of a picture, on average, that is not cut out
_DISC = 9  # pixels of the blur's radius in the reduced picture
_UNSURE = 0.75  # a less certain cutout is handed over with a note
_HELP = "say where it is, by a mask or by subject_x, subject_y, subject_width and subject_height"
_WIDEST = 0.045  # of the blur, as a share of the longer side

#: Pixels, and how far each covers, where not all do.
Result: TypeAlias = tuple[Bytes, Bytes | None]


@dataclass(frozen=True, slots=True)
class _Scene:
    """A picture, how far each of its pixels belongs to the subject, and what goes behind that."""

    pixels: Bytes
    alpha: Bytes
    backdrop: Bytes | None


def change_background(job: Job, progress: Progress) -> Asset:
    """Render a job of the background model."""
    progress.report(0.0)
    # The one that is not looked at first, alone: to decode a picture takes most of the memory.
    backdrop = _backdrop(job)
    still = source(job)
    near = pointed(job, still.pixels.shape[:2])
    progress.report(0.1)
    alpha, sure = _subject(job, still, near, progress.part(0.1, 0.6))
    progress.report(0.6)
    alpha = _feathered(alpha, job.parameters["feather"])
    operation = job.parameters["operation"]
    scene = _Scene(still.pixels, alpha, backdrop)
    pixels, kept = _OPERATIONS[operation](job, progress, scene)
    if operation == "blur":
        kept = still.alpha
    progress.report(0.8)
    facts = {"operation": operation, "subjectShare": round(float(alpha.mean()) / 255, 3)}
    return finished(
        job, progress, "background", pixels, alpha=kept, facts={**facts, **_doubts(sure)}
    )


def _doubts(sure: float | None) -> dict[str, Any]:
    """Return what is said of a subject that was found without help."""
    if sure is None:
        return {}
    facts: dict[str, Any] = {"certainty": round(sure, 2)}
    if sure < _UNSURE:
        facts["note"] = f"the subject may be cut out roughly here: {_HELP}"
    return facts


def _cut_out(still: Still) -> bool:
    """Whether so much is see-through that it tells the subject; not for round corners."""
    return still.alpha is not None and float(still.alpha.mean()) < 255 * _SEEN


def _subject(
    job: Job, still: Still, near: Bytes | None, progress: Progress
) -> tuple[Bytes, float | None]:
    """Return how far each pixel belongs to the subject, and how sure that is, 0 to 1.

    A picture that is cut out already says it itself, and whoever points at the subject knows it.
    """
    blurs = job.parameters["operation"] == "blur"
    if near is None and blurs and _cut_out(still):
        # Only hidden pixels would come to light.
        sentence = "the picture has no background to blur: it is see-through around its subject"
        raise EngineError(sentence, code="no_background")
    if near is None and still.alpha is not None and not blurs:
        return _standing_out(still.alpha, near), None
    found = cut_out(flat(still), progress.report, near=near)
    alpha, sure = found.alpha, found.certainty
    if still.alpha is not None:
        alpha = np.minimum(alpha, still.alpha)
    alpha = _standing_out(alpha, near)
    if sure < LEAST:
        sentence = f"the subject does not stand out clearly enough to be cut out well: {_HELP}"
        raise EngineError(sentence, code="unsure_subject")
    return alpha, sure if near is None else None


def _standing_out(alpha: Bytes, near: Bytes | None) -> Bytes:
    """Return what covers a subject; refuse where there is none."""
    if alpha.mean() >= 255 * _LEAST:
        return alpha
    sentence = "no subject stands out from the background of this picture"
    raise EngineError(sentence if near is not None else f"{sentence}: {_HELP}", code="no_subject")


def _feathered(alpha: Bytes, feather: float) -> Bytes:
    if not feather:
        return alpha
    # Drawn in first: a soft edge must fade inside the subject, not show the old background.
    size = 2 * round(0.6 * feather) + 1
    inner = cv2.erode(alpha, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)))
    soft = cv2.GaussianBlur(inner, (0, 0), 0.5 * feather)
    return np.asarray(np.minimum(soft, alpha))


def _backdrop(job: Job) -> Bytes | None:
    """Return what is to go behind the subject, on white where it is see-through."""
    if job.parameters["operation"] != "replace" or not job.media.get("backdrop"):
        return None
    return flat(source(job, "backdrop"))


def _remove(job: Job, progress: Progress, scene: _Scene) -> Result:
    clean = clean_rim(scene.pixels, scene.alpha, progress.part(0.6, 0.75).report)
    # What nobody sees would only make the file larger.
    return np.where(scene.alpha[..., None] > 0, clean, np.uint8(255)), scene.alpha


def _replace(job: Job, progress: Progress, scene: _Scene) -> Result:
    behind_it = _new(job, progress, scene)
    return _set(scene, behind_it, progress), None


def _new(job: Job, progress: Progress, scene: _Scene) -> Bytes:
    height, width = scene.alpha.shape
    if scene.backdrop is not None:
        return scaled(crop(scene.backdrop, width / height), width, height)
    if job.prompt.strip():
        return behind(job.prompt, width, height, job.seed, progress)
    return np.full((height, width, 3), color_of(job.parameters["color"]), np.uint8)


def _blur(job: Job, progress: Progress, scene: _Scene) -> Result:
    pixels, alpha = scene.pixels, scene.alpha
    strength = job.parameters["blur_strength"]
    if not strength:
        return pixels, None
    longer = max(alpha.shape)
    radius = max(1.0, _WIDEST * strength * longer)
    back = _defocused(pixels, alpha, radius, progress)
    return _set(scene, back, progress), None


def _set(scene: _Scene, back: Bytes, progress: Progress) -> Bytes:
    """Return the subject before another background."""
    progress.report(0.7)
    front = clean_rim(scene.pixels, scene.alpha, progress.part(0.7, 0.75).report)
    return over(back, front, scene.alpha)


def _defocused(pixels: Bytes, alpha: Bytes, radius: float, progress: Progress) -> Bytes:
    """Return the background as a lens out of focus draws it, filled in behind the subject.

    Lights grow to discs, so the work is done in linear light (a square comes close); the subject
    has no weight, or it would glow around its own outline.
    """
    height, width = alpha.shape
    scale = min(1.0, _DISC / radius)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    weight = cv2.resize(255 - alpha, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    weight = weight**4 + 1e-4
    light = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    light = light * light
    reach = max(1, round(radius * scale))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * reach + 1, 2 * reach + 1))
    kernel = cv2.GaussianBlur(disc.astype(np.float32), (0, 0), 0.8)
    kernel /= kernel.sum()
    border = cv2.BORDER_REFLECT
    total = cv2.filter2D(light * weight[..., None], -1, kernel, borderType=border)
    progress.report(0.64)
    total /= cv2.filter2D(weight, -1, kernel, borderType=border)[..., None]
    soft = cv2.resize(
        np.sqrt(np.maximum(total, 0.0)), (width, height), interpolation=cv2.INTER_CUBIC
    )
    progress.report(0.68)
    return np.asarray(cv2.convertScaleAbs(soft, alpha=255))


_Operation = Callable[[Job, Progress, _Scene], Result]
_OPERATIONS: dict[str, _Operation] = {"remove": _remove, "replace": _replace, "blur": _blur}
