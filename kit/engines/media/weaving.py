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

#: Filters that see to interlaced frames, and how they are set: one frame out for each one in.
_STEPS = {"idet": "", "bwdif": "mode=send_frame:deint=all", "estdif": "mode=frame:deint=all"}
_JUDGES = ("single", "multiple")


def woven(frames: Iterable[Any]) -> Iterator[Any]:
    """Yield decoded frames, interlaced ones with their two halves brought together, one for one.

    A recording may change from one kind to the other, and its size with it, in its middle.
    """
    weaver: Weaver | None = None
    for frame in frames:
        if weaver is not None and not weaver.takes(frame):
            yield from weaver.rest()
            weaver = None
        if weaver is None and frame.interlaced_frame:
            weaver = Weaver(frame)
        if weaver is None:
            yield frame
        else:
            yield from weaver.woven(frame)
    if weaver is not None:
        yield from weaver.rest()


class Weaver:
    """Interlaced frames of one kind made whole, one for one.

    Film on television and many camcorders put whole pictures into frames that are marked as
    interlaced. Such frames are found by what they show, and stay as sharp as they are.

    Parameters
    ----------
    frame : av.VideoFrame
        The first of them; it is not taken yet.
    """

    def __init__(self, frame: Any) -> None:
        self._kind = _kind(frame)
        self._graph = _graph(frame, "idet", "bwdif")
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
            self._graph = _graph(self._waiting[0], "estdif")
            self._graph.push(self._waiting[0])
        self._graph.push(None)
        yield from self._ready()

    def _ready(self) -> Iterator[Any]:
        with contextlib.suppress(av.BlockingIOError, av.EOFError):
            while True:
                made = self._graph.pull()
                given = self._waiting.popleft()
                yield given if _already_whole(given, made) else made


def _kind(frame: Any) -> tuple[int, int, str]:
    return frame.width, frame.height, frame.format.name


def _graph(frame: Any, *names: str) -> Any:
    graph = av.filter.Graph()
    width, height, pixel_format = _kind(frame)
    source = graph.add_buffer(
        width=width, height=height, format=pixel_format, time_base=frame.time_base
    )
    steps = [graph.add(name, _STEPS[name]) for name in names]
    graph.link_nodes(source, *steps, graph.add("buffersink")).configure()
    return graph


def _already_whole(given: Any, made: Any) -> bool:
    """Tell whether a frame needed no weaving: it is not marked so, or shows one moment only."""
    if not given.interlaced_frame:
        return True
    found = made.metadata
    # The first judges a frame by itself; it may err where little moves, but then the second,
    # which goes by the frames before it as well, differs.
    return all(found.get(f"lavfi.idet.{way}.current_frame") == "progressive" for way in _JUDGES)
