"""``kit ledger``: whether the books are right."""

from __future__ import annotations

import typer

from kit.commands.options import Data, DatabaseUrl, Json, settings_of, show_json, transact
from kit.service.domain import credits
from kit.service.http.context import number

app = typer.Typer(help="The ledger: every credit that came and went.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Look after the books."""


@app.command()
def verify(data: Data = None, database: DatabaseUrl = None, as_json: Json = False) -> None:
    """Prove that every balance is the sum of its entries; nothing is repaired."""
    rows = transact(settings_of(data, database), credits.verify())
    found = [
        {"accountId": row.id, "balance": number(row.balance), "ledger": number(row.total)}
        for row in rows
    ]
    if as_json:
        show_json(found)
    elif not found:
        typer.echo("every balance is the sum of its entries")
    for line in [] if as_json else found:
        typer.echo(
            f"{line['accountId']}: balance {line['balance']}, ledger {line['ledger']}", err=True
        )
    if found:
        raise typer.Exit(1)
