"""Where a remote service is: its address, the variable that holds its key, and how long to wait."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from kit.engines.configured.entries import Entry
from kit.errors import EngineError

#: Variables that render processes are not given: a key in one of them would never be found.
_KEPT_BACK = frozenset({"KIT_API_KEY", "KIT_WRITER_KEY", "KIT_DATABASE_URL", "KIT_STORAGE_URL"})


@dataclass(frozen=True, slots=True)
class Site:
    """A remote service.

    Parameters
    ----------
    url : str
        What its paths are below, without a slash at the end.
    key_env : str or None
        Name of the environment variable that holds the key; None where none is needed.
    pause : float
        Seconds before the first repetition, and between two looks at a job.
    timeout : float
        Seconds that a whole job may take.
    """

    url: str
    key_env: str | None = None
    pause: float = 1.0
    timeout: float = 600.0

    @property
    def name(self) -> str:
        """How sentences call it: its host."""
        return urlsplit(self.url).netloc

    def key(self) -> str | None:
        """Return the key out of the environment.

        Raises
        ------
        EngineError
            The variable holds nothing that can be a key (``not_configured``).
        """
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            sentence = f"the variable {self.key_env}, which should hold a key, holds none"
            raise EngineError(sentence, code="not_configured")
        return key


def _base(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must begin with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be a plain address; name the key's variable in 'key_env'")
    return url.rstrip("/").removesuffix("/v1")


def _readable(name: str) -> str:
    if name in _KEPT_BACK:
        raise ValueError(f"{name} is kept from render processes; give this key its own variable")
    return name


class SiteEntry(Entry):
    """What every entry of a remote service has.

    Parameters
    ----------
    url : str
        With or without ``/v1`` at the end.
    key_env : str, optional
        Name of the environment variable that holds the key; the key itself never stands here.
    pause, timeout : float
        In seconds; see `Site`.
    """

    url: Annotated[str, AfterValidator(_base)]
    key_env: Annotated[str, AfterValidator(_readable)] | None = Field(
        default=None, pattern="^[A-Za-z_][A-Za-z0-9_]*$"
    )
    pause: float = Field(default=1.0, gt=0, le=60)
    timeout: float = Field(default=600.0, gt=0, le=86_400)

    def site(self) -> Site:
        """Return the service that it names."""
        return Site(self.url, self.key_env, self.pause, self.timeout)
