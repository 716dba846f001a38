"""Backgrounds out of words: a landscape where they name a place or an hour, else their colors."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from PIL import ImageColor

from kit.engines.base import Progress
from kit.engines.image.editing.framing import scaled
from kit.engines.landscape import lexicon
from kit.engines.landscape.compose import Look, compose, flat
from kit.engines.landscape.plane import Stage
from kit.engines.landscape.scene import read
from kit.engines.media.color import Bytes, Floats, Oklch, dithered, encode, lab_of, linear, paint
from kit.engines.media.noise import smooth_step
from kit.errors import EngineError

_PLACES = ("subject", "time", "weather", "season")
_LOOK = Look(layers=7, mist=0.4, stars=True)
_LARGEST = 2048  # pixels a side that are painted; flat shapes bear being enlarged
_NARROWEST = 64  # pixels a side that a landscape needs; of a smaller strip the middle is taken
_STRIP = 4  # how much longer one side may be than the other
_WORD = re.compile(r"#[0-9a-fA-F]{3,8}\b|[A-Za-z]+")


#: Colors whose name means something else on a screen: there, navy is pure blue at half power.
_DYES = {"navy": (16, 30, 74)}


def behind(words: str, width: int, height: int, seed: int, progress: Progress) -> Bytes:
    """Return a background of a size, shape (height, width, 3).

    Raises
    ------
    EngineError
        The words name neither a place, an hour nor a color.
    """
    if any(names_place(word) for word in _WORD.findall(words)):
        return landscape(words, width, height, seed, progress)
    colors = [color for word in _WORD.findall(words) if (color := _color(word)) is not None]
    if not colors:
        raise EngineError(
            f"{words!r} names no color and no place, hour or weather: say for example 'teal',"
            " 'white to gray' or 'mountains at sunset'",
            code="unknown_background",
        )
    return backdrop(colors, width, height, seed)


def landscape(words: str, width: int, height: int, seed: int, progress: Progress) -> Bytes:
    """Return a painted landscape, the words directing it as in the poster model."""
    scene = read(words, seed=seed)
    progress.check()
    scale = min(1.0, _LARGEST / max(width, height))
    wide, tall = max(1, round(width * scale)), max(1, round(height * scale))
    least = max(_NARROWEST, max(wide, tall) // _STRIP)
    stage = Stage(max(wide, least), max(tall, least))
    canvas = flat(compose(scene, _LOOK, stage))
    progress.check()
    painted = dithered(canvas, np.random.default_rng([scene.number, 99]))
    top, left = (stage.height - tall) // 2, (stage.width - wide) // 2
    part = np.ascontiguousarray(painted[top : top + tall, left : left + wide])
    return scaled(part, width, height) if scale < 1.0 else part


def backdrop(colors: list[Floats], width: int, height: int, seed: int) -> Bytes:
    """Return a studio backdrop: one color lit from above its middle, or two from top to bottom."""
    rows = np.linspace(0.0, 1.0, height, dtype=np.float64)[:, None]
    if len(colors) > 1:
        top, bottom = lab_of(colors[0]), lab_of(colors[1])
        share = np.broadcast_to(smooth_step(0.0, 1.0, rows), (height, 1))[..., None]
        column = encode(linear(top + (bottom - top) * share))
        planes = np.repeat(column, width, axis=1).transpose(2, 0, 1)
    else:
        across = (np.linspace(-1.0, 1.0, width)[None, :] * min(1.0, width / height)) ** 2
        light = 1.0 - 0.16 * smooth_step(0.1, 1.4, across + ((rows - 0.42) * 1.7) ** 2)
        planes = colors[0][:, None, None] * light[None]
    planes = np.ascontiguousarray(planes, np.float32)
    return dithered(planes, np.random.default_rng([seed, 5]))


def unit(color: Sequence[int]) -> Floats:
    """Return a color of 0 to 255 as one of 0 to 1."""
    return np.asarray(np.array(color) / 255, np.float32)


def names_place(word: str) -> bool:
    """Tell whether a word directs a landscape by more than its color."""
    forms = {word.lower(), word.lower().removesuffix("s"), word.lower().removesuffix("es")}
    tables = (lexicon.AXES[axis] for axis in _PLACES)
    return any(form in table for table in tables for form in forms)


def _color(word: str) -> Floats | None:
    if dye := _DYES.get(word.lower()):
        return unit(dye)
    try:
        return unit(ImageColor.getrgb(word.lower())[:3])
    except ValueError:
        pass
    if found := lexicon.COLORS.get(word.lower()):
        color: Oklch = (0.62, found[1], found[0])
        return paint(color)
    return None
