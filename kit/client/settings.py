"""The client's settings: address and key of the service, and the folder of local records.

This is the only reader of the client's environment. An address and a key belong together: if the
environment has both, its key is never sent to another address.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kit.client import profiles as saved_profiles
from kit.client.addresses import ServiceLocation, check_address, check_key, mask
from kit.errors import ConfigError
from kit.internet import origin
from kit.private import JsonLines, user_folder

_SHARED_VARIABLES = ("KIT_DATA", "KIT_PROGRESS", "KIT_PRIVATE_MEDIA")
_OFF_VALUES = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True, repr=False)
class Settings:
    """The settings of a client; the repr shows only the prefix of the key.

    `name` identifies the service in the journal, its address if empty; `location` is the current
    location of a service that moves. `reuse` is whether equal requests return earlier results,
    `private_media` whether media may be fetched from this computer's network.
    """

    base_url: str
    api_key: str
    data: Path
    name: str = ""
    progress: bool = True
    location: ServiceLocation | None = field(default=None, compare=False)
    reuse: bool = field(default=True, compare=False)
    private_media: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base_url", check_address(self.base_url))
        check_key(self.api_key)

    def __repr__(self) -> str:
        return f"Settings(base_url={self.base_url!r}, api_key={mask(self.api_key)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        raise ConfigError(
            "an object with an API key cannot be pickled: pickle the studio, or call kit.connect() "
            "where you need it"
        )

    @property
    def label(self) -> str:
        """The name that people see: of the profile, or the address."""
        return self.name or self.base_url

    def owns(self, url: str) -> bool:
        """Return whether a URL in a response belongs to the service itself."""
        return url.startswith("/") or origin(self.current_url(url)) == self.origin

    @property
    def ours(self) -> bool:
        """Whether the service is one of the kit's, by the form of its keys."""
        from kit.wire import api_keys

        return api_keys.is_well_formed(self.api_key)

    @property
    def key_hash(self) -> str:
        """A hash of the key for records."""
        return hash_text(self.api_key)

    def records(self, what: str) -> JsonLines:
        """Return the records about the service, e.g. ``prices``; they may not exist yet.

        A profile can be changed to another service, which may use the same ids: records of one must
        never be read as another's. The embedded service, whose port changes, is identified by name.
        """
        name = self.name if self.name.isidentifier() or not self.name else hash_text(self.name)
        file_name = "-".join(filter(None, (name, hash_text(self.base_url))))
        file_name = saved_profiles.EMBEDDED if self._is_embedded else file_name
        return JsonLines(self.data / "notebook" / what / f"{file_name}.jsonl")

    def records_folder(self, what: str) -> Path:
        """Return the folder of the service, e.g. in ``history``; see `records`."""
        service = self.label
        if self.name and not self._is_embedded:
            service = f"{self.name} {self.base_url}"
        return self.data / "notebook" / what / hash_text(service)

    @property
    def _is_embedded(self) -> bool:
        """Whether it is the service that moves; a profile may have the same name."""
        return self.name == saved_profiles.EMBEDDED and self.location is not None

    @property
    def uploads(self) -> Path:
        """The folder of uploaded files that had no path."""
        return self.data / "notebook" / "uploads"

    @property
    def origin(self) -> tuple[str, str, int]:
        """Scheme, host and port that the key belongs to."""
        return origin(self.current_url(self.base_url))

    def current_url(self, url: str) -> str:
        """Return a URL with the current address of the service."""
        return url if self.location is None else self.location.current_url(url)


def hash_text(text: str, letters: int = 16) -> str:
    """Return a hash for any text, as hexadecimal digits, at most 64."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:letters]


def resolve(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    profile: str | None = None,
    data: Path | str | None = None,
    environment: Mapping[str, str] | None = None,
    profiles: Path | None = None,
) -> Settings | None:
    """Return the settings from arguments, environment or a saved profile, in this order.

    None if no service is configured, or the profile is "embedded": the caller uses the embedded
    one. An address without a key, a key without an address, or a profile that does not exist
    raises `ConfigError`.
    """
    env = os.environ if environment is None else environment
    folder = data_folder(data, environment=env)
    progress = env.get("KIT_PROGRESS", "1").lower() not in _OFF_VALUES
    found = _from_arguments(base_url, api_key, env)
    set_here = env.get("KIT_BASE_URL"), env.get("KIT_API_KEY")
    if found is None and profile is None and any(set_here):
        found = _pair(*set_here, "{2} is set, set {1} too")
    name = ""
    if found is None:
        name = profile or env.get("KIT_PROFILE") or "default"
        found = _from_profile(profiles, name, required=bool(profile or env.get("KIT_PROFILE")))
    if found is None:
        return None
    private = env.get("KIT_PRIVATE_MEDIA", "0").lower() not in _OFF_VALUES
    return Settings(*found, data=folder, name=name, progress=progress, private_media=private)


def embedded_settings(
    base_url: str,
    api_key: str,
    *,
    data: Path | str | None = None,
    location: ServiceLocation | None = None,
) -> Settings:
    """Return the settings of the embedded service: its port changes, its journal does not."""
    env = {k: v for k, v in os.environ.items() if k in _SHARED_VARIABLES}
    settings = resolve(base_url, api_key, data=data, environment=env)
    assert settings is not None  # noqa: S101 - both arguments are given
    return replace(settings, name=saved_profiles.EMBEDDED, location=location)


def data_folder(
    data: Path | str | None = None, *, environment: Mapping[str, str] | None = None
) -> Path:
    """Return the folder for journals and outputs: argument, ``KIT_DATA``, or the default."""
    env = os.environ if environment is None else environment
    if given := data or env.get("KIT_DATA"):
        return Path(given).expanduser().absolute()  # independent of the current folder
    return user_folder("data")


def _from_arguments(
    base_url: str | None, api_key: str | None, env: Mapping[str, str]
) -> tuple[str, str] | None:
    if not base_url and not api_key:
        return None
    own = env.get("KIT_BASE_URL")
    # the environment's key belongs to its address, or to any if it has none
    if not api_key and (not own or origin(own) == origin(base_url or "")):
        api_key = env.get("KIT_API_KEY")
    return _pair(base_url or own, api_key, "pass {0} as well, or set {1}")


def _pair(base_url: str | None, api_key: str | None, advice: str) -> tuple[str, str]:
    if not base_url:
        todo = advice.format("base_url", "KIT_BASE_URL", "KIT_API_KEY")
        raise ConfigError(f"there is an API key but no address to use it with: {todo}")
    if not api_key:
        todo = advice.format("api_key", "KIT_API_KEY", "KIT_BASE_URL")
        raise ConfigError(f"there is no API key for the service: {todo}")
    return base_url, api_key


def _from_profile(path: Path | None, name: str, *, required: bool) -> tuple[str, str] | None:
    found = saved_profiles.find(name, path=path)
    if found is None and required and name != saved_profiles.EMBEDDED:
        known = ", ".join(repr(each.name) for each in saved_profiles.list_profiles(path=path))
        raise ConfigError(
            f"there is no saved profile {name!r}; "
            + (f"there is {known}" if known else "kit.login() saves one")
        )
    return found
