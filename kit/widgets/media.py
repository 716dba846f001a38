"""Media in a notebook: embedded pictures of limited size, videos as files beside it.

Outputs survive saving, reopening and untrusted notebooks: no scripts, no widgets, no absolute
paths, no signed URLs.
"""

from __future__ import annotations

import base64
import io
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any, TypeVar

from kit.containers import open_media, video_stream
from kit.endings import guess_type
from kit.errors import EngineError
from kit.pictures import OUTPUT_FORMATS, open_picture, to_srgb
from kit.widgets.hosts import Host, find_host
from kit.widgets.markup import faint
from kit.widgets.markup import size as size_text

T = TypeVar("T")

#: Maximum bytes of a picture embedded unchanged; a larger one is replaced by a preview.
IMAGE_LIMIT = 100_000
POSTER_LIMIT = 20_000
#: Width in pixels of a preview and of a video.
WIDTH = 640

#: Maximum of attempts at a preview size, and the lowest quality of WebP without visible blocks.
_ATTEMPTS = 6
_MIN_QUALITY = 55

#: Brands of mp4 containers that are pictures or audio.
_OTHER_BRANDS = frozenset(
    (b"avif", b"avis", b"heic", b"heix", b"hevc", b"hevx", b"mif1", b"msf1", b"M4A ")
)
_STYLE = "max-width:min(100%,640px);height:auto;border-radius:4px"


@dataclass(frozen=True, slots=True)
class Fit:
    """Limits for media in a document.

    `limit`: maximum bytes of an embedded picture; smaller ones are embedded unchanged.
    `poster`: maximum bytes of a video's thumbnail.
    `embed`: maximum bytes of an embedded video; None uses the host's limit.
    `beside`: whether a larger video may be a file beside the document; else its thumbnail is shown.
    """

    limit: int = IMAGE_LIMIT
    poster: int = POSTER_LIMIT
    width: int = WIDTH
    embed: int | None = None
    beside: bool = True
    style: str = _STYLE
    host: Host = field(default_factory=find_host)


def html(
    path: Path,
    *,
    name: str,
    poster: bytes | None = None,
    title: str = "",
    folder: Path | None = None,
    fit: Fit | None = None,
) -> str:
    """Return the HTML element of a media file.

    `name`: the name of a video's copy, without extension.
    `folder`: the notebook's; videos are copied to ``outputs/`` in it. Default: working folder.
    """
    fit = fit or Fit()
    if is_video(path):
        return _video(path, name, poster, title, folder or Path(), fit)
    return still(path.read_bytes(), title=title, fit=fit)


def still(content: bytes, *, title: str, fit: Fit) -> str:
    """Return the HTML element of a picture."""
    return _image(picture(content, limit=fit.limit, width=fit.width), title, fit)


def _image(address: str, title: str, fit: Fit) -> str:
    return f'<img src="{address}" alt="{escape(title)}" style="{fit.style}">'


def large_video(poster: bytes | None, size: int | None, *, title: str, fit: Fit) -> str:
    """Return the HTML for a video that is not played here: its thumbnail and size."""
    shown = still(poster, title=title, fit=fit) if poster else ""
    return f"{shown}<div>{faint(_size_label(size))}</div>"


def _size_label(size: int | None) -> str:
    return f"video · {size_text(size)}" if size else "video"


def is_video(path: Path) -> bool:
    """Return whether a file is a video, by its name, or if that is unclear by its content."""
    kind = guess_type(path.name).partition("/")[0]
    return kind == "video" or (kind != "image" and bool(_video_ending(path)))


def _video_ending(path: Path) -> str:
    """Return the extension of a video by its first bytes; empty if it is none."""
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return ".mkv" if b"matroska" in head else ".webm"
    # pictures and audio also have mp4 containers
    return ".mp4" if head[4:8] == b"ftyp" and head[8:12] not in _OTHER_BRANDS else ""


