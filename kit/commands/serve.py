"""``kit serve``: the service."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from difflib import get_close_matches
from typing import Annotated

import typer

from kit.commands.database import settings_of, transact
from kit.commands.options import Data, DatabaseUrl, LogFormat, LogStyle
from kit.service import logs, server
from kit.service.domain import accounts
from kit.service.settings import describe_settings

_SWITCH_SECONDS = 0.0005


def command(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 for a free one.", min=0, max=65535)] = 8000,
    data: Data = None,
    database: DatabaseUrl = None,
    storage: Annotated[
        str | None, typer.Option(help="Storage URL.", envvar="KIT_STORAGE_URL")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Jobs at a time.", envvar="KIT_WORKERS", min=0)
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Log every request and every step of a job.")
    ] = False,
    log_format: LogFormat = LogStyle.TEXT,
    print_config: Annotated[
        bool, typer.Option("--print-config", help="Print the value of every setting, and exit.")
    ] = False,
) -> None:
    """Run the service."""
    logs.configure(log_format.value, verbose=verbose)
    settings = settings_of(data, database, storage_url=storage, workers=workers)
    described = list(describe_settings(settings))
    known = [line.partition("=")[0] for line in described]
    for name in sorted({one for one in os.environ if one.startswith("KIT_")}.difference(known)):
        for close in get_close_matches(name, known, n=1, cutoff=0.9):
            typer.echo(f"{name} is not a setting; did you mean {close}?", err=True)
    if print_config:
        typer.echo("\n".join(described))
        return
    has_accounts = transact(settings, accounts.list_accounts(), create=True)
    listener = server.bind(host, port)
    url = server.url_of(listener)
    # Clients use this name to call the service.
    settings = replace(settings, allowed_hosts=(*settings.allowed_hosts, host.lower()))
    typer.echo(f"Creative Studio at {url}  (docs: {url}/docs)")
    where = (
        f"workers of {settings.cluster}" if settings.cluster else f"{settings.workers} worker(s)"
    )
    typer.echo(f"Data in {settings.data}, {where}. Ctrl-C stops it.")
    if not has_accounts:
        typer.echo(
            "No account yet: kit accounts create --name NAME --email ADDRESS --credits 100, "
            "then kit keys create --account ID --name NAME --scope creative:generate"
        )
    # The thread that commits must not wait 5 ms, the default, for the one that answers.
    sys.setswitchinterval(_SWITCH_SECONDS)
    server.serve(settings, listener)
