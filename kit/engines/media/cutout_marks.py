"""First guesses for a cutout: what each pixel of a picture is taken for before colors are fitted.

People are guessed from where their faces are, things from how much they stand out against the edges
of the frame.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from kit.engines.media.color import Bytes, Floats
from kit.engines.media.crops import attention

__all__ = ["BACK", "FRONT", "MAYBE_BACK", "MAYBE_FRONT", "Box", "people", "things"]

#: Left, top, width, height.
Box: TypeAlias = tuple[float, float, float, float]
_Where: TypeAlias = NDArray[np.bool_]

BACK, FRONT = int(cv2.GC_BGD), int(cv2.GC_FGD)
MAYBE_BACK, MAYBE_FRONT = int(cv2.GC_PR_BGD), int(cv2.GC_PR_FGD)
_RIM = 0.02  # share of the frame that is background for sure
#: Half axes of the head; half widths of neck and shoulders and where the neck begins. All in sizes
#: of the face's box, from what may be the person down to what surely is.
_PERSON = (
    ((0.75, 0.95, 0.55, 1.70, 1.10), MAYBE_FRONT),
    ((0.36, 0.58, 0.18, 0.40, 1.15), FRONT),
)
_REACH = (1.10, 1.15, 0.80, 2.00, 0.95)  # a person with thick hair or broad shoulders
_CORE = (0.64, 0.84, 0.40, 1.20, 1.10)  # where hair and clothes show their colors
_HEAD = 0.40  # where the middle of a head with its hair is in the box, from the top
#: How much a thing stands out, as a share of what stands out most.
_UNLIKELY, _LIKELY, _SURE = 0.22, 0.42, 0.62
_MOST = 99.5  # percentile of what stands out most: single pixels are no subject
_DIFFERENT = 11.0  # from the colors at the edges of the frame, in CIELAB
_ALIKE = 8.0  # colors that differ by less may be the same wall
_OTHER = 26.0  # who differs by more is before the wall, however its light changes
_STEP, _STRIDE = 7.0, 5  # difference of colors, and pixels on both sides, of a step between areas
_HUE, _COLORED = 0.95, 14.0  # cosine between hues that are one, and chroma that has a hue
_MUCH = 0.35  # of a part of the frame has the wall's colors where all of it is wall
_THEIRS = 15.0  # what differs by less has the colors of hair or clothes
_OPEN = 0.25  # of the edges show the wall at least: the part that is farthest from all heads
_FILLS = 0.93  # of the picture's width: a face that leaves no room for a wall beside it
_WALL = 0.5  # share of the height in which the sides of a portrait show what is behind it


def _thick(shape: tuple[int, ...]) -> int:
    return max(1, round(_RIM * min(shape)))


def _rim(shape: tuple[int, ...]) -> _Where:
    """Return where the frame begins at the top and at both sides."""
    rim, thick = np.zeros(shape, bool), _thick(shape)
    rim[:thick] = rim[:, :thick] = rim[:, -thick:] = True
    return rim


def things(small: Bytes) -> Bytes:
    """Return marks of what stands out against the frame's edges, without knowing what it is."""
    apart, rank = _stands_out(small)
    marks = np.full(apart.shape, MAYBE_BACK, np.uint8)
    marks[rank < _UNLIKELY] = BACK
    marks[(rank > _LIKELY) & (apart > _DIFFERENT)] = MAYBE_FRONT
    marks[(rank > _SURE) & (apart > _DIFFERENT)] = FRONT
    marks[_rim(marks.shape)] = marks[-_thick(marks.shape) :] = BACK
    return marks


def people(small: Bytes, boxes: list[Box]) -> Bytes:
    """Return marks of heads and shoulders around faces: surely inside, perhaps around."""
    marks = np.full(small.shape[:2], MAYBE_BACK, np.uint8)
    for shape, kind in _PERSON:
        _draw(marks, boxes, shape, kind)
    own, apart = _wall(small, boxes)
    # Between hair and shoulders the wall is seen: what has its colors may well be it.
    marks[(marks == MAYBE_FRONT) & (apart < _ALIKE)] = MAYBE_BACK
    # Whom the frame cuts off reaches its rim; all else of it is background.
    marks[_rim(marks.shape) & ~own & ~_beside(marks.shape, boxes)] = BACK
    return marks


def _beside(shape: tuple[int, ...], boxes: list[Box]) -> _Where:
    """Return what is beside and below a face that fills the picture: hair may touch the frame."""
    beside = np.zeros(shape, bool)
    for _, y, width, _ in boxes:
        if width > _FILLS * shape[1]:
            beside[max(0, round(y)) :] = True
    return beside


def _wall(small: Bytes, boxes: list[Box]) -> tuple[_Where, Floats]:
    """Return where people may be who have not the wall's colors, and how far from those all is."""
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float32)
    near = np.zeros(lab.shape[:2], np.uint8)
    _draw(near, boxes, _REACH, 1)
    edges = _edges(near.shape, _WALL)
    beyond, away = _joined(near == 0, edges), _joined(_away(near.shape, boxes), edges)
    colors = _joined(lab, edges)
    if beyond.mean() < _OPEN:
        beyond = away >= np.quantile(away, 1 - _OPEN)
    other = _from(lab, colors[beyond]) > _OTHER
    own = (near > 0) & other & ~_same_wall(lab, other)
    core = np.zeros_like(near)
    _draw(core, boxes, _CORE, 1)
    if (own & (core > 0)).any():
        own &= _from(lab, lab[own & (core > 0)]) < _THEIRS
    return own, _from(lab, colors[~_joined(own, edges)])


