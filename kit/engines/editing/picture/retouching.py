"""Repairs of pictures: erasing, denoising, enlarging and sharpening."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.edit_thread import keep_reporting
from kit.engines.editing.picture.files import read_mask, read_picture, row_bands, write_result
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.fill import POOR_FIT, Filled, erase
from kit.engines.media.scaling import blur, resize
from kit.engines.media.stills import Still, info_of
from kit.engines.sizes import MAX_BAND_SIDE, MAX_SIDE
from kit.errors import EngineError

#: Maximum pixels of an enlarged picture: encoders need many times its memory, WebP's most with
#: transparency.
_MAX_PIXELS, _MAX_ALPHA_PIXELS = 40_000_000, 24_000_000
_MAX_ERASED = 0.6  # of a picture
_TRACES_NOTE = (
    "the erased place may be visible, as its surroundings do not continue well behind it:"
    " try a smaller mask or another seed"
)
_BAND_ROWS = 240  # of a band: a fraction of a second of the slowest operation
_SIDE = 8  # of the squares whose frequencies are separated
#: Between squares, down and across, in gray and in both colors at half size.
_STEPS = ((3, 4), (4, 4), (4, 4))
_NOISE_FACTOR = 5.2  # times the noise at full strength: weaker coefficients are removed
_PLAIN_SHARE = 0.25  # share of squares, the plainest, from which noise is measured
_MAX_WEIGHT = np.float32(32.0)  # tones: stronger coefficients are a pattern
_MIN_TONE, _MAX_TONE = 6, 249  # tones beyond which noise is clipped
_MAX_SAMPLES, _MIN_SAMPLES = 12_000, 16  # squares for a measurement
#: Gray and two colors in which the noise of the channels is independent and of equal strength.
_COLOR_MIX = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]], np.float32)
_COLOR_MIX /= np.linalg.norm(_COLOR_MIX, axis=1, keepdims=True)
#: The DCT basis of a square, one function per row.
_DCT_BASIS = np.kron(*[cv2.dct(np.eye(_SIDE, dtype=np.float32), flags=cv2.DCT_ROWS).T] * 2)


@keep_reporting
def retouch(job: Job, progress: Progress) -> Asset:
    """Render a job of the retouch model."""
    progress.report(0.0)
    operation = job.parameters["operation"]
    work, most, clear = _OPERATIONS[operation]
    if operation == "upscale" and job.media.get("image"):
        # Refuse results that would be too large before decoding.
        found = info_of(job.media["image"][0])
        _check_enlarged(found.width, found.height, job.parameters["scale"], _MAX_PIXELS)
    still = read_picture(job, side=most, clear=clear)
    progress.report(0.05)
    facts: dict[str, Any] = {"operation": operation}
    done = work(job, still, progress.part(0.05, 0.85))
    if isinstance(done, Filled):
        facts["fit"] = round(done.fit, 2)
        if done.fit < POOR_FIT:
            facts["note"] = _TRACES_NOTE
        done = Still(done.pixels, still.alpha)
    progress.report(0.85)
    return write_result(job, progress, "retouch", done.pixels, alpha=done.alpha, facts=facts)


def _erase(job: Job, still: Still, progress: Progress) -> Filled:
    shape = (still.pixels.shape[0], still.pixels.shape[1])
    mask = read_mask(job, shape, (0, _MAX_ERASED), "where something is to be erased")
    return erase(still.pixels, mask, job.seed, progress)


def _denoise(job: Job, still: Still, progress: Progress) -> Still:
    height, width = still.pixels.shape[:2]
    half = resize(still.pixels, max(1, width // 2), max(1, height // 2))
    whole, small = (
        _NOISE_FACTOR * job.parameters["strength"] * noise_of(part) for part in (still.pixels, half)
    )
    limits = np.array([whole[0], *small[1:]])
    fine = 1.3 * np.sqrt(np.square(whole[1:]).mean(axis=1))
    # This overlap aligns the squares of a band with those of the whole picture.
    overlap = 2 * _SIDE
    return _work_in_bands(
        job, still, lambda band, part: clear_noise(band, part, limits, fine), overlap, progress
    )


def noise_of(pixels: Bytes) -> Floats:
    """Return the noise level, shape (3, 64): of gray and two colors, for each frequency."""
    (height, width), nothing = pixels.shape[:2], np.zeros((3, _SIDE * _SIDE), np.float32)
    if min(height, width) < _SIDE:
        return nothing
    # An odd step: squares are not aligned with those of a JPEG.
    step = max(_SIDE, int((height * width / _MAX_SAMPLES) ** 0.5)) | 1
    squares = sliding_window_view(pixels, (_SIDE, _SIDE), axis=(0, 1))[::step, ::step]
    squares = squares.reshape(-1, 3, _SIDE * _SIDE)
    mean = squares.mean(axis=2)
    usable = ((mean > _MIN_TONE) & (mean < _MAX_TONE)).all(axis=1)
    if np.count_nonzero(usable) < _MIN_SAMPLES:
        return nothing
    found = (_COLOR_MIX @ squares[usable].astype(np.float32)) @ _DCT_BASIS.T
    rough = np.square(found[:, 0, 1:]).mean(axis=1)
    plain = found[rough <= np.quantile(rough, _PLAIN_SHARE)]
    return np.asarray(np.minimum(np.sqrt(np.square(plain).mean(axis=0)), _MAX_WEIGHT), np.float32)


def clear_noise(pixels: Bytes, part: slice, limits: Floats, fine: Floats) -> Bytes:
    """Return some rows without coefficients below their limits, shape (3, 64).

    Both colors, in which the eye sees less, are denoised at half size; the detail lost by that is
    kept where it is stronger than `fine`.

    Source: Yu and Sapiro, "DCT image denoising" (IPOL 2011).
    """
    (height, width), edge = pixels.shape[:2], 2 * _SIDE
    above, below, beside = edge - part.start, edge + part.stop - height, edge + -width % edge
    below += -(above + height + below) % edge
    padded = cv2.copyMakeBorder(pixels, above, below, edge, beside, cv2.BORDER_REFLECT)
    size = padded.shape[1::-1]
    gray, *colors = cv2.split(cv2.transform(padded.astype(np.float32), _COLOR_MIX))
    clean = [_remove_weak(gray, limits[0], _STEPS[0])]
    for color, waves, steps, limit in zip(colors, limits[1:], _STEPS[1:], fine, strict=True):
        half = cv2.resize(color, (size[0] // 2, size[1] // 2), interpolation=cv2.INTER_AREA)
        rest = color - cv2.resize(half, size)
        strong = cv2.compare(cv2.multiply(rest, rest), float(limit) ** 2, cv2.CMP_GE)
        clean.append(cv2.resize(_remove_weak(half, waves, steps), size))
        cv2.add(clean[-1], rest, dst=clean[-1], mask=strong)
    middle = cv2.merge(clean)[edge : edge + part.stop - part.start, edge : edge + width]
    return np.asarray(cv2.convertScaleAbs(np.maximum(cv2.transform(middle, _COLOR_MIX.T), 0.0)))


def _remove_weak(plane: Floats, limits: Floats, steps: tuple[int, int]) -> Floats:
    """Return a plane without weak coefficients, each pixel the mean of all squares covering it."""
    total, weight = np.zeros_like(plane), np.zeros_like(plane)
    # In units of their limits, all coefficients are compared with 1.
    unit = np.maximum(limits, 1e-6)[:, None]
    ahead, back = (_DCT_BASIS / unit).T.copy(), _DCT_BASIS * unit
    for top, left in product(range(0, _SIDE, steps[0]), range(0, _SIDE, steps[1])):
        rows, columns = (plane.shape[0] - top) // _SIDE, (plane.shape[1] - left) // _SIDE
        place = np.s_[top : top + rows * _SIDE, left : left + columns * _SIDE]
        # Parts so small that BLAS does not use several threads.
        count, shape = rows * columns, (rows, columns, _SIDE, _SIDE)
        parts = np.zeros((-(-count // 64), 64, _SIDE * _SIDE), np.float32)
        own, out = (
            of[place].reshape(rows, _SIDE, columns, _SIDE).transpose(0, 2, 1, 3)
            for of in (plane, total)
        )
        parts.reshape(-1, _SIDE * _SIDE)[:count].reshape(shape)[:] = own
        found = (parts @ ahead).reshape(-1, _SIDE * _SIDE)
        _, strong = cv2.threshold(cv2.multiply(found, found), 1.0, 1.0, cv2.THRESH_BINARY)
        strong[:, 0] = 1.0  # the mean
        # Squares with few coefficients have a larger weight than squares with an edge.
        trust = 1.0 / cv2.reduce(strong, 1, cv2.REDUCE_SUM)
        found = cv2.multiply(found, strong, dst=found)
        found *= trust
        out += (found.reshape(parts.shape) @ back).reshape(-1, _SIDE * _SIDE)[:count].reshape(shape)
        size, kind = (columns * _SIDE, rows * _SIDE), cv2.INTER_NEAREST
        weight[place] += cv2.resize(trust[:count].reshape(rows, columns), size, interpolation=kind)
    return np.asarray(total / np.maximum(weight, 1e-9))


def _sharpen(job: Job, still: Still, progress: Progress) -> Still:
    strength = job.parameters["strength"]

    def sharpen_part(pixels: Bytes, part: slice) -> Bytes:
        fine = sharpen(pixels, 1.0, 1.6 * strength)
        # A second, wider and weaker pass lifts local contrast, which looks like sharpness.
        fine, soft = fine[part], blur(fine, 6.0)[part]
        return np.asarray(cv2.addWeighted(fine, 1 + 0.3 * strength, soft, -0.3 * strength, 0.0))

    return _work_in_bands(job, still, sharpen_part, 24, progress)


def sharpen(pixels: Bytes, reach: float, amount: float) -> Bytes:
    """Return a picture with steeper edges, limited by neighboring pixels.

    Overshoot draws bright and dark lines along edges; here no pixel may exceed the range of its
    neighbors by more than a little.
    """
    soft = cv2.GaussianBlur(pixels, (0, 0), reach)
    crisp = cv2.addWeighted(pixels, 1.0 + amount, soft, -amount, 0.0)
    size = 2 * max(1, round(reach)) + 1
    near = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    slack = np.full_like(pixels, round(4 + 10 * amount))  # a scalar takes ten times as long
    high = cv2.add(cv2.dilate(pixels, near), slack)
    low = cv2.subtract(cv2.erode(pixels, near), slack)
    return np.asarray(np.minimum(np.maximum(crisp, low), high))


def _work_in_bands(
    job: Job, still: Still, work: Callable[[Bytes, slice], Bytes], overlap: int, progress: Progress
) -> Still:
    if not job.parameters["strength"]:
        return still
    pixels, above = still.pixels, still.pixels[:0]  # original rows above a band
    for read, written, part in row_bands(len(pixels), _BAND_ROWS, overlap):
        band = np.concatenate([above, pixels[written.start : read.stop]])
        above = band[max(0, part.stop - overlap) : part.stop]
        pixels[written] = work(band, part)
        progress.report(written.stop / len(pixels))
    return still


def _upscale(job: Job, still: Still, progress: Progress) -> Still:
    times, strength = job.parameters["scale"], job.parameters["strength"]
    (height, width), alpha = still.pixels.shape[:2], still.alpha
    if alpha is not None and job.parameters["format"] == "webp":
        _check_enlarged(width, height, times, _MAX_ALPHA_PIXELS)
    pixels = np.empty((times * height, times * width, 3), np.uint8)
    for read, written, part in row_bands(height, _BAND_ROWS, 12):
        band = still.pixels[read]
        for _ in range(times // 2):
            band = _double(band, strength)
        to, of = (slice(times * rows.start, times * rows.stop) for rows in (written, part))
        pixels[to] = band[of]
        progress.report(written.stop / height)
    if alpha is not None:
        size = (times * width, times * height)
        alpha = np.asarray(cv2.resize(alpha, size, interpolation=cv2.INTER_CUBIC))
    return Still(pixels, alpha)


def _double(pixels: Bytes, strength: float) -> Bytes:
    height, width = pixels.shape[:2]
    size = (2 * width, 2 * height)
    smooth = cv2.resize(pixels, size, interpolation=cv2.INTER_CUBIC)
    crisp = sharpen(smooth, 1.3, 1.4 * strength)
    # Scaled down again it must equal the input: the difference is added back.
    back = cv2.resize(crisp, (width, height), interpolation=cv2.INTER_AREA)
    off = cv2.subtract(pixels, back, dtype=cv2.CV_16S)
    off = cv2.resize(off, size, interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.add(crisp, off, dtype=cv2.CV_8U))


def _check_enlarged(width: int, height: int, times: int, most: int) -> None:
    if times * times * height * width <= most and times * max(height, width) <= MAX_BAND_SIDE:
        return
    kind = "transparent webp" if most == _MAX_ALPHA_PIXELS else "result"
    raise EngineError(
        f"{width} x {height} pixels, {times} times as wide and high, are more than the"
        f" {most // 1_000_000} megapixels or {MAX_BAND_SIDE:,} a side that a {kind} may have:"
        f" take a smaller picture or scale{', or png' if most == _MAX_ALPHA_PIXELS else ''}",
        code="too_large",
    )


#: Operation -> its function, and maximum side in pixels without and with alpha: work in bands keeps
#: the size, but writing a large picture with alpha takes too much memory.
_OPERATIONS: dict[str, tuple[Callable[[Job, Still, Progress], Still | Filled], int, int | None]] = {
    "erase": (_erase, MAX_SIDE, None),
    "denoise": (_denoise, MAX_BAND_SIDE, MAX_SIDE),
    "upscale": (_upscale, MAX_BAND_SIDE, None),
    "sharpen": (_sharpen, MAX_BAND_SIDE, MAX_SIDE),
}
