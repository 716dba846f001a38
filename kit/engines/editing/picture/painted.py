"""Backgrounds out of words: a landscape where they name a place or an hour, else their colors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kit.engines.base import Progress
from kit.engines.editing.picture.framing import scaled
from kit.engines.media.color import Bytes, Floats, Oklch, encode, lab_of, linear, paint
from kit.engines.media.noise import smooth_step
from kit.engines.painting.poster.compose import Look, compose, painted
from kit.engines.painting.poster.plane import Stage
from kit.engines.painting.poster.strips import Backdrop, printed, strips
from kit.engines.prompt import lexicon
from kit.engines.prompt.backgrounds import asks_for_place, color_words, no_ground
from kit.engines.prompt.colors import rgb_of
from kit.engines.prompt.landscape import read
from kit.errors import EngineError

_LOOK = Look(layers=7, mist=0.4, stars=True)
_LARGEST = 2048  # pixels a side that are painted; flat shapes bear being enlarged
_NARROWEST = 64  # pixels a side that a landscape needs; of a smaller strip the middle is taken
_STRIP = 4  # how much longer one side may be than the other


#: Colors whose name means something else on a screen: there, navy is pure blue at half power.
_DYES = {"navy": (16, 30, 74)}


def behind(words: str, width: int, height: int, seed: int, progress: Progress) -> Bytes:
    """Return a background of a size, shape (height, width, 3).

    Raises
    ------
    EngineError
        The words name neither a place, an hour nor a color.
    """
    if asks_for_place(words):
        return landscape(words, width, height, seed, progress)
    colors = [_color(word) for word in color_words(words)]
    if not colors:
        raise EngineError(no_ground(words), code="unknown_background")
    return backdrop(colors, width, height)


def landscape(words: str, width: int, height: int, seed: int, progress: Progress) -> Bytes:
    """Return a painted landscape, the words directing it as in the poster model."""
    scene = read(words, seed=seed)
    progress.check()
    scale = min(1.0, _LARGEST / max(width, height))
    wide, tall = max(1, round(width * scale)), max(1, round(height * scale))
    least = max(_NARROWEST, max(wide, tall) // _STRIP)
    stage = Stage(max(wide, least), max(tall, least))
    composed = compose(scene, _LOOK, stage)
    progress.check()
    picture = printed(stage, painted(composed))
    top, left = (stage.height - tall) // 2, (stage.width - wide) // 2
    part = np.ascontiguousarray(picture[top : top + tall, left : left + wide])
    return scaled(part, width, height) if scale < 1.0 else part


def backdrop(colors: list[Floats], width: int, height: int) -> Bytes:
    """Return a studio backdrop: one color lit from above its middle, or two from top to bottom."""
    stage = Stage(width, height)
    fill = _gradient(colors, height) if len(colors) > 1 else _lit(colors[0], stage)
    return printed(stage, strips(stage, fill, ()))


def _gradient(colors: list[Floats], height: int) -> Backdrop:
    share = smooth_step(0.0, 1.0, np.linspace(0.0, 1.0, height))[:, None]
    top, bottom = lab_of(colors[0]), lab_of(colors[1])
    column = encode(linear(top + (bottom - top) * share)).T[:, :, None]

    def fill(canvas: Floats, first: int) -> None:
        canvas[:] = column[:, first : first + canvas.shape[1]]

    return fill


def _lit(color: Floats, stage: Stage) -> Backdrop:
    rows = np.linspace(0.0, 1.0, stage.height)[:, None]
    down = ((rows - 0.42) * 1.7) ** 2
    wide = min(1.0, stage.width / stage.height)
    across = (np.linspace(-1.0, 1.0, stage.width)[None, :] * wide) ** 2

    def fill(canvas: Floats, first: int) -> None:
        far = across + down[first : first + canvas.shape[1]]
        canvas[:] = color[:, None, None] * (1.0 - 0.16 * smooth_step(0.1, 1.4, far))

    return fill


def unit(color: Sequence[int]) -> Floats:
    """Return a color of 0 to 255 as one of 0 to 1."""
    return np.asarray(np.array(color) / 255, np.float32)


def _color(word: str) -> Floats:
    """Return what a word that names a color looks like."""
    if dye := _DYES.get(word):
        return unit(dye)
    if (rgb := rgb_of(word)) is not None:
        return unit(rgb)
    hue, chroma = lexicon.COLORS[word]
    color: Oklch = (0.62, chroma, hue)
    return paint(color)
