"""The site of a remote service, and the keys of its entries in the file of models.

These are its URL, the variable with its key, time limits, and for endpoints with OpenAI's image or
video API their inputs.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from kit.engines.configured.entries import EntrySetting, ModelEntry, SecretEntry, text_pattern
from kit.errors import EngineError
from kit.internet import origin

#: Ends of URLs that were copied completely.
_API_PATHS = ("/images/generations", "/images/edits", "/videos", "/creative-studio", "/models")
#: Suffixes of host names that are not public.
_INTERNAL_SUFFIXES = (".local", ".internal", ".lan", ".home.arpa", ".localhost", ".test")


@dataclass(frozen=True, slots=True)
class Site:
    """A remote service."""

    url: str  # base URL, without a slash at the end
    key_env: str | None = None  # name of the environment variable with the key
    pause: float = 1.0  # seconds before the first retry, and between two polls of a job
    timeout: float = 600.0  # seconds that a whole job may take

    @property
    def name(self) -> str:
        """Its host and port, for the operator of this service."""
        return urlsplit(self.url).netloc

    @property
    def public(self) -> str:
        """Its host if that is public, otherwise empty: all users may see it."""
        host = urlsplit(self.url).hostname or ""
        try:
            return host if ipaddress.ip_address(host).is_global else ""
        except ValueError:
            return "" if "." not in host or host.endswith(_INTERNAL_SUFFIXES) else host

    @property
    def description(self) -> str:
        """Its name in public descriptions of models."""
        return f"the service at {self.public}" if self.public else "a service on another machine"

    def key(self) -> str | None:
        """Return the key in the environment, or raise EngineError (``not_configured``)."""
        if self.key_env is None:
            return None
        key = os.environ.get(self.key_env, "").strip()
        if not key or not key.isascii() or not key.isprintable():
            raise EngineError(
                f"the environment variable {self.key_env} of the service, which should contain"
                " the key of this model, is not set",
                code="not_configured",
            )
        return key


def same_server(url: str, other: str) -> str:
    """Return a URL with the origin of another if both can only mean the same local server.

    Servers that listen on all addresses of a machine return any of them, such as ``0.0.0.0``.

    Examples
    --------
    >>> same_server("http://0.0.0.0:8000/a.png", "http://localhost:8000")
    'http://localhost:8000/a.png'
    >>> same_server("http://0.0.0.0:8001/a.png", "http://localhost:8000")
    'http://0.0.0.0:8001/a.png'
    """
    (scheme, host, port), base = origin(url), origin(other)
    if (scheme, port) != (base[0], base[2]) or not (_is_local(host) and _is_local(base[1])):
        return url
    return urlsplit(url)._replace(netloc=urlsplit(other).netloc).geturl()


def _is_local(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def _parse_base(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # e.g. an invalid port
        raise ValueError("is not a valid address; write it as https://host:port") from None
    if not is_http:
        raise ValueError("must begin with http:// or https://")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be a URL without a key; name the key's variable in 'key_env'")
    if re.search(r"[\s\x00-\x1f]", url):
        raise ValueError("must be one address, without spaces")
    base = url.rstrip("/").removesuffix("/v1")
    if base.endswith(_API_PATHS):
        raise ValueError("must end before the paths of the API, as in https://host/v1")
    return base


class SiteEntry(SecretEntry):
    """Keys of all entries of remote services; `url` with or without ``/v1``, times in seconds."""

    url: Annotated[str, AfterValidator(_parse_base)]
    pause: float = Field(default=1.0, gt=0, le=60)
    timeout: float = Field(default=600.0, gt=0, le=86_400)

    def site(self) -> Site:
        """Return the site of the entry."""
        return Site(self.url, self.key_env, self.pause, self.timeout)


def _parse_path(path: str) -> str:
    match = re.fullmatch(r"/?[\w.-]+(/[\w.-]+)*/?", path, re.ASCII)
    if not match or {".", ".."} & set(path.split("/")):
        raise ValueError("must be a path below the address, such as v1/videos")
    return path.strip("/")


def _check_json(fields: dict[str, Any]) -> dict[str, Any]:
    for name, value in fields.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            raise ValueError(f"{name!r} cannot be sent as JSON: write a date as text") from None
    return fields


def _check_unique(choices: list[Any]) -> list[Any]:
    for choice in choices:
        if choices.count(choice) > 1:
            raise ValueError(f"names {choice!r} twice")
    return choices


_Seconds = Annotated[int, Field(ge=1)]
_Size = Annotated[
    str,
    text_pattern(
        "auto|[1-9][0-9]{0,4}x[1-9][0-9]{0,4}",
        "width x height in pixels such as 1024x1024; where an endpoint has other words for sizes,"
        " make it one of 'parameters'",
    ),
]
#: A path below the URL of a site.
_ApiPath = Annotated[str, AfterValidator(_parse_path)]
#: The name of a field; empty for the default one, or for none.
_FieldName = Annotated[str, text_pattern("[A-Za-z0-9_]*", "letters, digits and underscores")]


class _SharedEntry(ModelEntry, SiteEntry):
    """Keys that entries of endpoints share; `example.toml` explains them."""

    model: str
    #: The default comes first, as in all choices; empty if the endpoint has no such field.
    sizes: Annotated[list[_Size], AfterValidator(_check_unique)] = Field(default_factory=list)
    parameters: list[EntrySetting] = Field(default_factory=list)
    seed: bool = False
    always: Annotated[dict[str, Any], AfterValidator(_check_json)] = Field(default_factory=dict)


class ImagesEntry(_SharedEntry):
    """An entry ``[[images]]`` of the file."""

    pictures: int = Field(default=0, ge=0, le=16)
    pictures_required: bool = False
    mask: bool = False
    #: If an endpoint explicitly refuses the field, the request is repeated without it.
    response_format: Literal["b64_json", "url", ""] = "b64_json"
    edits: _ApiPath = "v1/images/edits"
    mask_field: _FieldName = "mask"
    #: For jobs with pictures in JSON: the field for a list of base64 texts.
    picture_field: _FieldName = ""

    @model_validator(mode="after")
    def _check_pictures(self) -> Self:
        used = [n for n in ("pictures_required", "mask", "picture_field") if getattr(self, n)]
        if used and not self.pictures:
            raise ValueError(f"{used[0]!r} needs 'pictures' of at least 1")
        if self.mask and self.picture_field:
            raise ValueError("'mask' and 'picture_field' make no sense together")
        return self


class VideosEntry(_SharedEntry):
    """An entry ``[[videos]]`` of the file."""

    seconds: Annotated[list[_Seconds], AfterValidator(_check_unique)] = Field(default_factory=list)
    picture: Literal["none", "optional", "required"] = "none"
    encoding: Literal["multipart", "json"] = "multipart"
    path: _ApiPath = "v1/videos"
    #: For a file, or for base64 in JSON; by default the picture is a file ``input_reference``.
    picture_field: _FieldName = ""


EndpointEntry = ImagesEntry | VideosEntry