def _same_wall(lab: Floats, other: _Where) -> _Where:
    """Return where along the frame a wall goes on that only grows lighter or darker.

    A person begins with a step in color. A part of the frame without one is all wall if much of it
    has the wall's colors and the rest their hue: what is gray has none, and may be hair.
    """
    colors = np.concatenate([strip.mean(axis=1) for strip in _strips(lab)])
    walls = np.concatenate([1.0 - strip.mean(axis=1) for strip in _strips(other)])
    parts = np.cumsum(_steps(colors))
    share = np.bincount(parts, walls) / np.bincount(parts)
    share[~_one_hue(colors[:, 1:] - 128, parts, walls)] = 0.0
    same = np.zeros_like(other)
    first = 0
    for strip in _strips(same):
        strip[...] = (share[parts[first : first + len(strip)]] > _MUCH)[:, None]
        first += len(strip)
    return same


def _steps(colors: Floats) -> _Where:
    """Return before which of a row of colors those behind differ from those ahead."""
    sums = np.cumsum(np.concatenate([np.zeros((1, 3)), colors]), axis=0)
    middle = np.arange(_STRIDE, len(colors) - _STRIDE)
    before, after = sums[middle] - sums[middle - _STRIDE], sums[middle + _STRIDE] - sums[middle]
    steps = np.zeros(len(colors), bool)
    steps[middle] = np.linalg.norm(after - before, axis=1) > _STEP * _STRIDE
    return steps


def _one_hue(chroma: Floats, parts: NDArray[Any], walls: NDArray[Any]) -> _Where:
    """Return which parts of a row have a hue, in their wall and in the rest of them, and one."""
    wall, rest = (
        np.stack([np.bincount(parts, weights * plane) for plane in chroma.T])
        / np.maximum(np.bincount(parts, weights), 1e-6)
        for weights in (walls, 1.0 - walls)
    )
    strong, weak = np.linalg.norm(wall, axis=0), np.linalg.norm(rest, axis=0)
    alike = (wall * rest).sum(axis=0) > _HUE * strong * weak
    return np.asarray(alike & (np.minimum(strong, weak) > _COLORED))


def _strips(plane: Any) -> list[Any]:
    """Return views of the frame: up the left side, along the top, down the right side."""
    rim = _thick(plane.shape[:2])
    return [plane[::-1, :rim], plane[:rim].swapaxes(0, 1), plane[:, -rim:]]


def _away(shape: tuple[int, ...], boxes: list[Box]) -> Floats:
    """Return how far each pixel is from the closest head, in sizes of the face's box."""
    rows, columns = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    heads = [
        np.hypot((columns - x - width / 2) / width, (rows - y - _HEAD * height) / height)
        for x, y, width, height in boxes
    ]
    return np.asarray(np.min(heads, axis=0), np.float32)


def _draw(marks: Bytes, boxes: list[Box], shape: tuple[float, ...], kind: int) -> None:
    """Draw heads and what is below them; see `_PERSON`."""
    wide, tall, neck, shoulders, top = shape
    foot = len(marks)
    for x, y, width, height in boxes:
        middle = x + width / 2
        axes = (round(wide * width), round(tall * height))
        center = (round(middle), round(y + _HEAD * height))
        cv2.ellipse(marks, center, axes, 0, 0, 360, kind, -1)
        corners = [(-neck, 0), (neck, 0), (shoulders, 1), (-shoulders, 1)]
        high = y + top * height
        body = [(middle + a * width, high + d * (foot - high)) for a, d in corners]
        cv2.fillPoly(marks, [np.array(body).round().astype(np.int32)], kind)


def _stands_out(small: Bytes) -> tuple[Floats, Floats]:
    """Return how far colors are from those at the frame's edges, in CIELAB, and a rank.

    The rank joins that with what draws the eye, as a share of what stands out most.
    """
    height, width = small.shape[:2]
    lab = cv2.cvtColor(small, cv2.COLOR_RGB2LAB).astype(np.float32)
    colors = _joined(lab, _edges((height, width), 1.0))
    apart = cv2.GaussianBlur(_from(lab, colors), (0, 0), 0.005 * width)
    eye = cv2.resize(
        attention(small, people=False), (width, height), interpolation=cv2.INTER_LINEAR
    )
    rows, columns = np.mgrid[0:height, 0:width]
    away = ((columns / width - 0.5) / 0.38) ** 2 + ((rows / height - 0.52) / 0.42) ** 2
    score = (np.minimum(apart / 40, 2.5) + 0.25 * eye) * np.exp(-0.4 * away)
    most = max(float(np.percentile(score, _MOST)), 1e-6)
    return np.asarray(apart, np.float32), np.asarray(score / most, np.float32)


def _edges(shape: tuple[int, ...], down: float) -> list[tuple[slice, slice]]:
    """Return the edges of the frame, those at both sides up to a share of the height."""
    rim, low = max(2, round(0.04 * min(shape))), max(2, round(down * shape[0]))
    return [np.s_[:rim, :], np.s_[:low, :rim], np.s_[:low, -rim:]]


def _joined(plane: Any, edges: list[tuple[slice, slice]]) -> Any:
    """Return the pixels of edges, one after the other."""
    return np.concatenate([plane[edge].reshape(-1, *plane.shape[2:]) for edge in edges])


def _from(lab: Floats, colors: Floats) -> Floats:
    """Return how far a picture's colors are from some others, both in CIELAB."""
    cv2.setRNGSeed(0)
    stop = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 12, 1.0)
    _, _, centers = cv2.kmeans(colors, min(6, len(colors)), None, stop, 1, cv2.KMEANS_PP_CENTERS)
    apart = np.min([np.linalg.norm(lab - center, axis=2) for center in centers], axis=0)
    return np.asarray(apart, np.float32)
