"""Addresses and keys as text: what may be one, what may be shown, and where one leads."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from kit.errors import ConfigError

_WHOLE = re.compile("[A-Za-z][A-Za-z0-9+.-]*://")
_PORTS = {"http": 80, "https": 443}


def absolute_url(base_url: str, url: str) -> str:
    """Return the whole address of what an answer names, which may be one already.

    One that begins with a slash may or may not repeat the prefix under which a service is mounted.

    Examples
    --------
    >>> absolute_url("https://host/api", "/api/v1/x"), absolute_url("https://host/api", "/v1/x")
    ('https://host/api/v1/x', 'https://host/api/v1/x')
    """
    if _WHOLE.match(url):
        return url
    if url.startswith("//"):  # in its scheme
        return f"{base_url.partition(':')[0]}:{url}"
    prefix = urlsplit(base_url).path
    if prefix and url.startswith(f"{prefix}/"):
        url = url.removeprefix(prefix)
    return f"{base_url}/{url.lstrip('/')}"


def mask(key: str) -> str:
    """Return what may be shown of a key: the fixed prefix of its kind.

    Examples
    --------
    >>> mask("cs_live_0123456789")
    'cs_live_…'
    """
    kind = re.match(r"[a-z]{2,8}_(?:live|test)_", key)
    return f"{kind.group() if kind else ''}…"


def origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address; a malformed one has an origin of its own."""
    try:
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        return scheme, parts.hostname or "", parts.port or _PORTS.get(scheme, 0)
    except ValueError:
        return "", url, 0


def check_address(url: str) -> str:
    """Return the address of a service without a slash at its end, or say what is wrong."""
    shown = repr(url if len(url) <= 80 else f"{url[:77]}...")
    scheme, host, port = origin(url)
    if scheme not in ("http", "https") or not host or not port:
        raise ConfigError(
            f"base_url must be a whole address such as 'https://studio.example', not {shown}"
        )
    parts = urlsplit(url)
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError("base_url may hold no user, no password, no '?' and no '#'")
    if not url.isascii() or any(c.isspace() for c in url):
        raise ConfigError(f"base_url may hold no blanks and only ASCII characters: {shown}")
    return url.rstrip("/")


def check_key(key: str) -> None:
    """Refuse what can be no API key."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "the API key is empty or holds blanks or characters beyond ASCII: copy it once more, "
            "without the quotes around it"
        )
