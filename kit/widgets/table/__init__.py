"""The table of the history, with its filters, order and selection.

All changes take the lock, because widgets call back on any thread.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from kit.errors import KitError
from kit.pictures import open_picture
from kit.widgets.background import BackgroundRunner, Subscribe, guard
from kit.widgets.markup import count_of
from kit.widgets.table import drawing, rows
from kit.widgets.table.drawing import THUMBNAIL
from kit.widgets.table.rows import TableView
from kit.wire import FINISHED

if TYPE_CHECKING:
    import pandas as pd

    from kit.widgets.table.controls import TableControls
    from kit.widgets.table.rows import Search

#: Number of files fetched at the same time, and of thumbnails shown at a time.
_MAX_FETCHES = 5
#: Maximum of cached thumbnails, of about 2 kB each.
_MAX_CACHED = 2_000

#: A thumbnail; or a sentence that says why there is none; or empty.
ThumbnailContent = bytes | str
Fetch = Callable[[str], ThumbnailContent | None]


class Thumbnails:
    """A cache of thumbnails by id."""

    def __init__(self, fetch: Fetch, find_cached: Fetch) -> None:
        self._fetch = fetch
        self._find_cached = find_cached
        self._contents: dict[str, ThumbnailContent] = {}
        self._lock = threading.Lock()
        self._page_number = 0

    def cached(self, names: Sequence[str]) -> Mapping[str, ThumbnailContent]:
        """Return the thumbnails of a page available without waiting; empty means no picture."""
        for name in names:
            if name not in self._contents and (content := _try_fetch(self._find_cached, name)):
                self._keep(name, content)
        return {name: self._contents[name] for name in names if name in self._contents}

    def begin_page(self) -> int:
        """Begin another page and return its number; the last one's fetches are dropped."""
        with self._lock:
            self._page_number += 1
            return self._page_number

    def is_latest(self, number: int) -> bool:
        """Return whether no other page has begun since."""
        return number == self._page_number

    def fetch_missing(self, names: Sequence[str], number: int) -> Iterator[None]:
        """Fetch missing thumbnails, and yield after every few as long as the page is the latest."""
        missing = [name for name in names if name not in self._contents]
        if not missing:
            return
        with ThreadPoolExecutor(_MAX_FETCHES, thread_name_prefix="kit-thumbnails") as pool:
            for start in range(0, len(missing), _MAX_FETCHES):
                if not self.is_latest(number):
                    return
                list(pool.map(self._get, missing[start : start + _MAX_FETCHES]))
                yield

    def forget_missing(self) -> None:
        """Forget which thumbnails do not exist, because they may be there by now."""
        with self._lock:
            self._contents = {name: content for name, content in self._contents.items() if content}

    def _get(self, name: str) -> None:
        self._keep(name, _try_fetch(self._fetch, name) or b"")

    def _keep(self, name: str, content: ThumbnailContent) -> None:
        with self._lock:
            self._contents[name] = content
            while len(self._contents) > _MAX_CACHED:
                del self._contents[next(iter(self._contents))]


def _try_fetch(fetch: Fetch, name: str) -> ThumbnailContent:
    """Return a thumbnail; empty if there is none, as a table is useful without."""
    try:
        content = fetch(name)
        return content if isinstance(content, str) else make_thumbnail(content) if content else b""
    except Exception:  # noqa: BLE001 - a picture may be damaged in any way, or far too large
        return b""


def make_thumbnail(content: bytes) -> bytes:
    """Return a picture cropped and scaled to a thumbnail, as WebP for high-resolution screens."""
    from PIL import ImageOps

    size = (THUMBNAIL[0] * 3 // 2, THUMBNAIL[1] * 3 // 2)
    with open_picture(io.BytesIO(content)) as opened:
        opened.draft("RGB", size)
        image = ImageOps.fit(opened.convert("RGB"), size)
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=70)
    return buffer.getvalue()


#: Columns sorted in descending order first: the newest, the most expensive, the slowest.
_DESCENDING_FIRST = frozenset({"created_at", "credits", "net", "seconds"})
#: The view without filters.
_NO_FILTERS = TableView()


