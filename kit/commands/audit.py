"""``kit audit``: the audit log of the service."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
import typer

from kit.commands.database import read, settings_of
from kit.commands.options import Data, DatabaseUrl, Json, show, table
from kit.service.domain import audit
from kit.service.http.context import format_time


def command(
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="Number of entries.")] = 50,
    data: Data = None,
    database: DatabaseUrl = None,
    as_json: Json = False,
) -> None:
    """List created accounts and keys, granted credits, deletions and backups, newest first."""
    found = read(settings_of(data, database), audit.list_acts(most=limit))
    rows = [audit_data(row) for row in found]
    lines = []
    for row in rows:
        details = ", ".join(f"{name} {value}" for name, value in row["details"].items())
        lines.append((row["createdAt"], row["actor"], row["act"], row["subject"], details))
    show(as_json, rows, table(("WHEN", "WHO", "WHAT", "SUBJECT", "DETAILS"), lines))


def audit_data(row: Any) -> dict[str, Any]:
    """Return a row as JSON data."""
    details = orjson.loads(row.details) if row.details else {}
    if isinstance(details.get("expires"), int):
        details["expires"] = format_time(details["expires"])
    return {
        "id": row.id,
        "createdAt": format_time(row.created_at),
        "actor": row.actor,
        "act": row.act,
        "subject": row.subject,
        "details": details,
    }
