"""The keys of stored files, for the code that writes them and the code that serves them."""

from __future__ import annotations

from typing import Any

OUTPUTS, UPLOADS = "outputs/", "uploads/"
#: Suffix of a stored upload by its content type.
SUFFIXES = {
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "image/heic": ".heic",
    "video/mp4": ".mp4",
    "video/webm": ".webm",
    "video/quicktime": ".mov",
    "audio/mpeg": ".mp3",
    "audio/wav": ".wav",
    "audio/mp4": ".m4a",
    "audio/aac": ".aac",
    "audio/ogg": ".ogg",
    "audio/flac": ".flac",
}
_TYPES = {suffix: content_type for content_type, suffix in SUFFIXES.items()}


def output_key(generation_id: str, name: str, suffix: str) -> str:
    """Return the key of an output; a new attempt that renders other bytes has another one.

    One folder holds what was started within about nine hours (the first half of the id's time), so
    that keeping a file seldom means making, and flushing, a folder.
    """
    stretch = generation_id.rpartition("_")[2][:5]
    return f"{OUTPUTS}{stretch}/{generation_id}-{name[:32]}{suffix}"


def upload_key(row: Any) -> str:
    """Return the key of an upload that is here."""
    return f"{UPLOADS}{row.id}/{row.sha256}{SUFFIXES[row.content_type]}"


def owner(key: str) -> str:
    """Return the id of the generation or the upload that a file belongs to."""
    folder, _, rest = key.partition("/")
    return rest.partition("/")[0 if folder == "uploads" else 2].partition("-")[0]


def content_type(key: str) -> str:
    """Return the type that a file is served as."""
    return _TYPES.get(f".{key.rpartition('.')[2]}", "application/octet-stream")
