"""Sizes: shapes of frames, and how large and how long inputs and results may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Aspect ratio as a form shows it -> width and height.
ASPECTS = {
    f"{across}:{down}": (across, down)
    for across, down in ((1, 1), (16, 9), (9, 16), (4, 3), (3, 2), (4, 5), (2, 3), (21, 9))
}
SHAPES = {name: ASPECTS[name][0] / ASPECTS[name][1] for name in ("16:9", "9:16", "1:1", "4:5")}
SIDES = {"480p": 480, "720p": 720, "1080p": 1080}
#: A frame is never more than this much longer than wide, or wider than high.
_MAX_RATIO = 3.0
#: Pixels a side that a result may have, but for work that goes over a picture in bands.
MAX_SIDE = 4096
#: Pixels a side of what is worked on in bands; beyond it webp and many viewers give up.
MAX_BAND_SIDE = 16_384
#: Seconds that an input, or what is made of it, may last; of voice; and more that pass, as files
#: are not exact about their length.
MAX_SECONDS, MAX_VOICE_SECONDS, SLACK = 600, 120, 0.05
#: What a quality is called -> rate factor of x264.
QUALITIES = {"small": 27, "balanced": 21, "high": 17}
#: A box: middle from the left and from the top, width and height, in shares of the picture.
BOX = ("subject_x", "subject_y", "subject_width", "subject_height")


def longest_side(aspect: str, side: int) -> tuple[int, int]:
    """Return the width and height of which the larger is `side`."""
    across, down = ASPECTS[aspect]
    larger = max(across, down)
    return round(side * across / larger), round(side * down / larger)


def frame_size(values: Mapping[str, Any], keep: tuple[int, int] | None = None) -> tuple[int, int]:
    """Return the even width and height of a frame, of which the smaller is the resolution.

    The shape ``keep`` is that of an input of the width and height `keep`.
    """
    side = int(values["resolution"].rstrip("p"))
    across, down = ASPECTS.get(values["aspect_ratio"]) or keep or (1, 1)
    ratio = min(max(across / down, 1 / _MAX_RATIO), _MAX_RATIO)
    width, height = (side * ratio, side) if ratio >= 1 else (side, side / ratio)
    return 2 * round(width / 2), 2 * round(height / 2)
