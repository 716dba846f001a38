"""``kit profiles``: the saved services."""

from __future__ import annotations

import typer

from kit.client import profiles
from kit.commands.options import Json, show_json, show_table


def command(as_json: Json = False) -> None:
    """List the saved services, without their keys."""
    rows = [
        (p.name, p.base_url, "keyring" if p.in_keyring else "file")
        for p in profiles.list_profiles()
    ]
    if as_json:
        show_json([dict(zip(("name", "baseUrl", "key"), row, strict=True)) for row in rows])
    elif rows:
        show_table(("NAME", "ADDRESS", "KEY IN"), rows)
    else:
        typer.echo("There are no saved services; `kit login` saves one.")
