"""From a file back to the form: a zone for what says itself how it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets

from kit import file_metadata
from kit.widgets import markup
from kit.widgets.form import parts
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.service import Service


class FileReader:
    """A zone that fills in the form that it stands in, as that of the file's own model."""

    def __init__(self, stock: WidgetFactory, service: Service, form: Any) -> None:
        from kit.widgets.form.uploads import Drop  # loads anywidget, which only this needs

        self._form = form
        self.drop = stock.new(
            Drop,
            label="a file that says what made it",
            call="Drop a picture or a video that says what made it, or",
            accept="image/*,video/*",
            whole=True,
            check=lambda _: None,
            keep=service.keep,
            take=self.read,
            background=form.background,
            folder=service.uploads,
        )
        self._said = stock.new(ipywidgets.HTML)
        self.widget = stock.new(ipywidgets.VBox, children=(self.drop, self._said))

    def read(self, path: Path) -> None:
        """Fill in what a file says."""
        found = file_metadata.read(path)
        if found is None:
            self._said.value = markup.problem(f"{path.name} does not say what made it")
            return
        other = found.model if found.model not in (None, self._form.model.id) else None
        switched = other is not None and self._form.switch(other)
        left = self._form.fill(found)
        by = f": this is the form of {other} now, which made it" if switched else ""
        by = by or (f", which was made by {other}, not here" if other else "")
        but = f", but not {'; '.join(left)}" if left else ""
        self._said.value = parts.notice(f"filled in from {path.name}{by}{but}")
