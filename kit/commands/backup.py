"""``kit backup`` and ``kit restore``: a copy of all data, also while the service runs."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from kit.commands.database import actor, settings_of, transact
from kit.commands.options import Data, DatabaseUrl, Json, show
from kit.errors import UnavailableError
from kit.service import backup
from kit.service.domain import audit
from kit.service.machine import clock


def command(
    target: Annotated[Path, typer.Argument(help="FILE.tar.gz, FILE.tar.zst or a new folder.")],
    data: Data = None,
    database: DatabaseUrl = None,
    skip_missing: Annotated[
        bool, typer.Option("--skip-missing", help="Continue if a stored file is missing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Back up a data folder, with its keys and secrets: keep the copy safe."""
    settings = settings_of(data, database)
    report = backup.backup(settings, target, skip_missing=skip_missing)
    facts = {"files": report.files, "missing": len(report.missing) or None}
    with suppress(UnavailableError):  # a disk that is read-only now needs a backup most
        transact(settings, audit.record("backup.made", target.name, actor(), clock(), **facts))
    show(as_json, asdict(report), f"{target}: {_describe(report)}")


def restore(
    source: Annotated[Path, typer.Argument(help="A backup made by `kit backup`.")],
    data: Annotated[Path, typer.Option(help="New folder of the service's data.")],
    as_json: Json = False,
) -> None:
    """Restore a backup into a new folder and verify every balance and file."""
    settings = settings_of(data)
    report = backup.restore(source, settings)
    facts = {"files": report.files}
    transact(settings, audit.record("backup.restored", source.name, actor(), clock(), **facts))
    text = f"{settings.data}: {_describe(report)}; balances and files verified"
    show(as_json, asdict(report), text)


def _describe(report: backup.Report) -> str:
    parts = [f"{report.files} files, {report.size_bytes:,} bytes"]
    if report.unfinished:
        parts.append(f"{report.unfinished} generations unfinished")
    if report.missing:
        parts.append(f"{len(report.missing)} files were missing: {', '.join(report.missing[:5])}")
    return "; ".join(parts)
