"""Sound files and sound tracks of videos, decoded into samples at one rate.

Time 0 of a video's sound is its first frame, so that what is cut at the same second stays together.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from kit.containers import audio_stream, moving_streams, open_media
from kit.engines.media.color import Floats
from kit.engines.media.inspection import undecodable
from kit.engines.media.lengths import check_priced
from kit.engines.media.sound import RATE, Sound, gather, run_graph
from kit.errors import EngineError

#: Seconds of one file that are taken at most.
MOST = 1800.0
#: Seconds by which a clock leaps, and samples a second by which the resampler follows one.
_LEAP, _PACE = 1.0, 2400

Check = Callable[[], None]


def open_sound(
    path: Path,
    *,
    seconds: float | None = None,
    channels: int = 2,
    folder: Path | None = None,
    check: Check = lambda: None,
) -> Sound:
    """Return the sound of a sound file or of a video's sound track, mixed to 1 or 2 channels.

    Without a number of `seconds` to stop after, a file of more than `MOST` is refused. The samples
    are kept in a `folder` as long as the sound is, or in memory, 23 MB for each minute of stereo.
    `check` is called many times a second; it may raise to stop it. Raises EngineError where there
    is no sound in it (``no_sound``), or it is broken (``undecodable``) or too long.
    """
    most = round((MOST if seconds is None else min(seconds, MOST)) * RATE)
    try:
        with open_media(path) as container:
            parts = _parts(container, channels, path)
            parts = _limit(parts, path, most, check, whole=seconds is None)
            return gather(parts, channels, folder)
    except (av.FFmpegError, IndexError):
        raise undecodable() from None


def _limit(
    parts: Iterator[Floats], path: Path, most: int, check: Check, *, whole: bool
) -> Iterator[Floats]:
    """Yield parts up to a number of samples, as long as they are within what the price is for.

    A `whole` that has more samples is refused.
    """
    held = 0
    for part in parts:
        check()
        taken = part[:, : most - held]
        check_priced(path, (held + taken.shape[1]) / RATE)
        yield taken
        held += part.shape[1]
        if held > most:
            break
    if held > most and whole:
        raise EngineError(f"the sound must last up to {MOST:,.0f} s", code="too_long")


def _parts(container: Any, channels: int, path: Path) -> Iterator[Floats]:
    """Yield a file's sound in pieces of shape (channels, n), from time 0 on.

    Recorders do not count as exactly as they sample: the resampler follows the clock of the file,
    a little faster or slower. A clock that goes back has begun anew. The kind of sound may change
    on the way: a broadcast has a film in six channels and its news in two.
    """
    stream = audio_stream(container)
    # From the first picture on, or the first sound where there is no picture.
    start = next(iter(moving_streams(container)), stream)
    shift = -float((start.start_time or 0) * start.time_base)
    kind: tuple[str, str, int] | None = None
    graph: Any = None
    end = 0.0
    for frame in _frames(container, stream, path):
        moment = end if frame.time is None else frame.time + shift
        if moment < end - _LEAP:
            shift, moment = shift + end - moment, end
        now = (frame.format.name, frame.layout.name, frame.sample_rate)
        if graph is None or kind != now or moment > end + _LEAP:
            if graph is not None:
                yield from _ready(graph, channels, None)
                # In parts: a clock that jumps by a year must not fill the memory.
                silent = round((moment - end) * RATE)
                for first in range(0, silent, RATE):
                    yield np.zeros((channels, min(RATE, silent - first)), np.float32)
            kind, graph = now, _resampler(frame, channels, moment if graph else 0.0)
        frame.pts, frame.time_base = round(moment * now[2]), Fraction(1, now[2])
        end = moment + frame.samples / now[2]
        yield from _ready(graph, channels, frame)
    if graph is not None:
        yield from _ready(graph, channels, None)


def _resampler(frame: Any, channels: int, start: float) -> Any:
    """Return what brings frames of one kind to the rate of a `Sound`, from a moment on."""
    graph = av.filter.Graph()
    source = graph.add_abuffer(
        sample_rate=frame.sample_rate,
        format=frame.format.name,
        layout=frame.layout.name,
        time_base=Fraction(1, frame.sample_rate),
    )
    # One channel is heard at its own level from both sides, as players do it; the resampler would
    # take 3 dB away.
    layout = "mono" if 1 in (channels, frame.layout.nb_channels) else "stereo"
    steps = (
        graph.add("aresample", f"{RATE}:async={_PACE}:first_pts={round(start * RATE)}"),
        graph.add("aformat", f"sample_fmts=fltp:channel_layouts={layout}"),
    )
    graph.link_nodes(source, *steps, graph.add("abuffersink")).configure()
    return graph


def _ready(graph: Any, channels: int, frame: Any) -> Iterator[Floats]:
    """Give a graph a frame, or None at the end, and yield the samples that are ready."""
    for made in run_graph(graph, frame):
        samples = made.to_ndarray()
        if not np.abs(samples).max(initial=0.0) <= 100.0:  # a file of floats may hold anything
            samples = np.nan_to_num(samples).clip(-100.0, 100.0)
        yield np.broadcast_to(samples, (channels, samples.shape[1]))


def _frames(container: Any, stream: Any, path: Path) -> Iterator[Any]:
    """Yield decoded frames; a packet that cannot be decoded is left out.

    Their samples, too, are to be within what the price is for: a clock may be followed by as much
    as the resampler can; what tells of less is no clock.
    """
    played = 0.0
    for packet in container.demux(stream):
        with contextlib.suppress(av.InvalidDataError):
            for frame in packet.decode():
                played += frame.samples / frame.sample_rate
                check_priced(path, played * (1 - _PACE / RATE))
                yield frame
