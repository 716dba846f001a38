"""A browser of the kernel's folders: the files that a parameter takes, one folder at a time."""

from __future__ import annotations

import mimetypes
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets

from kit.wire import MEDIA_TYPES

if TYPE_CHECKING:
    from kit.widgets.form.stock import Stock

#: Entries of a folder that are shown at most.
MOST = 500
_UP = "⬑ .."


class Picker:
    """A list of one folder; choosing a folder opens it, choosing a file takes it.

    Parameters
    ----------
    kind : str
        ``image``, ``video`` or ``audio``: other files are not shown; any other word shows all.
    take : callable
        Called with the file that was chosen.
    """

    def __init__(
        self, stock: Stock, kind: str, take: Callable[[Path], None], *, start: Path | None = None
    ) -> None:
        self._kind = kind
        self._take = take
        self.list = stock.new(ipywidgets.Select, rows=8)
        self.choose = stock.new(ipywidgets.Button, description="Choose", icon="check")
        self._close = stock.new(ipywidgets.Button, description="Close")
        self._where = stock.new(ipywidgets.HTML)
        parts = (self.list, self.choose, self._close)
        row = stock.new(ipywidgets.HBox, children=parts, _dom_classes=("kit-row",))
        # its own layout: it is hidden and shown
        self.widget = ipywidgets.VBox((self._where, row), _dom_classes=("kit-picker",))
        self.choose.on_click(lambda _: self.act())
        self._close.on_click(lambda _: self.toggle())
        self.open(start or Path.cwd())

    def toggle(self) -> None:
        """Show or hide it; what is shown again is read anew."""
        hidden = self.widget.layout.display == "none"
        self.widget.layout.display = None if hidden else "none"
        if hidden:
            self.open(self.folder)

    def open(self, folder: Path) -> None:
        """Show a folder."""
        try:
            found = entries(folder, self._kind)
        except OSError as problem:
            self._where.value = escape(f"{folder.name} cannot be read: {problem.strerror}")
            return
        self.folder = folder
        self._where.value = f'<span class="kit-note">{escape(str(folder))}</span>'
        self.list.options = [(_UP, folder.parent), *((_name(path), path) for path in found)]
        self.list.index = 1 if found else 0

    def act(self) -> None:
        """Do what the chosen entry asks for."""
        path: Any = self.list.value
        if path is None:
            return
        if path.is_dir():
            self.open(path)
        else:
            self._take(path)
            self.toggle()


def entries(folder: Path, kind: str) -> list[Path]:
    """Return the folders, then the files of a kind in a folder, by name; hidden ones are left out.

    Raises
    ------
    OSError
        The folder cannot be read.
    """
    found = [path for path in folder.iterdir() if not path.name.startswith(".")]
    shown = [path for path in found if path.is_dir() or _suits(path, kind)]
    return sorted(shown, key=lambda path: (path.is_file(), path.name.lower()))[:MOST]


def _suits(path: Path, kind: str) -> bool:
    if kind not in MEDIA_TYPES:
        return True
    return (mimetypes.guess_type(path.name)[0] or "").startswith(f"{kind}/")


def _name(path: Path) -> str:
    return f"{path.name}/" if path.is_dir() else path.name
