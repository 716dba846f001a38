"""``kit demo-data``: a service with a year of history, to try the cost analysis with.

Nothing is rendered: outputs have facts and URLs, but no files. The same seed and last day give the
same history, whatever else is installed: growth over the year, quiet weekends, two peaks per day,
a few campaigns, two bad days, and a model that was added late.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import orjson
import typer

from kit import pricing
from kit.commands.database import transact
from kit.commands.options import instant
from kit.engines.registry import list_engines
from kit.errors import ConfigError
from kit.pricing import UNITS_PER_CREDIT
from kit.private import write_private
from kit.service import settings as service_settings
from kit.service.domain import catalog, keys
from kit.service.store import accounts, generations, ids, ledger, tags, writing
from kit.service.store.database import Transaction
from kit.service.store.statements import Step
from kit.wire import Model, Parameter

#: File with the key of the embedded service's demo account.
_DEMO = "demo.json"
_SCOPES = ("scripts:generate", "creative:generate")


def command(
    folder: Annotated[Path, typer.Argument(help="A new data folder.")],
    generations: Annotated[int, typer.Option(min=1, help="Number of generations.")] = 50_000,
    days: Annotated[int, typer.Option(min=1, max=3650, help="Number of days.")] = 365,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 1,
    until: Annotated[str, typer.Option(help="ISO 8601 time of its end; default: today.")] = "",
) -> None:
    """Create a data folder with a demo history; nothing is rendered."""
    config = service_settings.load({}, data=folder.expanduser().absolute())
    if config.embedded and config.database_path.exists():
        raise ConfigError(f"{config.data} has a service already: name a new folder")
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    end = instant(until or midnight.isoformat())
    since = end - round(timedelta(days=days).total_seconds() * 1000)
    if since < 0:
        raise ConfigError(f"--until must be {days} days after 1970 or later, not {until!r}")
    ours = (e for e in list_engines().values() if type(e).__module__.startswith("kit."))
    offered = catalog.load(engine.definition for engine in ours).models.values()
    models = sorted(filter(_needs_no_file, offered), key=lambda model: model.id)

    def work() -> Transaction[tuple[int, int]]:
        account = ids.floor("acc", since)
        yield accounts.add(id=account, name="Demo", email="demo@localhost", created_at=since)
        request = keys.KeyRequest(account_id=account, name="demo", scopes=_SCOPES, live=False)
        key = yield from keys.create(request, config.secret(), since)
        events = generate_events(models, generations, seed=seed, since=since + 1, until=end)
        count, balance = yield from write_history(account, key.row, events, since)
        write_private(config.data / _DEMO, json.dumps({"accountId": account, "key": key.text}))
        return count, balance

    count, balance = transact(config, work(), create=True)
    typer.echo(
        f"{count:,} generations, {balance / UNITS_PER_CREDIT:,.2f} credits left; "
        f'kit.connect(profile="embedded", data={str(folder)!r}) opens it'
    )


def _needs_no_file(model: Model) -> bool:
    """Whether a model needs no input file; optional ones are left out."""
    metered = any(unit.medium for unit in model.pricing.units) if model.pricing else True
    return not metered and not any(p.required for p in model.media_parameters)


#: Initial credits, credits of each purchase, and the balance below which one happens.
INITIAL_CREDITS, PURCHASED_CREDITS, LOW_BALANCE = (
    credits * UNITS_PER_CREDIT for credits in (1000, 2000, 200)
)
#: Optional columns of the ledger.
_OPTIONAL = ("generation_id", "model_id", "key_id", "key_prefix", "tags", "details")
#: Prices of a title and of its script.
_TITLE, _SCRIPT = 50, 150
#: Bytes of an output per pixel, and per pixel and second.
_IMAGE_BYTES, _VIDEO_BYTES = 0.22, 0.35


def write_history(
    account_id: str, key: Any, events: Iterable[Event], since: int
) -> Transaction[tuple[int, int]]:
    """Write a history; return its number of generations and the final balance.

    The account gets its first credits at `since`; `key` is the row of the key that pays.
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

    yield enter(since, "grant", INITIAL_CREDITS, "grt_demo_0", details='{"note": "welcome"}')
    for number, event in enumerate(events, start=1):
        moment, price = event["created_at"], event["millicredits"]
        if balance < LOW_BALANCE + price:
            more = {"details": '{"note": "top-up"}'}
            yield enter(moment, "grant", PURCHASED_CREDITS, f"grt_demo_{number}", **more)
        name = _id("gen", moment, number)
        own_tags = _tags(event) if number % 5 else {}
        text = orjson.dumps(own_tags).decode() if own_tags else None
        own = {"id": name, "account_id": account_id, "key_id": key.id, "tags": text}
        yield generations.add(**event, **own, output=_output(name, event))
        for tag in own_tags.items():
            yield tags.add(account_id=account_id, tag="=".join(tag), generation_id=name)
        of = {"generation_id": name, "model_id": event["model_id"], "tags": text}
        yield enter(moment, "generation", -price, name, **of)
        if event["refunded"]:
            details = json.dumps({"reason": event["error"] or "canceled before a worker began"})
            yield enter(moment, "refund", price, name, details=details, **of)
        # Now and then a title, and often its script.
        facts = {"account_id": account_id, "topic": "NATURE", "created_at": moment}
        facts["title"] = event["prompt"][:200]
        if number % 15 == 0:
            yield enter(moment, "title", -_TITLE, f"title_demo_{number}")
            yield writing.add_title(id=f"title_demo_{number}", **facts)
        if number % 15 == 0 and number % 45:
            script = f"script_demo_{number}"
            spoken = {"content": event["prompt"], "word_count": len(event["prompt"].split())}
            yield enter(moment, "script", -_SCRIPT, script)
            yield writing.add_script(
                id=script, batch_id=script, duration_ms=10_000, **facts, **spoken
            )
    return number, balance


