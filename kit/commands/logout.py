"""``kit logout``: forget a saved service and its key."""

from __future__ import annotations

from typing import Annotated

import typer

from kit.logins import logout


def command(
    profile: Annotated[str, typer.Argument(help="Name that it was saved under.")] = "default",
) -> None:
    """Forget a saved profile and its key."""
    logout(profile)
    typer.echo(f"{profile!r} is forgotten; the key itself works until it is revoked")
