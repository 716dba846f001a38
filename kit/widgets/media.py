"""Media in a notebook: bounded pictures inside the document, videos as files beside it.

What is shown survives saving, reopening and an untrusted notebook: no script, no widget, no
absolute path, no signed address.
"""

from __future__ import annotations

import base64
import io
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

#: Bytes of a picture that are put into a notebook as they are; a bigger one gets a preview.
IMAGE_LIMIT = 100_000
POSTER_LIMIT = 20_000
#: Pixels across of a preview and of a shown video.
WIDTH = 640

_VIDEOS = frozenset({".mp4", ".webm", ".mov", ".m4v", ".mkv"})
_STYLE = "max-width:min(100%,640px);height:auto;border-radius:4px"


def html(
    path: Path,
    *,
    name: str,
    poster: bytes | None = None,
    title: str = "",
    folder: Path | None = None,
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
    if path.suffix.lower() in _VIDEOS:
        return _video(path, name, poster, title, folder or Path())
    return f'<img src="{picture(path.read_bytes())}" alt="{escape(title)}" style="{_STYLE}">'


def picture(content: bytes, *, limit: int = IMAGE_LIMIT, width: int = WIDTH) -> str:
    """Return a picture as a ``data:`` address of at most about `limit` bytes.

    A picture that is small enough and of a type that browsers show is taken as it is.
    """
    kind = _kind(content)
    if kind and len(content) <= limit:
        return _data(kind, content)
    return _data("image/webp", _smaller(content, limit, width))


def first_frame(path: Path) -> bytes | None:
    """Return the first frame of a video as a JPEG, or None where PyAV cannot."""
    try:
        import av
    except ImportError:
        return None
    try:
        with av.open(str(path)) as container:
            frame = next(container.decode(video=0), None)
            image: Any = None if frame is None else frame.to_image()
    except (av.FFmpegError, IndexError):
        return None
    if image is None:
        return None
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()


def _video(path: Path, name: str, poster: bytes | None, title: str, folder: Path) -> str:
    safe = re.sub(r"[^\w-]", "_", name)[:80]
    relative = f"outputs/{safe}{path.suffix.lower()}"
    copy = folder / relative
    if not copy.exists() or copy.stat().st_size != path.stat().st_size:
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    still = poster or first_frame(path)
    # only `src` is resolved beside the notebook; a relative poster would not be found
    shown = f' poster="{picture(still, limit=POSTER_LIMIT, width=480)}"' if still else ""
    return (
        f'<video src="{relative}"{shown} title="{escape(title)}" controls preload="none" '
        f'style="{_STYLE}"></video>'
    )


def _smaller(content: bytes, limit: int, width: int) -> bytes:
    from PIL import Image

    with Image.open(io.BytesIO(content)) as opened:
        image = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    encoded = b""
    for across in (width, width * 3 // 4, width // 2, width // 4):
        small = image.copy()
        small.thumbnail((across, across * 4))
        for quality in (85, 65, 45):
            buffer = io.BytesIO()
            small.save(buffer, "WEBP", quality=quality)
            encoded = buffer.getvalue()
            if len(encoded) <= limit:
                return encoded
    return encoded


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
