"""Sound files and sound tracks of videos, decoded to samples at one rate.

Time 0 of a video's sound is its first frame, so that picture and sound stay in sync when cut.
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

#: Maximum length of a file in seconds.
MAX_SECONDS = 1800.0
#: Seconds from which a step of the clock is a jump, and samples per second of clock correction.
_JUMP_SECONDS, _MAX_CORRECTION = 1.0, 2400

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

    Without `seconds` as a limit, a file longer than `MAX_SECONDS` is refused. Samples are kept in
    `folder` as long as the sound exists, or in memory, 23 MB per minute of stereo. `check` is
    called many times a second and may raise to stop. Raises EngineError if there is no sound
    (``no_sound``), or if it is broken (``undecodable``) or too long.
    """
    most = round((MAX_SECONDS if seconds is None else min(seconds, MAX_SECONDS)) * RATE)
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
    """Yield parts up to a number of samples, within the length that was priced.

    If `whole`, more samples raise an error.
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
        raise EngineError(f"the sound must last up to {MAX_SECONDS:,.0f} s", code="too_long")


def _parts(container: Any, channels: int, path: Path) -> Iterator[Floats]:
    """Yield a file's sound in parts of shape (channels, n), from time 0 on.

    Recorders' clocks drift from their sample rates: the resampler follows the clock of the file,
    slightly faster or slower. A clock that runs back has restarted. The format may change midway:
    a broadcast has a film in six channels and its news in two.
    """
    stream = audio_stream(container)
    # From the first picture on, or from the first sound if there is no picture.
    start = next(iter(moving_streams(container)), stream)
    shift = -float((start.start_time or 0) * start.time_base)
    kind: tuple[str, str, int] | None = None
    graph: Any = None
    end = played = 0.0
    for frame in _frames(container, stream):
        moment = end if frame.time is None else frame.time + shift
        if graph is not None and moment < end - _JUMP_SECONDS:
            shift, moment = shift + end - moment, end
        # A clock that claims less than the samples is followed as far as the resampler can.
        played += frame.samples / frame.sample_rate if moment >= 0 else 0.0
        check_priced(path, played * (1 - _MAX_CORRECTION / RATE))
        now = (frame.format.name, frame.layout.name, frame.sample_rate)
        if graph is None or kind != now or moment > end + _JUMP_SECONDS:
            if graph is not None:
                yield from _resample(graph, channels, None)
                # In parts: a clock that jumps by a year must not fill the memory.
                silent = round((moment - end) * RATE)
                for first in range(0, silent, RATE):
                    yield np.zeros((channels, min(RATE, silent - first)), np.float32)
            kind, graph = now, _resampler(frame, channels, moment if graph else 0.0)
        frame.pts, frame.time_base = round(moment * now[2]), Fraction(1, now[2])
        end = moment + frame.samples / now[2]
        yield from _resample(graph, channels, frame)
    if graph is not None:
        yield from _resample(graph, channels, None)


def _resampler(frame: Any, channels: int, start: float) -> Any:
    """Return a filter graph from frames of one format to the rate of `Sound`, from a time on."""
    graph = av.filter.Graph()
    source = graph.add_abuffer(
        sample_rate=frame.sample_rate,
        format=frame.format.name,
        layout=frame.layout.name,
        time_base=Fraction(1, frame.sample_rate),
    )
    # Mono plays at its own level on both sides, as in players; the resampler would lower it by
    # 3 dB.
    layout = "mono" if 1 in (channels, frame.layout.nb_channels) else "stereo"
    steps = (
        graph.add("aresample", f"{RATE}:async={_MAX_CORRECTION}:first_pts={round(start * RATE)}"),
        graph.add("aformat", f"sample_fmts=fltp:channel_layouts={layout}"),
    )
    graph.link_nodes(source, *steps, graph.add("abuffersink")).configure()
    return graph


def _resample(graph: Any, channels: int, frame: Any) -> Iterator[Floats]:
    """Push a frame, or None at the end, into a graph and yield its output samples."""
    for made in run_graph(graph, frame):
        samples = made.to_ndarray()
        if not np.abs(samples).max(initial=0.0) <= 100.0:  # a file of floats may contain any value
            samples = np.nan_to_num(samples).clip(-100.0, 100.0)
        yield np.broadcast_to(samples, (channels, samples.shape[1]))


def _frames(container: Any, stream: Any) -> Iterator[Any]:
    """Yield decoded frames; undecodable packets are skipped."""
    for packet in container.demux(stream):
        with contextlib.suppress(av.InvalidDataError):
            yield from packet.decode()
