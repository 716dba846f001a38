"""``kit webhooks``: URLs that are notified when generations end."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kit.commands.database import actor, read, settings_of, transact
from kit.commands.options import Account, Data, DatabaseUrl, Json, group, show, table
from kit.service.domain import webhooks
from kit.service.http.webhooks import describe, describe_all
from kit.service.machine import clock
from kit.service.settings import ServiceSettings
from kit.service.store.database import Transaction

app = group()
Webhook = Annotated[str, typer.Argument(help="Webhook id, as `kit webhooks list` shows it.")]


@app.command("list")
def list_webhooks(
    account: Account, data: Data = None, database: DatabaseUrl = None, as_json: Json = False
) -> None:
    """List the webhooks of an account, with their pending and failed messages."""
    found = read(settings_of(data, database), describe_all(account))
    lines = [one | {"state": "disabled" if one["disabledAt"] else "active"} for one in found]
    rows = [[one[name] for name in ("id", "url", "state", "pending", "failed")] for one in lines]
    show(as_json, found, table(("ID", "ADDRESS", "STATE", "PENDING", "FAILED"), rows))


@app.command()
def add(
    url: Annotated[str, typer.Argument(help="https URL to notify.")],
    account: Account,
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Add a URL that is notified when generations end, and print its secret, once."""
    settings = settings_of(data, database)
    webhooks.check_url(url, "url", loopback=settings.webhook_loopback)
    _show_secret(settings, webhooks.create(account, url, clock(), actor=actor()), as_json)


@app.command()
def delete(
    webhook: Webhook, account: Account, data: Data = None, database: DatabaseUrl = None
) -> None:
    """Delete a webhook and its pending messages."""
    transact(settings_of(data, database), webhooks.delete(webhook, account, clock(), actor=actor()))


@app.command()
def resend(
    webhook: Webhook, account: Account, data: Data = None, database: DatabaseUrl = None
) -> None:
    """Send failed messages again."""
    count = transact(settings_of(data, database), webhooks.resend(webhook, account, clock()))
    typer.echo(f"{count} are sent again")


@app.command()
def rotate(
    webhook: Annotated[str, typer.Argument(help="Webhook id, or `requests` for `webhookUrl`.")],
    account: Account,
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """Print a new secret, once; for a day messages are signed with the old one, too."""
    order = webhooks.rotate(webhook, account, clock(), actor=actor())
    _show_secret(settings_of(data, database), order, as_json)


def _show_secret(settings: ServiceSettings, order: Transaction[Any], as_json: bool) -> None:
    webhook = describe(transact(settings, order), {}, settings.secret())
    show(as_json, webhook, f"{webhook['id']} {webhook['secret']}")
