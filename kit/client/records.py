"""Where this computer keeps records about a service, by profile and address; what fails is logged.

A profile can be pointed to another service, whose ids begin anew: what is kept about one service
must never be read as another's. The embedded one goes by its name alone, because its port changes.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

from kit.client.profiles import EMBEDDED
from kit.client.settings import Settings

_log = logging.getLogger("kit")


def file(settings: Settings, what: str) -> Path:
    """Return where records about a service are kept, e.g. ``prices``; it may not be there yet."""
    return settings.data / "notebook" / what / f"{_name(settings)}.jsonl"


def folder(settings: Settings, what: str) -> Path:
    """Return the folder of a service, e.g. in ``history``; see `file`."""
    known = settings.name or settings.base_url
    if settings.name and not _is_embedded(settings):
        known = f"{settings.name} {settings.base_url}"
    return settings.data / "notebook" / what / digest(known)


def digest(text: str, letters: int = 16) -> str:
    """Return a short name for a text of any kind, up to 64 letters."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:letters]


def _name(settings: Settings) -> str:
    if not settings.name:
        return digest(settings.base_url)
    if _is_embedded(settings):
        return EMBEDDED
    short = settings.name if settings.name.isidentifier() else digest(settings.name)
    return f"{short}-{digest(settings.base_url)}"


def _is_embedded(settings: Settings) -> bool:
    """Whether it is the service that moves; a profile may have its name."""
    return settings.name == EMBEDDED and settings.moves is not None


class Notices:
    """Logs each sentence once in a session, e.g. that a record could not be written."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def log(self, sentence: str) -> None:
        """Log a sentence, unless it was logged before."""
        if sentence not in self._logged:
            self._logged.add(sentence)
            _log.warning("%s", sentence)

    def try_write(self, write: Callable[[], object], what: str) -> None:
        """Write what nothing depends on; where that fails it is logged, and all goes on."""
        try:
            write()
        except OSError as error:
            self.log(f"{what} could not be written down: {failure_reason(error)}")


def failure_reason(error: OSError) -> str:
    """Return why something could not be written, without a number."""
    return error.strerror or str(error) or type(error).__name__