class HistoryTable:
    """A widget that shows a dataframe of generations in pages, to filter, sort and select.

    `search`: takes a frame and a search text, and returns the positions of rows, best match first;
    ``like:ID`` searches for similar pictures.
    `thumbnail`, `find_cached`: return the thumbnail of an id, the second without waiting.
    `card`: returns the widget that shows a generation by id; it may block.
    `get`: returns a generation by id, for `selected`.
    `renew`: returns the updated frame; it may block.
    `wait_seconds`: maximum seconds to wait for thumbnails before showing a page.

    Examples
    --------
    ``table = studio.history.table(); table`` in a cell, and ``table.selected`` in the next.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        *,
        search: Search,
        thumbnail: Fetch = lambda _: None,
        find_cached: Fetch = lambda _: None,
        card: Callable[[str], Any] | None = None,
        get: Callable[[str], Any] | None = None,
        renew: Callable[[], pd.DataFrame] | None = None,
        subscribe: Subscribe = lambda _: None,
        size: int = 20,
        wait_seconds: float = 1.0,
        background: BackgroundRunner | None = None,
    ) -> None:
        self._frame = frame
        self._search = search
        self._get = get
        self._renew = renew
        self._card = card
        self._size = max(1, size)
        self._wait_seconds = wait_seconds
        self._background = background or BackgroundRunner()
        self._subscribe = subscribe
        self._thumbnails = Thumbnails(thumbnail, find_cached)
        self._lock = threading.RLock()
        self._controls: TableControls | None = None
        self._pictures_ready = threading.Event()
        self._view = _NO_FILTERS
        self._page = 0
        self._selected: dict[str, None] = {}
        self._positions = rows.positions(frame, self._view, search)

    def __repr__(self) -> str:
        return f"<HistoryTable of {count_of(len(self._frame), 'generation')}>"

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def frame(self) -> pd.DataFrame:
        """All rows that match the filters, in the displayed order, as a dataframe."""
        return self._frame.iloc[self._positions]

    @property
    def ids(self) -> list[str]:
        """The ids of the selected rows on all pages, in the order of selection."""
        with self._lock:
            return list(self._selected)

    @property
    def selected(self) -> list[Any]:
        """The selected generations; their ids if there is no `get`."""
        return [self._get(name) for name in self.ids] if self._get else self.ids

    @property
    def view(self) -> TableView:
        """The filters and the order; setting it shows the first page."""
        return self._view

    @view.setter
    def view(self, view: TableView) -> None:
        with self._lock:
            self._positions = rows.positions(self._frame, view, self._search)
            self._view, self._page = view, 0
            self._draw()

    @property
    def page(self) -> int:
        """Number of the page, from 1; set it to turn to that page, or to the nearest one."""
        return self._page + 1

    @page.setter
    def page(self, number: int) -> None:
        with self._lock:
            self._page = min(max(number, 1), self.pages) - 1
            self._draw()

    @property
    def pages(self) -> int:
        """Number of pages; an empty table has one."""
        return max(1, -(-len(self._positions) // self._size))

    def select(self, ids: Iterable[str]) -> None:
        """Select exactly these rows."""
        with self._lock:
            self._selected = dict.fromkeys(ids)
            self._draw()
            self._show_last()

    @property
    def controls(self) -> TableControls:
        """The table as an ipywidgets widget, for a box of the user; created when first used."""
        from kit.widgets.table.controls import TableControls

        with self._lock:
            if self._controls is None:
                background = self._background
                actions: dict[str, Callable[..., None]] = {
                    "filter_by": self._filter_by,
                    "sort": self._sort,
                    "choose": self._choose,
                    "go_to_page": lambda number: setattr(self, "page", number),
                    "step": lambda pages: setattr(self, "page", self.page + pages),
                    "clear": lambda: self.select(()),
                    "show_similar": lambda: background.begin(self._show_similar),
                    "renew": lambda: background.begin(partial(self._reload_frame, asked=True)),
                }
                self._controls = TableControls(
                    self._frame, self._size, actions, self.html, self._lock, background
                )
                if self._renew is not None:
                    self._controls.follow(self._subscribe, self._reload_frame)
                    self._controls.renew.layout.display = None
                self._draw(say=False)
            return self._controls

    def _ipython_display_(self) -> None:
        screen = self.controls
        self._pictures_ready.wait(self._wait_seconds)
        screen.show(lambda: {**screen._repr_mimebundle_(), "text/plain": repr(self)}, self)

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """Return the page as plain HTML, for a notebook without its kernel."""
        with self._lock:
            page = self._rows()
            return drawing.static_page(page, self._thumbnails.cached(_names(page)), self._words())

    # ── what the user does ───────────────────────────────────────────────────────────────────────

    def _reload_frame(self, *, asked: bool = False) -> None:
        """Update the frame and keep the position; may block. If `asked`, try thumbnails again."""
        if self._renew is None or self._controls is None:
            return
        if asked:
            self._thumbnails.forget_missing()
        try:
            frame, problem = self._renew(), ""
        except (KitError, OSError) as error:
            frame, problem = None, str(error)
        with self._lock:
            if frame is not None:
                self._frame = frame
                self._positions = rows.positions(frame, self._view, self._search)
                self._selected = {name: None for name in self._selected if name in frame.index}
                self._page = min(self._page, self.pages - 1)
            if self._controls is not None:
                self._controls.show_choices(self._frame)
                self._draw(say=asked)
                self._controls.show_problem(problem)

    def _filter_by(self, name: str, wanted: Any) -> None:
        self.view = replace(self._view, **{name: wanted or getattr(_NO_FILTERS, name)})

    def _show_similar(self) -> None:
        """Show pictures similar to the last selected one; runs in the background."""
        text = f"like:{self.ids[-1]}"

        def show() -> None:
            self._search(self._frame, text)  # so that the result is cached for the view below
            self.view = TableView(text=text)

        guard(show, self.controls.show_problem)()

    def _sort(self, source: str) -> None:
        """Sort by a column; a second call reverses the order, a third one removes it."""
        first = source in _DESCENDING_FIRST
        if self._view.sort != source:
            self.view = replace(self._view, sort=source, descending=first)
        elif self._view.descending == first:
            self.view = replace(self._view, descending=not first)
        else:
            self.view = replace(self._view, sort="", descending=False)

    def _choose(self, number: int, chosen: bool) -> None:
        name = _names(self._rows())[number]
        if chosen:
            self._selected[name] = None
        else:
            self._selected.pop(name, None)
        self._update_words()
        self._show_last()

    # ── what is shown ────────────────────────────────────────────────────────────────────────────

    def _rows(self) -> pd.DataFrame:
        start = self._page * self._size
        return self._frame.iloc[self._positions[start : start + self._size]]

    def _draw(self, *, say: bool = True) -> None:
        if self._controls is None:
            return
        self._pictures_ready.clear()
        number, page = self._thumbnails.begin_page(), self._rows()
        images = self._thumbnails.cached(_names(page))
        self._controls.show_view(self._view, self.page, self.pages)
        self._controls.show_page(page, drawing.live_page(page, images, self._view), self._selected)
        self._update_words(say=say)
        self._background.begin(partial(self._fill_pictures, page, number))

    def _update_words(self, *, say: bool = True) -> None:
        if self._controls:
            self._controls.show_words(self._words(), self._view, self._selected, say=say)

    def _words(self) -> str:
        count, first = len(self._positions), self._page * self._size
        last = min(first + self._size, count)
        shown = f"{first + 1:,}–{last:,} of {count:,}" if count else "0"
        total = f" (of {len(self._frame):,})" if count < len(self._frame) else ""
        chosen = f" · {len(self._selected):,} chosen" if self._selected else ""
        return f"{shown}{total}{chosen}"

    def _fill_pictures(self, page: pd.DataFrame, number: int) -> None:
        """Add thumbnails as they arrive; runs in the background."""
        names = _names(page)
        # thumbnails of unfinished ones are fetched when they have changed
        ready = page[page["status"].isin(FINISHED)] if "status" in page else page
        for _ in self._thumbnails.fetch_missing(_names(ready), number):
            with self._lock:
                if self._controls and self._thumbnails.is_latest(number):
                    html = drawing.live_page(page, self._thumbnails.cached(names), self._view)
                    self._controls.page.value = html
        if self._thumbnails.is_latest(number):
            self._pictures_ready.set()
            if self._controls:
                self._controls.snapshot.follow()  # with late thumbnails

    def _show_last(self) -> None:
        """Show the last selected generation below the table, as soon as it is loaded."""
        if self._controls is None or self._card is None:
            return
        last = next(reversed(self._selected), None)
        self._controls.card.fill(None if last is None else partial(self._card, last))


def _names(page: pd.DataFrame) -> list[str]:
    return [str(name) for name in page.index]
