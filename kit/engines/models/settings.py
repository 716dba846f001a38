"""Parameters, inputs and prices shared by several models; nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from kit.engines.base import Engine, Order, Problem, seed_parameter
from kit.engines.painting.families import FAMILIES
from kit.engines.painting.tints import PALETTES
from kit.engines.prompt.reading import AUTO, prompt_problems
from kit.engines.sizes import ASPECTS, BOX, QUALITIES
from kit.wire import Multiplier, Parameter, Rule, UnitPrice

Problems: TypeAlias = Iterator[Problem]


class PaintedModel(Engine):
    """A model that paints its prompt, with a family's painter or one of its own."""

    family = painter = ""

    def check(self, order: Order) -> Problems:
        """Yield the problem if nothing of the prompt can be painted."""
        how = {"family": self.family, "painter": self.painter}
        moves = [
            move for s in self.definition.settings if s.name == "camera" for move in s.enum or ()
        ]
        return prompt_problems(order.prompt, order.parameters, moves=moves[1:], **how)


def choice(name: str, values: Sequence[Any], description: str, default: Any = None) -> Parameter:
    """Return a setting with fixed values; the first is the default."""
    default = values[0] if default is None else default
    kind = "string" if isinstance(default, str) else "integer"
    enum = list(values)
    return Parameter(name=name, type=kind, enum=enum, default=default, description=description)


def number(
    name: str, default: float | None, least: float, most: float, about: str, kind: str = "number"
) -> Parameter:
    """Return a numeric setting; without a default it is optional."""
    bounds = {"minimum": least, "maximum": most}
    return Parameter(name=name, type=kind, default=default, description=about, **bounds)


def text(name: str, description: str, default: str | None = None) -> Parameter:
    """Return a free-text setting."""
    return Parameter(name=name, default=default, description=description)


def switch(name: str, default: bool, description: str) -> Parameter:
    """Return an on/off setting."""
    return Parameter(name=name, type="boolean", default=default, description=description)


def medium(name: str, kind: str, description: str, *, required: bool = False) -> Parameter:
    """Return an input file."""
    return Parameter(name=name, type=kind, media=True, required=required, description=description)


def picture(description: str, *, required: bool = True) -> Parameter:
    """Return the input picture of an editor."""
    still = f"{description}; of an animation, the first picture"
    return medium("image", "image", still, required=required)


#: Camera moves in front of a picture, and kinds of weather.
MOVES = ("push", "pull", "drift", "arc", "pan_left", "pan_right", "rise", "still")
WEATHERS = ("none", "rain", "snow", "fog", "dust", "fireflies", "embers")
#: Price factors of slower formats.
_SLOWER = {"mp4-av1": "1.25", "webm": "1.25"}
SEED = seed_parameter()
FAMILY = choice("family", (AUTO, *FAMILIES), "Kind of scene; auto follows the prompt")
PALETTE = choice(
    "palette",
    (AUTO, *PALETTES),
    "Colors; auto follows the time of day and the colors in the prompt",
)
FPS = choice("fps", (24, 25, 30, 60), "Frames per second")
FILM_FORMAT = choice(
    "format",
    ("mp4", *_SLOWER),
    "mp4 (H.264) plays everywhere; mp4-av1 and webm (VP9) are smaller files",
)
FILM_QUALITY = choice("quality", tuple(QUALITIES), "More detail or a smaller file", "balanced")
SOUNDTRACK = medium(
    "soundtrack", "audio", "Music or speech for the clip; trimmed or repeated to its length"
)
FIT = choice(
    "fit",
    ("smart_crop", "blurred_fill"),
    "If the shape changes: smart_crop follows the subject, blurred_fill shows everything over a"
    " blurred copy",
)
SOUND = (
    choice(
        "sound",
        ("keep", "replace", "mute"),
        "The original sound: keep it with voice and music, replace it by them, or mute everything",
    ),
    number("music_volume", 0.5, 0, 1, "Loudness of the music relative to the other sound"),
    switch("duck", True, "Lower the music during other sound"),
    switch("normalize", True, "Normalize the sound to -14 LUFS, as streaming platforms do"),
)
TITLE_PLACE = choice(
    "position",
    ("auto", "top", "center", "bottom"),
    "Position of the title; auto chooses a calm part of the picture",
)
MASK = medium("mask", "image", "A rough mask: white where the subject is, black elsewhere")
SUBJECT = (
    number(BOX[0], None, 0, 1, "Center of the subject as a fraction of the width; all or none"),
    number(BOX[1], None, 0, 1, "Center of the subject as a fraction of the height"),
    number(BOX[2], None, 0.01, 1, "Width of the subject, as a fraction of the picture's"),
    number(BOX[3], None, 0.01, 1, "Height of the subject, as a fraction of the picture's"),
)


