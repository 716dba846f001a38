"""Both rows of buildings, painted from the far end of the street to the camera."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from kit.engines.base import Progress
from kit.engines.painting.city.directing import Hour
from kit.engines.painting.city.facades import Face, Walls, front_of, side_of
from kit.engines.painting.city.roofs import cap
from kit.engines.painting.city.signs import hang, signs_of
from kit.engines.painting.city.sunlight import Sunlight
from kit.engines.painting.city.view import Block, View
from kit.engines.painting.noise import Plane

_DEEP = 30.0  # meters of a front that can be seen beside the street


def build(
    rng: np.random.Generator,
    view: View,
    blocks: list[Block],
    hour: Hour,
    sun: Sunlight,
    crowd: float,
    sheets: tuple[Plane, Plane],
    progress: Progress,
) -> Plane:
    """Paint the buildings and their signs over a sky; return how much of each pixel they cover.

    Parameters
    ----------
    blocks : list of Block
        The farthest first.
    crowd : float
        Share of the places for a sign that have one.
    sheets : tuple
        The picture so far, and the color that distance fades to.
    """
    picture, haze = sheets
    walls = Walls(rng, hour)
    cover = np.zeros((view.height, view.width), np.float32)
    before = _before(blocks)
    for number, block in enumerate(blocks):
        progress.report(number / len(blocks))
        for ends, low in _shown(view, block, before.get(block)):
            _front(view, block, (ends, low), walls, sun, hour, (picture, cover, haze))
            progress.report((number + 0.2) / len(blocks))
        cap(view, block, hour, (picture, cover, haze))
        _side(view, block, walls, sun, hour, (picture, cover, haze))
        progress.report((number + 0.9) / len(blocks))
        for sign in signs_of(rng, block, crowd):
            hang(picture, cover, view, sign, hour, haze)
    return cover


def _side(
    view: View, block: Block, walls: Walls, sun: Sunlight, hour: Hour,
    sheets: tuple[Plane, Plane, Plane],
) -> None:  # fmt: skip
    ends = [view.column(block.side * block.wall, z) for z in (block.near, block.far)]
    columns = _within(min(ends), max(ends), view.width)
    rows = _within(view.row(block.tall, block.near), view.row(0.0, block.near), view.height)
    if columns.start >= columns.stop or rows.start >= rows.stop:
        return
    z = np.float32(block.wall) / np.maximum(np.abs(view.across()[:, columns]), np.float32(1e-4))
    up = np.float32(view.eye) + view.up()[rows] * z
    face = side_of(view, block, columns, rows, sun.on(block, z, up))
    _lay(face, block, walls, hour, sheets, (rows, columns))


def _front(
    view: View, block: Block, part: tuple[tuple[float, float], float], walls: Walls,
    sun: Sunlight, hour: Hour, sheets: tuple[Plane, Plane, Plane],
) -> None:  # fmt: skip
    ends, low = part
    columns = _within(min(ends), max(ends), view.width)
    rows = _within(view.row(block.tall, block.near), low, view.height)
    if columns.start >= columns.stop or rows.start >= rows.stop:
        return
    face = front_of(view, block, columns, rows, sun.front(block))
    _lay(face, block, walls, hour, sheets, (rows, columns))


def _before(blocks: list[Block]) -> dict[Block, Block]:
    """Return for each building the nearer one beside it."""
    found = {}
    for side in (-1, 1):
        row = [block for block in blocks if block.side == side]
        found.update(dict(pairwise(row)))
    return found


def _shown(
    view: View, block: Block, nearer: Block | None
) -> list[tuple[tuple[float, float], float]]:
    """Return the parts of a front that the nearer building leaves open.

    Each is a pair of columns and the lowest row: a strip beside the nearer building down to the
    ground, and what rises above its roof.
    """
    inner, outer = (
        view.column(block.side * x, block.near) for x in (block.wall, block.wall + _DEEP)
    )
    ground = view.row(0.0, block.near)
    if nearer is None:
        return [((inner, outer), ground)]
    edge = view.column(nearer.side * nearer.wall, nearer.far) + 2.0 * nearer.side
    roof = view.row(nearer.tall, nearer.far) + 2.0
    over = ((edge if block.side * (edge - inner) > 0 else inner, outer), min(roof, ground))
    return [((inner, edge), ground), over] if block.side * (edge - inner) > 0 else [over]


def _lay(
    face: Face, block: Block, walls: Walls, hour: Hour, sheets: tuple[Plane, Plane, Plane],
    at: tuple[slice, slice],
) -> None:  # fmt: skip
    """Paint one face, veiled by the air, where it is."""
    picture, cover, haze = sheets
    rows, columns = at
    color = walls.painted(face, block)
    fade = 1.0 - np.exp(-np.asarray(face.z, np.float32) * np.float32(hour.thick))
    color += (haze[:, rows, columns] - color) * fade
    inside = np.minimum((block.tall - face.up) / face.step_up, face.up / face.step_up)
    alpha = np.clip(inside + 0.5, 0.0, 1.0)
    below = picture[:, rows, columns]
    below += (color - below) * alpha
    veil = cover[rows, columns]
    veil += (1.0 - veil) * alpha


def _within(first: float, last: float, length: int) -> slice:
    """Return the pixels between two places; far outside they may be huge numbers."""
    first, last = (min(max(place, -1e6), 1e6) for place in (first, last))
    return slice(max(0, int(np.floor(first))), min(length, int(np.ceil(last)) + 1))
