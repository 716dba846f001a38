"""``kit credits``: what accounts can spend."""

from __future__ import annotations

from typing import Annotated

import typer

from kit.commands.database import actor, settings_of, transact
from kit.commands.options import Account, Data, DatabaseUrl, Json, amount, group, show_json
from kit.errors import ConfigError
from kit.service.domain import credits
from kit.service.http.context import to_credits
from kit.service.machine import clock

app = group()


@app.command()
def grant(
    account: Account,
    amount_: Annotated[str, typer.Option("--amount", help="Credits to give.")],
    note: Annotated[str, typer.Option(help="Why, for the ledger.")] = "",
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Give an account credits."""
    units = amount(amount_, "--amount")
    if units <= 0:
        raise ConfigError("--amount must be more than 0")
    work = credits.grant(account, units, clock(), note, actor=actor())
    balance = to_credits(transact(settings_of(data, database), work))
    made = {"accountId": account, "granted": to_credits(units), "balance": balance}
    show_json(made) if as_json else typer.echo(f"{account} has {balance} credits")