def picture_file(default: str = "jpeg", *, transparent: bool = False) -> tuple[Parameter, ...]:
    """Return the settings of a picture's file; `transparent` if results may have alpha."""
    description = "File format; png is lossless"
    description += ", png and webp support transparency" if transparent else ""
    percent = "Quality of jpeg and webp files, in percent; png is lossless"
    return (
        choice("format", ("jpeg", "png", "webp"), description, default),
        number("quality", 92, 1, 100, percent, "integer"),
    )


def size(default: int, least: int, most: int, more: str = "") -> Parameter:
    """Return the size setting of a picture."""
    return number("size", default, least, most, f"The longer side in pixels{more}", "integer")


def aspect_ratio(default: str, *other: str) -> Parameter:
    """Return the aspect setting of a frame."""
    description = "Width to height" + ("; keep uses the picture's" if other else "")
    return choice("aspect_ratio", (*other, *ASPECTS), description, default)


def frame(seconds: int, most: int, side: str, shape: str = "16:9") -> tuple[Parameter, ...]:
    """Return the length and size settings of a film; `shape` may be ``keep``."""
    return (
        number("duration", seconds, 1, most, "Length in seconds"),
        choice("resolution", ("360p", "480p", "720p", "1080p"), "The shorter side in pixels", side),
        aspect_ratio(shape, *(["keep"] if shape == "keep" else ())),
    )


def directed_camera(otherwise: str, moves: Sequence[str]) -> Parameter:
    """Return the camera setting of a model whose prompt may also name a move."""
    description = f"How the camera moves; auto follows the prompt (slow pan left) or is {otherwise}"
    return choice("camera", (AUTO, *moves), description)


def prices(base: str, per: Mapping[str, str] | None = None, **factors: Mapping[str, str]) -> Rule:
    """Return a price: base, credits per unit or second of an input, and factors by setting."""
    return Rule(
        base=Decimal(base),
        units=[
            UnitPrice(**{_LENGTH_INPUTS.get(name, "parameter"): name}, credits=Decimal(credits))
            for name, credits in (per or {}).items()
        ],
        multipliers=[
            Multiplier(parameter=name, values={v: Decimal(factor) for v, factor in by.items()})
            for name, by in factors.items()
        ],
    )


_LENGTH_INPUTS = dict.fromkeys(("audio", "video", "clips"), "medium")


def film_prices(
    second: str, base: str = "0", sizes: str = "0.6 2 4", rates: str = "1.05 1.2 2"
) -> Rule:
    """Return the price of a film per second of 480p at 24 frames/s, with factors for others."""
    by_side = dict(zip(("360p", "720p", "1080p"), sizes.split(), strict=True))
    by_rate = dict(zip(("25", "30", "60"), rates.split(), strict=True))
    return prices(base, {"duration": second}, resolution=by_side, fps=by_rate, format=_SLOWER)


def unused_problems(order: Order, name: str, operation: str) -> Problems:
    """Yield the problem if a picture was given that only another operation uses."""
    asked = order.parameters["operation"]
    if asked != operation and order.media.get(name):
        yield name, f"is only used by the operation {operation!r}, and {asked!r} was asked for"


def subject_problems(order: Order) -> Problems:
    """Yield missing parts of a box, and the conflict of a box with a mask."""
    given = [name for name in BOX if order.parameters.get(name) is not None]
    if given and order.media.get("mask"):
        yield given[0], "is not used where a mask is given: leave one of them out"
    elif given:
        for name in BOX:
            if name not in given:
                yield name, f"is needed where {given[0]!r} is given: they are a box"


def sound_problems(order: Order) -> Problems:
    """Yield problems of the sound settings: files without a use, or a use without a file."""
    given = [name for name in ("voice", "music") if order.media.get(name)]
    way = order.parameters["sound"]
    if way == "mute" and given:
        yield "sound", f"is mute, but there is {' and '.join(given)}: choose replace or keep"
    if way == "replace" and not given:
        yield "sound", "is to be replaced, but there is no file to replace it by: add one or mute"
