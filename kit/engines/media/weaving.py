"""Weaving: interlaced frames brought to whole ones, of which each shows one moment.

Camcorders and television film the even rows of a frame in one moment and the odd rows in the next;
shown as they are, whatever moves has a comb for an edge.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import av

from kit.engines.media.combing import Rows, first_half, rows_of

#: Filters that see to interlaced frames, and how they are set: one frame out for each one in.
_JUDGED = (("idet", ""), ("bwdif", "mode=send_frame:deint=all"))
_ALONE = ("estdif", "mode=frame:deint=all")
_JUDGES = ("single", "multiple")


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
        rows = None if frame.interlaced_frame else rows_of(frame)
        if waiting is not None:
            yield waiting[0], _first(waiting[1], rows)
        waiting = frame, rows
    if waiting is not None:
        yield waiting[0], None


def _first(before: Rows | None, after: Rows | None) -> str | None:
    return None if before is None or after is None else first_half(before, after)


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
