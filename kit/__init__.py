"""Explore generative image and video models from a notebook.

``kit.connect()`` returns the `Studio`, which is where everything begins. Importing this package
loads next to nothing: each public name loads what it needs when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kit.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from kit import errors
    from kit.client.settings import Settings
    from kit.studio import AsyncStudio, Studio

__all__ = ["AsyncStudio", "Studio", "__version__", "aconnect", "connect", "errors"]

#: Public name -> the module that holds it; a module's own name stands for the module.
_WHERE = {
    "AsyncStudio": "kit.studio",
    "Studio": "kit.studio",
    "errors": "kit.errors",
}


def connect(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    profile: str | None = None,
    data: Path | str | None = None,
) -> Studio:
    """Return the studio of a service; without an address, of one that runs inside this process.

    Parameters
    ----------
    base_url, api_key : str, optional
        Where the service is and the key for it; else ``KIT_BASE_URL`` and ``KIT_API_KEY``, else a
        saved profile, else the embedded service with a demo account.
    profile : str, optional
        Name of a saved profile.
    data : Path or str, optional
        Folder for what the kit remembers; else ``KIT_DATA``, else the user's data folder.

    Raises
    ------
    ConfigError
        There is an address without a key, or the reverse, or one of them cannot be right.

    Examples
    --------
    >>> import kit, tempfile
    >>> kit.connect("https://studio.test", "cs_test_abc", data=tempfile.mkdtemp())
    <Studio https://studio.test>
    """
    from kit.studio import Studio

    return Studio(_settings(base_url, api_key, profile, data))


async def aconnect(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    profile: str | None = None,
    data: Path | str | None = None,
) -> AsyncStudio:
    """Return the awaited studio of a service; see `connect`.

    Examples
    --------
    ``studio = await kit.aconnect()`` in a cell.
    """
    import asyncio

    from kit.studio import AsyncStudio

    found = await asyncio.to_thread(_settings, base_url, api_key, profile, data)
    return AsyncStudio(found)


def _settings(
    base_url: str | None, api_key: str | None, profile: str | None, data: Path | str | None
) -> Settings:
    from kit.client import settings

    found = settings.resolve(base_url, api_key, profile=profile, data=data)
    if found is not None:
        return found
    from kit.local import embedded

    folder = settings.data_folder(data)
    return settings.embedded(*embedded(folder if data else None), data=data)


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module 'kit' has no attribute {name!r}")
    module = import_module(where)
    found = module if where == f"kit.{name}" else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
