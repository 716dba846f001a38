"""``kit ledger``: whether the books are right."""

from __future__ import annotations

import typer

from kit.commands.database import check_database, read, settings_of
from kit.commands.options import Data, DatabaseUrl, Json, group, show_json
from kit.service.domain import credits

app = group()


@app.command()
def verify(data: Data = None, database: DatabaseUrl = None, as_json: Json = False) -> None:
    """Prove that the file, every balance, charge and refund is right; nothing is repaired."""
    settings = settings_of(data, database)
    check_database(settings)
    found = read(settings, credits.verify())
    if as_json:
        names = {"accountId": "account_id", "subject": "subject", "problem": "problem"}
        show_json([{name: getattr(it, field) for name, field in names.items()} for it in found])
    elif not found:
        typer.echo("every balance is the sum of its entries, every charge and refund is right")
    for it in [] if as_json else found:
        typer.echo(f"{it.subject}: {it.problem}", err=True)
    if found:
        raise typer.Exit(1)
