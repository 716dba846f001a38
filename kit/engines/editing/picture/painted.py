"""Backgrounds out of words: a landscape where they name a place or an hour, else their colors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kit.engines.base import Progress
from kit.engines.editing.picture.framing import scaled
from kit.engines.media.color import Bytes, Floats, encode, lab_of, linear, paint
from kit.engines.media.noise import smooth_step
from kit.engines.painting.poster.compose import compose, painted
from kit.engines.painting.poster.planes import Backdrop, Stage, printed, strips
from kit.engines.prompt.backgrounds import background_of, no_ground
from kit.engines.prompt.brief import Brief
from kit.errors import EngineError

_LARGEST = 2048  # pixels a side that are painted; flat shapes bear being enlarged
_NARROWEST = 64  # pixels a side that a landscape needs; of a smaller strip the middle is taken
_STRIP = 4  # how much longer one side may be than the other


def behind(words: str, width: int, height: int, seed: int, progress: Progress) -> Bytes:
    """Return a background of a size, shape (height, width, 3).

    Raises
    ------
    EngineError
        The words name neither a place, an hour nor a color.
    """
    asked = background_of(words, seed)
    if isinstance(asked, Brief):
        return landscape(asked, width, height, progress)
    if not asked:
        raise EngineError(no_ground(words), code="unknown_background")
    return backdrop([_color(color) for color in asked], width, height)


def landscape(brief: Brief, width: int, height: int, progress: Progress) -> Bytes:
    """Return a painted landscape, as in the poster model."""
    progress.check()
    scale = min(1.0, _LARGEST / max(width, height))
    wide, tall = max(1, round(width * scale)), max(1, round(height * scale))
    least = max(_NARROWEST, max(wide, tall) // _STRIP)
    stage = Stage(max(wide, least), max(tall, least))
    composed = compose(brief, stage)
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


def _color(color: Sequence[float]) -> Floats:
    """Return a color given as sRGB of 0 to 255, or by hue and chroma."""
    if len(color) == 3:
        return np.asarray(np.array(color) / 255, np.float32)
    hue, chroma = color
    return paint((0.62, chroma, hue))
