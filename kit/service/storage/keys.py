"""The keys of stored files, for the code that writes them and the code that serves them."""

from __future__ import annotations

from typing import Any

from kit.endings import EXTENSIONS, guess_type

OUTPUTS, UPLOADS = "outputs/", "uploads/"
#: Suffix of a stored file by content type; existing keys contain them.
SUFFIXES = {content_type: endings[0] for content_type, endings in EXTENSIONS.items()}


def output_key(generation_id: str, name: str, suffix: str) -> str:
    """Return the key of an output; it differs if a new attempt renders other bytes.

    A folder contains the generations of about nine hours (the first half of the id's time), so that
    storing a file seldom creates, and flushes, a folder.
    """
    period = generation_id.rpartition("_")[2][:5]
    return f"{OUTPUTS}{period}/{generation_id}-{name[:32]}{suffix}"


def upload_key(row: Any) -> str:
    """Return the key of a received upload."""
    return f"{UPLOADS}{row.id}/{row.sha256}{SUFFIXES[row.content_type]}"


def owner(key: str) -> str:
    """Return the id of the generation or the upload that a file belongs to."""
    folder, _, rest = key.partition("/")
    return rest.partition("/")[0 if folder == "uploads" else 2].partition("-")[0]


def content_type(key: str) -> str:
    """Return the content type with which a file is served."""
    return guess_type(key) or "application/octet-stream"
