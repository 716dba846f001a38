"""Settings that the editing models share, and the prices of their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kit.engines.base import Order, Problem
from kit.engines.video.settings import by_value
from kit.wire import Multiplier, Parameter

#: Seconds that an input, or what is made of it, may last.
LONGEST = 600
#: What a quality is called -> rate factor of x264.
QUALITIES = {"small": 27, "balanced": 21, "high": 17}
SHAPES = {"16:9": 16 / 9, "9:16": 9 / 16, "1:1": 1.0, "4:5": 4 / 5}
SIDES = {"480p": 480, "720p": 720, "1080p": 1080}
#: Factors on the price by the value of a setting, as in all models of moving pictures.
factors = by_value


def choice(name: str, values: Sequence[str], description: str) -> Parameter:
    """Return a setting of which the first value is the default."""
    return Parameter(
        name=name, type="string", default=values[0], enum=list(values), description=description
    )


def amount(
    name: str, default: float | None, bounds: tuple[float, float], description: str
) -> Parameter:
    """Return a setting that is a number; without a default it may be left out."""
    least, most = bounds
    return Parameter(
        name=name,
        type="number",
        default=default,
        minimum=least,
        maximum=most,
        description=description,
    )


def switch(name: str, default: bool, description: str) -> Parameter:
    """Return a setting that is on or off."""
    return Parameter(name=name, type="boolean", default=default, description=description)


def medium(name: str, kind: str, description: str, *, required: bool = False) -> Parameter:
    """Return an input file."""
    return Parameter(name=name, type=kind, media=True, required=required, description=description)


def fit(crop: str) -> Parameter:
    """Return the setting for pictures whose shape is not the frame's; `crop` says where it is."""
    return choice(
        "fit",
        ["smart_crop", "blurred_fill"],
        f"Where the shape changes: smart_crop {crop},"
        " blurred_fill shows everything over a blurred copy",
    )


def music_volume() -> Parameter:
    """Return the setting for how loud the music is."""
    return amount(
        "music_volume", 0.5, (0, 1), "Loudness of the music beside the rest; 1 is as loud"
    )


def quality() -> Parameter:
    """Return the setting for how much the encoder may throw away."""
    return Parameter(
        name="quality",
        type="string",
        default="balanced",
        enum=list(QUALITIES),
        description="Detail against file size",
    )


def size_factors(free: str) -> list[Multiplier]:
    """Return the factors of resolution and format; `free` is the resolution nobody chose."""
    sizes = {free: "1.5", "480p": "0.6", "1080p": "2"}
    return [factors("resolution", sizes), factors("format", {"mp4-av1": "1.2", "webm": "1.2"})]


def sound_problems(order: Order) -> Iterator[Problem]:
    """Yield what is wrong with a choice of sound: files without a use, or a use without a file."""
    given = [name for name in ("voice", "music") if order.media.get(name)]
    way = order.parameters["sound"]
    if way == "mute" and given:
        yield "sound", f"is mute, but there is {' and '.join(given)}: choose replace or keep"
    if way == "replace" and not given:
        yield "sound", "is to be replaced, but there is no file to replace it by: add one or mute"
