"""Input pictures the way models take them: upright, opaque, and not larger than they can use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from kit.engines.media import stills
from kit.engines.media.color import Bytes


def open_opaque(path: Path, *, most: int) -> Bytes:
    """Return a picture, no side longer than `most`, over white where it does not cover.

    Raises EngineError as `kit.engines.media.stills.opened` does.
    """
    still = stills.opened(path, most=most)
    if still.alpha is None:
        return still.pixels
    # What lies under see-through parts is whatever a program left there.
    over = Image.new("RGB", still.alpha.shape[::-1], "white")
    over.paste(Image.fromarray(still.pixels), mask=Image.fromarray(still.alpha))
    return np.array(over)
