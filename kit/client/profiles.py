"""Profiles: addresses and keys that the user has saved under names.

Addresses are stored in a file that only its owner can read. A key is stored in the system's keyring
if the package `keyring` is installed and works, else in the same file; a keyring that does not
accept keys is logged.
"""

from __future__ import annotations

import json
import logging
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from kit.client.addresses import check_address, check_key
from kit.errors import ConfigError
from kit.private import make_folder, user_folder, write_private

#: The name of the embedded service.
EMBEDDED = "embedded"
_APP = "creative-studio-kit"
_log = logging.getLogger("kit")
#: A store of secrets, with the three functions of the package `keyring`.
Vault: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Profile:
    """A saved profile, without its key, which may be in the system's keyring."""

    name: str
    base_url: str
    in_keyring: bool


def file() -> Path:
    """Return the path of the profiles file, which may not exist yet."""
    return user_folder("config") / "profiles.toml"


def save(
    base_url: str,
    api_key: str,
    *,
    name: str = "default",
    path: Path | None = None,
    vault: Vault | None = None,
) -> Profile:
    """Save an address and a key under a name; the key in the keyring if it works."""
    path = file() if path is None else path
    address = check_address(base_url)
    check_key(api_key)
    if name == EMBEDDED:
        raise ConfigError(f"{EMBEDDED!r} stands for the embedded service: choose another name")
    vault, refusal = _keyring(path) if vault is None else (vault, "")
    entry: dict[str, Any] = {"base_url": address}
    if vault is not None:
        refusal = _store_key(vault, name, api_key)
    if vault is not None and not refusal:
        entry["keyring"] = True
    else:
        entry["api_key"] = api_key
    if refusal:
        _log.warning(
            "the keyring stored no key (%s): the key of %r is in %s, which only you can read",
            refusal,
            name,
            path,
        )
    _write(path, {**_read(path), name: entry})
    return _profile(name, entry)


def find(
    name: str, *, path: Path | None = None, vault: Vault | None = None
) -> tuple[str, str] | None:
    """Return the address and the key of a profile, or None if it does not exist."""
    path = file() if path is None else path
    if (entry := _read(path).get(name)) is None:
        return None
    key = entry.get("api_key")
    if entry.get("keyring"):
        key = _read_key(vault or _keyring(path)[0], name)
    if not entry.get("base_url") or not key:
        raise ConfigError(f"the saved profile {name!r} lacks its address or its key")
    return entry["base_url"], key


def list_profiles(*, path: Path | None = None) -> list[Profile]:
    """Return the saved profiles, without their keys."""
    entries = _read(file() if path is None else path)
    return [_profile(name, entry) for name, entry in entries.items()]


def forget(name: str, *, path: Path | None = None, vault: Vault | None = None) -> None:
    """Remove a profile and its key."""
    path = file() if path is None else path
    entries = _read(path)
    if name not in entries:
        raise ConfigError(f"there is no saved profile {name!r}")
    entry = entries.pop(name)
    if entry.get("keyring"):
        _delete_key(vault or _keyring(path)[0], name)
    _write(path, entries)


def _read_key(vault: Vault | None, name: str) -> str:
    again = f"log in again with kit.login(profile={name!r})"
    if vault is None:
        raise ConfigError(
            f"the key of the profile {name!r} is in a keyring, and none works here: {again}"
        )
    try:
        key: str | None = vault.get_password(_APP, name)
    except Exception as error:  # noqa: BLE001 - backends raise what they like
        raise ConfigError(
            f"the keyring that holds the key of the profile {name!r} cannot be opened "
            f"({type(error).__name__}): unlock it, or {again}"
        ) from None
    if not key:
        raise ConfigError(
            f"the key of the profile {name!r} is not in the keyring any more: {again}"
        )
    return key


def _delete_key(vault: Vault | None, name: str) -> None:
    """Delete a key from the keyring, if both exist."""
    if vault is None:
        _log.warning("the key of %r remains in a keyring that does not work here", name)
        return
    try:
        if vault.get_password(_APP, name) is not None:
            vault.delete_password(_APP, name)
    except Exception as error:  # noqa: BLE001 - backends raise what they like
        raise ConfigError(
            f"the keyring did not delete the key of the profile {name!r} "
            f"({type(error).__name__}): unlock it and log out again"
        ) from None


def _keyring(path: Path) -> tuple[Vault | None, str]:
    """Return the system's keyring, or why the installed one cannot be used.

    It is used with the user's own profiles file only.
    """
    if path != file():
        return None, ""
    try:
        keyring: Any = import_module("keyring")  # optional, and without types
        useless = isinstance(keyring.get_keyring(), import_module("keyring.backends.fail").Keyring)
    except ImportError:
        return None, ""
    except Exception as error:  # noqa: BLE001 - one that is set up wrongly raises what it likes
        return None, type(error).__name__
    return (None, "none works on this system") if useless else (keyring, "")


def _store_key(vault: Vault, name: str, key: str) -> str:
    """Save a key in the keyring; return an error if it fails: some backends only pretend."""
    try:
        vault.set_password(_APP, name, key)
        return "" if vault.get_password(_APP, name) == key else "it kept nothing"
    except Exception as error:  # noqa: BLE001 - locked, no session bus, ...: the file is there
        return type(error).__name__


def _profile(name: str, entry: dict[str, Any]) -> Profile:
    return Profile(name, str(entry.get("base_url", "")), bool(entry.get("keyring")))


def _write(path: Path, entries: dict[str, dict[str, Any]]) -> None:
    lines = [
        f"[{json.dumps(title)}]\n"
        + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items())
        for title, entry in entries.items()
    ]
    make_folder(path.parent)
    write_private(path, "\n".join(lines))


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        entries = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError, RecursionError) as error:
        raise ConfigError(f"the saved profiles cannot be read: {path}: {error}") from None
    return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
