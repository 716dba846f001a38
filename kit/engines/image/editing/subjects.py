"""Inputs that say where the subject of a picture is; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterator

from kit.engines.base import Order, Problem
from kit.engines.image.editing import settings
from kit.wire import Parameter

#: A box: middle from the left and from the top, width and height, in shares of the picture.
BOX = ("subject_x", "subject_y", "subject_width", "subject_height")

_LEAST = 0.01


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
    return settings.medium(
        "mask",
        "White, or any bright color, about where the subject is, black elsewhere; its edge is"
        " looked for near that",
        required=False,
    )


def problems(order: Order) -> Iterator[Problem]:
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
