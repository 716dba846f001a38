"""Grading: a look applied to pixels, by one table per channel, one matrix and a soft light."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import cv2
import numpy as np

from kit.engines.base import Asset, Job, Progress
from kit.engines.editing.picture.looks import Look
from kit.engines.media import results
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.noise import smooth_step
from kit.engines.media.picture import THUMBNAIL_SIDE
from kit.engines.media.stills import Still, opened, origin, reduced
from kit.engines.prompt.colors import no_color, rgb_of
from kit.engines.sizes import MOST
from kit.errors import EngineError

_CHECK = 16  # pixels of a checker that stands for transparency in previews
_LIGHT, _DARK = 235, 205
_FINISH_ROWS = 256  # of a band in which pictures are laid on each other


def source(job: Job, name: str = "image", *, most: int = MOST, clear: int | None = None) -> Still:
    """Return an input picture, upright and at most `most` pixels a side; `clear` with alpha.

    Raises
    ------
    EngineError
        It was not given, or cannot be read.
    """
    files = job.media.get(name)
    if not files:
        raise EngineError(f"this needs a picture as {name!r}", code="medium_missing")
    still = opened(files[0], most=most)
    return still if clear is None or still.alpha is None else reduced(still, clear)


def finished(
    job: Job,
    progress: Progress,
    name: str,
    pixels: Bytes,
    *,
    alpha: Bytes | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Asset:
    """Write the result and its preview; return them as an asset.

    Its metadata tell the true size of the picture that came in, and that only the first one of an
    animation was used.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), sRGB.
    alpha : ndarray of uint8, optional
        Shape (height, width); a jpeg shows white where it is 0.
    """
    picture, jpeg = pixels, job.parameters["format"] == "jpeg"
    if alpha is not None:
        picture = flat(Still(pixels, alpha)) if jpeg else np.dstack([pixels, alpha])
    progress.check()
    return results.still(
        picture,
        job,
        name,
        progress.part(0.9, 1.0),
        facts={**(facts or {}), **_origin(job)},
        preview=lambda: _preview(pixels, alpha),
    )


def _preview(pixels: Bytes, alpha: Bytes | None) -> Bytes:
    """Return what the preview is made of: on checkers, and then small, where it is see-through."""
    if alpha is None:
        return np.ascontiguousarray(pixels)
    height, width = alpha.shape
    scale = min(1.0, THUMBNAIL_SIDE / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small, cover = (cv2.resize(a, size, interpolation=cv2.INTER_AREA) for a in (pixels, alpha))
    return over(checkers(*cover.shape), np.asarray(small), np.asarray(cover))


def _origin(job: Job) -> dict[str, Any]:
    files = job.media.get("image")
    if not files:
        return {}
    found = origin(files[0])
    facts: dict[str, Any] = {"from": [found.width, found.height]}
    if found.frames > 1:
        facts["used"] = f"the first of {found.frames} pictures"
    return facts


def flat(still: Still, ground: int = 255) -> Bytes:
    """Return a picture's pixels, on white or another gray where it is transparent."""
    if still.alpha is None:
        return still.pixels
    # Seen as a picture of one gray, without the memory of one.
    below = np.broadcast_to(np.uint8(ground), still.pixels.shape)
    return over(below, still.pixels, still.alpha)


def over(below: Bytes, above: Bytes, alpha: Bytes) -> Bytes:
    """Return one picture lying on another; `alpha` has shape (height, width)."""
    out = np.empty_like(above)
    # In bands: at once it would take nine times the memory of a picture.
    for rows, _, _ in bands(len(above), _FINISH_ROWS, 0):
        share = alpha[rows, :, None].astype(np.uint16)
        out[rows] = (above[rows] * share + below[rows] * (255 - share) + 127) // 255
    return out


