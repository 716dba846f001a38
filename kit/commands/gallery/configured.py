"""Configured models in the gallery: those of this machine, none that is paid for elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from kit.engines.configured.place import ModelSource
from kit.engines.registry import look
from kit.service.settings import ServiceSettings

__all__ = ["offer_configured"]

_ELSEWHERE = "kit.engines.remote."


def offer_configured(
    settings: ServiceSettings, data: Path, say: Callable[[str], None]
) -> frozenset[str]:
    """Have a service on another data folder offer what is configured, too.

    Parameters
    ----------
    settings : Settings
        Of the service that the file belongs to.
    data : Path
        The other folder.
    say : callable
        Told in a line what is left out, and why.

    Returns
    -------
    frozenset of str
        Ids of the models that other services render, which cost credits there.
    """
    file = settings.engines_file
    if file.is_file() and not settings.engines:  # a file that is named serves any folder
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(file, data / file.name)
    listing = look(ModelSource(file, settings.engine_copies), refresh=False)
    for broken in listing.left_out:
        say(str(broken))
    return frozenset(
        name
        for name, engine in listing.engines.items()
        if type(engine).__module__.startswith(_ELSEWHERE)
    )
