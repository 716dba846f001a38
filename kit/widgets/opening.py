"""Opening: what is drawn as static HTML has, while its kernel runs, a button at each result.

It leads to the same card that a row of the history leads to, below the HTML.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets
import traitlets

from kit.widgets import snapshots
from kit.widgets.accessibility import Accessibility, PageScript, name, script
from kit.widgets.background import BackgroundRunner
from kit.widgets.boxes import OpenedBox
from kit.widgets.markup import style_element


class OpenButtons(PageScript):
    """Puts buttons into HTML that stands above it in the page; it shows nothing itself."""

    _anywidget_id = name("kit.widgets.OpenButtons")
    _esm = script(__package__, "opening.js")
    #: The class of that HTML.
    place = traitlets.Unicode().tag(sync=True)


class ResultOpener(ipywidgets.VBox):
    """The card of the result whose button was clicked, below HTML that has the buttons."""

    def __init__(
        self,
        place: str,
        card: Callable[[int], Any],
        *,
        background: BackgroundRunner | None = None,
    ) -> None:
        self._card = card
        self._opened = OpenedBox(background or BackgroundRunner())
        buttons = OpenButtons(place=place)
        buttons.on_msg(self._receive)
        style = ipywidgets.HTML(style_element(__package__, "shared.css"))
        parts = (self._opened, style, buttons, reach := Accessibility())
        super().__init__(children=parts, _dom_classes=("kit-opener",))
        reach.box = self.model_id

    def __repr__(self) -> str:
        return "<ResultOpener>"

    def _receive(self, _: Any, message: Any, __: Any) -> None:
        match message:
            case {"open": int(number)}:
                self._opened.fill(partial(self._card, number))
            case {"open": None}:
                self._opened.fill(None)


def show(html: str, text: str, card: Callable[[int], Any]) -> None:
    """Show static HTML in a notebook, and below it what opens its results.

    Parameters
    ----------
    html : str
        With an empty element that has the number of a result as ``data-kit-result``, at the place
        of each button.
    """
    place = snapshots.name(html)
    snapshots.publish({"text/plain": text, "text/html": snapshots.render_snapshot(place, html)})
    snapshots.publish({**(ResultOpener(place, card)._repr_mimebundle_() or {}), "text/plain": ""})
