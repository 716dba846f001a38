"""The gallery: generations as a grid of pictures and videos with captions and costs.

It is static HTML without classes or style sheets, so it also works in an untrusted notebook. Each
tile has a ``<details>``: opening it widens the tile and its picture, so one picture serves both
sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

from kit import wire
from kit.errors import KitError
from kit.widgets import markup, media, preview
from kit.widgets.hosts import find_host
from kit.widgets.markup import FAINT

#: Files that are downloaded at the same time.
_MAX_FETCHES = 6

#: The file and its thumbnail, if requested and available.
Fetched: TypeAlias = tuple[Path | None, bytes | None]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GalleryItem:
    """One generation in a gallery.

    `charged`: the credits charged, if known.
    `fetch`: returns the file and the thumbnail; with False it may leave out the file of a picture
    that has a thumbnail.
    `card`: returns the widget of the opened generation; it may block.
    """

    facts: wire.Generation
    charged: Decimal | None
    fetch: Callable[[bool], Fetched]
    card: Callable[[], Any] | None = None

    @property
    def cost(self) -> Decimal | None:
        """The charge minus the refund; None if unknown."""
        if self.charged is None:
            return None
        return self.charged - (self.facts.credits_refunded or Decimal(0))

    def html(self, fit: media.Fit, *, whole: bool = False, folder: Path | None = None) -> str:
        """Return its HTML element, or a sentence that says why there is none."""
        if self.facts.state != "completed":
            return _placeholder(self.facts.error or self.facts.state)
        shown, why = draw_media(self.facts, self.fetch, fit, whole=whole, folder=folder)
        return shown or _placeholder(why)

    def settings(self) -> Mapping[str, Any]:
        """Return its parameters by name."""
        return self.facts.parameters or {}


def show_items(view: Any, items: Iterable[GalleryItem]) -> None:
    """Display a view of items in a notebook with buttons that open them.

    Raises `NotImplementedError` if no item has a card; IPython then displays only the view.
    """
    from kit.widgets import result

    cards = {number: item.card for number, item in enumerate(items) if item.card is not None}
    if not cards:
        raise NotImplementedError
    result.show_openable(view.html(), repr(view), lambda number: cards[number]())


def mark(item: GalleryItem, number: int) -> str:
    """Return the placeholder of the button that opens an item; see `kit.widgets.result`."""
    return f'<span data-kit-result="{number}"></span>' if item.card else ""


def draw_items(
    items: Sequence[GalleryItem], fit: media.Fit, *, whole: bool = False, folder: Path | None = None
) -> list[str]:
    """Return the HTML element of each item; files are fetched and encoded in parallel."""
    draw = partial(GalleryItem.html, fit=fit, whole=whole, folder=folder)
    if len(items) < 2:
        return [draw(item) for item in items]
    with ThreadPoolExecutor(_MAX_FETCHES, thread_name_prefix="kit-gallery") as pool:
        return list(pool.map(draw, items))


def draw_media(
    facts: wire.Generation,
    fetch: Callable[[bool], Fetched],
    fit: media.Fit,
    *,
    whole: bool,
    folder: Path | None = None,
) -> tuple[str, str]:
    """Return the HTML element of the output, and a sentence that says why if there is none."""
    title = facts.prompt or facts.model_id or ""
    try:
        path, picture = fetch(whole)
        if path is not None:
            options: Any = {"name": facts.id, "poster": picture, "title": title}
            return media.html(path, **options, folder=folder, fit=fit), ""
        return (media.still(picture, title=title, fit=fit), "") if picture else ("", "no preview")
    except KitError as problem:
        return "", str(problem)
    except Exception as problem:  # noqa: BLE001 - a broken file may fail in any way
        # compared by name, so that Pillow need not be loaded
        too_large = type(problem).__name__ == "DecompressionBombError"
        too_large = too_large or isinstance(problem, MemoryError)
        return "", "no preview (too large)" if too_large else "no preview"


def _placeholder(sentence: str) -> str:
    return (
        f'<div style="{_FILL_STYLE};{FAINT};border:1px dashed var(--jp-border-color2,#9996);'
        f'padding:24px 8px;box-sizing:border-box;text-align:center">{escape(sentence)}</div>'
    )


#: Maximum bytes of all pictures together; base64 adds a third.
MAX_TOTAL_BYTES = 900_000
#: Maximum bytes of one picture, and the minimum to recognize it.
MAX_BYTES, MIN_BYTES = 60_000, 4_000
#: Maximum of tiles; the table of the history shows more.
MAX_TILES = 120
#: Maximum bytes of a video embedded in a notebook.
MAX_EMBEDDED_BYTES = 1_500_000
#: Width of an opened tile in pixels.
_OPENED_WIDTH = 640

#: Zero width, but at least that of the tile, so that the picture does not widen its tile.
_FILL_STYLE = "display:block;width:0;min-width:100%;height:auto;border-radius:4px"
_LIST = "list-style:none;margin:0;padding:0"
_TILE = (
    "display:inline-block;vertical-align:top;max-width:100%;box-sizing:border-box;"
    "margin:0 8px 12px 0"
)
_LINE = (
    "display:block;width:0;min-width:100%;overflow:hidden;white-space:nowrap;text-overflow:ellipsis"
)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Gallery:
    """A grid of generations, rendered when a notebook displays it.

    `columns`: tiles per row; by default as many of `size` pixels as fit the page.
    `embed`: whether short videos are embedded in the notebook, to send it by mail; otherwise they
    are files in ``outputs/`` beside it, if the notebook's application plays those.
    `folder`: folder of the notebook; by default the working directory.
    """

    items: Sequence[GalleryItem]
    columns: int | None = None
    size: int = 220
    embed: bool = False
    folder: Path | None = None

    def __len__(self) -> int:
        return len(self.items)

    def __repr__(self) -> str:
        return f"<Gallery {self._summary()}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.html()}

    def _ipython_display_(self) -> None:
        show_items(self, self.items[:MAX_TILES])

    def html(self) -> str:
        """Return the grid as HTML of at most about 1.5 MB, without the video files beside it."""
        shown = self.items[:MAX_TILES]
        tiles = draw_items(shown, self._fit(len(shown)), folder=self.folder)
        marks = map(mark, shown, range(len(shown)))
        lines = (self._tile(*parts) for parts in zip(shown, tiles, marks, strict=True))
        hidden = len(self.items) - len(shown)
        words = self._summary() + (f" · {hidden:,} more are not shown" if hidden else "")
        body = f'<ul style="{_LIST}">{"".join(lines)}</ul><div>{markup.faint(words)}</div>'
        return f'<div style="{markup.FONT};{markup.COLOR}">{body}</div>'

    def _fit(self, count: int) -> media.Fit:
        limit = max(MIN_BYTES, min(MAX_BYTES, MAX_TOTAL_BYTES // max(count, 1)))
        host = find_host()
        embed = self.embed or not host.beside
        return media.Fit(
            limit=limit,
            poster=min(limit // 2, media.POSTER_LIMIT),
            width=max(self.size, 480),
            embed=min(MAX_EMBEDDED_BYTES, MAX_TOTAL_BYTES // max(count, 1) * 4) if embed else 0,
            style=_FILL_STYLE,
            host=host,
        )

    def _tile(self, item: GalleryItem, shown: str, button: str) -> str:
        facts, prompt = item.facts, item.facts.prompt or ""
        rows = {"prompt": facts.prompt, **item.settings(), "id": facts.id}
        more = markup.facts({name: value for name, value in rows.items() if value is not None})
        state = "" if facts.state == "completed" else f"{markup.status(facts.state)} · "
        price = "" if item.cost is None else markup.credits(item.cost)
        line = markup.faint(" · ".join(filter(None, (price, preview.caption(facts, None)))))
        caption = (
            f'<div style="{_LINE}" title="{escape(prompt)}">{escape(prompt)}</div>'
            f'<div style="{_LINE}">{state}{line}</div>'
        )
        # leaves 1 % and the margin between the tiles of a row
        width = f"{100 / self.columns - 2:.2f}%" if self.columns else f"{self.size}px"
        # a summary is a button, which may not contain another control
        above, shown = (shown, "") if "<video" in shown or "<a " in shown else ("", shown)
        return (
            f'<li style="display:inline"><div style="{_TILE};min-width:{width}">{above}<details>'
            f'<summary style="display:block;cursor:pointer">{shown}{caption}</summary>'
            f'<div style="width:{_OPENED_WIDTH}px;max-width:100%">{more}{button}</div>'
            "</details></div></li>"
        )

    def _summary(self) -> str:
        costs = [item.cost for item in self.items if item.cost is not None]
        is_known = self.items and len(costs) == len(self.items)
        spent = f" · {markup.credits(sum(costs, Decimal(0)))}" if is_known else ""
        return f"{markup.count_of(len(self.items), 'generation')}{spent}"
