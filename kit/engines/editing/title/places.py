"""Titleplaces: where on a picture a title stands, so that it hides little and needs little shade.

A few settings (full width, or a column at one side) are tried at a few heights; each is judged by
what draws the eye below its letters, by the detail there, and by how small the letters become.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.editing.title.setting import Stack, Title, luminance, stacked
from kit.engines.editing.title.styles import STYLES, margin_of
from kit.engines.media import faces
from kit.engines.media.color import Bytes, Floats
from kit.engines.media.direction import leftward
from kit.engines.media.lettering import Block
from kit.engines.media.subject import find
from kit.errors import EngineError

_PLACES = {"top": (0.0, 0.1), "center": (0.5, 0.3), "bottom": (1.0, 0.0)}
#: Shares of the width between the margins, and of a style's height, that a title may fill.
_ROOMS = ((1.0, 1.0), (1.0, 0.68), (0.62, 1.0), (0.48, 1.0))
_SIDE = 420  # pixels a side of the copy that is looked at; no smaller face must be kept free
_NARROW = 0.66  # share of that width from which on a title can stand at a side
_ASIDE = 0.2  # what it costs to leave the side that suits the style
_ALONE = 0.5  # likewise for a single word, which looks lost at a side
_SMALLER = 1.3  # what letters of half the size cost
_LARGER = 0.4  # what letters of twice the usual size are worth
_FACE = 5.0  # what it costs to cover all faces; a fifth of one is worse than small letters aside
_WRAPPED = 0.2  # what each further line of the subtitle costs
_HIDDEN, _PEAK, _DETAIL, _SHADE = 0.7, 1.1, 5.0, 0.2


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a picture that is wider than it must be."""

    left: int = 0
    mirrored: bool = False

    def of(self, pixels: Bytes, width: int) -> Bytes:
        """Return that part of a picture."""
        part = pixels[:, self.left : self.left + width]
        return np.ascontiguousarray(part[:, ::-1] if self.mirrored else part)


