"""File pickers: for folders of the kernel's computer, and for earlier results."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets

from kit import wire
from kit.endings import guess_type
from kit.widgets import markup, media
from kit.widgets.form.parts import WidgetFactory
from kit.wire import MEDIA_TYPES

#: Maximum of entries of a folder shown.
FOLDER_LIMIT = 500
_PARENT_LABEL = "⬑ .."


class Picker:
    """A list of one folder; choosing a folder opens it, choosing a file selects it.

    A kind other than ``image``, ``video`` and ``audio`` shows all files.
    """

    def __init__(self, factory: WidgetFactory, kind: str, take: Callable[[Path], None]) -> None:
        self._kind = kind
        self._on_choose = take
        self.list = factory.new(ipywidgets.Select, rows=8)
        self.choose = factory.button("Choose", "check", self.act)
        self._where = factory.new(ipywidgets.HTML)
        row = factory.new(
            ipywidgets.HBox, children=(self.list, self.choose), _dom_classes=("kit-row",)
        )
        self.widget = factory.new(
            ipywidgets.VBox, children=(self._where, row), _dom_classes=("kit-picker",)
        )
        self.open(Path.cwd())

    def open(self, folder: Path) -> None:
        """Show a folder."""
        try:
            found = entries(folder, self._kind)
        except OSError as problem:
            self._where.value = markup.problem(f"{folder.name} cannot be read: {problem.strerror}")
            return
        self.folder = folder
        self._where.value = f'<span class="kit-note">{escape(folder.name or "/")}</span>'
        names = (f"{path.name}/" if path.is_dir() else path.name for path in found)
        self.list.options = [(_PARENT_LABEL, folder.parent), *zip(names, found, strict=True)]
        self.list.index = 1 if found else 0

    def act(self) -> None:
        """Open the chosen folder, or select the chosen file."""
        path: Any = self.list.value
        if path is None:
            return
        (self.open if path.is_dir() else self._on_choose)(path)


def entries(folder: Path, kind: str) -> list[Path]:
    """Return the folders, then the files of a kind in a folder, by name, without hidden ones.

    Raises `OSError` if the folder cannot be read.
    """
    found = [path for path in folder.iterdir() if not path.name.startswith(".")]
    prefix = f"{kind}/" if kind in MEDIA_TYPES else ""
    shown = [path for path in found if path.is_dir() or guess_type(path.name).startswith(prefix)]
    return sorted(shown, key=lambda path: (path.is_file(), path.name.lower()))[:FOLDER_LIMIT]


#: Maximum bytes of a thumbnail, and its width in pixels.
_MAX_BYTES, _WIDTH = 8_000, 192


def thumbnails(
    factory: WidgetFactory,
    results: Sequence[tuple[wire.Generation, bytes]],
    take: Callable[[wire.Generation], None],
) -> Any:
    """Return a grid of earlier results as thumbnails to click, or as texts without one."""
    token, sheet, buttons = secrets.token_hex(4), "", []
    for number, (facts, content) in enumerate(results):
        if content:
            address = media.picture(content, limit=_MAX_BYTES, width=_WIDTH)
            sheet += f".kit-{token}-{number}{{background-image:url({address})}}"
        words = facts.prompt or facts.model_id or facts.id
        label = "" if content else words
        classes = ("kit-earlier", f"kit-{token}-{number}")
        choose = partial(take, facts)
        buttons.append(factory.button(label, "", choose, tooltip=words, _dom_classes=classes))
    note = "" if buttons else markup.note("there are no earlier results of this kind")
    style = factory.new(ipywidgets.HTML, value=f"<style>{sheet}</style>{note}")
    return factory.new(
        ipywidgets.HBox, children=(style, *buttons), _dom_classes=("kit-picker", "kit-pictures")
    )
