"""Where this computer keeps records about a service, by profile and address; what fails is logged.

A profile can be pointed to another service, whose ids begin anew: what is kept about one service
must never be read as another's. The embedded one goes by its name alone, because its port changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

from kit.client.settings import Settings

_EMBEDDED = "embedded"
_log = logging.getLogger("kit")


def file(settings: Settings, what: str) -> Path:
    """Return where records about a service are kept, e.g. ``prices``; it may not be there yet.

    A file from before addresses were part of the name becomes that of the first service that asks.
    """
    folder = settings.data / "notebook" / what
    named = folder / f"{_name(settings)}.jsonl"
    return _adopt(settings, folder / f"{_short(settings.name)}.jsonl", named)


def folder(settings: Settings, what: str) -> Path:
    """Return the folder of a service, e.g. in ``history``; see `file`."""
    above = settings.data / "notebook" / what
    if not settings.name or _is_embedded(settings):
        return above / digest(settings.name or settings.base_url)
    named = above / digest(f"{settings.name} {settings.base_url}")
    return _adopt(settings, above / digest(settings.name), named)


def digest(text: str) -> str:
    """Return a short name for a text of any kind.

    Examples
    --------
    >>> digest("https://studio.example")
    '7947285b9d432477'
    """
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _name(settings: Settings) -> str:
    if not settings.name:
        return digest(settings.base_url)
    if _is_embedded(settings):
        return _EMBEDDED
    return f"{_short(settings.name)}-{digest(settings.base_url)}"


def _is_embedded(settings: Settings) -> bool:
    """Whether it is the service that moves; a profile may have its name."""
    return settings.name == _EMBEDDED and settings.moves is not None


def _short(name: str) -> str:
    return name if name.isidentifier() else digest(name)


def _adopt(settings: Settings, old: Path, new: Path) -> Path:
    """Return the new place, with what was at the old one if that was this service's alone."""
    if settings.name in ("", _EMBEDDED) or new.exists() or not old.exists():
        return new
    with contextlib.suppress(OSError):  # another kernel was quicker, or the disk is read-only
        old.rename(new)
    return old if old.exists() else new


class Notices:
    """Logs each sentence once in a session, e.g. that a record could not be written.

    Examples
    --------
    >>> def full() -> None:
    ...     raise OSError(28, "No space left on device")
    >>> Notices().try_write(full, "the price of gen_1")
    """

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
    """Return why something could not be written, without a number.

    Examples
    --------
    >>> failure_reason(OSError(28, "No space left on device", "journal.jsonl"))
    'No space left on device'
    """
    return error.strerror or str(error) or type(error).__name__
