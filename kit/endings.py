"""File extensions and their content types, some of which systems do not know."""

from __future__ import annotations

import mimetypes
from pathlib import PurePath

#: Extensions of each type, the usual one first.
EXTENSIONS: dict[str, tuple[str, ...]] = {
    "image/png": (".png",),
    "image/gif": (".gif",),
    "image/jpeg": (".jpg", ".jpeg"),
    "image/webp": (".webp",),
    "image/avif": (".avif",),
    "image/heic": (".heic", ".heif"),
    "image/qoi": (".qoi",),
    "image/x-tga": (".tga",),
    "video/mp4": (".mp4", ".m4v"),
    "video/quicktime": (".mov", ".qt"),
    "video/webm": (".webm",),
    "video/x-matroska": (".mkv",),
    "audio/wav": (".wav",),
    "audio/mpeg": (".mp3",),
    "audio/mp4": (".m4a",),
    "audio/aac": (".aac",),
    "audio/flac": (".flac",),
    "audio/ogg": (".ogg", ".oga", ".opus"),
}
#: Types of videos that are accepted where a sound is wanted.
SOUND_CONTAINERS = ("video/mp4", "video/quicktime", "video/3gpp")


def guess_type(name: str) -> str:
    """Return the content type for a file name; empty if unknown."""
    ending = PurePath(name).suffix.lower()
    known = (kind for kind, endings in EXTENSIONS.items() if ending in endings)
    return next(known, None) or mimetypes.guess_type(name)[0] or ""
