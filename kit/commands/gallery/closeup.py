"""A part of a picture before and after, side by side, where the whole would hide the difference."""

from __future__ import annotations

import io
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from kit.engines.media import stills

__all__ = ["closeup"]

#: Pixels of each half, across and down, and between them.
_HALF, _GAP = (316, 428), 8
#: Of the picture's width: how much a half shows.
_SHARE = 0.19
#: Pixels of the longer side of the copy in which that part is looked for.
_SMALL = 150


def closeup(before: Path, after: Path) -> bytes:
    """Return the liveliest part of two pictures of one scene beside each other, a PNG.

    Left is the input, enlarged to the size of what was made of it; right is that.

    Parameters
    ----------
    before, after : Path
        Pictures of one shape; their sizes may differ.

    Raises
    ------
    EngineError
        One of them is no picture.
    """
    made = Image.fromarray(stills.open_still(after).pixels)
    given = Image.fromarray(stills.open_still(before).pixels).resize(made.size)
    box = _find_liveliest(made)
    sheet = Image.new("RGB", (2 * _HALF[0] + _GAP, _HALF[1]), "white")
    for place, picture in enumerate((given, made)):
        part = picture.resize(_HALF, Image.Resampling.BICUBIC, box=box)
        sheet.paste(part, (place * (_HALF[0] + _GAP), 0))
    out = io.BytesIO()
    sheet.save(out, "PNG")
    return out.getvalue()


def _find_liveliest(picture: Image.Image) -> tuple[float, float, float, float]:
    """Return the part of the right shape with the strongest contours and colors."""
    # Looked for in a small copy: there grass and grain are even, things stand out.
    small = picture.copy()
    small.thumbnail((_SMALL, _SMALL), Image.Resampling.BOX)
    scale = picture.width / small.width
    width = max(1, round(small.width * _SHARE))
    height = min(small.height, max(1, round(width * _HALF[1] / _HALF[0])))
    pixels = np.asarray(small, np.float32)
    down, across = (np.abs(np.diff(pixels, axis=a, append=pixels.take([-1], a))) for a in (0, 1))
    contours = (down + across).max(axis=2)
    sums = cv2.boxFilter(contours, -1, (width, height), anchor=(0, 0), normalize=False)
    inside = sums[: small.height - height + 1, : small.width - width + 1]
    top, left = np.unravel_index(int(inside.argmax()), inside.shape)
    return left * scale, top * scale, (left + width) * scale, (top + height) * scale
