"""Settings and inputs that the models of pictures share; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kit.engines.base import Order, Problem
from kit.engines.painting.poster.palettes import NAMED
from kit.engines.sizes import ASPECTS, BOX, MOST
from kit.wire import Parameter

_LEAST = 0.01


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


def file_format(default: str = "jpeg", *, transparent: bool = False) -> Parameter:
    """Return the setting for the kind of file; `transparent` where results may be."""
    kept = ", png and webp keep transparency" if transparent else ""
    return Parameter(
        name="format",
        type="string",
        default=default,
        enum=["jpeg", "png", "webp"],
        description="File format; png keeps every pixel" + kept,
    )


def quality() -> Parameter:
    """Return the setting for how much detail a file keeps."""
    return Parameter(
        name="quality",
        type="integer",
        default=92,
        minimum=1,
        maximum=100,
        description="Quality of jpeg and webp files, in percent; png is never lossy",
    )


def medium(name: str, description: str, *, required: bool = True) -> Parameter:
    """Return an input picture."""
    if name == "image":
        description += "; of an animation, the first picture"
    return Parameter(
        name=name, type="image", media=True, required=required, description=description
    )


def unused(order: Order, name: str, operation: str) -> Iterator[Problem]:
    """Yield that a picture was given that only another operation than the one asked for uses."""
    asked = order.parameters["operation"]
    if asked != operation and order.media.get(name):
        yield name, f"is only used by the operation {operation!r}, and {asked!r} was asked for"


def choice(name: str, default: str, values: Sequence[str], description: str) -> Parameter:
    """Return a setting with fixed values."""
    return Parameter(
        name=name, type="string", default=default, enum=list(values), description=description
    )


def text(name: str, description: str, default: str | None = None) -> Parameter:
    """Return a setting of free text."""
    return Parameter(name=name, type="string", default=default, description=description)


def share(name: str, default: float, description: str) -> Parameter:
    """Return a setting from 0 to 1."""
    return Parameter(
        name=name, type="number", default=default, minimum=0, maximum=1, description=description
    )


def side(default: int, most: int = MOST) -> Parameter:
    """Return the setting for the size of the result."""
    return Parameter(
        name="size",
        type="integer",
        default=default,
        minimum=256,
        maximum=most,
        description="The longer side in pixels",
    )


def box() -> tuple[Parameter, ...]:
    """Return the settings for a box around the subject, which need not be given."""
    x, y, wide, high = BOX
    return (
        _fraction(
            x,
            "Middle of the subject from the left, as a fraction of the width: where another thing"
            " was taken for it; all four subject settings or none",
        ),
        _fraction(y, "Middle of the subject from the top, as a fraction of the height"),
        _fraction(wide, "Width of the subject as a fraction of the picture's", least=_LEAST),
        _fraction(high, "Height of the subject as a fraction of the picture's", least=_LEAST),
    )


def mask() -> Parameter:
    """Return the input for a mask that shows the subject, which need not be given."""
    return medium(
        "mask",
        "White, or any bright color, about where the subject is, black elsewhere; its edge is"
        " looked for near that",
        required=False,
    )


def subject_problems(order: Order) -> Iterator[Problem]:
    """Yield what is missing of a box, and that a mask says it already."""
    given = [name for name in BOX if order.parameters.get(name) is not None]
    if given and order.media.get("mask"):
        yield given[0], "is not used where a mask is given: leave one of them out"
    elif given:
        for name in BOX:
            if name not in given:
                yield name, f"is needed where {given[0]!r} is given: they are a box"


def _fraction(name: str, description: str, *, least: float = 0) -> Parameter:
    return Parameter(name=name, type="number", minimum=least, maximum=1, description=description)
