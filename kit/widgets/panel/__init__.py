"""The panel: the whole application in one widget with a tab for each page.

A page is built in the background when its tab is first opened, so the panel requests only what it
shows. It consists of widgets only, so it runs wherever widgets run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

import ipywidgets

from kit import wire
from kit.errors import show_own_lines
from kit.widgets import examples, markup, prices
from kit.widgets.background import BackgroundRunner, ChangeCheck, Subscribe
from kit.widgets.boxes import close_with_styles
from kit.widgets.snapshots import SnapshotBox, rerun_line

#: Maximum of models in the snapshot of a panel.
MAX_MODELS = 12

SHEET = markup.style_element(__package__, "panel.css")


def heading(service: str, account: wire.Account) -> str:
    """Return the line above the tabs: the service, the account, and its balance."""
    words = [service, account.name or ""]
    left = "" if account.credits is None else f"<b>{escape(markup.credits(account.credits))}</b>"
    note = f'<span class="kit-note">{escape(" · ".join(filter(None, words)))}</span>'
    return " ".join(filter(None, (left, note)))


def model(item: wire.Model) -> str:
    """Return a model in a grid: example, title, id, types, price and description."""
    address = examples.picture(item)
    picture = f'<img src="{address}" alt="">' if address else ""
    facts = [item.id, item.asset_type, item.category, _price(item)]
    title = f'<b style="font-size:13.5px">{escape(item.title or item.id)}</b>'
    note = f'<span class="kit-note">{escape(" · ".join(filter(None, facts)))}</span>'
    about = escape(item.description)
    text = f'<div class="kit-summary" title="{about}">{about}</div>' if about else ""
    return f"{picture}<div>{title}</div>{note}{text}"


def sheet(title: str, html: str) -> str:
    """Return a table or a picture with a title; the HTML is trusted."""
    return f'<section class="kit-sheet"><h3>{escape(title)}</h3>{html}</section>'


def banner(remark: str, code: str) -> str:
    """Return the banner above the tabs while the panel shows another account."""
    shown = f"<code>{escape(code)}</code>" if code else ""
    return f'<div class="kit-banner" role="status">{escape(remark)}{shown}</div>'


def render_panel(service: str, models: Sequence[wire.Model], code: str) -> str:
    """Return the snapshot shown where widgets do not work: the service, and the models."""
    lines = [
        (escape(one.title or one.id), markup.faint(" · ".join((one.id, one.asset_type))))
        for one in models[:MAX_MODELS]
    ]
    more = len(models) - len(lines)
    end = f"<div>{markup.faint(f'and {more} more models')}</div>" if more > 0 else ""
    return markup.card(
        f"Creative studio · {service}", (markup.table((), lines) if lines else "") + end
    ) + rerun_line(code)


def _price(item: wire.Model) -> str:
    if usual := markup.figure(item.estimated_credits) or prices.usual_price(item):
        return f"usually {usual} credit{'' if usual == '1' else 's'}"
    return "" if item.credits_from is None else f"from {markup.credits(item.credits_from)}"


#: Seconds that the snapshot waits for the panel's first page.
_WAIT_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class PanelPage:
    """A tab of the panel.

    `build`: returns the widget of the page; it may block and is called in the background.
    `rebuilds`: whether a refresh rebuilds the page; otherwise its input is kept.
    """

    name: str
    build: Callable[[], Any]
    rebuilds: bool = False
    follows: bool = False


@dataclass(slots=True, eq=False)
class PageSet:
    """The pages of one account, with their widgets.

    `heading`: returns the line above the tabs as HTML; it may block, is called in the background,
    and again whenever a tab is opened.
    `banner`: HTML above the tabs while these pages are open.
    `built`: the widgets of the pages built so far, by page number.
    """

    pages: Sequence[PanelPage]
    heading: Callable[[], str] = str
    banner: str = ""
    subscribe: Subscribe = lambda _: None
    #: Checks the service for changes made elsewhere.
    check_changes: ChangeCheck = None
    built: dict[int, tuple[Any, ...]] = field(default_factory=dict)


class Panel(SnapshotBox):
    """Pages in tabs, below a line with the account and its balance.

    `snapshot`: returns the HTML that a reopened notebook shows instead.
    """

    def __init__(
        self,
        page_set: PageSet,
        *,
        snapshot: Callable[[], str],
        on_close: Callable[[], None] = lambda: None,
        background: BackgroundRunner | None = None,
    ) -> None:
        self._page_set = page_set
        self._render_snapshot = snapshot
        self._subscribed: list[PageSet] = []
        self._lock = threading.RLock()
        self._built = threading.Event()
        self._heading = ipywidgets.HTML(SHEET)
        self._banner = ipywidgets.HTML()
        self._refresh = ipywidgets.Button(
            description="Refresh", icon="refresh", tooltip="Reload from the service"
        )
        names = [page.name for page in page_set.pages]
        self._bodies = [ipywidgets.VBox(_dom_classes=("kit-page",)) for _ in names]
        self._tabs = ipywidgets.Tab(children=self._bodies, titles=names, _dom_classes=("kit-tabs",))
        self._tabs.selected_index = 0
        self._refresh.on_click(lambda _: self.refresh())
        top = ipywidgets.HBox(children=(self._heading, self._refresh), _dom_classes=("kit-top",))
        parts = (top, self._banner, self._tabs)
        super().__init__(parts, "kit-panel", background, on_close=on_close)
        self.follow(lambda _: self._check_pages, self._show_changes)
        self._tabs.observe(self._page_opened, "selected_index")
        self._open()

    @property
    def pages(self) -> Sequence[PanelPage]:
        """The open pages."""
        return self._page_set.pages

    @property
    def page_set(self) -> PageSet:
        """The pages of the open account; set it to open another account."""
        return self._page_set

    @page_set.setter
    def page_set(self, page_set: PageSet) -> None:
        with self._lock:
            self._page_set = page_set
            for index, body in enumerate(self._bodies):
                body.children = page_set.built.get(index, ())
        self._open()

    @property
    def page(self) -> str:
        """The name of the open page; set it to open another."""
        return self.pages[self._index].name

    @page.setter
    def page(self, name: str) -> None:
        names = [page.name for page in self.pages]
        if name not in names:
            why = f"the panel has no page {name!r}; its pages are {', '.join(names)}"
            raise show_own_lines(ValueError(why))
        self._tabs.selected_index = names.index(name)

    def refresh(self) -> None:
        """Update the balance, and rebuild the open page unless it contains input.

        A page with a method `refresh` updates itself.
        """
        self._background.begin(self._show_heading)
        if self.pages[self._index].rebuilds:
            self._build_soon(self._index)
            return
        for widget in self._page_set.built.get(self._index, ()):
            if hasattr(widget, "refresh"):
                widget.refresh()

    def __repr__(self) -> str:
        return f"<Panel {' · '.join(page.name for page in self.pages)}>"

    def _html(self) -> str:
        self._built.wait(_WAIT_SECONDS)
        return self._render_snapshot()

    @property
    def _index(self) -> int:
        return int(self._tabs.selected_index or 0)

    def _page_opened(self, _: Any = None) -> None:
        """Build a page when its tab is first opened."""
        self._background.begin(self._show_heading)
        if self._index not in self._page_set.built:
            self._build_soon(self._index)

    def _open(self) -> None:
        """Show the open pages in their last state."""
        if self._page_set not in self._subscribed:
            self._subscribed.append(self._page_set)
            self._page_set.check_changes = self._page_set.subscribe(self._changes.request)
        self._banner.value = self._page_set.banner
        self._page_opened()

    def _check_pages(self) -> None:
        if self._page_set.check_changes is not None:
            self._page_set.check_changes()

    def _show_changes(self) -> None:
        """Update after a change; runs in the background."""
        self._show_heading()
        page_set = self._page_set
        for index, page in enumerate(page_set.pages):
            if not page.follows or index not in page_set.built:
                continue
            if index == self._index:
                self._build(page_set, index)
            else:
                del page_set.built[index]

    def _build_soon(self, index: int) -> None:
        page_set = self._page_set
        self._show_page(page_set, index, (ipywidgets.HTML(markup.note("loading …")),))
        self._background.begin(partial(self._build, page_set, index))

    def _build(self, page_set: PageSet, index: int) -> None:
        try:
            self._show_page(page_set, index, (page_set.pages[index].build(),))
        except Exception as error:  # noqa: BLE001 - shown on the page, with a button to retry
            message = ipywidgets.HTML(markup.problem(markup.error_text(error)))
            retry = ipywidgets.Button(description="Try again")
            retry.on_click(lambda _: self._build_soon(index))
            self._show_page(page_set, index, (message, retry))
        finally:
            self._built.set()

    def _show_page(self, page_set: PageSet, index: int, widgets: tuple[Any, ...]) -> None:
        """Show a new page now if its pages are open, else when they are opened again."""
        with self._lock:
            before = page_set.built.get(index, ())
            if page_set is self._page_set:
                before, self._bodies[index].children = self._bodies[index].children, widgets
            page_set.built[index] = widgets
        for one in before:
            close_with_styles(one)

    def _show_heading(self) -> None:
        page_set = self._page_set
        try:
            line = page_set.heading()
        except Exception as error:  # noqa: BLE001 - shown in place of the line
            line = markup.problem(markup.error_text(error))
        shown = f"{SHEET}{line}"
        if page_set is self._page_set and self._heading.value != shown:
            self._heading.value = shown
