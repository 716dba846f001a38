"""``kit login``, ``kit logout`` and ``kit profiles``: saved services and their keys."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kit import logins
from kit.client import profiles
from kit.commands import clean
from kit.commands.options import Data, Json, show, table
from kit.errors import ConfigError


def login(
    base_url: Annotated[
        str | None, typer.Argument(help="Address of the service.", show_default=False)
    ] = None,
    profile: Annotated[str, typer.Option(help="Name of the profile.")] = "default",
    stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the key from standard input.")
    ] = False,
    data: Data = None,
) -> None:
    """Save the address of a service and an API key, which is asked for and not shown."""
    if not profile:
        raise ConfigError("--profile must be a name")
    stdin = stdin or not sys.stdin.isatty()
    key = sys.stdin.readline().strip() if stdin else None
    if stdin and not key:
        raise ConfigError("there is no key on standard input")
    with logins.login(base_url, key, profile=profile, data=data) as studio:
        account = studio.account
    entry = next(saved for saved in profiles.list_profiles() if saved.name == profile)
    where = "the keyring" if entry.in_keyring else str(profiles.file())
    typer.echo(
        f"{clean(account.name or account.id)} at {entry.base_url}: saved as {profile!r} in {where}"
    )


def logout(
    profile: Annotated[str, typer.Argument(help="Name of the profile.")] = "default",
) -> None:
    """Delete a saved profile and its key."""
    logins.logout(profile)
    typer.echo(f"{profile!r} is deleted; the key itself works until it is revoked")


def command(as_json: Json = False) -> None:
    """List the saved profiles, without their keys."""
    rows = [
        (p.name, p.base_url, "keyring" if p.in_keyring else "file")
        for p in profiles.list_profiles()
    ]
    none = "There are no saved profiles; `kit login` saves one."
    text = table(("NAME", "ADDRESS", "KEY IN"), rows) if rows else none
    show(as_json, [dict(zip(("name", "baseUrl", "key"), row, strict=True)) for row in rows], text)
