"""A field: the control of one parameter, and what is said beside it.

There stands what is wrong, else what the page made of a number that was typed, else the help.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ipywidgets

from kit.widgets import rules
from kit.widgets.form import markup, typed
from kit.widgets.form.stock import Stock
from kit.wire import Parameter


@dataclass(slots=True)
class Notice:
    """What is said of a number that was typed, as long as the one that is used stands there.

    Parameters
    ----------
    arrived : bool
        Whether that one has come from the page, which may be later than what was typed.
    """

    sentence: str
    used: float
    arrived: bool


@dataclass(slots=True)
class Field:
    """A parameter's control, and how its value is read and written.

    Parameters
    ----------
    path : str
        What problems name it: ``prompt``, ``parameters.size``, ``mediaUploads.portrait``.
    widget : Widget
        What stands in the form, left of (or above) the note.
    read : callable
        Returns the value, None for "left out"; raises `ValueError` with a sentence.
    write : callable
        Shows a value; None shows what stands for "left out".
    heard : widget
        Whose ``value`` changes.
    """

    path: str
    parameter: Parameter
    widget: Any
    note: Any
    read: Callable[[], Any]
    write: Callable[[Any], None]
    heard: Any
    touched: bool = field(default=False)
    _told: str | None = field(default=None, init=False)
    _notice: Notice | None = field(default=None, init=False)

    def tell(self, problem: str | None) -> None:
        """Show what is wrong at the control, or its help where nothing is."""
        if self._told != problem:
            self._told = problem
            self._show()

    def heed(self, text: str, used: float) -> bool:
        """Tell what was made of a typed number until there is another one; return whether it fits.

        Parameters
        ----------
        text : str
            What was typed.
        used : float
            What the control shows instead; it may not have arrived here yet.
        """
        sentence = typed.made_to_fit(self.parameter, text, used)
        if sentence and self._notice is None:
            self.heard.observe(self._moved, "value")
        self._notice = Notice(sentence, used, self._is(used)) if sentence else None
        self._show()
        return not sentence

    def calm(self) -> None:
        """Forget what was typed, and whether anything was."""
        self.touched = False
        self._notice = None
        self._show()

    def _moved(self, _: Any) -> None:
        notice = self._notice
        if notice is None:
            return
        if self._is(notice.used):
            notice.arrived = True
        elif notice.arrived:
            self._notice = None
            self._show()

    def _is(self, used: float) -> bool:
        """Whether the control holds a number that was read off the page, where it is rounded."""
        held: float = self.heard.value
        return abs(held - used) <= 0.5 * 10.0 ** -rules.decimals(self.parameter)

    def _show(self) -> None:
        shown = markup.help_text(self.parameter)
        if self._told:
            shown = markup.problem(self._told)
        elif self._notice:
            shown = markup.notice(self._notice.sentence)
        if self.note.value != shown:
            self.note.value = shown
        change = self.widget.add_class if self._told else self.widget.remove_class
        change("kit-wrong")


def note(parameter: Parameter, stock: Stock) -> Any:
    """Return what stands beside a control: its help, and later what is wrong with it."""
    return stock.new(ipywidgets.HTML, value=markup.help_text(parameter))
