"""The studio: what a notebook user holds. It joins client, explore and widgets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kit.studio.aio import AsyncStudio
    from kit.studio.aio.generation import AsyncGeneration
    from kit.studio.catalog import Models
    from kit.studio.sync import Studio
    from kit.studio.sync.generation import Generation

__all__ = ["AsyncGeneration", "AsyncStudio", "Generation", "Models", "Studio"]

#: Where each name is: a script that blocks need not load an event loop.
_MODULES = {
    "AsyncGeneration": "kit.studio.aio.generation",
    "AsyncStudio": "kit.studio.aio",
    "Generation": "kit.studio.sync.generation",
    "Models": "kit.studio.catalog",
    "Studio": "kit.studio.sync",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'kit.studio' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
