"""Where a remote service is: its address, the variable that holds its key, and how long to wait."""

from __future__ import annotations

import ipaddress
import os
import re
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from kit.engines.configured.entries import SecretEntry
from kit.errors import EngineError

#: Ends of addresses that were copied whole.
_BELOW = ("/images/generations", "/images/edits", "/videos", "/creative-studio", "/models")
#: Ends of host names that cannot be looked up from outside.
_INTERNAL = (".local", ".internal", ".lan", ".home.arpa", ".localhost", ".test")


@dataclass(frozen=True, slots=True)
class Site:
    """A remote service."""

    url: str  # what its paths are below, without a slash at the end
    key_env: str | None = None  # name of the environment variable that holds the key
    pause: float = 1.0  # seconds before the first repetition, and between two looks at a job
    timeout: float = 600.0  # seconds that a whole job may take

    @property
    def name(self) -> str:
        """Its host and port, for the operator of this service."""
        return urlsplit(self.url).netloc

    @property
    def public(self) -> str:
        """Its host where that is a public one, else nothing: anybody may read it."""
        host = urlsplit(self.url).hostname or ""
        try:
            return host if ipaddress.ip_address(host).is_global else ""
        except ValueError:
            return "" if "." not in host or host.endswith(_INTERNAL) else host

    @property
    def described(self) -> str:
        """How public descriptions of models call it."""
        return f"the service at {self.public}" if self.public else "a service on another machine"

    def key(self) -> str | None:
        """Return the key out of the environment, or raise EngineError (``not_configured``)."""
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise EngineError(
                f"the environment variable {self.key_env} of the service, which should hold the key"
                " of this model, holds none",
                code="not_configured",
            )
        return key


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address; raises ValueError where it is none."""
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port


def same_server(url: str, other: str) -> str:
    """Return an address with the origin of another, where both can only mean one local server.

    Servers that listen on all addresses of a machine name any of them, such as ``0.0.0.0``.

    Examples
    --------
    >>> same_server("http://0.0.0.0:8000/a.png", "http://localhost:8000")
    'http://localhost:8000/a.png'
    >>> same_server("http://0.0.0.0:8001/a.png", "http://localhost:8000")
    'http://0.0.0.0:8001/a.png'
    """
    try:
        (scheme, host, port), there = origin(url), origin(other)
    except ValueError:  # no address at all: the request fails on it
        return url
    if (scheme, port) != (there[0], there[2]) or not (_is_local(host) and _is_local(there[1])):
        return url
    return urlsplit(url)._replace(netloc=urlsplit(other).netloc).geturl()


def _is_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def _base(url: str) -> str:
    try:
        parts, (scheme, host, _) = urlsplit(url), origin(url)
    except ValueError:  # such as a port that cannot be
        raise ValueError("is no address that can be; write it as https://host:port") from None
    if scheme not in ("http", "https") or not host:
        raise ValueError("must begin with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be a plain address; name the key's variable in 'key_env'")
    if re.search(r"[\s\x00-\x1f]", url):
        raise ValueError("must be one address, without spaces")
    base = url.rstrip("/").removesuffix("/v1")
    if base.endswith(_BELOW):
        raise ValueError("must end before the paths of the API, as in https://host/v1")
    return base


class SiteEntry(SecretEntry):
    """What every entry of a remote service has; `url` with or without ``/v1``, times in seconds."""

    url: Annotated[str, AfterValidator(_base)]
    pause: float = Field(default=1.0, gt=0, le=60)
    timeout: float = Field(default=600.0, gt=0, le=86_400)

    def site(self) -> Site:
        """Return the service that it names."""
        return Site(self.url, self.key_env, self.pause, self.timeout)