def picture(
    content: bytes,
    *,
    limit: int = IMAGE_LIMIT,
    width: int = WIDTH,
    formats: Sequence[str] = OUTPUT_FORMATS,
) -> str:
    """Return an upright sRGB picture as a ``data:`` URL of at most about `limit` bytes.

    Small pictures of types that browsers support are embedded unchanged.
    """
    from PIL import ImageOps

    magic = {b"\x89PNG": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
    kind = next((kind for head, kind in magic.items() if content.startswith(head)), None)
    kind = "image/webp" if content[8:12] == b"WEBP" else kind
    if kind and len(content) <= limit:
        return data_address(kind, content)
    with open_picture(io.BytesIO(content), formats) as opened:
        # a JPEG is decoded near this size; other formats ignore this
        opened.draft("RGB", (width, width))
        ImageOps.exif_transpose(opened, in_place=True)
        if opened.mode == "I;16":  # converting it to RGB would clip all but black
            opened = opened.point(lambda value: value / 257).convert("L")
        image = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    image.thumbnail((width, width * 4), reducing_gap=2.0)
    if image.mode == "RGB":
        image = to_srgb("RGB", image.info.get("icc_profile"))(image)
    return data_address("image/webp", _encode(image, limit))


def first_frame(path: Path) -> bytes | None:
    """Return the first frame of a video as a JPEG, or None if PyAV cannot decode it."""
    image: Any = _read_video(path, _first_image)
    if image is None:
        return None
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _first_image(container: Any) -> Any:
    frame = next(container.decode(video_stream(container)), None)
    return frame and frame.to_image().rotate(frame.rotation, expand=True)  # upright


def _read_video(path: Path, read: Callable[[Any], T]) -> T | None:
    """Return what `read` gets from an opened video, or None if PyAV cannot open it."""
    try:
        import av
    except ImportError:
        return None
    try:
        with open_media(path) as container:
            return read(container)
    except (av.FFmpegError, EngineError):
        return None


def _video(path: Path, name: str, poster: bytes | None, title: str, folder: Path, fit: Fit) -> str:
    size, host = path.stat().st_size, fit.host
    is_playable = host.codecs is None or (
        _read_video(path, lambda found: video_stream(found).codec_context.name)
        in (None, *host.codecs)
    )
    is_embedded = is_playable and size <= (host.embed if fit.embed is None else fit.embed)
    is_copied = fit.beside and (host.opens or host.beside) and not is_embedded
    is_named = guess_type(path.name).startswith("video/")
    ending = path.suffix.lower() if is_named else _video_ending(path)
    source = _copy_beside(path, name, folder, ending) if is_copied else ""
    frame, words = poster or first_frame(path), faint(_size_label(size))
    width = min(fit.width, 480)
    address = picture(frame, limit=fit.poster, width=width) if frame else ""
    words = f'<a href="{source}">{words}</a>' if source else words
    fallback = f"{_image(address, title, fit) if address else ''}<div>{words}</div>"
    if is_embedded:
        # browsers refuse the QuickTime type, not the streams
        kind = guess_type(f"x{ending}").replace("quicktime", "mp4")
        source = data_address(kind, path.read_bytes())
    elif not (is_copied and host.beside):
        return fallback
    # only `src` is resolved relative to the notebook; a relative poster would not be found
    shown = f' poster="{address}"' if address else ""
    # the inner content is shown if videos are removed
    return (
        f'<video src="{source}"{shown} title="{escape(title)}" controls preload="none" '
        f'style="{fit.style}">{fallback}</video>'
    )


def _copy_beside(path: Path, name: str, folder: Path, ending: str) -> str:
    """Copy a video beside the notebook and return its relative URL."""
    safe = re.sub(r"[^\w-]", "_", name)[:80]
    relative = f"outputs/{safe}{ending}"
    copy = folder / relative
    if not copy.exists() or copy.stat().st_size != path.stat().st_size:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return relative


def _encode(image: Any, limit: int) -> bytes:
    """Return a WebP of at most about `limit` bytes, by lower quality, then by fewer pixels."""
    width, quality = image.width, 82
    for _ in range(_ATTEMPTS):
        small = image.copy()
        small.thumbnail((width, width * 4))
        buffer = io.BytesIO()
        small.save(buffer, "WEBP", quality=quality, method=2)
        excess = buffer.tell() / limit
        if excess <= 1.0:
            break
        if quality > _MIN_QUALITY and excess < 1.9:
            quality = _MIN_QUALITY
        else:
            # size is proportional to the area; slightly less, so that the next attempt is the last
            width = max(32, int(width * 0.94 / excess**0.5))
    return buffer.getvalue()


def data_address(kind: str, content: bytes) -> str:
    """Return content as a ``data:`` URL."""
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
