"""How a picture is repaired: the table of operations, and those that are short."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.denoising import SIDE, denoised, noise_of
from kit.engines.editing.picture.finish import bands, finished, source
from kit.engines.editing.picture.masks import painted
from kit.engines.media.color import Bytes
from kit.engines.media.fill.erasing import erased
from kit.engines.media.stills import Still, origin
from kit.engines.sizes import MOST, MOST_IN_BANDS
from kit.errors import EngineError

#: Pixels of an enlarged picture: encoders take many times its memory, that of WebP most where it
#: is see-through.
_MOST_PIXELS, _MOST_CLEAR = 40_000_000, 24_000_000
_ROWS = 160  # of a band: a fraction of a second of the slowest work


def repair(job: Job, progress: Progress) -> Asset:
    """Render a job of the retouch model."""
    progress.report(0.0)
    operation = job.parameters["operation"]
    most, clear = _BOUNDS[operation]
    if operation == "upscale" and job.media.get("image"):
        # What would be too large is told before it is decoded.
        found = origin(job.media["image"][0])
        _check_enlarged(found.width, found.height, job.parameters["scale"], _MOST_PIXELS)
    still = source(job, most=most, clear=clear)
    progress.report(0.05)
    done = _OPERATIONS[operation](job, still, progress.part(0.05, 0.85))
    progress.report(0.85)
    facts = {"operation": operation}
    return finished(job, progress, "retouch", done.pixels, alpha=done.alpha, facts=facts)


def enlarged(pixels: Bytes, times: int, strength: float) -> Bytes:
    """Return a picture several times as wide and high, its edges crisp but without halos.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3).
    strength : float
        Of the sharpening, 0 to 1.
    """
    while times > 1:
        pixels, times = _doubled(pixels, strength), times // 2
    return pixels


def sharpened(pixels: Bytes, reach: float, amount: float) -> Bytes:
    """Return a picture whose edges are steeper, bounded by what lies next to them.

    Sharpening that overshoots draws bright and dark lines along edges; here no pixel may pass the
    range of its neighbors by more than a little.
    """
    soft = cv2.GaussianBlur(pixels, (0, 0), reach)
    crisp = cv2.addWeighted(pixels, 1.0 + amount, soft, -amount, 0.0)
    size = 2 * max(1, round(reach)) + 1
    near = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    slack = np.full(4, 4 + 10 * amount)
    high = cv2.add(cv2.dilate(pixels, near), slack)
    low = cv2.subtract(cv2.erode(pixels, near), slack)
    return np.asarray(np.minimum(np.maximum(crisp, low), high))


def _doubled(pixels: Bytes, strength: float) -> Bytes:
    height, width = pixels.shape[:2]
    size = (2 * width, 2 * height)
    smooth = cv2.resize(pixels, size, interpolation=cv2.INTER_LANCZOS4)
    crisp = sharpened(smooth, 1.3, 1.4 * strength)
    # Shrunk again it must be the picture that came in: what is off is added back.
    back = cv2.resize(crisp, (width, height), interpolation=cv2.INTER_AREA)
    off = cv2.subtract(pixels, back, dtype=cv2.CV_16S)
    off = cv2.resize(off, size, interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.add(crisp, off, dtype=cv2.CV_8U))


def _crisper(pixels: Bytes, strength: float) -> Bytes:
    fine = sharpened(pixels, 1.0, 1.6 * strength)
    # A second, wider and weaker pass lifts local contrast, which the eye takes for sharpness.
    soft = cv2.GaussianBlur(fine, (0, 0), 6.0)
    return np.asarray(cv2.addWeighted(fine, 1 + 0.3 * strength, soft, -0.3 * strength, 0.0))


def _sharpen(job: Job, still: Still, progress: Progress) -> Still:
    strength = job.parameters["strength"]
    if not strength:
        return still
    return _banded(still, lambda part: _crisper(part, strength), 24, progress)


def _banded(
    still: Still, work: Callable[[Bytes], Bytes], overlap: int, progress: Progress
) -> Still:
    pixels = np.empty_like(still.pixels)
    for read, written, part in bands(len(pixels), _ROWS, overlap):
        pixels[written] = work(np.ascontiguousarray(still.pixels[read]))[part]
        progress.report(written.stop / len(pixels))
    return Still(pixels, still.alpha)


def _denoise(job: Job, still: Still, progress: Progress) -> Still:
    strength = job.parameters["strength"]
    if not strength:
        return still
    noise = noise_of(still.pixels)
    # Such an overlap keeps the squares of a band where those of the whole picture are.
    return _banded(still, lambda part: denoised(part, noise, strength), SIDE, progress)


def _upscale(job: Job, still: Still, progress: Progress) -> Still:
    times = job.parameters["scale"]
    height, width = still.pixels.shape[:2]
    if still.alpha is not None and job.parameters["format"] == "webp":
        _check_enlarged(width, height, times, _MOST_CLEAR)
    pixels = np.empty((times * height, times * width, 3), np.uint8)
    for read, written, part in bands(height, _ROWS, 12):
        band = enlarged(still.pixels[read], times, job.parameters["strength"])
        pixels[_times(written, times)] = band[_times(part, times)]
        progress.report(written.stop / height)
    return Still(pixels, _enlarged_alpha(still.alpha, times))


def _check_enlarged(width: int, height: int, times: int, most: int) -> None:
    if times * times * height * width <= most and times * max(height, width) <= MOST_IN_BANDS:
        return
    kind = "see-through webp" if most == _MOST_CLEAR else "result"
    raise EngineError(
        f"{width} x {height} pixels, {times} times as wide and high, are more than the"
        f" {most // 1_000_000} megapixels or {MOST_IN_BANDS:,} a side that a {kind} may have:"
        f" take a smaller picture or scale{', or png' if most == _MOST_CLEAR else ''}",
        code="too_large",
    )


def _enlarged_alpha(alpha: Bytes | None, times: int) -> Bytes | None:
    if alpha is None:
        return None
    size = (times * alpha.shape[1], times * alpha.shape[0])
    return np.asarray(cv2.resize(alpha, size, interpolation=cv2.INTER_CUBIC))


def _times(rows: slice, times: int) -> slice:
    return slice(rows.start * times, rows.stop * times)


def _erase(job: Job, still: Still, progress: Progress) -> Still:
    mask = _mask(job, still)
    return Still(erased(still.pixels, mask, job.seed, progress), still.alpha)


def _mask(job: Job, still: Still) -> Bytes:
    """Return 255 where something is to be erased, in the size of the picture."""
    height, width = still.pixels.shape[:2]
    found = painted(job, (height, width))
    if not 0 < found.share < _MOST_ERASED:
        raise _pointless(found.share, see_through=found.see_through)
    return found.mask


def _pointless(share: float, *, see_through: bool) -> EngineError:
    """Return what a mask is told that covers nothing, or too much."""
    sentence = (
        f"the mask covers {share:.0%} of the picture; it must be white where something is to be"
        f" erased, on more than nothing and less than {_MOST_ERASED:.0%}"
    )
    if share:
        sentence += ": turn black and white around if black marks it"
    elif see_through:
        sentence += ", and what is see-through counts as black"
    return EngineError(sentence, code="mask_full" if share else "mask_empty")


_MOST_ERASED = 0.6
#: Pixels a side, without and with transparency: work in bands keeps the size, but writing a large
#: picture with transparency takes too much memory.
_BOUNDS: dict[str, tuple[int, int | None]] = {
    "erase": (MOST, None),
    "upscale": (MOST_IN_BANDS, None),
    "denoise": (MOST_IN_BANDS, MOST),
    "sharpen": (MOST_IN_BANDS, MOST),
}
_Operation = Callable[[Job, Still, Progress], Still]
_OPERATIONS: dict[str, _Operation] = {
    "erase": _erase,
    "denoise": _denoise,
    "upscale": _upscale,
    "sharpen": _sharpen,
}
