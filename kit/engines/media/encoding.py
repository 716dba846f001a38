"""Encoding of clips: the settings of each codec, and the sound track.

All that could change bytes between runs is fixed here: threads, look-ahead, and the numbers that
are random in a WebM file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from kit.engines.media.sound import RATE, Sound

#: Format name of models -> (content type, file ending, codec of the pictures).
FORMATS: Mapping[str, tuple[str, str, str]] = {
    "mp4": ("video/mp4", ".mp4", "h264"),
    "mp4-av1": ("video/mp4", ".mp4", "av1"),
    "webm": ("video/webm", ".webm", "vp9"),
}
# x264's macroblock tree sometimes gave different bytes for the same frames, even with one thread.
# Without adaptive B frames, small partitions and scene cut detection (the only other use of its
# look-ahead), a clip of the same size and quality takes two fifths less time.
_X264 = "mbtree=0:b-adapt=0:partitions=none:8x8dct=0:scenecut=0:rc-lookahead=0"
#: Numbers of ITU-T H.273: matrix, primaries and transfer curve of BT.709, in limited range, as in
#: `kit.engines.media.color.YUV` at every size.
_BT709, _LIMITED = 1, 1
#: Samples per encoded chunk.
_CHUNK_SAMPLES = 4800


@dataclass(frozen=True, slots=True)
class Codec:
    """An encoder and its settings."""

    encoder: str
    #: Added to the clip's rate factor, so that all encoders look about the same.
    quality: int
    worst: int
    #: Encoder options; the rate factor comes from the clip.
    options: Mapping[str, str]


CODECS: Mapping[str, Codec] = {
    "h264": Codec("libx264", 1, 51, {"preset": "superfast", "x264-params": _X264}),
    "av1": Codec("libsvtav1", 15, 63, {"preset": "10", "svtav1-params": "lp=2"}),
    "vp9": Codec(
        "libvpx-vp9", 12, 63, {"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "b": "0"}
    ),
}
#: File ending -> encoder of the sound.
_SOUND_CODECS = {".mp4": "aac", ".webm": "libopus"}
#: File ending -> container options: index before the pictures, and nothing random.
_CONTAINER_OPTIONS = {".mp4": {"movflags": "+faststart"}, ".webm": {"cues_to_front": "1"}}


def container_at(path: Path) -> Any:
    """Open a file for writing, as MP4 or WebM by its ending."""
    container = av.open(str(path), "w", options=_CONTAINER_OPTIONS.get(path.suffix, {}))
    if path.suffix == ".webm":
        container.flags |= av.container.Flags.bitexact.value
    return container


def picture_stream(
    container: Any, codec: str, size: tuple[int, int], fps: int | Fraction, quality: int
) -> Any:
    """Return the stream of the pictures, ready to encode I420 frames of one size."""
    if codec == "av1":
        # SVT-AV1 writes a banner and an error for every canceled clip to stderr unless this is set
        # in the environment; its errors are also return codes.
        os.environ.setdefault("SVT_LOG", "0")
    chosen = CODECS[codec]
    options = {**chosen.options, "crf": str(min(chosen.worst, quality + chosen.quality))}
    stream = container.add_stream(chosen.encoder, rate=fps, options=options)
    context = stream.codec_context
    context.width, context.height, context.pix_fmt = *size, "yuv420p"
    context.time_base = 1 / Fraction(fps)
    context.gop_size = math.ceil(fps * 2)
    # A fixed number of threads: x264 writes it into the stream and splits its work by it.
    context.thread_count = 2
    context.color_range = _LIMITED
    context.colorspace = context.color_primaries = context.color_trc = _BT709
    return stream


class SoundTrack:
    """The sound of a clip, encoded gradually as the pictures advance; Opus in WebM."""

    def __init__(self, container: Any, suffix: str, sound: Sound) -> None:
        self._container = container
        self._sound = sound
        self._layout = "mono" if sound.channels == 1 else "stereo"
        self._done = 0
        self._stream = container.add_stream(_SOUND_CODECS[suffix], rate=RATE)
        self._stream.codec_context.layout = self._layout
        self._stream.bit_rate = 96_000 * sound.channels

    def encode_until(self, seconds: float) -> None:
        """Encode the sound before a time."""
        stop = min(self._sound.count, round(seconds * RATE))
        while self._done < stop:
            step = min(_CHUNK_SAMPLES, stop - self._done)
            part = np.clip(self._sound.part(self._done, self._done + step), -1.0, 1.0)
            frame = av.AudioFrame.from_ndarray(
                np.ascontiguousarray(part), format="fltp", layout=self._layout
            )
            frame.sample_rate, frame.time_base = RATE, Fraction(1, RATE)
            frame.pts = self._done
            self._done += step
            self._write(frame)

    def finish(self) -> None:
        """Encode the remaining samples and flush the encoder."""
        self._write(None)

    def _write(self, frame: Any) -> None:
        for packet in self._stream.encode(frame):
            self._container.mux(packet)
