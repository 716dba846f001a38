"""Showing: how the media of a generation come into a notebook.

Files are fetched by blocking, whichever face a generation has: what shows itself cannot be awaited.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kit import wire
from kit.client import downloads
from kit.client.actions import Flow

if TYPE_CHECKING:
    from kit.studio.generation import BaseGeneration
    from kit.widgets.media import Fit

#: The file and its thumbnail, as far as they were asked for and are there.
Fetched: TypeAlias = tuple[Path | None, bytes | None]


def render_media(generation: BaseGeneration, fit: Fit | None = None) -> tuple[str, str]:
    """Return the media of a generation as HTML, and the sentence why there are none."""
    from kit.widgets import media
    from kit.widgets.exhibit import unseen

    if generation.status != "completed":
        return "", ""
    title = generation.prompt or ""
    try:
        path, small = fetch_files(generation, whole=True)
        if path is None:
            return "", "no preview"
        fit = fit or media.PREVIEW
        return media.html(path, name=generation.id, poster=small, title=title, fit=fit), ""
    except Exception as problem:  # noqa: BLE001 - a broken file may fail in any way
        return "", unseen(problem)


def fetch_files(generation: BaseGeneration, *, whole: bool) -> Fetched:
    """Return file and thumbnail; of a picture only the thumbnail where that is enough."""
    return generation.client.block(_media(generation, whole))


def _media(generation: BaseGeneration, whole: bool) -> Flow[Fetched]:
    cache, facts = generation.operations.cache, generation.facts
    video = facts.asset_type == "video"
    small = (yield from downloads.poster(cache, facts)) if video or not whole else None
    if small and not video:
        return None, small
    return (yield from downloads.output(cache, facts)), small


def fetch_thumbnail(generation: BaseGeneration) -> bytes | None:
    """Return the picture that stands for a generation; of a picture without one, itself."""
    if generation.status != "completed":
        return None
    cache, facts = generation.operations.cache, generation.facts
    small = generation.client.block(downloads.poster(cache, facts))
    gone = bool(facts.deletion) and not cache.path(facts).exists()
    if small is None and facts.asset_type == "image" and not gone:
        return generation.client.block(downloads.output(cache, facts)).read_bytes()
    return small


def cached_thumbnail(cache: downloads.Cache, generation_id: str) -> bytes | None:
    """Return a thumbnail that was fetched before, without asking anybody."""
    path = cache.path(wire.Generation(id=generation_id), poster=True)
    return path.read_bytes() if path.exists() else None
