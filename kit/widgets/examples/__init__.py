"""An example of each of our models: a small picture of what it makes, and the prompt of it.

`tests/examples.py` makes the pictures.
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
    """Return the picture as a ``data:`` address; empty for a model of another service."""
    file = _FOLDER / f"{model.id}.webp"
    return media.picture(file.read_bytes()) if parameters.is_own(model) and file.is_file() else ""


def prompt(model: Model) -> str:
    """Return a prompt that suits a model, empty where none is known."""
    return _prompts().get(model.id, "") if parameters.is_own(model) else ""


@functools.cache
def _prompts() -> dict[str, str]:
    return tomllib.loads((_FOLDER / "prompts.toml").read_text("utf-8"))
