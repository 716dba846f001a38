"""Sizes: shapes of frames, and how large and how long inputs and results may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Aspect ratio as a form shows it -> width and height.
ASPECTS = {
    "1:1": (1, 1),
    "16:9": (16, 9),
    "9:16": (9, 16),
    "4:3": (4, 3),
    "3:2": (3, 2),
    "4:5": (4, 5),
    "2:3": (2, 3),
    "21:9": (21, 9),
}

#: A frame is never more than this much longer than wide, or wider than high.
_NARROWEST = 3.0
#: Pixels a side that a result may have, but for work that goes over a picture in bands.
MOST = 4096
#: Pixels a side of what is worked on in bands; beyond it webp and many viewers give up.
MOST_IN_BANDS = 16_384

#: Seconds that an input, or what is made of it, may last.
LONGEST = 600
#: What a quality is called -> rate factor of x264.
QUALITIES = {"small": 27, "balanced": 21, "high": 17}
SHAPES = {"16:9": 16 / 9, "9:16": 9 / 16, "1:1": 1.0, "4:5": 4 / 5}
SIDES = {"480p": 480, "720p": 720, "1080p": 1080}

#: Seconds of voice that are taken.
LONGEST_VOICE = 120
#: Seconds more that pass: files are not exact about their length.
SLACK = 0.05
#: A box: middle from the left and from the top, width and height, in shares of the picture.
BOX = ("subject_x", "subject_y", "subject_width", "subject_height")


def longest_side(aspect: str, side: int) -> tuple[int, int]:
    """Return the width and height of which the larger is `side`."""
    across, down = ASPECTS[aspect]
    larger = max(across, down)
    return round(side * across / larger), round(side * down / larger)


def frame_size(values: Mapping[str, Any], keep: tuple[int, int] | None = None) -> tuple[int, int]:
    """Return the even width and height of a frame, of which the smaller is the resolution.

    Parameters
    ----------
    values : mapping
        With ``resolution`` and ``aspect_ratio``.
    keep : tuple of int, optional
        Width and height of the input, for the shape ``keep``.
    """
    side = int(values["resolution"].rstrip("p"))
    across, down = ASPECTS.get(values["aspect_ratio"]) or keep or (1, 1)
    ratio = min(max(across / down, 1 / _NARROWEST), _NARROWEST)
    width, height = (side * ratio, side) if ratio >= 1 else (side, side / ratio)
    return 2 * round(width / 2), 2 * round(height / 2)
