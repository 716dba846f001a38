"""Profiles: addresses and keys that a person has saved, under names.

Addresses lie in a file that only its owner can read. A key lies in the system's keyring where the
package `keyring` is installed and works, else beside its address.
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from kit.client.settings import Settings
from kit.errors import ConfigError

_APP = "creative-studio-kit"


class Vault(Protocol):
    """Somewhere that keeps secrets; the package `keyring` is one."""

    def get_password(self, service_name: str, username: str, /) -> str | None:
        """Return a secret, or None."""

    def set_password(self, service_name: str, username: str, password: str, /) -> None:
        """Keep a secret."""

    def delete_password(self, service_name: str, username: str, /) -> None:
        """Forget a secret."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A saved profile, without its key.

    Parameters
    ----------
    in_keyring : bool
        Whether the key lies in the system's keyring.
    """

    name: str
    base_url: str
    in_keyring: bool


def file() -> Path:
    """Return where profiles are saved, whether the file exists or not."""
    from platformdirs import user_config_path

    return user_config_path(_APP) / "profiles.toml"


def save(
    base_url: str,
    api_key: str,
    *,
    name: str = "default",
    path: Path | None = None,
    vault: Vault | None = None,
) -> Profile:
    """Save an address and a key under a name.

    Parameters
    ----------
    path : Path, optional
        Another file than the user's own.
    vault : Vault, optional
        Where the key goes; the system's keyring where it is left out and there is one.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "profiles.toml"
    >>> save("https://studio.test", "cs_test_abc", path=path).name
    'default'
    >>> [profile.base_url for profile in known(path=path)]
    ['https://studio.test']
    """
    path = file() if path is None else path
    address = Settings(base_url, api_key, data=path.parent).base_url
    vault = _keyring(path) if vault is None else vault
    entry: dict[str, Any] = {"base_url": address}
    if vault is not None and _kept(vault, name, api_key):
        entry["keyring"] = True
    else:
        entry["api_key"] = api_key
    _write(path, {**_read(path), name: entry})
    return _profile(name, entry)


def find(
    name: str, *, path: Path | None = None, vault: Vault | None = None
) -> tuple[str, str] | None:
    """Return the address and the key of a profile, or None where there is no such profile.

    Raises
    ------
    ConfigError
        There is one, and half of it is missing.
    """
    path = file() if path is None else path
    entry = _read(path).get(name)
    if entry is None:
        return None
    key = entry.get("api_key")
    if entry.get("keyring"):
        vault = _keyring(path) if vault is None else vault
        key = vault.get_password(_APP, name) if vault is not None else None
        if not key:
            raise ConfigError(
                f"the key of the profile {name!r} is not in the keyring any more, or there is "
                "none: log in once more"
            )
    if not entry.get("base_url") or not key:
        raise ConfigError(f"the saved profile {name!r} lacks its address or its key")
    return entry["base_url"], key


def known(*, path: Path | None = None) -> list[Profile]:
    """Return the saved profiles, without their keys."""
    entries = _read(file() if path is None else path)
    return [_profile(name, entry) for name, entry in entries.items()]


def forget(name: str, *, path: Path | None = None, vault: Vault | None = None) -> None:
    """Remove a profile and its key.

    Raises
    ------
    ConfigError
        There is no such profile.
    """
    path = file() if path is None else path
    entries = _read(path)
    if name not in entries:
        raise ConfigError(f"there is no saved profile {name!r}")
    entry = entries.pop(name)
    if entry.get("keyring"):
        vault = _keyring(path) if vault is None else vault
        if vault is not None:
            try:
                vault.delete_password(_APP, name)
            except Exception as error:  # noqa: BLE001 - backends raise what they like
                sentence = f"the keyring does not let go of the key: {type(error).__name__}"
                raise ConfigError(sentence) from None
    _write(path, entries)


def _keyring(path: Path) -> Vault | None:
    """Return the system's keyring; another file than the user's own has nothing to do with it."""
    if path != file():
        return None
    try:
        keyring: Any = import_module("keyring")  # optional, and without types
        useless = isinstance(keyring.get_keyring(), import_module("keyring.backends.fail").Keyring)
    except ImportError:
        return None
    vault: Vault = keyring
    return None if useless else vault


def _kept(vault: Vault, name: str, key: str) -> bool:
    """Put a key into the keyring and see whether it is there: some backends only pretend."""
    try:
        vault.set_password(_APP, name, key)
        return vault.get_password(_APP, name) == key
    except Exception:  # noqa: BLE001 - locked, no session bus, ...: the file is there instead
        return False


def _profile(name: str, entry: dict[str, Any]) -> Profile:
    return Profile(name, str(entry.get("base_url", "")), bool(entry.get("keyring")))


def _write(path: Path, entries: dict[str, dict[str, Any]]) -> None:
    lines = [
        f"[{json.dumps(title)}]\n"
        + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())
        for title, entry in entries.items()
    ]
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
        opened.write("\n".join(lines))
    part.replace(path)


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        entries = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"the saved profiles cannot be read: {error}") from None
    return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
