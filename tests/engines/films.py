"""Small video and sound files like those of cameras and browsers."""

import struct
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

RATE = 48_000
#: Options of an encoder for MPEG-2, as camcorders and broadcasts used it.
WHOLE = {"b": "4000000", "g": "10"}


def picture(width: int, height: int, color: Sequence[int]) -> np.ndarray:
    """Return a picture of one color whose upper left quarter is white."""
    pixels = np.empty((height, width, 3), np.uint8)
    pixels[:] = color
    pixels[: height // 2, : width // 2] = 255
    return pixels


def encode(
    path: Path,
    pictures: Sequence[np.ndarray],
    *,
    fps: int = 30,
    times: Sequence[float] | None = None,
    codec: str = "libx264",
    pixel_format: str = "yuv420p",
    tags: tuple[int, int, int, int] = (6, 1, 1, 13),
    matrix: int = 5,
) -> Path:
    """Write pictures to a file, at a constant rate or each at its own time in seconds.

    `tags` are matrix, range, primaries and transfer of ITU-T H.273; `matrix` is the converter's own
    number for the first of them.
    """
    clock = Fraction(1, 90_000) if times else Fraction(1, fps)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=fps)
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = pixel_format
        context = stream.codec_context
        context.time_base = clock
        context.colorspace, context.color_range, context.color_primaries, context.color_trc = tags
        for number, pixels in enumerate(pictures):
            kind = {3: "rgb24", 4: "rgba"}[pixels.shape[2]]
            frame: Any = av.VideoFrame.from_ndarray(pixels, format=kind)
            frame = frame.reformat(
                format=pixel_format, dst_colorspace=matrix, dst_color_range=tags[1]
            )
            frame.pts = round(times[number] / clock) if times else number
            frame.time_base = clock
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def rotate(path: Path, degrees: int, *, mirrored: bool = False) -> Path:
    """Write the rotation tag of a phone into an MP4: show it mirrored, rotated clockwise."""
    one = 1 << 16
    matrix = {0: (one, 0, 0, one), 90: (0, one, -one, 0), 180: (-one, 0, 0, -one)}
    a, b, c, d = {**matrix, 270: (0, -one, one, 0)}[degrees]
    a, b = (-a, -b) if mirrored else (a, b)
    content = bytearray(path.read_bytes())
    # The matrix follows 40 bytes after the name of the track's header.
    at = content.index(b"tkhd") + 4 + 40
    content[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
    path.write_bytes(content)
    return path


def clicks(seconds: float, *, every: float = 1.0, channels: int = 2) -> np.ndarray:
    """Return 20 ms beeps in the middle of every stretch of `every` seconds."""
    samples = np.zeros((channels, round(seconds * RATE)), np.float32)
    beep = 0.8 * np.sin(2 * np.pi * 1000 * np.arange(960) / RATE)
    for number in range(int(seconds / every)):
        start = round((number + 0.5) * every * RATE)
        samples[:, start : start + 960] = beep[: samples.shape[1] - start]
    return samples


def record(
    path: Path, samples: np.ndarray, codec: str, rate: int = RATE, *, pace: float = 1.0, **how: str
) -> Path:
    """Write a sound in parts of 20 ms, each at its time by a clock of some pace."""
    layout, size = "mono" if len(samples) == 1 else "stereo", rate // 50
    with av.open(str(path), "w", options=how) as container:
        stream: Any = container.add_stream(codec, rate=rate, layout=layout)
        for first in range(0, samples.shape[1], size):
            part = np.ascontiguousarray(samples[:, first : first + size])
            frame: Any = av.AudioFrame.from_ndarray(part, format="fltp", layout=layout)
            frame.sample_rate, frame.pts = rate, round(first * pace)
            frame.time_base = Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def onsets(samples: np.ndarray, *, level: float = 0.2) -> list[float]:
    """Return the seconds at which a sound becomes loud."""
    loud = np.flatnonzero(np.abs(samples[0]) > level)
    first = loud[np.diff(loud, prepend=-RATE) > RATE // 10]
    return [float(index / RATE) for index in first]


def weave(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return a frame that shows one picture in its even rows and another one in its odd rows."""
    frame = one.copy()
    frame[1::2] = other[1::2]
    return frame
