"""How a picture is repaired: the table of operations, and those that are short."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.cutting import painted
from kit.engines.editing.picture.grading import bands, finished, source
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.fill.erasing import erased
from kit.engines.media.stills import Still, origin
from kit.engines.sizes import MOST, MOST_IN_BANDS
from kit.errors import EngineError

SIDE = 8
#: Between squares, down and across: each pixel is a mean of 16 of them in gray and of 8 in the two
#: colors, whose detail the eye sees less.
_STEPS = ((2, 2), (2, 4), (2, 4))
_WIDEST = 4  # of the steps
_AT_ONCE = 4096  # squares: about what the processor's cache holds
#: Squares that are multiplied at once: of more, BLAS makes work for several threads, and that they
#: wait for each other takes ten times as long as the work.
_COLUMNS = 64
_CLEAR = 2.6  # times the noise, at half strength: what is weaker goes
_FLAT = 0.25  # of the squares, the plainest, show the noise
_MOST = 32.0  # tones: what is stronger is a pattern
_DARK, _LIGHT = 6, 249  # tones beyond which noise is clipped
_SAMPLES = 12_000  # squares that are looked at
_FEWEST = 16  # below it nothing is known of the noise


def _waves() -> Floats:
    """Return the cosine waves of a square, shape (64, 64), one a row."""
    one = cv2.dct(np.eye(SIDE, dtype=np.float32), flags=cv2.DCT_ROWS).T
    return np.asarray(np.kron(one, one), np.float32)


#: Gray and two colors in which noise of the three channels is apart and as strong.
_MIX = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]], np.float32)
_MIX /= np.linalg.norm(_MIX, axis=1, keepdims=True)


def noise_of(pixels: Bytes) -> Floats:
    """Return how strong the noise is, shape (3, 64): of gray and two colors, for each wave."""
    height, width = pixels.shape[:2]
    if min(height, width) < SIDE:
        return np.zeros((3, SIDE * SIDE), np.float32)
    # An odd step: squares lie differently on those of a JPEG.
    step = max(SIDE, int((height * width / _SAMPLES) ** 0.5)) | 1
    squares = sliding_window_view(pixels, (SIDE, SIDE), axis=(0, 1))[::step, ::step]
    flat = squares.reshape(-1, 3, SIDE * SIDE)
    mean = flat.mean(axis=2)
    found = (_MIX @ flat.astype(np.float32)) @ _waves().T
    rough = np.sqrt(np.square(found[:, 0, 1:]).mean(axis=1))
    usable = ((mean > _DARK) & (mean < _LIGHT)).all(axis=1)
    if np.count_nonzero(usable) < _FEWEST:
        return np.zeros((3, SIDE * SIDE), np.float32)
    plain = usable & (rough <= np.quantile(rough[usable], _FLAT))
    noise = np.sqrt(np.square(found[plain]).mean(axis=0))
    return np.asarray(np.minimum(noise, np.float32(_MOST)))


def denoised(pixels: Bytes, noise: Floats, strength: float) -> Bytes:
    """Return a picture without its noise.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3).
    noise : ndarray of float32
        Shape (3, 64), from `noise_of`.
    strength : float
        From 0; 0.5 takes out what was measured, 1 twice that.
    """
    height, width = pixels.shape[:2]
    below, beside = (SIDE + -side % _WIDEST for side in (height, width))
    padded = cv2.copyMakeBorder(pixels, SIDE, below, SIDE, beside, cv2.BORDER_REFLECT)
    planes = cv2.split(cv2.transform(padded.astype(np.float32), _MIX))
    least = 2 * strength * _CLEAR * noise
    clean = [
        _cleared(plane, limits, steps)[SIDE : SIDE + height, SIDE : SIDE + width]
        for plane, limits, steps in zip(planes, least, _STEPS, strict=True)
    ]
    mixed = cv2.transform(cv2.merge(clean), _MIX.T)
    return np.asarray(cv2.convertScaleAbs(np.maximum(mixed, 0.0, out=mixed)))


def _cleared(plane: Floats, limits: Floats, steps: tuple[int, int]) -> Floats:
    """Return a plane whose weak waves are gone, each pixel a mean of all squares that cover it.

    The plane is taken apart into its phases, pixels that are a step apart: what the same pixel of
    all squares shows is then one block of memory, and arithmetic runs along it.
    """
    down, across = steps
    height, width = plane.shape[0] // down, plane.shape[1] // across
    phases = plane.reshape(height, down, width, across).transpose(1, 3, 0, 2).copy()
    tall, wide = SIDE // down, SIDE // across
    squares = sliding_window_view(phases, (tall, wide), axis=(2, 3)).transpose(4, 0, 5, 1, 2, 3)
    rows, columns = squares.shape[4:]
    high = max(1, _AT_ONCE // columns)
    clear = _Clearing(limits, high * columns)
    total, weight = np.zeros_like(phases), np.zeros((height, width), np.float32)
    for row in range(0, rows, high):
        back, trust = clear(squares[..., row : row + high, :])
        for low, right in product(range(tall), range(wide)):
            place = (slice(row + low, row + low + len(trust)), slice(right, right + columns))
            total[..., *place] += back[low, :, right]
            weight[place] += trust
    total /= np.maximum(weight, 1e-9)
    return total.transpose(2, 0, 3, 1).reshape(plane.shape)


class _Clearing:
    """Takes the weak waves out of squares, in memory that is taken once.

    Parameters
    ----------
    limits : ndarray of float32
        Shape (64,): below which strength a wave is weak.
    most : int
        Squares at a time.
    """

    def __init__(self, limits: Floats, most: int) -> None:
        waves, unit = _waves(), np.maximum(limits, 1e-6)
        # Measured in their limits, all waves are compared with 1.
        self._ahead, self._back = waves / unit[:, None], (waves * unit[:, None]).T.copy()
        self._memory = np.zeros((3, SIDE * SIDE * _whole(most)), np.float32)

    def __call__(self, squares: Floats) -> tuple[Floats, Floats]:
        """Return squares without their weak waves, times how far they are trusted, and that.

        Parameters
        ----------
        squares : ndarray of float32
            The pixels of a square in the first four axes, the squares in the last two.
        """
        count = squares.shape[4] * squares.shape[5]
        whole = _whole(count)
        flat = (part[: SIDE * SIDE * whole].reshape(-1, whole) for part in self._memory)
        pixels, found, strong = flat
        pixels[:, :count].reshape(squares.shape)[:] = squares
        np.matmul(self._ahead, _in_blocks(pixels), out=_in_blocks(found))
        np.multiply(found, found, out=strong)
        cv2.threshold(strong, 1.0, 1.0, cv2.THRESH_BINARY, dst=strong)
        strong[0] = 1.0  # its mean
        found *= strong
        # A square that a few waves describe is trusted more than one with an edge.
        trust = np.float32(1.0) / strong.sum(axis=0)
        found *= trust
        np.matmul(self._back, _in_blocks(found), out=_in_blocks(pixels))
        back = pixels[:, :count].reshape(squares.shape)
        return back, trust[:count].reshape(squares.shape[4:])


def _whole(count: int) -> int:
    """Return a number of squares that can be multiplied in blocks."""
    return count + -count % _COLUMNS


def _in_blocks(flat: Floats) -> Floats:
    """See a matrix of 64 rows in blocks of `_COLUMNS`, shape (blocks, 64, columns)."""
    return flat.reshape(len(flat), -1, _COLUMNS).transpose(1, 0, 2)


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
