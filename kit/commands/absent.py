"""Models that the embedded service does not offer: whoever lists the others is told why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kit.client import settings
from kit.engines.configured.place import ModelSource
from kit.engines.registry import look
from kit.service import settings as service_settings


def absent(data: Path | None) -> Iterator[str]:
    """Yield a sentence on each engine that is left out; nothing where another service is asked.

    Parameters
    ----------
    data : Path or None
        The data folder of the embedded service.
    """
    if settings.resolve(None, None, data=data) is not None:
        return
    found = service_settings.load(data=data)
    # The service has just asked the others.
    listing = look(ModelSource(found.engines_file, found.engine_copies), refresh=False)
    for broken in listing.left_out:
        yield f"{broken}; {broken.remedy}"
