"""``kit login``: save a service and its key."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kit.client import profiles
from kit.commands.options import Data
from kit.errors import ConfigError
from kit.logins import login


def command(
    base_url: Annotated[
        str | None, typer.Argument(help="Address of the service.", show_default=False)
    ] = None,
    profile: Annotated[str, typer.Option(help="Name to save it under.")] = "default",
    stdin: Annotated[
        bool, typer.Option("--key-stdin", help="Read the key from standard input.")
    ] = False,
    data: Data = None,
) -> None:
    """Save the address of a service and a key for it; the key is asked for and not shown."""
    key = sys.stdin.readline().strip() if stdin else None
    if stdin and not key:
        raise ConfigError("there is no key on standard input")
    with login(base_url, key, profile=profile, data=data) as studio:
        account = studio.account
    kept = next(saved for saved in profiles.list_profiles() if saved.name == profile)
    where = "the keyring" if kept.in_keyring else str(profiles.file())
    typer.echo(f"{account.name or account.id} at {kept.base_url}: saved as {profile!r} in {where}")
