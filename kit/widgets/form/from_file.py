"""From a file back to the form: a zone for what says itself how it was made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets

from kit import file_metadata
from kit.widgets import markup
from kit.widgets.form.parts import WidgetFactory
from kit.widgets.form.service import Service


def build_zone(stock: WidgetFactory, service: Service, form: Any) -> Any:
    """Return a zone that fills in the form that it stands in, as that of the file's own model."""
    from kit.widgets.form.uploads import Drop  # loads anywidget, which only this needs

    def read(path: Path) -> None:
        found = file_metadata.read(path)
        if found is None:
            said.value = markup.problem(f"{path.name} does not say what made it")
            return
        by = ""
        if found.model not in (None, form.model.id):
            switched = form.switch(found.model)
            also = "; the form is changed to it" if switched else ", which this service lacks"
            by = f", made by {found.model}{also}"
        left = form.fill(found)
        but = f" (not used: {'; '.join(left)})" if left else ""
        said.value = markup.notice(f"filled in from {path.name}{by}{but}")

    said = stock.new(ipywidgets.HTML)
    drop = stock.new(
        Drop,
        label="a file that says what made it",
        call="Drop a picture or a video that says what made it, or",
        accept="image/*,video/*",
        whole=True,
        check=lambda _: None,
        keep=service.keep,
        take=read,
        background=form.background,
        folder=service.uploads,
    )
    return stock.new(ipywidgets.VBox, children=(drop, said))
