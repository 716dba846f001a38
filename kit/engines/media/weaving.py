"""Weaving: interlaced frames brought to whole ones, of which each shows one moment.

Camcorders and television film the even rows of a frame in one moment and the odd rows in the next;
shown as they are, whatever moves has a comb for an edge.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import av


def woven(frames: Iterable[Any]) -> Iterator[Any]:
    """Yield decoded frames, those that are marked as interlaced made whole, one for one.

    A recording may change from one kind to the other, and its size with it, in its middle.
    """
    graph, kind = None, None
    for frame in frames:
        if graph is None and not frame.interlaced_frame:
            yield frame
            continue
        now = (frame.width, frame.height, frame.format.name)
        if graph is None or now != kind:
            yield from () if graph is None else _made(graph, None)
            graph, kind = _graph(frame), now
        yield from _made(graph, frame)
    yield from () if graph is None else _made(graph, None)


def _graph(frame: Any) -> Any:
    graph = av.filter.Graph()
    source = graph.add_buffer(
        width=frame.width,
        height=frame.height,
        format=frame.format.name,
        time_base=frame.time_base,
    )
    weaver = graph.add("bwdif", "mode=send_frame:deint=interlaced")
    graph.link_nodes(source, weaver, graph.add("buffersink")).configure()
    return graph


def _made(graph: Any, frame: Any) -> Iterator[Any]:
    graph.push(frame)
    with contextlib.suppress(av.BlockingIOError, av.EOFError):
        while True:
            yield graph.pull()
