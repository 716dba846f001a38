"""Inputs that the editing models share; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kit.engines.base import Order, Problem
from kit.wire import Parameter

#: Pixels a side that a result may have, but for work that goes over a picture in bands.
MOST = 4096
#: Pixels a side of what is worked on in bands; beyond it webp and many viewers give up.
MOST_IN_BANDS = 16_384


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
