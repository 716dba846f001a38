"""Where a remote service is: its address, the variable that holds its key, and how long to wait."""

from __future__ import annotations

import ipaddress
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from kit.engines.configured.entries import SecretEntry
from kit.engines.configured.inputs import Taken
from kit.errors import ConfigError, EngineError

#: Ends of addresses that somebody has copied whole.
_BELOW = ("/images/generations", "/images/edits", "/videos", "/creative-studio", "/models")
#: Ends of host names that nobody outside can look up.
_INTERNAL = (".local", ".internal", ".lan", ".home.arpa", ".localhost", ".test")


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
        """How sentences for whoever runs this service call it: its host and port."""
        return urlsplit(self.url).netloc

    @property
    def public(self) -> str:
        """What whoever orders may know of it: its host where it is a public one, else nothing."""
        host = urlsplit(self.url).hostname or ""
        try:
            return host if ipaddress.ip_address(host).is_global else ""
        except ValueError:
            return "" if "." not in host or host.endswith(_INTERNAL) else host

    @property
    def described(self) -> str:
        """Return how descriptions of models call it; they are public."""
        return f"the service at {self.public}" if self.public else "a service on another machine"

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
    except ValueError:  # no address at all: whoever asks there is told
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
    """What every entry of a remote service has.

    Parameters
    ----------
    url : str
        With or without ``/v1`` at the end.
    pause, timeout : float
        In seconds; see `Site`.
    """

    url: Annotated[str, AfterValidator(_base)]
    pause: float = Field(default=1.0, gt=0, le=60)
    timeout: float = Field(default=600.0, gt=0, le=86_400)

    def site(self) -> Site:
        """Return the service that it names."""
        return Site(self.url, self.key_env, self.pause, self.timeout)


#: Seeds are folded below this: LocalAI reads them as 32 bits with a sign, and refuses larger ones.
#: Source: mudler/LocalAI, core/schema/localai.go, VideoRequest.Seed.
_SEEDS = 2**31


def _below(path: str) -> str:
    written = re.fullmatch(r"/?[\w.-]+(/[\w.-]+)*/?", path, re.ASCII)
    if not written or {".", ".."} & set(path.split("/")):
        raise ValueError("must be a path below the address, such as v1/videos")
    return path.strip("/")


def _sendable(fields: dict[str, Any]) -> dict[str, Any]:
    for name, value in fields.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(f"{name!r} cannot be sent as JSON: write a date as text") from None
    return fields


#: Fields of every request.
Always = Annotated[dict[str, Any], AfterValidator(_sendable)]
#: A path below the address of a site.
Below = Annotated[str, AfterValidator(_below)]
#: The name of a field; empty for the usual one, or for none.
FieldName = Annotated[str, Field(pattern="^[A-Za-z0-9_]*$")]


def taken(names: Iterable[str], always: Mapping[str, Any]) -> Taken:
    """Return the names that no setting may have.

    Parameters
    ----------
    names : iterable of str
        Fields that the engine fills in itself; empty ones do not count.
    always : mapping
        Fields that every request has.

    Raises
    ------
    ConfigError
        One of `always` is filled in by the engine.
    """
    filled = tuple(filter(None, names))
    if twice := [name for name in always if name in filled]:
        raise ConfigError(f"'always.{twice[0]}': that field of a request is filled in already")
    return Taken((*filled, *always), "that field of a request is filled in already")


def seed(number: int) -> int:
    """Return a job's seed as every server can read it."""
    return number % _SEEDS


def form(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return values as the fields of a form.

    Examples
    --------
    >>> form({"sharp": True, "n": 1, "more": {"shift": 3}})
    {'sharp': 'true', 'n': '1', 'more': '{"shift": 3}'}
    """
    return {name: _written(value) for name, value in fields.items()}


def _written(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool | list | dict) else str(value)
