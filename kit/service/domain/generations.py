"""Generations: planned, started, read and canceled; each step is one transaction.

The row is the order, the queue entry and the result. It is stored together with its charge.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import orjson

from kit import parameters, pricing
from kit.engines.base import Order
from kit.errors import BadRequestError, ConflictError, NotFoundError
from kit.parameters import shorten
from kit.service.domain import credits, queue, webhooks
from kit.service.domain.catalog import Catalog, generation_type
from kit.service.domain.credits import Payer, Reason
from kit.service.store import generations, ids, tags, uploads
from kit.service.store.database import Rows, Transaction, one, require
from kit.service.store.statements import Statement, merge
from kit.wire import CATEGORIES, Model, Quote, StartGeneration

#: Statuses of the API by internal state. Source: contract, "Generations".
STATUSES = {
    "queued": "processing",
    "running": "processing",
    "completed": "completed",
    "failed": "failed",
    "canceled": "canceled",
}
SEED = "seed"
#: Columns that show whether a cached response is still valid.
VERSION = "id, state, updated_at"


@dataclass(frozen=True, slots=True)
class StartPlan:
    """A checked order with its model, parameters and price, and the order for its engine."""

    order: StartGeneration
    model: Model
    parameters: Mapping[str, Any]
    media: Mapping[str, Sequence[str]]
    lengths: pricing.Media
    #: Millicredits.
    amount: int
    engine_order: Order

    @property
    def quote(self) -> Quote:
        """The amount with its terms."""
        return pricing.price(pricing.rule_of(self.model), self.parameters, self.lengths)


def plan(catalog: Catalog, order: StartGeneration, account_id: str) -> Transaction[StartPlan]:
    """Check an order against its model and price it; writes nothing and asks no engine."""
    model = catalog.get(order.model_id)
    media = media_of(order)
    values = parameters.check(model, prompt=order.prompt, parameters=order.parameters, media=media)
    files = yield from _files(media, account_id)
    _check_files(model, files)
    prompt = (order.prompt or "").strip()
    counts = {name: len(group) for name, group in media.items() if group}
    # Images have no length; engines get the length in seconds of audio and video.
    lengths = {
        name: [pricing.Medium(row.kind, Fraction(row.duration_ms or 0, 1000)) for row in rows]
        for name, rows in files.items()
    }
    seconds = {
        name: found
        for name, media_of_name in lengths.items()
        if (found := [float(medium.seconds) for medium in media_of_name if medium.seconds])
    }
    engine_order = Order(prompt=prompt, parameters=dict(values), media=counts, seconds=seconds)
    amount = pricing.cost(pricing.rule_of(model), values, lengths)
    return StartPlan(order, model, values, media, lengths, amount, engine_order)


def media_of(order: StartGeneration) -> dict[str, list[str]]:
    """Return the ids of the uploads that an order uses, by media parameter."""
    return {
        name: [found] if isinstance(found, str) else list(found)
        for name, found in order.media_uploads.items()
    }


def start(
    plan: StartPlan, payer: Payer, now: int, claim: queue.Claim | None = None
) -> Transaction[Any]:
    """Charge for a planned order, queue it and return its row, with the `remaining` balance.

    With the claim of an idle worker, the generation starts on that worker immediately.
    """
    generation_id = ids.new("gen", now)
    order, model, amount = plan.order, plan.model, plan.amount
    tags_json = orjson.dumps(order.tags).decode() if order.tags else None
    # Uploads before the account, in the order of the sweeper, so that they cannot deadlock.
    for upload_id in sorted({upload for group in plan.media.values() for upload in group}):
        if (yield from one(uploads.use(id=upload_id, now=now))) is None:
            raise NotFoundError(f"the upload {shorten(upload_id)} was removed; send the file again")
    reason = Reason(
        kind="generation",
        subject=generation_id,
        generation_id=generation_id,
        model_id=model.id,
        tags=tags_json,
    )
    remaining = yield from credits.charge(payer, amount, reason, now)
    values = dict(plan.parameters)
    seed = values.get(SEED)
    if not isinstance(seed, int):
        seed = secrets.randbits(32)
        if any(p.name == SEED for p in model.setting_parameters):
            values[SEED] = seed
    row = {
        "id": generation_id,
        "account_id": payer.account_id,
        "key_id": payer.key_id or "",
        "state": "queued",
        "asset_type": model.asset_type,
        "generation_type": generation_type(model, plan.media),
        "model_id": model.id,
        "model_name": model.title,
        "prompt": plan.engine_order.prompt,
        "parameters": orjson.dumps(values).decode(),
        "media": orjson.dumps(plan.media).decode(),
        "seed": seed,
        "millicredits": amount,
        "refunded": 0,
        "progress": 0.0,
        "attempt": 0,
        "losses": 0,
        "queue_round": 0 if claim else (yield from queue.next_round(payer.account_id)),
        "created_at": now,
        "updated_at": now,
        "tags": tags_json,
        "file_metadata": int(order.file_metadata),
    }
    if claim:  # the same columns as for the first attempt of a claimed row
        row |= {"state": "running", "attempt": 1, "owner": claim.worker}
        row |= {"lease_until": claim.lease, "started_at": now}
    row = {**_EMPTY_COLUMNS, **row}
    yield generations.add(**row)
    if order.webhook_url:
        yield from webhooks.add_request(generation_id, payer.account_id, order.webhook_url, now)
    for key, value in order.tags.items():
        yield tags.add(
            account_id=payer.account_id, tag=f"{key}={value}", generation_id=generation_id
        )
    return SimpleNamespace(**row, remaining=remaining)


def get(
    generation_id: str, account_id: str, *, select: Statement = generations.find
) -> Transaction[Any]:
    """Return the row of a generation, or of another statement; raises if the account has none."""
    step = select(id=generation_id, account_id=account_id)
    return (yield from require(step, "generation", generation_id))


def page(
    account_id: str,
    *,
    most: int,
    whole: bool = True,
    after: str | None = None,
    until: Iterable[str | None] = (),
    state: str | None = None,
    asset_type: str | None = None,
    model: str | None = None,
    tag: str | None = None,
) -> Transaction[Rows]:
    """Return an account's generations, newest first.

    Ids are between `after`, inclusive, and the smallest of `until`. Filters are status, asset type
    and model, or a tag as ``key=value``, which cannot be combined with the others. With `whole`
    false, rows contain only id, state and time of change.
    """
    runs: list[dict[str, str]] = [{}]
    values: dict[str, Any] = {"account_id": account_id, "after": after or ids.floor("gen", 0)}
    values["until"] = min((bound for bound in until if bound), default=ids.ceiling("gen"))
    if tag:
        return (yield tags.page(tag=tag, most=most, **values))
    run, columns = "run", "*" if whole else VERSION
    if state or asset_type or model:
        run += "_of_model" if model else "_of_state"
        values |= {"model_id": model} if model else {}
        states = [internal for internal, public in STATUSES.items() if state in (None, public)]
        types = [asset_type] if asset_type else CATEGORIES
        runs = [{"state": name, "asset_type": kind} for name in states for kind in types]
    return (yield merge(getattr(generations, run), runs, columns, most=most, **values))


def cancel(generation_id: str, payer: Payer, now: int) -> Transaction[Any]:
    """Cancel a generation and return its row: refunded in full if not begun, else not at all."""
    canceled = None
    while canceled is None:  # retry: a worker may change the row meanwhile
        row = yield from get(generation_id, payer.account_id)
        if row.state == "canceled":
            return row
        if STATUSES[row.state] != "processing":
            raise ConflictError(f"the generation is {row.state} and cannot be canceled any more")
        refunded = row.millicredits if row.state == "queued" and row.attempt == 0 else 0
        # Never before the last change, in case clocks differ.
        at = max(now, row.updated_at)
        change = generations.cancel(
            id=row.id, account_id=row.account_id, seen=row.state, refunded=refunded, now=at
        )
        canceled = yield from one(change)
    if refunded:
        yield from credits.refund(canceled, "canceled before a worker began", now)
    yield from webhooks.announce(canceled, now)
    return canceled


#: Columns that are empty in a new row.
_EMPTY_COLUMNS = {
    **dict.fromkeys(("owner", "lease_until", "error", "error_code", "output")),
    **dict.fromkeys(("started_at", "completed_at", "outputs_deleted_at")),
}


def _files(
    media: Mapping[str, Sequence[str]], account_id: str
) -> Transaction[dict[str, list[Any]]]:
    files: dict[str, list[Any]] = {}
    for name, upload_ids in media.items():
        files[name] = []
        for upload_id in upload_ids:
            row = yield from one(uploads.find(id=upload_id))
            if row is None or row.account_id != account_id:
                raise NotFoundError(f"mediaUploads.{name}: there is no upload {shorten(upload_id)}")
            files[name].append(row)
    return files


def _check_files(model: Model, files: Mapping[str, Sequence[Any]]) -> None:
    kinds = {p.name: p.type for p in model.media_parameters}
    problems = []
    for name, row in ((name, row) for name, rows in files.items() for row in rows):
        sentence = ""
        if row.model_id != model.id:
            sentence = f"{row.id} was uploaded for the model {row.model_id!r}"
        elif row.kind != kinds[name]:
            sentence = f"{row.id} is of the kind {row.kind}, {kinds[name]} is wanted"
        elif row.state != "filled":
            sentence = f"{row.id} has not received its file yet"
        if sentence:
            problems.append((f"mediaUploads.{name}", sentence))
    if problems:
        raise BadRequestError.fields(problems)
