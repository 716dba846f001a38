"""Media in a notebook: bounded pictures inside the document, videos as files beside it.

What is shown survives saving, reopening and an untrusted notebook: no script, no widget, no
absolute path, no signed address.
"""

from __future__ import annotations

import base64
import io
import re
import shutil
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from kit.containers import open_media, shown_stream
from kit.errors import EngineError
from kit.pictures import open_picture

#: Bytes of a picture that are put into a notebook as they are; a bigger one gets a preview.
IMAGE_LIMIT = 100_000
POSTER_LIMIT = 20_000
#: Pixels across of a preview and of a shown video.
WIDTH = 640

#: Attempts at a preview of the asked size, and the lowest quality of WebP without visible blocks.
_ATTEMPTS = 6
_LOWEST = 55

_VIDEOS = {
    ".mp4": "video/mp4",
    ".webm": "video/webm",
    ".mov": "video/mp4",  # browsers refuse the name QuickTime, not the streams
    ".m4v": "video/mp4",
    ".mkv": "video/x-matroska",
}
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".gif", ".avif", ".heic", ".svg"})
#: Brands of the container of mp4 that are pictures or sound.
_NO_VIDEO = frozenset(
    (b"avif", b"avis", b"heic", b"heix", b"hevc", b"hevx", b"mif1", b"msf1", b"M4A ")
)
_STYLE = "max-width:min(100%,640px);height:auto;border-radius:4px"


@dataclass(frozen=True, slots=True)
class Fit:
    """How media are fitted into a document.

    Parameters
    ----------
    limit : int
        Bytes of a picture inside the document; one that is small enough is taken as it is.
    poster : int
        Bytes of the picture that stands for a video.
    width : int
        Pixels across of a preview.
    aspect : float or None
        Width by height that pictures are cut to around their center; None leaves them whole.
    embed : int
        Bytes up to which a video is put inside the document; a bigger one is a file beside it.
    style : str
        CSS of the element.
    """

    limit: int = IMAGE_LIMIT
    poster: int = POSTER_LIMIT
    width: int = WIDTH
    aspect: float | None = None
    embed: int = 0
    style: str = _STYLE


PREVIEW = Fit()


def html(
    path: Path,
    *,
    name: str,
    poster: bytes | None = None,
    title: str = "",
    folder: Path | None = None,
    fit: Fit = PREVIEW,
) -> str:
    """Return the element that shows a media file.

    Parameters
    ----------
    name : str
        What a video's copy is called, without an extension.
    poster : bytes or None
        A picture that stands for a video; taken out of it where none is given.
    folder : Path, optional
        Where the notebook is; a video is copied to ``outputs/`` in it. Default: here.
    """
    if is_video(path):
        return _video(path, name, poster, title, folder or Path(), fit)
    return still(path.read_bytes(), title=title, fit=fit)


def still(content: bytes, *, title: str = "", fit: Fit = PREVIEW) -> str:
    """Return the element that shows a picture."""
    address = picture(content, limit=fit.limit, width=fit.width, aspect=fit.aspect)
    return f'<img src="{address}" alt="{escape(title)}" style="{fit.style}">'


def is_video(path: Path) -> bool:
    """Return whether a file is a video, by its name or, where that says nothing, its content."""
    suffix = path.suffix.lower()
    return suffix in _VIDEOS or (suffix not in _PICTURES and bool(_video_ending(path)))


def _video_ending(path: Path) -> str:
    """Return how the name of a video ends, as its first bytes tell; empty where it is none."""
    with path.open("rb") as file:
        head = file.read(64)
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return ".mkv" if b"matroska" in head else ".webm"
    # pictures and sound come in the container of mp4 as well
    return ".mp4" if head[4:8] == b"ftyp" and head[8:12] not in _NO_VIDEO else ""


def picture(
    content: bytes,
    *,
    limit: int = IMAGE_LIMIT,
    width: int = WIDTH,
    aspect: float | None = None,
) -> str:
    """Return a picture as a ``data:`` address of at most about `limit` bytes.

    A picture that is small enough and of a type that browsers show is taken as it is, unless it
    must be cut to an `aspect`.
    """
    kind = _kind(content)
    if kind and len(content) <= limit and aspect is None:
        return _data(kind, content)
    return _data("image/webp", _smaller(content, limit, width, aspect))


def first_frame(path: Path) -> bytes | None:
    """Return the first frame of a video as a JPEG, or None where PyAV cannot."""
    try:
        import av
    except ImportError:
        return None
    try:
        with open_media(path) as container:
            frame = next(container.decode(shown_stream(container)), None)
            image: Any = None if frame is None else frame.to_image()
    except (av.FFmpegError, EngineError):
        return None
    if image is None:
        return None
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _video(path: Path, name: str, poster: bytes | None, title: str, folder: Path, fit: Fit) -> str:
    small = path.stat().st_size <= fit.embed
    ending = path.suffix.lower() if path.suffix.lower() in _VIDEOS else _video_ending(path)
    source = (
        _data(_VIDEOS[ending], path.read_bytes()) if small else _beside(path, name, folder, ending)
    )
    frame = poster or first_frame(path)
    # only `src` is resolved beside the notebook; a relative poster would not be found
    shown = ""
    if frame:
        across = min(fit.width, 480)
        shown = f' poster="{picture(frame, limit=fit.poster, width=across, aspect=fit.aspect)}"'
    return (
        f'<video src="{source}"{shown} title="{escape(title)}" controls preload="none" '
        f'style="{fit.style}"></video>'
    )


def _beside(path: Path, name: str, folder: Path, ending: str) -> str:
    """Copy a video to beside the notebook and return its relative address."""
    safe = re.sub(r"[^\w-]", "_", name)[:80]
    relative = f"outputs/{safe}{ending}"
    copy = folder / relative
    if not copy.exists() or copy.stat().st_size != path.stat().st_size:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return relative


def _smaller(content: bytes, limit: int, width: int, aspect: float | None) -> bytes:
    with open_picture(io.BytesIO(content)) as opened:
        # a JPEG is decoded at the size it is needed in; other formats ignore this
        opened.draft("RGB", (width, width))
        image = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    if aspect is not None:
        image = image.crop(_center(image.width, image.height, aspect))
    image.thumbnail((width, width * 4), reducing_gap=2.0)
    return _encoded(image, limit)


def _encoded(image: Any, limit: int) -> bytes:
    """Return a WebP of at most about `limit` bytes: of lower quality, then of fewer pixels."""
    across, quality = image.width, 82
    for _ in range(_ATTEMPTS):
        small = image.copy()
        small.thumbnail((across, across * 4))
        buffer = io.BytesIO()
        small.save(buffer, "WEBP", quality=quality, method=2)
        excess = buffer.tell() / limit
        if excess <= 1.0:
            break
        if quality > _LOWEST and excess < 1.9:
            quality = _LOWEST
        else:
            # bytes go with the area; a little less, so that the next attempt is the last
            across = max(32, int(across * 0.94 / excess**0.5))
    return buffer.getvalue()


def _center(width: int, height: int, aspect: float) -> tuple[int, int, int, int]:
    """Return the largest box of an aspect in the middle of a picture."""
    across = min(width, max(1, round(height * aspect)))
    down = min(height, max(1, round(width / aspect)))
    left, top = (width - across) // 2, (height - down) // 2
    return left, top, left + across, top + down


def _kind(content: bytes) -> str | None:
    magic = {
        b"\x89PNG": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF8": "image/gif",
    }
    if content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for head, kind in magic.items() if content.startswith(head)), None)


def _data(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"
