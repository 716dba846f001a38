"""``kit keys``: the API keys of accounts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kit.commands.database import actor, read, settings_of, transact
from kit.commands.options import (
    Account,
    Data,
    DatabaseUrl,
    Json,
    amount,
    group,
    instant,
    show,
    table,
)
from kit.service.domain import accounts, keys
from kit.service.domain.credits import remaining_cap
from kit.service.http.context import format_time, to_credits
from kit.service.machine import clock

app = group()


@app.command()
def create(
    account: Account,
    name: Annotated[str, typer.Option(help="Name of the key.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(help="scripts:generate or creative:generate; reading is always allowed."),
    ] = None,
    expires: Annotated[str | None, typer.Option(help="ISO 8601 time at which it expires.")] = None,
    cap: Annotated[str | None, typer.Option(help="Credits that it may spend per month.")] = None,
    test: Annotated[bool, typer.Option("--test", help="Create a cs_test_ key.")] = False,
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Create a key and print it, once."""
    settings = settings_of(data, database)
    request = keys.KeyRequest(
        account_id=account,
        name=name,
        scopes=scope or (),
        expires_at=None if expires is None else instant(expires),
        cap=None if cap is None else amount(cap, "--cap"),
        live=not test,
    )
    created = transact(settings, keys.create(request, settings.secret(), clock(), actor=actor()))
    show(as_json, {"key": created.text, **key_data(created.row)}, created.text)
    if not as_json:
        typer.echo("Keep it: it is not shown again.", err=True)


@app.command("list")
def list_keys(
    account: Annotated[str | None, typer.Option(help="Only keys of this account.")] = None,
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """List the keys, without their secrets."""
    config = settings_of(data, database)
    if account is not None:
        read(config, accounts.get(account))  # an unknown account is an error, not an empty list
    rows = read(config, keys.list_keys(account))
    found = [key_data(row) for row in rows]
    caps = ["" if k["cap"] is None else f"{k['spent']} of {k['cap']}" for k in found]
    lines = [
        (row.id, row.prefix, row.name, row.scopes, cap, keys.state_of(row, clock()))
        for row, cap in zip(rows, caps, strict=True)
    ]
    show(as_json, found, table(("ID", "PREFIX", "NAME", "SCOPES", "CAP", "STATE"), lines))


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(help="Key id, as `kit keys list` shows it.")],
    sign_out: Annotated[
        bool,
        typer.Option(
            "--sign-out",
            help="End all signed addresses of its account, too; "
            "tickets to upload into a bucket end after 15 minutes.",
        ),
    ] = False,
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Revoke a key."""
    order = keys.revoke(key, clock(), sign_out=sign_out, actor=actor())
    row = transact(settings_of(data, database), order)
    ended = f", the signed addresses of {row.account_id} are ended" if sign_out else ""
    show(as_json, key_data(row), f"{row.id} ({row.prefix}…) is revoked{ended}")


def key_data(row: Any) -> dict[str, Any]:
    """Return a key without its secret."""
    return {
        "id": row.id,
        "accountId": row.account_id,
        "name": row.name,
        "prefix": row.prefix,
        "scopes": row.scopes.split(),
        "cap": None if row.cap is None else to_credits(row.cap),
        "spent": None if row.cap is None else to_credits(row.cap - remaining_cap(row, clock())),
        "createdAt": format_time(row.created_at),
        "expiresAt": format_time(row.expires_at),
        "lastUsedAt": format_time(row.last_used_at),
        "revokedAt": format_time(row.revoked_at),
    }