@dataclass(frozen=True, slots=True)
class Layout:
    """A title set and placed.

    Parameters
    ----------
    left, top : int
        The corner of its ink, in pixels.
    align : str
        How its lines stand to each other, ``left``, ``center`` or ``right``.
    place, side : str
        Where that is, in words.
    view : View
        What of the picture it is placed on.
    """

    stack: Stack
    left: int
    top: int
    align: str
    place: str
    side: str
    view: View = View()

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of the ink."""
        right, bottom = self.left + self.stack.width, self.top + self.stack.height
        return self.left, self.top, right, bottom


@dataclass(frozen=True, slots=True)
class _Map:
    """What speaks against letters, cell by cell; `scale` is cells a pixel."""

    draw: Floats
    detail: Floats
    light: Floats
    faces: Floats
    scale: float


def laid_out(pixels: Bytes, title: Title, *, spare: int = 0, people: bool = True) -> Layout:
    """Return a title set and placed where it suits a picture best.

    Parameters
    ----------
    spare : int
        Columns that the picture has too many: a stretch without them is chosen, which may also be
        mirrored. Without any the picture is taken as it is.
    people : bool
        Whether the picture may show faces; they are looked for, and kept free.

    Raises
    ------
    EngineError
        The text has letters that no font has, or is too long.
    """
    height, width = pixels.shape[:2]
    options = [*_options((height, width - spare), title)]
    chart = _charted(pixels, people=people)
    views = (
        [View(left, flip) for left in (0, spare) for flip in (False, True)] if spare else [View()]
    )
    charts = [_seen(chart, view, width - spare) for view in views]
    sizes = [layout.stack.headline.size for layout in options]
    # Of a single word the first one has the usual size; larger is better, but not as much.
    largest = sizes[0] if title.is_word else max(sizes)
    costs = [
        (_cost(layout, seen, title, largest), number, layout)
        for number, seen in enumerate(charts)
        for layout in options
    ]
    _, number, layout = min(costs, key=lambda cost: cost[0])
    return replace(layout, view=views[number])


def _options(shape: tuple[int, ...], title: Title) -> Iterator[Layout]:
    wide = shape[1] > 0.9 * shape[0]
    seen: set[Block] = set()
    for width, height, large in (*((*room, False) for room in _ROOMS), (1.0, 1.0, True)):
        if (width < 1.0 and not wide) or (large and not title.is_word):
            continue
        try:
            stack = stacked(shape, title, width, height, large=large)
        except EngineError:
            if (width, height) == _ROOMS[0]:
                raise
            continue
        if stack.headline not in seen:
            seen.add(stack.headline)
            yield from _placed(shape, title, stack)


def _placed(shape: tuple[int, ...], title: Title, stack: Stack) -> Iterator[Layout]:
    margin = margin_of(shape)
    inner = shape[1] - 2 * margin
    edge = round(1.15 * margin)
    usual = _usual(title)
    flush = "right" if leftward(title.headline) else "left"
    aside = ("left", "right") if stack.width <= _NARROW * inner else ()
    for side in dict.fromkeys((usual, *aside)):
        left = {"left": margin, "right": shape[1] - margin - stack.width}.get(
            side, (shape[1] - stack.width) // 2
        )
        for place in _PLACES if title.position == "auto" else (title.position,):
            top = round(edge + _PLACES[place][0] * (shape[0] - 2 * edge - stack.height))
            yield Layout(stack, left, top, "center" if side == "center" else flush, place, side)


def _usual(title: Title) -> str:
    """Return the side where a title stands: where its lines begin, unless its style centers it."""
    align = STYLES[title.style].align
    return "right" if align == "left" and leftward(title.headline) else align


def _charted(pixels: Bytes, *, people: bool) -> _Map:
    width = pixels.shape[1]
    share = min(1.0, _SIDE / max(pixels.shape))
    if share < 1.0:
        pixels = cv2.resize(pixels, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
    found = faces.find(pixels) if people else []
    draw = find(pixels, found=found).attention
    size = draw.shape[::-1]
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    gray = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    detail = np.abs(cv2.Laplacian(gray, cv2.CV_32F))
    near = _covered(found, size, (size[0] / pixels.shape[1], size[1] / pixels.shape[0]))
    return _Map(draw, detail, luminance(small), near, size[0] / width)


def _covered(
    found: Sequence[faces.Face], size: tuple[int, int], cells: tuple[float, float]
) -> Floats:
    """Return 1 where faces are from brow to chin; a pixel is as many cells across and down."""
    shown, (x, y) = np.zeros(size[::-1], np.float32), cells
    for face in found:
        rows = slice(round(face.y * y), round((face.y + face.height) * y))
        shown[rows, round(face.x * x) : round((face.x + face.width) * x)] = 1.0
    return shown


def _seen(chart: _Map, view: View, width: int) -> _Map:
    first, last = round(view.left * chart.scale), round((view.left + width) * chart.scale)
    cells = np.s_[:, first:last]
    turn = np.s_[:, ::-1] if view.mirrored else np.s_[:]
    planes = (chart.draw, chart.detail, chart.light, chart.faces)
    draw, detail, light, near = (part[cells][turn] for part in planes)
    return _Map(draw, detail, light, near, chart.scale)


def _cost(layout: Layout, chart: _Map, title: Title, largest: int) -> float:
    style = STYLES[title.style]
    left, top, right, bottom = (round(edge * chart.scale) for edge in layout.box)
    cells = np.s_[max(0, top) : max(top, bottom) + 1, max(0, left) : max(left, right) + 1]
    draw = chart.draw[cells]
    hidden = float(draw.mean() / chart.draw.mean())
    peak = float(np.percentile(draw, 95))
    light = chart.light[cells]
    stops = float(np.log2((np.percentile(light, 92) + 0.05) / 0.15))
    pale = float(np.log2(0.5 / (np.percentile(light, 8) + 0.05)))
    shade = max(0.0, stops if style.glow else min(stops, pale + 0.5))
    return (
        _HIDDEN * hidden
        + _PEAK * max(0.0, peak - 0.3)
        + _FACE * float(chart.faces[cells].sum() / max(1.0, float(chart.faces.sum())))
        + _DETAIL * float(chart.detail[cells].mean())
        + _SHADE * shade
        + _PLACES[layout.place][1]
        + (_ALONE if title.is_word else _ASIDE) * (layout.side != _usual(title))
        + _WRAPPED * layout.stack.wrapped
        + _sized(layout.stack.headline.size / largest)
    )


def _sized(share: float) -> float:
    """Return what letters cost for their size, which is a share of the usual one."""
    return (_SMALLER if share <= 1.0 else _LARGER) * float(-np.log2(share))


_SMALL = 384  # pixels of the longer side of the copy that is searched
_LEAST, _MOST = 0.007, 0.06  # shares of a picture that a disc takes; less is a snowy slope
_FULL = 0.55  # share of its bounding box that it fills
_OBLONG = 2.6  # how much longer one side may be: hills hide parts of a low sun
_SURE = 0.8  # how far a disc stands out


@dataclass(frozen=True, slots=True)
class Discs:
    """Where suns and moons are, as masks of 0 and 1 that reach a little beyond them.

    Parameters
    ----------
    beside, behind : ndarray of uint8, shape (height, width)
        Those that no text stands on, and those that some does.
    """

    beside: Bytes
    behind: Bytes

    def spared(
        self, shining: Floats, reach: Floats, close: Floats, rows: slice
    ) -> tuple[Floats, Floats]:
        """Return how far shade goes in some rows, far and close to the text, sparing what shines.

        Parameters
        ----------
        shining : ndarray of float32
            How far pixels stand out from their surroundings, 0 to 1.
        reach, close : ndarray of float32
            The shades that a picture without lights would get.
        """
        free = 1.0 - shining * np.maximum(1.0 - close**4, self.beside[rows])
        return reach * free, close * free


def found(shining: Floats, box: tuple[int, int, int, int], size: tuple[int, int]) -> Discs:
    """Return the discs among what shines.

    Parameters
    ----------
    shining : ndarray of float32
        How far pixels of a small copy stand out from their surroundings, 0 to 1.
    box : tuple of int
        Left, top, right and bottom of the text in the picture.
    size : tuple of int
        Height and width of the picture.
    """
    rows, columns = shining.shape
    scale = columns / size[1], rows / size[0]
    left, top, right, bottom = (round(edge * scale[number % 2]) for number, edge in enumerate(box))
    count, labels, stats, _ = cv2.connectedComponentsWithStats((shining > _SURE).astype(np.uint8))
    masks = np.zeros((2, rows, columns), np.uint8)
    for number in range(1, count):
        if _round(stats[number], rows * columns):
            own = labels == number
            hidden = bool(own[max(0, top) : bottom, max(0, left) : right].any())
            masks[int(hidden)] |= own
    grown = [cv2.dilate(mask, np.ones((5, 5), np.uint8)) for mask in masks]
    beside, behind = (
        cv2.resize(mask, size[::-1], interpolation=cv2.INTER_NEAREST) for mask in grown
    )
    return Discs(np.asarray(beside), np.asarray(behind))


def small_size(height: int, width: int) -> tuple[int, int]:
    """Return the width and height of the copy in which discs are looked for."""
    scale = min(1.0, _SMALL / max(height, width))
    return max(1, round(width * scale)), max(1, round(height * scale))


def _round(stats: NDArray[np.int32], whole: int) -> bool:
    wide, tall, area = (int(stats[at]) for at in (2, 3, 4))
    compact = area >= _FULL * wide * tall and max(wide, tall) <= _OBLONG * min(wide, tall)
    return compact and _LEAST * whole <= area <= _MOST * whole
