"""``kit accounts``: the accounts of the service."""

from __future__ import annotations

from typing import Annotated

import typer

from kit.commands.database import actor, read, settings_of, transact
from kit.commands.options import Data, DatabaseUrl, Json, amount, group, show, table
from kit.service.domain import accounts
from kit.service.http.context import format_time, to_credits
from kit.service.http.serializers import serialize_account
from kit.service.machine import clock

app = group()


@app.command()
def create(
    name: Annotated[str, typer.Option(help="Display name.")],
    email: Annotated[str, typer.Option(help="E-mail address.")],
    credits: Annotated[str, typer.Option(help="Initial credits.")] = "0",
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Create an account."""
    work = accounts.create(name, email, amount(credits, "--credits"), clock(), actor=actor())
    row = transact(settings_of(data, database), work, create=True)
    text = f"{row.id}  {row.name} <{row.email}>  {to_credits(row.balance)} credits"
    show(as_json, serialize_account(row), text)


@app.command("list")
def list_accounts(data: Data = None, database: DatabaseUrl = None, as_json: Json = False) -> None:
    """List the accounts."""
    rows = read(settings_of(data, database), accounts.list_accounts())
    lines = [
        (r.id, r.name, r.email, to_credits(r.balance), format_time(r.created_at)) for r in rows
    ]
    text = table(("ID", "NAME", "EMAIL", "CREDITS", "CREATED"), lines)
    show(as_json, [serialize_account(row) for row in rows], text)
