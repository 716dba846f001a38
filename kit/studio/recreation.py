"""From a file back to the request that made it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kit import wire
from kit.errors import ConfigError
from kit.parameters import suggest

if TYPE_CHECKING:
    from kit.file_metadata import FileMetadata

_log = logging.getLogger("kit")


def read_file(file: Path | str, *, anchors: Path | str | None = None) -> FileMetadata:
    """Return what a file says made it, and who signed it.

    Parameters
    ----------
    anchors : path, optional
        The certificates (PEM) of authorities that are trusted.

    Raises
    ------
    ConfigError
        There is no such file, or it says nothing.
    """
    from kit import file_metadata

    path, roots = Path(file).expanduser(), Path(anchors).expanduser() if anchors else None
    for one in filter(None, (path, roots)):
        if not one.is_file():
            raise ConfigError(f"there is no file {str(one)!r}")
    signed = file_metadata.read_signed(path, roots)
    found = file_metadata.read(path) or signed
    if found is None:
        raise ConfigError(
            f"{path.name} does not say what made it: it holds no XMP of this toolkit and no text "
            "of AUTOMATIC1111 or ComfyUI"
        )
    return replace(found, signature=signed.signature) if signed else found


def find_model(
    found: FileMetadata, model: str | wire.Model | None, models: Mapping[str, wire.Model]
) -> wire.Model:
    """Return the model to make a file anew with: that which is asked for, or its own.

    Raises `ConfigError`: the service has not got it.
    """
    name = model.id if isinstance(model, wire.Model) else model or found.model
    if name is None:
        raise ConfigError("the file does not say by which model it was made: say model=")
    if name not in models:
        sentence = f"this service has no model {name!r}{suggest(name, models)}"
        raise ConfigError(f"{sentence}; say model= to make it with another")
    return models[name]


def settings_for(
    found: FileMetadata, model: wire.Model, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the settings of a file that a model has, with those that are to change.

    What the model has not got is left out, and so is what was not read of the file of another
    program; lines of the log name both.
    """
    known = {parameter.name for parameter in model.setting_parameters}
    if dropped := [name for name in found.parameters if name not in known]:
        _log.warning("the model %s has no %s: left out", model.id, ", ".join(sorted(dropped)))
    if found.unread:
        _log.warning("the file says besides, and it is left out: %s", "; ".join(found.unread))
    kept = {name: value for name, value in found.parameters.items() if name in known}
    return {**kept, **changes}
