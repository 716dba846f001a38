"""Combing: frames that hold two moments although nothing in the file says so.

Conversions and capture programs often lose the mark of interlaced video. Only what moves has a comb
for an edge, so it takes two frames to tell.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: Columns of a frame that are looked at.
_COLUMNS = 96
#: Steps of luma by which neighboring rows of a comb differ, and those of one moment do not.
_STEP = 10
#: Places with a comb that it takes, by number and as a share of what changed.
_LEAST, _SHARE = 16, 0.015
#: How many times more one way to pair the halves of two frames combs than the other, and than a
#: frame does by itself.
_UNLIKE = 1.4
#: Share of what changed by which more grows brighter than darker, or the other way around, where
#: the light changes; and share of the places with a comb whose rows all change with it, by steps.
_LIGHT, _WITH_IT, _CHANGED = 0.7, 0.5, 2

#: Luma of some columns.
Rows: TypeAlias = NDArray[np.int16]


def rows_of(frame: Any) -> Rows | None:
    """Return the rows of a decoded frame in some columns; None of kinds that are always marked."""
    kind = frame.format
    if not kind.name.startswith(("yuv4", "yuvj4", "nv12")) or kind.components[0].bits != 8:
        return None
    plane = frame.planes[0]
    luma = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
    step = max(1, frame.width // _COLUMNS)
    return luma[: frame.height, step // 2 : frame.width : step].astype(np.int16)


def first_half(before: Rows, after: Rows) -> str | None:
    """Return which rows of the second of two frames show the earlier moment, or None.

    Returns
    -------
    str or None
        ``"tff"``, the even rows; ``"bff"``, the odd ones; None, the frame shows one moment.
    """
    if before.shape != after.shape or len(after) < 8:
        return None
    changed = np.abs(after - before)[2:-2] > _STEP
    combs = _combs(after, changed)
    own = np.count_nonzero(combs)
    if own < max(_LEAST, _SHARE * np.count_nonzero(changed)) or _lit(before, after, combs):
        return None
    # The earlier half comes right after the later half of the frame before: that pair is nearly
    # as near in time as the frame's own, the other one three times as far apart. Lines in a
    # picture that shows one moment are the same in both.
    pairs = []
    for half in (0, 1):
        pair = before.copy()
        pair[half::2] = after[half::2]
        pairs.append(np.count_nonzero(_combs(pair, changed)))
    even, odd = pairs
    if max(pairs) < _UNLIKE * max(own, min(pairs)):
        return None
    return "tff" if even < odd else "bff"


def _lit(before: Rows, after: Rows, combs: NDArray[np.bool_]) -> bool:
    """Tell whether it is the light that changes, as when a picture with lines in it fades in.

    Lines that grow apart in the light pair unlike too. What moves takes light away where it was,
    and the edge of a thing that only grows is in one half of a frame and not yet in the other.
    """
    change = after - before
    much = change[np.abs(change) > _STEP]
    if abs(int(much.sum(dtype=np.int64))) < _LIGHT * int(np.abs(much).sum(dtype=np.int64)):
        return False
    steps = np.sign(change) * (np.abs(change) >= _CHANGED)
    together = steps[2:-2] * steps[3:-1] > 0
    return bool(together[combs].mean() > _WITH_IT)


def _combs(rows: Rows, changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the places that changed where rows alternate, five in a row."""
    steps = np.diff(rows, axis=0)
    steps[1::2] *= -1
    four = np.stack([steps[at : len(steps) - 3 + at] for at in range(4)])
    alternate = (four.min(axis=0) > _STEP) | (four.max(axis=0) < -_STEP)
    skipped = np.abs(rows[2:] - rows[:-2]) < _STEP
    alike = skipped[:-2] & skipped[1:-1] & skipped[2:]
    return np.asarray(alternate & alike & changed)
