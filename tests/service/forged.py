"""Video and sound files, correct ones and forged ones whose headers claim another duration."""

import io
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import av
import numpy as np

RATE = 48_000


def sound(codec: str, form: str, seconds: float, *, loud: float | None = None) -> bytes:
    """Return sound in a container: noise, then silence after `loud` seconds."""
    file = io.BytesIO()
    noise = np.random.default_rng(1).uniform(-0.3, 0.3, round(seconds * RATE)).astype(np.float32)
    if loud is not None:
        noise[round(loud * RATE) :] = 0
    with av.open(file, "w", format=form) as container:
        stream: Any = container.add_stream(codec, rate=RATE, layout="mono")
        stream.bit_rate = 48_000
        shaper = av.AudioResampler(
            stream.codec_context.format.name, "mono", RATE, frame_size=stream.frame_size or 1024
        )
        frame = av.AudioFrame.from_ndarray(noise[None], "fltp", "mono")
        frame.sample_rate = RATE
        for piece in [*shaper.resample(frame), *shaper.resample(None), None]:
            container.mux(stream.encode(piece))
    return file.getvalue()


def video(codec: str, form: str, seconds: int, fps: int = 10) -> bytes:
    """Return a video in a container."""
    file = io.BytesIO()
    with av.open(file, "w", format=form) as container:
        stream: Any = container.add_stream(codec, rate=fps)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(seconds * fps):
            pixels = np.full((48, 64, 3), number % 200, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels)))
        container.mux(stream.encode(None))
    return file.getvalue()


def forge_flac(content: bytes, seconds: int) -> bytes:
    """Change the number of samples in STREAMINFO."""
    forged = int.from_bytes(content[18:26], "big") >> 36 << 36 | seconds * RATE
    return content[:18] + forged.to_bytes(8, "big") + content[26:]


def forge_wav(content: bytes, seconds: int) -> bytes:
    """Change the size of the data chunk."""
    at = content.index(b"data") + 4
    return content[:at] + struct.pack("<I", seconds * RATE * 2) + content[at + 4 :]


def forge_webm(content: bytes, seconds: int) -> bytes:
    """Change the Duration, in milliseconds."""
    at = content.index(b"\x44\x89\x88") + 3
    return content[:at] + struct.pack(">d", seconds * 1000.0) + content[at + 8 :]


def forge_mp3(content: bytes, seconds: int) -> bytes:
    """Change the numbers of frames and bytes in the Xing header."""
    at = max(content.find(b"Xing"), content.find(b"Info")) + 8
    frames = seconds * RATE // 1152
    return content[:at] + struct.pack(">II", frames, frames * 384) + content[at + 8 :]


def forge_mp4(content: bytes, seconds: int) -> bytes:
    """Change the durations of the movie and of its tracks."""
    changed, scale = bytearray(content), 1
    for path in (("moov", "mvhd"), ("moov", "trak", "mdia", "mdhd"), ("moov", "trak", "tkhd")):
        for at in _boxes(changed, path):
            if path[-1] != "tkhd":
                scale = struct.unpack_from(">I", changed, at + 12)[0]
            place = at + (20 if path[-1] == "tkhd" else 16)
            struct.pack_into(">I", changed, place, seconds * scale)
    return bytes(changed)


def hasten_mp4(content: bytes, times: int) -> bytes:
    """Divide the duration of each sample in the table of times."""
    changed = bytearray(content)
    for at in _boxes(changed, ("moov", "trak", "mdia", "minf", "stbl", "stts")):
        for number in range(struct.unpack_from(">I", changed, at + 4)[0]):
            place = at + 12 + 8 * number
            (lasts,) = struct.unpack_from(">I", changed, place)
            struct.pack_into(">I", changed, place, max(1, lasts // times))
    return bytes(changed)


def forge_ogg(content: bytes, seconds: int) -> bytes:
    """Limit the position on every page to a number of seconds."""
    changed, at = bytearray(content), 0
    while at < len(changed):
        count = changed[at + 26]
        end = at + 27 + count + sum(changed[at + 27 : at + 27 + count])
        position = min(int.from_bytes(changed[at + 6 : at + 14], "little"), seconds * RATE)
        changed[at + 6 : at + 14] = position.to_bytes(8, "little")
        changed[at + 22 : at + 26] = bytes(4)
        changed[at + 22 : at + 26] = _checksum(changed[at:end]).to_bytes(4, "little")
        at = end
    return bytes(changed)


def _checksum(page: bytes) -> int:
    value = 0
    for byte in page:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ 0x04C11DB7 if value >> 31 else value << 1) & 0xFFFFFFFF
    return value


def _boxes(
    content: bytes, path: Sequence[str], at: int = 0, end: int | None = None
) -> Iterator[int]:
    """Yield where the boxes of a path begin, behind their names."""
    while at + 8 <= (len(content) if end is None else end):
        (size,) = struct.unpack_from(">I", content, at)
        if content[at + 4 : at + 8] == path[0].encode():
            if len(path) == 1:
                yield at + 8
            else:
                yield from _boxes(content, path[1:], at + 8, at + size)
        at += size
