"""Settings that the landscape engines share, and the sizes behind them."""

from __future__ import annotations

from kit.engines.landscape.palettes import NAMED
from kit.wire import Parameter

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


def aspect_ratio(default: str) -> Parameter:
    """Return the setting for the shape of the frame."""
    return Parameter(
        name="aspect_ratio",
        type="string",
        default=default,
        enum=list(ASPECTS),
        description="Width to height",
    )


def palette() -> Parameter:
    """Return the setting for the colors."""
    return Parameter(
        name="palette",
        type="string",
        default="auto",
        enum=["auto", *NAMED],
        description="Colors; auto takes them from the hour and the color words of the prompt",
    )


def layers() -> Parameter:
    """Return the setting for the number of ridges."""
    return Parameter(
        name="layers",
        type="integer",
        default=7,
        minimum=4,
        maximum=9,
        description="Ridges from the horizon to the foreground",
    )


def mist() -> Parameter:
    """Return the setting for the density of the air."""
    return Parameter(
        name="mist",
        type="number",
        default=0.4,
        minimum=0,
        maximum=1,
        description="From clear air to ridges that float in fog",
    )


def longest_side(aspect: str, side: int) -> tuple[int, int]:
    """Return the width and height of which the larger is `side`."""
    across, down = ASPECTS[aspect]
    larger = max(across, down)
    return round(side * across / larger), round(side * down / larger)


def shortest_side(aspect: str, side: int) -> tuple[int, int]:
    """Return the even width and height of which the smaller is `side`."""
    across, down = ASPECTS[aspect]
    smaller = min(across, down)
    return _even(side * across / smaller), _even(side * down / smaller)


def _even(length: float) -> int:
    return 2 * round(length / 2)
