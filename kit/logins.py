"""Login: asks for a service and its key, tries the key, and saves both as a profile."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from getpass import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from kit.client import profiles
from kit.client.addresses import check_address
from kit.client.settings import Settings, data_folder
from kit.errors import ConfigError

if TYPE_CHECKING:
    from kit.studio import Studio
    from kit.widgets.account.signin import SignIn


@overload
def login(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    profile: str = "default",
    data: Path | str | None = None,
    form: Literal[False] = False,
    ask: Callable[[str], str] = input,
    ask_key: Callable[[str], str] = getpass,
) -> Studio: ...
@overload
def login(
    base_url: str | None = None,
    *,
    profile: str = "default",
    data: Path | str | None = None,
    form: Literal[True],
) -> SignIn: ...
def login(
    base_url: str | None = None,
    api_key: str | None = None,
    *,
    profile: str = "default",
    data: Path | str | None = None,
    form: bool = False,
    ask: Callable[[str], str] = input,
    ask_key: Callable[[str], str] = getpass,
) -> Studio | SignIn:
    """Save the address of a service and an API key, and return its studio.

    It asks for missing values; a typed key is hidden and not saved in the notebook. The key is
    tried first, then saved in the system's keyring if the package `keyring` is installed and
    works, else in a file that only its owner can read.

    Parameters
    ----------
    profile : str
        Name of the profile for ``kit.connect(profile=...)``; ``kit.connect()`` uses ``default``. An
        empty name saves nothing.
    form : bool
        Return a login form instead, for pages on which cells cannot ask for input, such as Voilà's;
        after the login, its ``studio`` is set.
    ask, ask_key : callable, optional
        Functions that ask for input; by default below the cell, or in the terminal.

    Raises
    ------
    ConfigError
        Input is impossible here, or a value is malformed.
    InvalidApiKeyError
        The service refused the key; nothing was saved.

    Examples
    --------
    ``studio = kit.login("https://studio.example")`` asks for the key.
    ``login = kit.login(form=True)`` shows a form, and later ``studio = login.studio``
    """
    from kit.studio import Studio

    if form:
        return _login_form(base_url or "", profile, data)
    base_url = check_address(base_url or _ask_for(ask, "Address of the service: ", "an address"))
    api_key = api_key or _ask_for(ask_key, "API key (not shown): ", "an API key")
    settings = Settings(base_url, api_key, data=data_folder(data), name=profile)
    studio = Studio(settings)
    try:
        _ = studio.account
        if profile:
            profiles.save(settings.base_url, api_key, name=profile)
            _copy_journal(replace(settings, name=""), settings)
    except BaseException:
        studio.close()
        raise
    return studio


def logout(profile: str = "default") -> None:
    """Delete a saved profile and its key.

    Examples
    --------
    ``kit.logout()`` deletes the profile ``default``.
    """
    profiles.forget(profile)


def _copy_journal(source: Settings, target: Settings) -> None:
    """Let a new profile reuse what was generated at the same address without it."""
    earlier, path = (settings.records("journal").path for settings in (source, target))
    if earlier.is_file() and not path.exists():
        shutil.copy(earlier, path)


def _login_form(base_url: str, profile: str, data: Path | str | None) -> SignIn:
    from kit.studio.accounts import is_public_page
    from kit.widgets.account.signin import SignIn

    profile = "" if is_public_page() else profile

    def enter(address: str, key: str, name: str) -> Studio:
        if name and is_public_page():
            raise ConfigError("keys cannot be saved here: leave the name empty")
        return login(address, key, profile=name, data=data)

    def describe(studio: Studio) -> str:
        name = studio.client.settings.name
        note = f"saved as {name!r}" if name else "not saved"
        return f"signed in as {studio.account.name or 'an account'}; {note}. studio = login.studio"

    return SignIn(enter, address=base_url, name=profile, describe=describe)


def _ask_for(ask: Callable[[str], str], question: str, what: str) -> str:
    try:
        answer = ask(question).strip()
    except (EOFError, RuntimeError) as error:  # a kernel without input raises the latter
        reason = f" ({error})" if str(error) else ""
        raise ConfigError(
            f"{what} is needed, and there is no way to ask for it here{reason}: "
            "pass it as an argument, or show `kit.login(form=True)` in a notebook"
        ) from None
    if not answer:
        raise ConfigError(f"{what} is needed, and nothing was typed")
    return answer