def _tags(event: Event) -> dict[str, str]:
    """Return the tags of a generation: a campaign of its season, and a team."""
    month = datetime.fromtimestamp(event["created_at"] / 1000, UTC).month
    campaign = ("winter", "spring", "summer", "autumn")[month % 12 // 3]
    return {"campaign": campaign, "team": "film" if event["asset_type"] == "video" else "print"}


def _id(prefix: str, moment: int, number: int) -> str:
    """Return an id that is the same in every run; eight digits keep the order within a time."""
    return ids.floor(prefix, moment)[:-8] + f"{number:08d}"


def _output(name: str, event: Event) -> str | None:
    """Return the facts of an output that has no file, as JSON."""
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
    """Return the width and height in pixels for some parameters."""
    shape = re.fullmatch(r"(\d+):(\d+)", str(values.get("aspect_ratio"))) or (0, 1, 1)
    width, height = int(shape[1]), int(shape[2])
    lines = re.fullmatch(r"(\d+)p", str(values.get("resolution")))
    size = values.get("size")
    short = int(lines[1]) if lines else size if isinstance(size, int) else 1024
    scale = short / min(width, height)
    return 2 * round(width * scale / 2), 2 * round(height * scale / 2)


HOUR_MS = 3_600_000
_SUBJECTS = (
    "a lake between mountains",
    "a street in the rain",
    "a desert at noon",
    "a forest in fog",
    "an island from above",
    "a harbor with old boats",
    "a city skyline",
    "a field of flowers",
    "a frozen waterfall",
    "a lighthouse on a cliff",
    "a village under stars",
    "rolling hills",
)
_LIGHTS = ("at dawn", "golden hour", "at night", "overcast", "after a storm", "in winter light")
#: Messages and codes of failures; the last one occurs on bad days.
_FAILURES = (
    ("the render took too long", "timeout"),
    ("the render used too much memory", "out_of_memory"),
    ("the worker was lost three times", "worker_lost"),
)
_QUIET_HOURS, _PEAKS = 0.15, ((11.0, 2.2, 1.0), (16.5, 2.8, 1.2))
_WEEKDAY_WEIGHTS = (1.0, 1.05, 1.1, 1.05, 0.9, 0.45, 0.4)
_FAILED, _FAILED_ON_A_BAD_DAY, _CANCELED = 0.03, 0.3, 0.02


#: A generation in the columns of its row, without id, output and payer.
Event = dict[str, Any]


def generate_events(
    models: Sequence[Model], count: int, *, seed: int, since: int, until: int
) -> Iterator[Event]:
    """Yield the generations of a demo history of models that need no files, oldest first."""
    rng = np.random.default_rng(seed)
    moments, bad = _moments(rng, count, since, until)
    ranks = 1.0 / np.arange(1, len(models) + 1)
    arrivals = np.where(np.arange(len(models)) % 4 == 3, since + (until - since) * 0.55, since)
    prices: dict[tuple[Any, ...], int] = {}
    for moment, is_bad in zip(moments.tolist(), bad.tolist(), strict=True):
        shares = ranks * (arrivals <= moment)
        model = models[int(np.searchsorted(np.cumsum(shares), rng.random() * shares.sum()))]
        drawn = {p.name: _value(rng, p) for p in model.setting_parameters}
        values = {name: value for name, value in drawn.items() if value is not None}
        yield _event(rng, model, values, moment, until, is_bad, _price(model, values, prices))


def _moments(rng: np.random.Generator, count: int, since: int, until: int) -> tuple[Any, Any]:
    """Return the sorted times of orders, and whether each is on a bad day."""
    hours = np.arange(max(1, (until - since) // HOUR_MS))
    days, hour = hours // 24, hours % 24
    day = _QUIET_HOURS + sum(h * np.exp(-(((hour - at) / w) ** 2)) for at, w, h in _PEAKS)
    first = (since // (24 * HOUR_MS) + 3) % 7  # the first day of 1970 was a Thursday
    week = np.asarray(_WEEKDAY_WEIGHTS)[(days + first) % 7]
    growth = 1.0 + 1.2 * hours / len(hours)
    campaigns = np.ones(len(hours))
    for begin in rng.integers(0, max(1, len(hours) - 96), 4):
        campaigns[begin : begin + 96] = 2.0
    weights = day * week * growth * campaigns
    chosen = np.sort(rng.choice(len(hours), count, p=weights / weights.sum()))
    moments = np.sort(since + chosen * HOUR_MS + rng.integers(0, HOUR_MS, count))
    bad_days = rng.choice(int(days[-1]) + 1, min(2, int(days[-1]) + 1), replace=False)
    return moments, np.isin((moments - since) // (24 * HOUR_MS), bad_days)


def _event(
    rng: np.random.Generator,
    model: Model,
    values: Mapping[str, Any],
    created: int,
    until: int,
    is_bad: bool,
    price: int,
) -> Event:
    fate = rng.random()
    failing = _FAILED_ON_A_BAD_DAY if is_bad else _FAILED
    state = (
        "failed" if fate < failing else "canceled" if fate < failing + _CANCELED else "completed"
    )
    was_started = state != "canceled" or rng.random() < 0.5
    wait = int(1000 * rng.exponential(6.0 if is_bad else 1.5)) + 40
    typical = 1.2 if model.asset_type == "image" else 14.0
    took = int(1000 * typical * math.sqrt(1 + price / 40) * rng.lognormal(0.0, 0.45)) + 60
    started = min(created + wait, until - 2)
    completed = min(started + took, until - 1)
    reason = _FAILURES[-1 if is_bad else int(rng.integers(0, 2))] if state == "failed" else None
    prompt = f"{_pick(rng, _SUBJECTS)}, {_pick(rng, _LIGHTS)}" if model.supports_prompt else ""
    seed, refunded = values.get("seed"), state == "failed" or not was_started
    return {
        "state": state,
        "asset_type": model.asset_type,
        "generation_type": f"text-to-{model.asset_type}",
        "model_id": model.id,
        "model_name": model.title,
        "prompt": prompt,
        "parameters": orjson.dumps(values).decode(),
        "media": "{}",
        "seed": seed if isinstance(seed, int) else int(rng.integers(0, 2**31)),
        "millicredits": price,
        "refunded": price if refunded else 0,
        "progress": 1.0 if state == "completed" else 0.0,
        "attempt": 1 if was_started else 0,
        "losses": 0,
        "queue_round": 0,
        "owner": None,
        "lease_until": None,
        "error": reason and reason[0],
        "error_code": reason and reason[1],
        "created_at": created,
        "updated_at": completed,
        "started_at": started if was_started else None,
        "completed_at": completed,
        "outputs_deleted_at": completed if state == "completed" else None,  # there are no files
        "file_metadata": 1,
    }


def _value(rng: np.random.Generator, parameter: Parameter) -> Any:
    """Return a value of a parameter: usually the default."""
    least, most = parameter.minimum, parameter.maximum
    if parameter.name == "seed":
        return int(rng.integers(0, min(int(most or 2**31), 2**31)))
    if parameter.enum and (parameter.default is None or rng.random() < 0.45):
        return _pick(rng, parameter.enum)
    if least is not None and most is not None and rng.random() < 0.25:
        # the lower half of the range: the longest and the largest are rare
        share = 0.5 * int(rng.integers(0, 6)) / 5
        value = least + (most - least) * share
        return round(value) if parameter.type == "integer" else round(value, 2)
    if parameter.type == "string" and parameter.required and parameter.default is None:
        return _pick(rng, _SUBJECTS)
    return parameter.default


def _pick(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.random() * len(choices))]


def _price(model: Model, values: Mapping[str, Any], cache: dict[tuple[Any, ...], int]) -> int:
    rule = pricing.rule_of(model)
    names = [u.parameter for u in rule.units] + [m.parameter for m in rule.multipliers]
    key = (model.id, *(str(values.get(name or "")) for name in names))
    if key not in cache:
        cache[key] = pricing.cost(rule, values)
    return cache[key]
