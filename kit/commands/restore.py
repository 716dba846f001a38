"""``kit restore``: a backup brought back into a new data folder."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kit.commands.backup import report_sentence
from kit.commands.database import actor, settings_of, transact
from kit.commands.options import Json, show_json
from kit.service import backup
from kit.service.domain import audit
from kit.service.machine import clock


def command(
    source: Annotated[Path, typer.Argument(help="What kit backup made.")],
    data: Annotated[Path, typer.Option(help="New folder of the service's data.")],
    as_json: Json = False,
) -> None:
    """Bring a backup back and prove that every balance and every file is right."""
    settings = settings_of(data)
    report = backup.restore(source, settings)
    facts = {"files": report.files}
    transact(settings, audit.record("backup.restored", source.name, actor(), clock(), **facts))
    if as_json:
        show_json(asdict(report))
    else:
        typer.echo(f"{settings.data}: {report_sentence(report)}; balances and files are right")
