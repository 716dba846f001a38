"""Settings that the models of moving pictures share, what they cost, and the sizes they mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from kit.engines.landscape.settings import ASPECTS
from kit.engines.video.directions import AUTO
from kit.wire import Multiplier, Parameter, Rule, UnitPrice

#: A frame is never more than this much longer than wide, or wider than high.
_NARROWEST = 3.0
_FORMATS = ("mp4", "mp4-av1", "webm")


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
    second: str, *, base: str = "0", factors: Mapping[str, Mapping[str, str]] | None = None
) -> Rule:
    """Return the price of a clip by its length, size, frame rate and format.

    Parameters
    ----------
    second : str
        Credits for a second of 480p at 24 frames.
    base : str
        Credits before the first second.
    factors : mapping of str to mapping, optional
        By further settings of the model, what their values do to the price.
    """
    return Rule(
        base=Decimal(base),
        units=[UnitPrice(parameter="duration", credits=Decimal(second))],
        multipliers=[
            by_value("resolution", {"360p": "0.6", "720p": "2", "1080p": "4"}),
            by_value("fps", {"25": "1.05", "30": "1.2", "60": "2"}),
            by_value("format", {"mp4-av1": "1.25", "webm": "1.25"}),
            *(by_value(name, values) for name, values in (factors or {}).items()),
        ],
    )


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


def by_value(parameter: str, values: Mapping[str, str]) -> Multiplier:
    """Return the factors on the price by the value of a setting."""
    return Multiplier(
        parameter=parameter, values={value: Decimal(factor) for value, factor in values.items()}
    )
