"""Settings and inputs that the models of moving pictures share, and what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from kit.engines.base import Order, Problem
from kit.engines.prompt.reading import AUTO
from kit.engines.sizes import ASPECTS, QUALITIES
from kit.wire import Multiplier, Parameter, Rule, UnitPrice

_FORMATS = ("mp4", "mp4-av1", "webm")
_SIZES = {"360p": "0.6", "720p": "2", "1080p": "4"}
_RATES = {"25": "1.05", "30": "1.2", "60": "2"}


def duration(default: int = 4, *, most: int = 12) -> Parameter:
    """Return the setting for the length."""
    return Parameter(
        name="duration",
        type="number",
        default=default,
        minimum=1,
        maximum=most,
        description="Length in seconds",
    )


def resolution(default: str = "480p") -> Parameter:
    """Return the setting for the size of the frame."""
    return Parameter(
        name="resolution",
        type="string",
        default=default,
        enum=["360p", "480p", "720p", "1080p"],
        description="The shorter side in pixels",
    )


def fps() -> Parameter:
    """Return the setting for the frame rate."""
    return Parameter(
        name="fps",
        type="integer",
        default=24,
        enum=[24, 25, 30, 60],
        description="Frames per second",
    )


def aspect_ratio(default: str = "16:9", *, keep: bool = False) -> Parameter:
    """Return the setting for the shape of the frame; `keep` allows that of the input."""
    return Parameter(
        name="aspect_ratio",
        type="string",
        default=default,
        enum=[*(["keep"] if keep else []), *ASPECTS],
        description="Width to height" + ("; keep takes that of the picture" if keep else ""),
    )


def camera(default: str, moves: Sequence[str]) -> Parameter:
    """Return the setting for how the camera moves."""
    return Parameter(
        name="camera",
        type="string",
        default=default,
        enum=list(moves),
        description="How the camera moves",
    )


def directed_camera(otherwise: str, moves: Sequence[str]) -> Parameter:
    """Return the setting for how the camera moves where a prompt may say it."""
    return Parameter(
        name="camera",
        type="string",
        default=AUTO,
        enum=[AUTO, *moves],
        description=(
            f"How the camera moves; auto follows the prompt (slow pan left) or is {otherwise}"
        ),
    )


def motion(default: float = 0.6, description: str = "How far the camera moves") -> Parameter:
    """Return the setting for how much moves."""
    return Parameter(
        name="motion",
        type="number",
        default=default,
        minimum=0,
        maximum=1,
        description=description,
    )


def loop(description: str = "End where it began, so that the clip can repeat") -> Parameter:
    """Return the setting for clips that repeat."""
    return Parameter(name="loop", type="boolean", default=False, description=description)


def weather(default: str, kinds: Sequence[str], description: str) -> Parameter:
    """Return the setting for what is in the air."""
    return Parameter(
        name="weather",
        type="string",
        default=default,
        enum=list(kinds),
        description=description,
    )


def file_format() -> Parameter:
    """Return the setting for the kind of file."""
    return Parameter(
        name="format",
        type="string",
        default="mp4",
        enum=list(_FORMATS),
        description="mp4 (H.264) plays everywhere; mp4-av1 and webm (VP9) make smaller files",
    )


def soundtrack() -> Parameter:
    """Return the medium that a clip may sound like."""
    return Parameter(
        name="soundtrack",
        type="audio",
        media=True,
        description="Music or speech for the clip; cut or repeated to its length, evenly loud",
    )


def prices(
    second: str,
    *,
    base: str = "0",
    sizes: Mapping[str, str] = _SIZES,
    rates: Mapping[str, str] = _RATES,
    factors: Mapping[str, Mapping[str, str]] | None = None,
) -> Rule:
    """Return the price of a clip by its length, size, frame rate and format.

    Parameters
    ----------
    second : str
        Credits for a second of 480p at 24 frames.
    base : str
        Credits before the first second.
    sizes, rates : mapping, optional
        What resolutions and frame rates do to the price, where work grows in another way.
    factors : mapping of str to mapping, optional
        By further settings of the model, what their values do to the price.
    """
    return Rule(
        base=Decimal(base),
        units=[UnitPrice(parameter="duration", credits=Decimal(second))],
        multipliers=[
            by_value("resolution", sizes),
            by_value("fps", rates),
            by_value("format", {"mp4-av1": "1.25", "webm": "1.25"}),
            *(by_value(name, values) for name, values in (factors or {}).items()),
        ],
    )


def by_value(parameter: str, values: Mapping[str, str]) -> Multiplier:
    """Return the factors on the price by the value of a setting."""
    return Multiplier(
        parameter=parameter, values={value: Decimal(factor) for value, factor in values.items()}
    )


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
    return [by_value("resolution", sizes), by_value("format", {"mp4-av1": "1.2", "webm": "1.2"})]


def sound_problems(order: Order) -> Iterator[Problem]:
    """Yield what is wrong with a choice of sound: files without a use, or a use without a file."""
    given = [name for name in ("voice", "music") if order.media.get(name)]
    way = order.parameters["sound"]
    if way == "mute" and given:
        yield "sound", f"is mute, but there is {' and '.join(given)}: choose replace or keep"
    if way == "replace" and not given:
        yield "sound", "is to be replaced, but there is no file to replace it by: add one or mute"
