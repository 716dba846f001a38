"""Input pictures the way models take them: upright, opaque, and not larger than they can use."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kit.engines.media import stills
from kit.engines.media.color import Bytes


def opaque(path: Path, *, most: int) -> Bytes:
    """Return a picture over white, where it does not cover.

    Parameters
    ----------
    most : int
        Pixels that no side may pass.

    Returns
    -------
    ndarray of uint8
        Shape (height, width, 3), sRGB.

    Raises
    ------
    EngineError
        See `kit.engines.media.stills.opened`.
    """
    still = stills.opened(path, most=most)
    if still.alpha is None:
        return still.pixels
    # What lies under see-through parts is whatever a program left there.
    share = still.alpha.astype(np.float32)[:, :, None] / 255.0
    over = still.pixels * share + 255.0 * (1.0 - share)
    return np.asarray(np.rint(over), dtype=np.uint8)