def checkers(height: int, width: int) -> Bytes:
    """Return the gray checkers that stand for transparency, about the same at any size."""
    side = max(_CHECK, max(height, width) // 32)
    rows, columns = np.ogrid[0:height, 0:width]
    light = ((rows // side + columns // side) % 2)[..., None] == 0
    return np.repeat(np.where(light, _LIGHT, _DARK).astype(np.uint8), 3, axis=2)


def bands(height: int, rows: int, overlap: int) -> Iterator[tuple[slice, slice, slice]]:
    """Yield a picture's rows in bands, so that long work can report and be stopped.

    Yields
    ------
    tuple of slice
        Rows to read, with `overlap` rows more on both sides; rows to write; and which rows of what
        was read those are.
    """
    for top in range(0, height, rows):
        bottom = min(height, top + rows)
        first, last = max(0, top - overlap), min(height, bottom + overlap)
        yield slice(first, last), slice(top, bottom), slice(top - first, bottom - first)


def color_of(text: str) -> tuple[int, int, int]:
    """Return the color that a CSS name or a hexadecimal number stands for.

    Raises
    ------
    EngineError
        It is neither.
    """
    color = rgb_of(text)
    if color is None:
        raise EngineError(no_color(text), code="unknown_color")
    return color


_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_ROWS = 256  # of a band
_GLOW_SIDE = 320  # pixels a side of the copy that is blurred for a glow


def graded(pixels: Bytes, look: Look) -> Bytes:
    """Return a picture in a look.

    Parameters
    ----------
    pixels : ndarray of uint8
        Shape (height, width, 3), RGB.
    """
    # Colors first, so that a look without color can still be toned by the tables.
    out = cv2.transform(pixels, color_matrix(look.saturation))
    out = cv2.LUT(out, _tables(look), dst=out)
    if look.glow:
        out = _glowing(out, look.glow)
    if look.vignette:
        out = _vignetted(out, look.vignette)
    return np.asarray(out)


def color_matrix(saturation: float) -> Floats:
    """Return what red, green and blue become: 1 leaves them, 0 makes them one gray."""
    own = saturation * np.eye(3, dtype=np.float32)
    return np.asarray(own + (1 - saturation) * np.tile(_LUMA, (3, 1)), np.float32)


def _tables(look: Look) -> Bytes:
    tone: Floats = np.linspace(0.0, 1.0, 256, dtype=np.float32)
    middle: Floats = np.float32(4.0) * tone * (np.float32(1.0) - tone)
    shifts = (look.warmth + look.tint / 2, -look.tint, -look.warmth + look.tint / 2)
    channels = []
    for shift, dark, light in zip(shifts, look.shadows, look.highlights, strict=True):
        value = _curved(tone + np.float32(shift + look.light) * middle, look.contrast)
        channels.append(value + dark * (1.0 - tone) ** 2 + light * tone**2)
    return np.asarray(np.rint(np.stack(channels, axis=1) * 255).clip(0, 255), np.uint8)[None]


def _curved(value: Floats, contrast: float) -> Floats:
    """Steepen around the middle with rounded ends, so that lights and darks keep their drawing."""
    if contrast <= 1.0:
        return np.asarray(0.5 + contrast * (value - 0.5), np.float32)
    steep = 3.2 * (contrast - 1.0) + 1e-3
    curve = np.tanh(steep * (2.0 * value - 1.0)) / np.tanh(steep)
    return np.asarray(0.5 + 0.5 * curve, np.float32)


def _glowing(pixels: Bytes, amount: float) -> Bytes:
    """Let lights shine beyond their outlines, in place: a large picture fits few times."""
    height, width = pixels.shape[:2]
    scale = min(1.0, _GLOW_SIDE / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32) / 255
    light = small * smooth_step(0.35, 0.95, small @ _LUMA)[..., None]
    soft = cv2.GaussianBlur(light, (0, 0), 0.012 * _GLOW_SIDE)
    soft += cv2.GaussianBlur(light, (0, 0), 0.045 * _GLOW_SIDE)
    veil = np.rint(255 * np.clip(amount * soft, 0, 1)).astype(np.uint8)
    veil = cv2.resize(veil, (width, height), interpolation=cv2.INTER_CUBIC)
    # Screen: light adds up but never clips.
    for plane in (pixels, veil):
        cv2.bitwise_not(plane, dst=plane)
    cv2.multiply(pixels, veil, dst=pixels, scale=1 / 255)
    return np.asarray(cv2.bitwise_not(pixels, dst=pixels))


def _vignetted(pixels: Bytes, amount: float) -> Bytes:
    """Darken the corners, in place."""
    mask = _shade(pixels.shape, amount)
    for rows, _, _ in bands(len(pixels), _ROWS, 0):
        part = pixels[rows]
        cv2.multiply(part, cv2.merge([mask[rows]] * 3), dst=part, scale=1 / 255)
    return pixels


def _shade(shape: tuple[int, ...], amount: float) -> Bytes:
    height, width = shape[:2]
    rows = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
    columns = np.linspace(-1, 1, 64, dtype=np.float32)[None, :]
    shade = 255 * (1.0 - amount * smooth_step(0.5, 2.0, rows**2 + columns**2))
    large = cv2.resize(shade, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(cv2.convertScaleAbs(large))
