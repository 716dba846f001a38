"""Input pictures: still files are converted to upright 8-bit sRGB pixels.

Phones rotate pictures by a tag, printers use four inks, scanners sixteen bits: all are converted
when opened here. Limits are those of `kit.engines.media.inspection`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from PIL import Image, ImageOps
from PIL.JpegImagePlugin import JpegImageFile, get_sampling

from kit.engines.media.color import Bytes
from kit.engines.media.inspection import MAGIC, PICTURES, picture_in
from kit.engines.media.scaling import fit_size, resize
from kit.pictures import decode_jpeg, to_srgb

_OPAQUE = 255
_BAND_ROWS = 256  # rows
#: Block size of Pillow's allocations in bytes. Blocks below 32 MiB stay with the thread that freed
#: them, and a picture of 50 megapixels leaves 150 MiB unusable.
_BLOCK_BYTES = 64 << 20
_ORIENTATION = 0x0112  # of Exif
_SIDEWAYS_TAGS = frozenset({5, 6, 7, 8})
#: Orientation -> OpenCV's axis of the flip, after rows and columns are exchanged.
_FLIPS = {2: 1, 3: -1, 4: 0, 6: 1, 7: -1, 8: 0}

Image.core.set_block_size(_BLOCK_BYTES)  # type: ignore[attr-defined]  # Pillow's manual names it


@dataclass(frozen=True, slots=True)
class Still:
    """A picture as it is meant to be seen: upright and contiguous in memory."""

    pixels: Bytes
    #: 255 where opaque, None if opaque everywhere; straight (not premultiplied) alpha.
    alpha: Bytes | None = None

    def flatten(self, ground: int = _OPAQUE) -> Bytes:
        """Return the pixels composited over white or another gray."""
        if self.alpha is None:
            return self.pixels
        cover = cv2.merge([self.alpha] * 3)
        above = cv2.multiply(self.pixels, cover, scale=1 / _OPAQUE)
        return np.asarray(cv2.addWeighted(above, 1, cv2.bitwise_not(cover), ground / _OPAQUE, 0))


def open_still(path: Path, *, side: int = 1 << 30, cover: tuple[int, int] | None = None) -> Still:
    """Return the picture in a file, the first frame of an animation.

    The file name is ignored. A picture with a side above `side` pixels is scaled down; with a
    `cover` (width and height) it is halved while it still covers that size, which for a JPEG is
    half the work of decoding.

    Raises
    ------
    EngineError
        The file is broken or no picture (``undecodable``), or has too many pixels (``too_large``).
    """
    with picture_in(path, list(PICTURES.values())) as image:
        whole = image.width
        # JPEG decoders can reduce: less work, and never below the requested size.
        size = cover or (side, side)
        image.draft(None, size[::-1] if _is_sideways(image, path) else size)
        quick = isinstance(image, JpegImageFile) and image.mode == "RGB"
        found = _open_jpeg(image, path, round(whole / image.width)) if quick else _convert(image)
    if cover is not None:
        height, width = found.pixels.shape[:2]
        times = max(1, min(width // cover[0], height // cover[1]))
        side = min(side, max(width, height) >> (times.bit_length() - 1))
    return scale_down(found, side)


@dataclass(frozen=True, slots=True)
class PictureInfo:
    """The contents of a file: size of its picture, upright and unreduced, and number of them."""

    width: int
    height: int
    frames: int = 1
    coarse: bool = False  # whether a JPEG has its colors at half size in both directions


def info_of(path: Path) -> PictureInfo:
    """Return the contents of a file that `open_still` accepts, without decoding its pixels."""
    with picture_in(path, list(PICTURES.values())) as image:
        width, height = reversed(image.size) if _is_sideways(image, path) else image.size
        return PictureInfo(width, height, getattr(image, "n_frames", 1), get_sampling(image) == 2)


def _is_sideways(image: Any, path: Path) -> bool:
    # `getexif` makes Pillow decode a PNG, as the Exif data may follow the pixels.
    ask = type(image).getexif if _ends_in_exif(path) else Image.Image.getexif
    return ask(image).get(_ORIENTATION, 1) in _SIDEWAYS_TAGS


def _ends_in_exif(path: Path) -> bool:
    """Return whether a file is a PNG with its Exif data after its pixels."""
    behind = False
    with path.open("rb") as file:
        if file.read(8) != MAGIC["image/png"][0][1]:
            return False
        while len(head := file.read(8)) == 8 and not (behind and head[4:] == b"eXIf"):
            behind = behind or head[4:] == b"IDAT"
            file.seek(int.from_bytes(head[:4], "big") + 4, 1)
    return head[4:] == b"eXIf"


def _open_jpeg(image: Any, path: Path, times: int) -> Still:
    """Return a JPEG reduced by a factor, its pixels decoded directly into their final array."""
    pixels = decode_jpeg(path, times)
    tag, profile = image.getexif().get(_ORIENTATION, 1), image.info.get("icc_profile")
    pixels = cv2.transpose(pixels) if tag in _SIDEWAYS_TAGS else pixels
    pixels = cv2.flip(pixels, _FLIPS[tag]) if tag in _FLIPS else pixels
    if profile:
        managed = to_srgb("RGB", profile)
        for top in range(0, len(pixels), _BAND_ROWS):
            part = pixels[top : top + _BAND_ROWS]
            part[:] = managed(Image.fromarray(part))
    return Still(np.asarray(pixels))


def _convert(image: Any) -> Still:
    image.load()
    profile = image.info.get("icc_profile")
    # In place: a copy of a large picture takes as much memory as all later steps.
    ImageOps.exif_transpose(image, in_place=True)
    pixels = np.empty((image.height, image.width, 3), np.uint8)
    has_alpha = image.mode == "RGBa" or "A" in image.mode or "transparency" in image.info
    if not has_alpha or image.mode[0] in "IF":
        managed = to_srgb(_convert_mode(image.crop((0, 0, 1, 1))).mode, profile)
        for rows, part in _bands(image):
            pixels[rows] = managed(_convert_mode(part))
        return Still(pixels)
    alpha, mode = np.empty(pixels.shape[:2], np.uint8), "L" if image.mode[0] == "L" else "RGB"
    managed = to_srgb(mode, profile)
    for rows, part in _bands(image):
        clear = part.convert("RGBA")
        alpha[rows] = clear.getchannel("A")
        pixels[rows] = managed(clear.convert(mode))
    return Still(pixels, None if alpha.min() == _OPAQUE else alpha)


def _bands(image: Any) -> Iterator[tuple[slice, Any]]:
    """Yield a picture's rows in bands: on all rows at once, each step needs several copies."""
    for top in range(0, image.height, _BAND_ROWS):
        bottom = min(image.height, top + _BAND_ROWS)
        yield slice(top, bottom), image.crop((0, top, image.width, bottom))


