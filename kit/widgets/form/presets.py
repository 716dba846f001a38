"""Presets: saved values of a form by name, in one file per model.

The file is JSON, for people to read, copy and edit: ``{name: {prompt, parameters, media}}``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import ipywidgets

from kit.errors import ConfigError
from kit.private import make_folder, write_private
from kit.widgets import markup
from kit.widgets.form.parts import WidgetFactory

Value = dict[str, Any]


class Presets:
    """The presets of one model."""

    def __init__(self, folder: Path, model_id: str) -> None:
        safe = re.sub(r"[^\w.-]", "_", model_id)[:60]
        if safe != model_id:
            safe += f"-{hashlib.sha256(model_id.encode()).hexdigest()[:8]}"
        self._path = folder / f"{safe}.json"

    def add(self, others: Presets) -> None:
        """Add the presets of a model that this one replaces, except for names that exist."""
        found, own = others._read(), self._read()
        if found.keys() - own.keys():
            self._write({**found, **own})

    def names(self) -> list[str]:
        """Return the names, sorted."""
        return sorted(self._read())

    def __getitem__(self, name: str) -> Value:
        presets = self._read()
        if name not in presets:
            known = ", ".join(map(repr, sorted(presets))) or "none"
            raise ConfigError(f"there is no preset {name!r}; there is {known}")
        return presets[name]

    def __setitem__(self, name: str, value: Value) -> None:
        if not name.strip() or len(name) > 80 or not name.isprintable():
            raise ConfigError("a preset's name has 1 to 80 printable characters")
        self._write({**self._read(), name.strip(): value})

    def __delitem__(self, name: str) -> None:
        presets = self._read()
        presets.pop(name, None)
        self._write(presets)

    def _read(self) -> dict[str, Value]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except ValueError:
            raise ConfigError(f"the file of presets {self._path.name!r} is no JSON") from None
        if not isinstance(found, dict):
            raise ConfigError(f"the file of presets {self._path.name!r} holds no presets")
        return {name: value for name, value in found.items() if isinstance(value, dict)}

    def _write(self, presets: dict[str, Value]) -> None:
        make_folder(self._path.parent)
        write_private(self._path, json.dumps(presets, indent=1, ensure_ascii=False, default=str))


class PresetFolder:
    """The presets of a form as a row of controls, created when first opened."""

    def __init__(self, factory: WidgetFactory, presets: Presets, form: Any) -> None:
        self._presets = presets
        self._form = form
        self.name = factory.new(ipywidgets.Combobox, description="preset", placeholder="its name")
        self.load = factory.button("Load", "", lambda: self._run(self._load, ""))
        save = partial(self._run, lambda: presets.__setitem__(self.name.value, form.value), "saved")
        self.save = factory.button("Save", "", save)
        self.drop = factory.button("Delete", "", lambda: self._run(self._drop, "deleted"))
        self._message = factory.new(ipywidgets.HTML)
        parts = (self.name, self.load, self.save, self.drop, self._message)
        self.widget = factory.new(ipywidgets.HBox, children=parts, _dom_classes=("kit-bar",))
        self._run(lambda: None, "")

    def _run(self, work: Callable[[], str | None], word: str) -> None:
        try:
            message = work() or markup.note(word)
            self.name.options = self._presets.names()
            self._message.value = message
        except Exception as problem:  # noqa: BLE001 - any error is shown here, or it is lost
            self._message.value = markup.problem(markup.error_text(problem))

    def _load(self) -> str:
        """Load all valid values: a preset may be older than the current model."""
        problems = self._form.take(self._presets[self.name.value])
        loaded = f"loaded, but not {'; '.join(problems)}" if problems else "loaded"
        return (markup.notice if problems else markup.note)(loaded)

    def _drop(self) -> None:
        del self._presets[self.name.value]
        self.name.value = ""
