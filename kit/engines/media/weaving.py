"""Weaving: interlaced frames brought to whole ones, of which each shows one moment.

Camcorders and television film the even rows of a frame in one moment and the odd rows in the next;
shown as they are, whatever moves has a comb for an edge.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import av
import numpy as np
from numpy.typing import NDArray

#: Filters that see to interlaced frames, and how they are set: one frame out for each one in.
_JUDGED = (("idet", ""), ("bwdif", "mode=send_frame:deint=all"))
_ALONE = ("estdif", "mode=frame:deint=all")
_JUDGES = ("single", "multiple")
#: Columns of a frame that are looked at.
_COLUMNS = 96
#: Steps of luma by which neighboring rows of a comb differ, and those of one moment do not.
_STEP = 10
#: Places with a comb that it takes, by number and as a share of what changed.
_LEAST, _SHARE = 16, 0.015
#: How many times more one way to pair the halves of two frames combs than the other, and than a
#: frame does by itself.
_UNLIKE = 1.4
#: Share of what changed by which more grows brighter than darker, or the other way around, where
#: the light changes; and share of the places with a comb whose rows all change with it, by steps.
_LIGHT, _WITH_IT, _CHANGED = 0.7, 0.5, 2

#: Luma of some columns.
Rows: TypeAlias = NDArray[np.int16]


def woven(frames: Iterable[Any]) -> Iterator[Any]:
    """Yield decoded frames, interlaced ones with their two halves brought together, one for one.

    A recording may change from one kind to the other, and its size with it, in its middle. Marked
    or not, frames are found by what they show.
    """
    weaver: Weaver | None = None
    for frame, first in _paired(frames):
        if weaver is not None and not weaver.takes(frame):
            yield from weaver.rest()
            weaver = None
        if weaver is None and (first or frame.interlaced_frame):
            weaver = Weaver(frame, first)
        if weaver is None:
            yield frame
        else:
            yield from weaver.woven(frame)
    if weaver is not None:
        yield from weaver.rest()


def _paired(frames: Iterable[Any]) -> Iterator[tuple[Any, str | None]]:
    """Yield frames and which half of an unmarked one is first, known by the frame behind it."""
    waiting: tuple[Any, Rows | None] | None = None
    for frame in frames:
        rows = None if frame.interlaced_frame else _rows_of(frame)
        if waiting is not None:
            yield waiting[0], _first(waiting[1], rows)
        waiting = frame, rows
    if waiting is not None:
        yield waiting[0], None


def _first(before: Rows | None, after: Rows | None) -> str | None:
    return None if before is None or after is None else _first_half(before, after)


class Weaver:
    """Interlaced frames of one kind made whole, one for one.

    Film on television and many camcorders put whole pictures into frames that are marked as
    interlaced. Such frames are found by what they show, and stay as sharp as they are.

    Parameters
    ----------
    frame : av.VideoFrame
        The first of them; it is not taken yet.
    first : str, optional
        Which half of a frame that bears no mark is first, ``"tff"`` or ``"bff"``.
    """

    def __init__(self, frame: Any, first: str | None = None) -> None:
        self._kind = _kind(frame)
        self._unmarked = first is not None
        # A filter that is to know which half is first hears it from the frames that it is given.
        told = [("setfield", f"mode={first}")] if first else []
        self._graph = _graph(frame, *told, *_JUDGED)
        self._waiting: deque[Any] = deque()
        self._alone = True

    def takes(self, frame: Any) -> bool:
        """Tell whether a frame is of the kind that this weaver was made for."""
        return _kind(frame) == self._kind

    def woven(self, frame: Any) -> Iterator[Any]:
        """Take a frame and yield those that are whole by now; it waits for the frames after it."""
        self._alone = not self._waiting
        self._waiting.append(frame)
        self._graph.push(frame)
        yield from self._ready()

    def rest(self) -> Iterator[Any]:
        """Yield what still waits."""
        if self._alone:
            # Nothing before or after it tells what moves: its own lines have to do.
            self._graph = _graph(self._waiting[0], _ALONE)
            self._graph.push(self._waiting[0])
        self._graph.push(None)
        yield from self._ready()

    def _ready(self) -> Iterator[Any]:
        with contextlib.suppress(av.BlockingIOError, av.EOFError):
            while True:
                made = self._graph.pull()
                given = self._waiting.popleft()
                marked = self._unmarked or given.interlaced_frame
                yield made if marked and not _one_moment(made) else given


def _kind(frame: Any) -> tuple[int, int, str]:
    return frame.width, frame.height, frame.format.name


def _graph(frame: Any, *filters: tuple[str, str]) -> Any:
    graph = av.filter.Graph()
    width, height, pixel_format = _kind(frame)
    source = graph.add_buffer(
        width=width, height=height, format=pixel_format, time_base=frame.time_base
    )
    steps = [graph.add(*step) for step in filters]
    graph.link_nodes(source, *steps, graph.add("buffersink")).configure()
    return graph


def _one_moment(made: Any) -> bool:
    """Tell whether a frame shows one moment only, so that it needs no weaving."""
    found = made.metadata
    # The first judges a frame by itself; it may err where little moves, but then the second,
    # which goes by the frames before it as well, differs.
    return all(found.get(f"lavfi.idet.{way}.current_frame") == "progressive" for way in _JUDGES)


def _rows_of(frame: Any) -> Rows | None:
    """Return the rows of a decoded frame in some columns; None of kinds that are always marked."""
    kind = frame.format
    if not kind.name.startswith(("yuv4", "yuvj4", "nv12")) or kind.components[0].bits != 8:
        return None
    plane = frame.planes[0]
    luma = np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)
    step = max(1, frame.width // _COLUMNS)
    return luma[: frame.height, step // 2 : frame.width : step].astype(np.int16)


def _first_half(before: Rows, after: Rows) -> str | None:
    """Return which rows of the second of two frames show the earlier moment, or None.

    Returns
    -------
    str or None
        ``"tff"``, the even rows; ``"bff"``, the odd ones; None, the frame shows one moment.
    """
    if before.shape != after.shape or len(after) < 8:
        return None
    changed = np.abs(after - before)[2:-2] > _STEP
    combs = _combs(after, changed)
    own = np.count_nonzero(combs)
    if own < max(_LEAST, _SHARE * np.count_nonzero(changed)) or _lit(before, after, combs):
        return None
    # The earlier half comes right after the later half of the frame before: that pair is nearly
    # as near in time as the frame's own, the other one three times as far apart. Lines in a
    # picture that shows one moment are the same in both.
    pairs = []
    for half in (0, 1):
        pair = before.copy()
        pair[half::2] = after[half::2]
        pairs.append(np.count_nonzero(_combs(pair, changed)))
    even, odd = pairs
    if max(pairs) < _UNLIKE * max(own, min(pairs)):
        return None
    return "tff" if even < odd else "bff"


def _lit(before: Rows, after: Rows, combs: NDArray[np.bool_]) -> bool:
    """Tell whether it is the light that changes, as when a picture with lines in it fades in.

    Lines that grow apart in the light pair unlike too. What moves takes light away where it was,
    and the edge of a thing that only grows is in one half of a frame and not yet in the other.
    """
    change = after - before
    much = change[np.abs(change) > _STEP]
    if abs(int(much.sum(dtype=np.int64))) < _LIGHT * int(np.abs(much).sum(dtype=np.int64)):
        return False
    steps = np.sign(change) * (np.abs(change) >= _CHANGED)
    together = steps[2:-2] * steps[3:-1] > 0
    return bool(together[combs].mean() > _WITH_IT)


def _combs(rows: Rows, changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the places that changed where rows alternate, five in a row."""
    steps = np.diff(rows, axis=0)
    steps[1::2] *= -1
    four = np.stack([steps[at : len(steps) - 3 + at] for at in range(4)])
    alternate = (four.min(axis=0) > _STEP) | (four.max(axis=0) < -_STEP)
    skipped = np.abs(rows[2:] - rows[:-2]) < _STEP
    alike = skipped[:-2] & skipped[1:-1] & skipped[2:]
    return np.asarray(alternate & alike & changed)
