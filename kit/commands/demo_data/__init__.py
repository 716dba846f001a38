"""``kit demo-data``: a service with a year of history, to try the analysis on.

Nothing is rendered: the outputs have facts and addresses, but no files. The same seed and the same
last day give the same history, whatever else is installed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from kit.commands.database import transact
from kit.commands.demo_data.story import Event, story
from kit.commands.options import instant
from kit.engines.registry import installed
from kit.errors import ConfigError
from kit.pricing import MILLI
from kit.private import write_private
from kit.service import settings as service_settings
from kit.service.domain import catalog, keys
from kit.service.store import accounts, generations, ids, ledger, tags, writing
from kit.service.store.database import Transaction
from kit.service.store.statements import Step
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
        f'kit.connect(profile="embedded", data={str(folder)!r}) opens it'
    )


def _needs_no_file(model: Model) -> bool:
    """Whether a request can do without files; what takes one at will is asked without."""
    metered = any(unit.medium for unit in model.pricing.units) if model.pricing else True
    return not metered and not any(p.required for p in model.media_parameters)


#: Credits at the beginning, what is bought each time, and the balance below which that happens.
FIRST, MORE, LOW = 1000 * MILLI, 2000 * MILLI, 200 * MILLI
#: Columns of the ledger that not every entry fills.
_OPTIONAL = ("generation_id", "model_id", "key_id", "key_prefix", "tags", "details")
#: What a title costs, and its script.
_TITLE, _SCRIPT = 50, 150
#: Bytes of an output for each pixel, and for each pixel and second.
_IMAGE_BYTES, _VIDEO_BYTES = 0.22, 0.35


def write_history(
    account_id: str, key: Any, events: Iterable[Event], since: int
) -> Transaction[tuple[int, int]]:
    """Write a history and return how many generations it has and the balance it leaves.

    The account got its first credits at `since`; `key` is the row of the key that paid.
    """
    entries = balance = number = 0

    def enter(moment: int, kind: str, amount: int, subject: str, **more: Any) -> Step:
        nonlocal entries, balance
        entries, balance = entries + 1, balance + amount
        paid = {} if kind == "grant" else {"key_id": key.id, "key_prefix": key.prefix}
        return ledger.enter(
            **{**dict.fromkeys(_OPTIONAL), **paid, **more},
            id=_id("led", moment, entries),
            account_id=account_id,
            kind=kind,
            subject=subject,
            amount=amount,
            charged=max(-amount, 0),
            refunded=amount if kind == "refund" else 0,
            created_at=moment,
        )

    yield enter(since, "grant", FIRST, "grt_demo_0", details='{"note": "welcome"}')
    for number, event in enumerate(events, start=1):
        moment, price = event["created_at"], event["millicredits"]
        if balance < LOW + price:
            more = {"details": '{"note": "top-up"}'}
            yield enter(moment, "grant", MORE, f"grt_demo_{number}", **more)
        name = _id("gen", moment, number)
        tagged = _tags(event) if number % 5 else {}
        text = orjson.dumps(tagged).decode() if tagged else None
        own = {"id": name, "account_id": account_id, "key_id": key.id, "tags": text}
        yield generations.add(**event, **own, output=_output(name, event))
        for tag in tagged.items():
            yield tags.add(account_id=account_id, tag="=".join(tag), generation_id=name)
        of = {"generation_id": name, "model_id": event["model_id"], "tags": text}
        yield enter(moment, "generation", -price, name, **of)
        if event["refunded"]:
            why = json.dumps({"reason": event["error"] or "canceled before a worker began"})
            yield enter(moment, "refund", price, name, details=why, **of)
        # What was written beside the pictures: now and then a title, and often its script.
        about = {"account_id": account_id, "topic": "NATURE", "created_at": moment}
        about["title"] = event["prompt"][:200]
        if number % 15 == 0:
            yield enter(moment, "title", -_TITLE, f"title_demo_{number}")
            yield writing.add_title(id=f"title_demo_{number}", **about)
        if number % 15 == 0 and number % 45:
            script = f"script_demo_{number}"
            spoken = {"content": event["prompt"], "word_count": len(event["prompt"].split())}
            yield enter(moment, "script", -_SCRIPT, script)
            yield writing.add_script(
                id=script, batch_id=script, duration_ms=10_000, **about, **spoken
            )
    return number, balance


def _tags(event: Event) -> dict[str, str]:
    """Return what a generation is filed under: a campaign of its season, and a team."""
    month = datetime.fromtimestamp(event["created_at"] / 1000, UTC).month
    campaign = ("winter", "spring", "summer", "autumn")[month % 12 // 3]
    return {"campaign": campaign, "team": "film" if event["asset_type"] == "video" else "print"}


def _id(prefix: str, moment: int, number: int) -> str:
    """Return an id that is the same in every run; eight digits keep a moment's ids in order."""
    return ids.floor(prefix, moment)[:-8] + f"{number:08d}"


def _output(name: str, event: Event) -> str | None:
    """Return the facts of an output whose file was never made, as JSON."""
    if event["state"] != "completed":
        return None
    values, video = orjson.loads(event["parameters"]), event["asset_type"] == "video"
    width, height = extent(values)
    seconds = float(values.get("duration") or 4) if video else None
    size = width * height * (_VIDEO_BYTES * (seconds or 0) if video else _IMAGE_BYTES)
    facts = {
        "key": f"demo/{name}",
        "content_type": "video/mp4" if video else "image/jpeg",
        "width": width,
        "height": height,
        "duration_seconds": seconds,
        "size_bytes": round(size),
        "sha256": hashlib.sha256(name.encode()).hexdigest(),
    }
    return orjson.dumps(facts).decode()


def extent(values: Mapping[str, Any]) -> tuple[int, int]:
    """Return the width and height that settings lead to, in pixels."""
    shape = re.fullmatch(r"(\d+):(\d+)", str(values.get("aspect_ratio"))) or (0, 1, 1)
    across, down = int(shape[1]), int(shape[2])
    lines = re.fullmatch(r"(\d+)p", str(values.get("resolution")))
    size = values.get("size")
    short = int(lines[1]) if lines else size if isinstance(size, int) else 1024
    scale = short / min(across, down)
    return 2 * round(across * scale / 2), 2 * round(down * scale / 2)
