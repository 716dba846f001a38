"""``kit credits`` and ``kit ledger``: grants of credits, and verification of the ledger."""

from __future__ import annotations

from typing import Annotated

import typer

from kit.commands.database import actor, check_database, read, settings_of, transact
from kit.commands.options import Account, Data, DatabaseUrl, Json, amount, group, show
from kit.errors import ConfigError
from kit.service.domain import credits
from kit.service.http.context import to_credits
from kit.service.machine import clock

app = group()
ledger = group()


@app.command()
def grant(
    account: Account,
    amount_: Annotated[str, typer.Option("--amount", help="Credits to grant.")],
    note: Annotated[str, typer.Option(help="Note for the ledger.")] = "",
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Grant credits to an account."""
    units = amount(amount_, "--amount")
    if units <= 0:
        raise ConfigError("--amount must be more than 0")
    work = credits.grant(account, units, clock(), note, actor=actor())
    balance = to_credits(transact(settings_of(data, database), work))
    made = {"accountId": account, "granted": to_credits(units), "balance": balance}
    show(as_json, made, f"{account} has {balance} credits")


@ledger.command()
def verify(data: Data = None, database: DatabaseUrl = None, as_json: Json = False) -> None:
    """Verify the database and every balance, charge and refund; nothing is changed."""
    settings = settings_of(data, database)
    check_database(settings)
    found = read(settings, credits.verify())
    if as_json or not found:
        text = "every balance is the sum of its entries, all charges and refunds are correct"
        rows = [
            {"accountId": it.account_id, "subject": it.subject, "problem": it.problem}
            for it in found
        ]
        show(as_json, rows, text)
    for it in [] if as_json else found:
        typer.echo(f"{it.subject}: {it.problem}", err=True)
    if found:
        raise typer.Exit(1)
