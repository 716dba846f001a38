"""The keys of stored files, for the code that writes them and the code that serves them."""

from __future__ import annotations

from typing import Any

from kit.endings import ENDINGS, guess_type

OUTPUTS, UPLOADS = "outputs/", "uploads/"
#: Suffix of a stored file by its content type: keys that were given out hold these.
SUFFIXES = {content_type: endings[0] for content_type, endings in ENDINGS.items()}


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
    return guess_type(key) or "application/octet-stream"
