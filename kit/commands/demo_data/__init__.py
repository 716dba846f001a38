"""``kit demo-data``: a service with a year of history, to try the analysis on.

Nothing is rendered: the outputs have facts and addresses, but no files. The same seed and the same
last day give the same history, whatever else is installed.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from kit.commands.database import transact
from kit.commands.demo_data.books import write_history
from kit.commands.demo_data.story import story
from kit.commands.options import instant
from kit.engines.registry import installed
from kit.errors import ConfigError
from kit.pricing import MILLI
from kit.private import write_private
from kit.service import settings as service_settings
from kit.service.domain import catalog, keys
from kit.service.store import accounts, ids
from kit.service.store.database import Transaction
from kit.wire import Model

#: Where the embedded service looks for its demo account's key.
_DEMO = "demo.json"
_SCOPES = ("scripts:generate", "creative:generate")


def command(
    folder: Annotated[Path, typer.Argument(help="A new data folder.")],
    generations: Annotated[int, typer.Option(min=1, help="How many generations.")] = 50_000,
    days: Annotated[int, typer.Option(min=1, max=3650, help="Over how many days.")] = 365,
    seed: Annotated[int, typer.Option(help="Another seed, another history.")] = 1,
    until: Annotated[str, typer.Option(help="ISO 8601 time of its end; else today.")] = "",
) -> None:
    """Make a data folder with a demo history; nothing is rendered."""
    config = service_settings.load({}, data=folder.expanduser().absolute())
    if config.embedded and config.database_path.exists():
        raise ConfigError(f"{config.data} has a service already: name a new folder")
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    end = instant(until or midnight.isoformat())
    since = end - round(timedelta(days=days).total_seconds() * 1000)
    ours = (e for e in installed().values() if type(e).__module__.startswith("kit."))
    offered = catalog.load(engine.definition for engine in ours).models.values()
    models = sorted(filter(_needs_no_file, offered), key=lambda model: model.id)

    def work() -> Transaction[tuple[str, str, int, int]]:
        account = ids.floor("acc", since)
        yield accounts.add(id=account, name="Demo", email="demo@localhost", created_at=since)
        wish = keys.KeyRequest(account_id=account, name="demo", scopes=_SCOPES, live=False)
        key = yield from keys.create(wish, config.secret(), since)
        events = story(models, generations, seed=seed, since=since + 1, until=end)
        count, balance = yield from write_history(account, key.row, events, since)
        return account, key.text, count, balance

    account, key, count, balance = transact(config, work())
    write_private(config.data / _DEMO, json.dumps({"accountId": account, "key": key}))
    typer.echo(
        f"{count:,} generations, {balance / MILLI:,.2f} credits left; "
        f"kit.connect(data={str(folder)!r}) opens it"
    )


def _needs_no_file(model: Model) -> bool:
    """Whether a request can do without files; what takes one at will is asked without."""
    metered = any(unit.medium for unit in model.pricing.units) if model.pricing else True
    return not metered and not any(p.required for p in model.media_parameters)
