"""The panel: a whole application in one widget, a tab for each of its pages.

A page is built when its tab is opened for the first time, in the background: opening the panel
asks for nothing that nobody looks at. Only widgets are used, so it runs wherever they do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import ipywidgets

from kit.errors import KitError
from kit.widgets.form.service import Background
from kit.widgets.panel import looks


@dataclass(frozen=True, slots=True)
class Page:
    """A tab of the panel.

    Parameters
    ----------
    build : callable
        Returns the widget of the page; it may block and is called in the background.
    again : bool
        Whether asking anew builds the page anew; else what was typed in it stays.
    """

    name: str
    build: Callable[[], Any]
    again: bool = False


class Panel(ipywidgets.VBox):
    """Pages in tabs, below a line that says who pays and what is left.

    Parameters
    ----------
    heading : callable, optional
        Returns the line as HTML; it may block, is called in the background, and again whenever a
        tab is opened.

    Examples
    --------
    >>> from kit.widgets.form.service import Background
    >>> at_once = Background(begin=lambda work: work())
    >>> panel = Panel([Page("Hello", lambda: ipywidgets.HTML("<b>hello</b>"))], background=at_once)
    >>> panel.page, panel
    ('Hello', <Panel Hello>)
    """

    def __init__(
        self,
        pages: Sequence[Page],
        *,
        heading: Callable[[], str] = str,
        background: Background | None = None,
    ) -> None:
        self.pages = tuple(pages)
        self._said = heading
        self._background = background or Background()
        self._opened: set[int] = set()
        self._bodies = [ipywidgets.VBox(_dom_classes=("kit-page",)) for _ in self.pages]
        self._heading = ipywidgets.HTML(looks.SHEET)
        self._refresh = ipywidgets.Button(
            description="Refresh", icon="refresh", tooltip="Ask the service anew"
        )
        self._tabs = ipywidgets.Tab(children=self._bodies, titles=[p.name for p in self.pages])
        self._tabs.selected_index = 0
        self._refresh.on_click(self._asked_anew)
        top = ipywidgets.HBox(children=(self._heading, self._refresh), _dom_classes=("kit-top",))
        super().__init__(children=(top, self._tabs), _dom_classes=("kit-panel",))
        self._tabs.observe(self._turned, "selected_index")
        self._turned()

    @property
    def page(self) -> str:
        """The name of the page that is open; setting it opens another."""
        return self.pages[self._index].name

    @page.setter
    def page(self, name: str) -> None:
        names = [page.name for page in self.pages]
        if name not in names:
            raise ValueError(f"the panel has no page {name!r}; its pages are {', '.join(names)}")
        self._tabs.selected_index = names.index(name)

    def refresh(self) -> None:
        """Ask for the balance anew, and build the open page anew where nothing is typed in it."""
        self._background.begin(self._say)
        if self.pages[self._index].again:
            self._begin(self._index)

    def __repr__(self) -> str:
        return f"<Panel {' · '.join(page.name for page in self.pages)}>"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return the widget, and what is shown of it where no widget can be."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options) or {}
        twin = looks.twin([page.name for page in self.pages])
        return {**bundle, "text/plain": repr(self), "text/html": twin}

    @property
    def _index(self) -> int:
        return int(self._tabs.selected_index or 0)

    def _turned(self, _: Any = None) -> None:
        """Build a page whose tab is opened for the first time."""
        self._background.begin(self._say)
        if self._index not in self._opened:
            self._begin(self._index)

    def _asked_anew(self, _: Any) -> None:
        self.refresh()

    def _begin(self, index: int) -> None:
        self._opened.add(index)
        self._bodies[index].children = (ipywidgets.HTML(looks.note("one moment …")),)
        self._background.begin(partial(self._build, index))

    def _build(self, index: int) -> None:
        try:
            self._bodies[index].children = (self.pages[index].build(),)
        except Exception as error:  # noqa: BLE001 - said on the page, with a way to try again
            self._bodies[index].children = self._failed(index, error)

    def _failed(self, index: int, error: Exception) -> tuple[Any, ...]:
        again = ipywidgets.Button(description="Try again")
        again.on_click(lambda _: self._begin(index))
        return ipywidgets.HTML(looks.problem(sentence(error))), again

    def _say(self) -> None:
        try:
            line = self._said()
        except Exception as error:  # noqa: BLE001 - said where the line would stand
            line = looks.problem(sentence(error))
        shown = f"{looks.SHEET}{line}"
        if self._heading.value != shown:
            self._heading.value = shown


def sentence(error: BaseException) -> str:
    """Return what went wrong as a person reads it."""
    return str(error) if isinstance(error, KitError) else f"{type(error).__name__}: {error}"