def _convert_mode(image: Any) -> Any:
    """Return a picture in a mode that color profiles support."""
    if image.mode[0] in "IF":
        # 16-bit gray, which Pillow would clip rather than scale.
        gray = np.rint(np.asarray(image) / np.float32(257))
        return Image.fromarray(np.clip(gray, 0, 255).astype(np.uint8))
    return image if image.mode in ("RGB", "CMYK", "L") else image.convert("RGB")


def scale_down(still: Still, side: int) -> Still:
    """Return a picture scaled down by area so that no side exceeds `side` pixels; never up."""
    size = fit_size(still.pixels.shape, side)
    if still.alpha is None or size == still.pixels.shape[1::-1]:
        return Still(resize(still.pixels, *size), still.alpha)
    # Premultiplied while scaling: hidden pixels must not bleed into the edges. One channel at a
    # time, which needs a third of the memory.
    cover = resize(still.alpha.astype(np.float32), *size) / 255.0
    weighed = (cv2.multiply(p, still.alpha, dtype=cv2.CV_32F) for p in cv2.split(still.pixels))
    sums = np.dstack([resize(plane, *size) for plane in weighed]) / 255.0
    color = sums / np.maximum(cover, 1 / 512)[:, :, None]
    pixels = np.clip(np.rint(color), 0, 255).astype(np.uint8)
    return Still(pixels, np.rint(cover * 255).astype(np.uint8))
