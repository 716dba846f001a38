"""An example for each of our models: a thumbnail of its output, and the prompt.

`tests/examples.py` creates the pictures.
"""

from __future__ import annotations

import functools
import tomllib
from importlib import resources

from kit import parameters
from kit.widgets import media
from kit.wire import Model

_FOLDER = resources.files(__package__)


def picture(model: Model) -> str:
    """Return the picture as a ``data:`` URL; empty for a model of another service."""
    file = _FOLDER / f"{model.id}.webp"
    return media.picture(file.read_bytes()) if parameters.is_own(model) and file.is_file() else ""


def prompt(model: Model) -> str:
    """Return an example prompt for a model; empty if there is none."""
    return _prompts().get(model.id, "") if parameters.is_own(model) else ""


@functools.cache
def _prompts() -> dict[str, str]:
    return tomllib.loads((_FOLDER / "prompts.toml").read_text("utf-8"))
