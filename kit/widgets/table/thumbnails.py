"""Thumbnails of the page that is shown: fetched in the background, kept for when it comes back.

Only the latest page is worth fetching: turning pages quickly calls the earlier ones off.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from kit.pictures import open_picture
from kit.widgets.table.drawing import THUMBNAIL

#: Files that are fetched at the same time, which is also how many are shown at a time.
_AT_ONCE = 5
#: Thumbnails that are kept, of about 2 kB each.
_KEPT = 2_000

#: A small picture; or a sentence that says why there is none; or nothing.
Small = bytes | str
Fetch = Callable[[str], Small | None]


class Thumbnails:
    """Small pictures by id.

    Parameters
    ----------
    fetch : callable
        Returns the picture of an id, a sentence that is shown in its place, or None; it may block.
    near : callable
        The same, as far as it takes no waiting.
    """

    def __init__(self, fetch: Fetch, near: Fetch) -> None:
        self._fetch = fetch
        self._near = near
        self._known: dict[str, Small] = {}
        self._lock = threading.Lock()
        self._turn = 0

    def known(self, names: Sequence[str]) -> Mapping[str, Small]:
        """Return what is there of a page without waiting; an empty one has no picture."""
        for name in names:
            if name not in self._known:
                content = _attempt(self._near, name)
                if content:
                    self._keep(name, content)
        return {name: self._known[name] for name in names if name in self._known}

    def turn(self) -> int:
        """Begin another page and return its number; what the one before still wants is left."""
        with self._lock:
            self._turn += 1
            return self._turn

    def latest(self, turn: int) -> bool:
        """Return whether no other page has begun."""
        return turn == self._turn

    def fetched(self, names: Sequence[str], turn: int) -> Iterator[None]:
        """Fetch what is missing, and yield after every few while the page is the latest."""
        missing = [name for name in names if name not in self._known]
        if not missing:
            return
        with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="kit-thumbnails") as pool:
            for start in range(0, len(missing), _AT_ONCE):
                if not self.latest(turn):
                    return
                list(pool.map(self._get, missing[start : start + _AT_ONCE]))
                yield

    def _get(self, name: str) -> None:
        self._keep(name, _attempt(self._fetch, name) or b"")

    def _keep(self, name: str, content: Small) -> None:
        with self._lock:
            self._known[name] = content
            while len(self._known) > _KEPT:
                del self._known[next(iter(self._known))]


def _attempt(fetch: Fetch, name: str) -> Small:
    """Return a small picture; nothing where there is none, for a table is of use without."""
    try:
        content = fetch(name)
        return content if isinstance(content, str) else small(content) if content else b""
    except Exception:  # noqa: BLE001 - a picture may be broken in any way, or far too large
        return b""


def small(content: bytes) -> bytes:
    """Return a picture cut and scaled to a thumbnail, as WebP for screens of twice the pixels."""
    from PIL import ImageOps

    size = (THUMBNAIL[0] * 3 // 2, THUMBNAIL[1] * 3 // 2)
    with open_picture(io.BytesIO(content)) as opened:
        opened.draft("RGB", size)
        image = ImageOps.fit(opened.convert("RGB"), size)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=70)
    return buffer.getvalue()
