"""Explore generative image and video models from a notebook.

Start with ``kit.connect()``, which returns a `Studio`. Importing this package is fast: each public
name loads its dependencies when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from kit.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from kit import errors
    from kit.explore.sweeps.templates import template
    from kit.local import LocalKeys
    from kit.logins import login, logout
    from kit.studio import AsyncStudio, Studio
    from kit.studio.views import compare, gallery

S = TypeVar("S", "Studio", "AsyncStudio")

__all__ = [
    "AsyncStudio",
    "Studio",
    "__version__",
    "aconnect",
    "compare",
    "connect",
    "errors",
    "gallery",
    "login",
    "logout",
    "template",
]

#: Public name -> the module that holds it; a module's own name stands for the module.
_MODULES = {
    "AsyncStudio": "kit.studio",
    "Studio": "kit.studio",
    "compare": "kit.studio.views",
    "errors": "kit.errors",
    "gallery": "kit.studio.views",
    "login": "kit.logins",
    "logout": "kit.logins",
    "template": "kit.explore.sweeps.templates",
}


def connect(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    profile: str | None = None,
    data: Path | str | None = None,
    reuse: bool = True,
) -> Studio:
    """Connect to a service and return its studio; without an address, to the embedded service.

    Parameters
    ----------
    base_url, api_key : str, optional
        Address of the service and an API key; by default ``KIT_BASE_URL`` and ``KIT_API_KEY``, else
        a saved profile, else the embedded service with a demo account.
    profile : str, optional
        Name of a saved profile; "embedded" for the embedded service even if profiles are saved.
    data : Path or str, optional
        Data folder of the kit; by default ``KIT_DATA``, else the user's data folder.
    reuse : bool
        Whether a repeated request returns its earlier result at no cost; False generates again.

    Raises
    ------
    ConfigError
        The address or the key is missing or malformed.

    Examples
    --------
    >>> import kit, tempfile
    >>> kit.connect("https://studio.test", "cs_test_abc", data=tempfile.mkdtemp())
    <Studio https://studio.test>
    """
    from kit.studio import Studio

    return _open(Studio, base_url, api_key, profile, data, reuse)


async def aconnect(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    profile: str | None = None,
    data: Path | str | None = None,
    reuse: bool = True,
) -> AsyncStudio:
    """Connect to a service and return its async studio; see `connect`.

    Examples
    --------
    ``studio = await kit.aconnect()`` in a cell.
    """
    import asyncio

    from kit.errors import ConfigError
    from kit.studio import AsyncStudio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        todo = "elsewhere, such as under trio, call kit.connect() in a thread"
        raise ConfigError(f"kit.aconnect() needs an event loop of asyncio; {todo}") from None
    return await asyncio.to_thread(_open, AsyncStudio, base_url, api_key, profile, data, reuse)


def _open(
    face: type[S],
    base_url: str | None,
    api_key: str | None,
    profile: str | None,
    data: Path | str | None,
    reuse: bool,
) -> S:
    """Open a studio of a class; pickled without a key, it finds the key when unpickled."""
    from dataclasses import replace
    from functools import partial

    from kit.client import settings
    from kit.errors import require_extra
    from kit.studio.operations import Operations

    found = settings.resolve(base_url, api_key, profile=profile, data=data)
    keys: LocalKeys | None = None
    if found is None:
        from kit.client.addresses import ServiceLocation

        with require_extra("service", "the embedded service, without base_url or profile,"):
            from kit.local import LocalKeys, make_follower, make_prover, start_embedded

        folder = settings.data_folder(data) if data else None
        url, key = start_embedded(folder)
        location = ServiceLocation(url, make_follower(folder, key), make_prover(folder))
        found = settings.embedded_settings(url, key, data=data, location=location)
        keys = LocalKeys(folder, key)
    found = replace(found, reuse=reuse)
    studio = face(found, operations=Operations(found, keys=keys))
    if not api_key:
        studio.reopen = partial(_open, face, base_url, None, profile, found.data, reuse)
    return studio


def load_ipython_extension(shell: Any) -> None:
    """Register the magics ``%%generate`` and ``%credits``; called by ``%load_ext kit``."""
    from kit.magics import load

    load(shell)


def __getattr__(name: str) -> Any:
    if (where := _MODULES.get(name)) is None:
        hint = "; errors are in kit.errors" if name.endswith("Error") else ""
        raise AttributeError(f"module 'kit' has no attribute {name!r}{hint}")
    module = import_module(where)
    found = module if where == f"kit.{name}" else getattr(module, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
