"""From a file back to the form: a zone for what says itself how it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets

from kit import file_metadata, wire
from kit.errors import KitError
from kit.file_metadata import FileMetadata
from kit.widgets import markup
from kit.widgets.boxes import OpenedBox
from kit.widgets.form import parts
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.service import Service


class FileReader:
    """A zone that fills in the form that it stands in, or opens that of the file's own model."""

    def __init__(self, stock: WidgetFactory, service: Service, form: Any) -> None:
        from kit.widgets.form.uploads import Drop  # loads anywidget, which only this needs

        self._service, self._form = service, form
        background = form.background
        self.drop = stock.new(
            Drop,
            label="a file that says what made it",
            call="Drop a picture or a video that says what made it, or",
            accept="image/*,video/*",
            whole=True,
            check=lambda _: None,
            keep=service.keep,
            take=self.read,
            background=background,
            folder=service.uploads,
        )
        self._said = stock.new(ipywidgets.HTML)
        self._opened = stock.new(OpenedBox, background=background)
        self.widget = stock.new(ipywidgets.VBox, children=(self.drop, self._said, self._opened))

    def read(self, path: Path) -> None:
        """Fill in what a file says."""
        self._opened.fill(None)
        found = file_metadata.read(path)
        if found is None:
            self._said.value = markup.problem(f"{path.name} does not say what made it")
            return
        other = found.model if found.model not in (None, self._form.model.id) else None
        if other and (form := self._form_of(other, found)):
            self._said.value = parts.notice(f"{path.name} was made by {other}: its form is below")
            self._opened.fill(lambda: form)
            return
        left = self._form.fill(found)
        by = f", which was made by {other}" if other else ""
        but = f", but not {'; '.join(left)}" if left else ""
        self._said.value = parts.notice(f"filled in from {path.name}{by}{but}")

    def _form_of(self, model_id: str, found: FileMetadata) -> Any:
        """Return the form of the model that made a file; None where the service has not got it."""
        given = dict(found.parameters)
        facts = wire.Generation(id="", model_id=model_id, prompt=found.prompt, parameters=given)
        try:
            return self._service.open_form(facts)
        except KitError:
            return None
