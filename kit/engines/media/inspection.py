"""Validation of uploaded files before use: right kind, decodable, within limits.

It runs in a render process with limits of its own. Headers can be false, so limits are checked
before and while decoding; demuxers are named, as a playlist posing as a video reads other files.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kit.containers import audio_stream, measure, measure_video, open_media, video_stream
from kit.engines.media.lengths import check_complete, check_index, check_wav
from kit.engines.media.structure import MAX_FRAMES, check_structure
from kit.errors import EngineError
from kit.pictures import HEIC, NO_HEIC, has_heic, open_picture

#: Limit of an input picture.
MAX_PIXELS = 50_000_000
#: Held while Pillow's process-wide limit is disabled.
_PILLOW_LOCK = threading.Lock()

#: First bytes of each kind of file, as (offset, bytes).
MAGIC: Mapping[str, tuple[tuple[int, bytes], ...]] = {
    "image/png": ((0, b"\x89PNG\r\n\x1a\n"),),
    "image/jpeg": ((0, b"\xff\xd8\xff"),),
    "image/webp": ((8, b"WEBP"),),
    "image/gif": ((0, b"GIF87a"), (0, b"GIF89a")),
    "video/mp4": ((4, b"ftyp"),),
    "video/quicktime": ((4, b"ftyp"), (4, b"moov"), (4, b"wide"), (4, b"mdat"), (4, b"free")),
    "video/webm": ((0, b"\x1a\x45\xdf\xa3"),),
    "audio/mpeg": ((0, b"ID3"), *((0, b"\xff%c" % n) for n in b"\xfa\xfb\xf2\xf3\xe2\xe3")),
    "audio/wav": ((8, b"WAVE"),),
    "audio/mp4": ((4, b"ftyp"),),
    "audio/aac": ((0, b"\xff\xf1"), (0, b"\xff\xf9"), (0, b"ID3")),
    "audio/ogg": ((0, b"OggS"),),
    "audio/flac": ((0, b"fLaC"), (0, b"ID3")),
}
#: First bytes of HEIC: the container of MP4, and its major brand.
_HEIC = tuple((4, b"ftyp" + brand) for brand in (b"hei", b"hev", b"mif1", b"msf1"))
IMAGES = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP", "image/gif": "GIF"}
#: Formats that can be read as pictures, including one that is never written.
PICTURES = {**IMAGES, HEIC: "HEIF"}


def inspect(path: Path, content_type: str) -> dict[str, Any]:
    """Return the width, height and length of a file, if it has them.

    Raises `EngineError` if it has another type, cannot be decoded, or exceeds a limit.

    Source: contract, "Uploads".
    """
    with path.open("rb") as file:
        head = file.read(32)
    if not any(head[at : at + len(mark)] == mark for at, mark in MAGIC.get(content_type, _HEIC)):
        raise EngineError(f"the content is not {content_type}", code="wrong_type")
    check = _INSPECTORS[content_type.partition("/")[0]]
    return check(path, content_type)


def _image(path: Path, content_type: str) -> dict[str, Any]:
    if content_type == HEIC and not has_heic():
        raise EngineError(NO_HEIC, code="wrong_type")
    with picture_in(path, [PICTURES[content_type]]) as image:
        if getattr(image, "n_frames", 1) > MAX_FRAMES:
            raise EngineError(f"the image has more than {MAX_FRAMES} frames", code="too_long")
        image.load()
        return {"width": image.width, "height": image.height}


@contextmanager
def picture_in(path: Path, formats: Sequence[str]) -> Iterator[Any]:
    """Open a picture within the limit of pixels, without decoding any pixels yet.

    `formats` are Pillow's names of the allowed formats. Pillow's own limit, which writes a
    warning, is disabled.

    Raises
    ------
    EngineError
        It has too many pixels or parts (``too_large``), or code in the block raises an exception
        as decoders do on a broken file (``undecodable``).
    """
    from PIL import Image

    try:
        check_structure(path)
        with _PILLOW_LOCK:
            limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
            try:
                image = open_picture(path, formats)
            finally:
                Image.MAX_IMAGE_PIXELS = limit
        with image, warnings.catch_warnings():
            # Pillow warns of irregularities that it can still decode.
            warnings.simplefilter("ignore")
            check_pixels(image.width * image.height)
            yield image
    except (EngineError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 - decoders raise any exception on a broken file
        raise undecodable() from None


def _video(path: Path, content_type: str) -> dict[str, Any]:
    import av

    try:
        with open_media(path) as container:
            _, frame, seconds = probe_video(container)
            return {"width": frame.width, "height": frame.height, "duration_seconds": seconds}
    except StopIteration:
        raise EngineError("the video contains no picture", code="undecodable") from None
    except (av.FFmpegError, IndexError):
        raise undecodable() from None


def probe_video(container: Any) -> tuple[Any, Any, float]:
    """Return the stream of a video, its first frame and its length, all within limits."""
    stream = video_stream(container)
    check_pixels(stream.width * stream.height)
    check_index(container, stream)
    stream.codec_context.options = {"skip_loop_filter": "all"}  # the frame is not shown
    frame = next(container.decode(stream))
    check_pixels(frame.width * frame.height)
    found = measure_video(container, stream)
    if container.duration and not stream.duration:
        # The header was written first and states the length of the whole file.
        check_complete(found.end, container.duration / 1_000_000)
    return stream, frame, found.seconds


def _audio(path: Path, content_type: str) -> dict[str, Any]:
    import av

    try:
        with open_media(path) as container:
            stream = audio_stream(container)
            next(container.decode(stream))
            check_index(container, stream)
        if content_type == "audio/wav":
            check_wav(path)
        return {"duration_seconds": measure(path, "audio")}
    except StopIteration:
        raise EngineError("the recording is empty", code="undecodable") from None
    except (av.FFmpegError, IndexError):
        raise undecodable() from None


_INSPECTORS: Mapping[str, Callable[[Path, str], dict[str, Any]]] = {
    "image": _image,
    "video": _video,
    "audio": _audio,
}


def check_pixels(pixels: int) -> None:
    """Refuse a picture of more than `MAX_PIXELS` pixels."""
    if not 0 < pixels <= MAX_PIXELS:
        megapixels = MAX_PIXELS // 1_000_000
        sentence = f"the picture must have up to {megapixels} megapixels"
        raise EngineError(sentence, code="too_large")


def undecodable() -> EngineError:
    """Return the error for a file that cannot be decoded."""
    return EngineError("the file is cut off or damaged", code="undecodable")
