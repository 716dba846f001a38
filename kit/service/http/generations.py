"""Operations 5, 6 and 7: start, get and list generations; estimates, cancel, deleted outputs."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal
from urllib.parse import urlencode

import orjson
from pydantic import BeforeValidator, Field
from pydantic_core import PydanticKnownError
from starlette.requests import Request
from starlette.responses import Response

from kit import wire
from kit.errors import BadRequestError, ParameterError
from kit.pricing import credits
from kit.service.domain import generations, idempotency, keys, outputs, uploads, webhooks
from kit.service.domain.credits import spendable
from kit.service.domain.generations import STATUSES, StartPlan
from kit.service.domain.idempotency import Answer
from kit.service.domain.keys import Caller
from kit.service.http.context import (
    GENERATIONS,
    Context,
    JsonResponse,
    get_base_url,
    get_caller,
    get_context,
    get_request_label,
    make_response,
    not_modified,
)
from kit.service.http.events import await_change, grant_wait
from kit.service.http.media import receive_uploads
from kit.service.http.models import retirement_headers
from kit.service.http.routing import Router
from kit.service.http.serializers import ADDRESS_SECONDS, GenerationSerializer, serialize_receipt
from kit.service.store import generations as statements
from kit.service.store import ids
from kit.service.store.database import Transaction
from kit.wire.bounds import tag_problems

router = Router("/v1/creative-studio", "generations")
_POLL_SECONDS = "1"
#: Generations that are serialized before other requests get a turn.
_BATCH_ROWS = 50


def _require_date(text: Any) -> Any:
    """Refuse a number, which would be parsed as seconds since 1970."""
    if not re.match(r"\d{4}-\d\d-\d\d", str(text)):
        raise PydanticKnownError("datetime_from_date_parsing", {"error": "a number"})
    return text


Moment = Annotated[datetime, BeforeValidator(_require_date)]
Status = Literal["processing", "completed", "failed", "canceled"]


@router.route("POST", "/generations", status_code=202, response_model=wire.Receipt, repeatable=True)
async def start_generation(request: Request, order: wire.StartGeneration) -> Response:
    """Start a generation; poll `statusUrl` for its result."""
    context, payer = get_context(request), get_caller(request).payer
    label, now, base = get_request_label(request), context.clock(), get_base_url(request)
    # Before the order is checked: a stored response is repeated, whatever has changed since.
    if label and (stored := await context.database.read(idempotency.find_answer(label, now))):
        return make_response(stored)
    plan = await _make_plan(context, order, payer.account_id)

    with context.dispatcher.reserve(plan.model.id) as reservation:

        def work() -> Transaction[Answer]:
            row = yield from generations.start(plan, payer, now, reservation.claim)
            reservation.row = row
            receipt = serialize_receipt(row.id, plan.model, row.millicredits, now, base)
            headers = {
                "Location": receipt["statusUrl"],
                "X-Credits-Charged": f"{credits(row.millicredits):f}",
                "X-Credits-Remaining": f"{credits(row.remaining):f}",
                **retirement_headers(plan.model),
            }
            return Answer(202, orjson.dumps(receipt), headers)

        answer = await context.database.write(lambda: idempotency.run_once(label, work(), now))
    return make_response(answer)


@router.route("POST", "/estimates", response_model=wire.Quote)
async def estimate_generation(request: Request, order: wire.StartGeneration) -> Response:
    """Return the exact price of a start with this body; nothing is charged."""
    context, payer = get_context(request), get_caller(request).payer
    plan = await _make_plan(context, order, payer.account_id)
    available = await context.database.read(spendable(payer, context.clock()))
    found = {"affordable": plan.amount <= available, "balance": credits(available)}
    return JsonResponse(plan.quote.model_copy(update=found).model_dump_json(by_alias=True).encode())


@router.route("GET", "/generations", response_model=list[wire.Generation])
async def list_generations(
    request: Request,
    limit: Annotated[int, Field(ge=1, le=1000)] = 50,
    cursor: Annotated[
        str | None, Field(pattern=ids.pattern("gen"), description="from the Link header")
    ] = None,
    status: Status | None = None,
    asset_type: Annotated[Literal["image", "video"] | None, Field(alias="assetType")] = None,
    model_id: Annotated[str | None, Field(alias="modelId")] = None,
    created_after: Annotated[Moment | None, Field(alias="createdAfter")] = None,
    created_before: Annotated[Moment | None, Field(alias="createdBefore")] = None,
) -> Response:
    """Return the account's generations, newest first; the Link header leads to the next page.

    `tag.<key>=<value>` returns those with a tag, e.g. `tag.campaign=winter`.
    """
    filters = {
        "tag": _tag_filter(request, status, asset_type, model_id),
        "state": status,
        "asset_type": asset_type,
        "model": model_id,
        "after": _first_id(created_after),
        "until": [cursor, _first_id(created_before)],
    }
    last, bodies = await _read_page(request, limit, filters)
    headers = {}
    if last:
        fields = [(k, v) for k, v in request.query_params.multi_items() if k != "cursor"]
        address = f"{get_base_url(request)}{GENERATIONS}?{urlencode([*fields, ('cursor', last)])}"
        headers["Link"] = f'<{address}>; rel="next"'
    return JsonResponse(b"[" + b",".join(bodies) + b"]", headers=headers)


@router.route("GET", "/generations/{generation_id}", response_model=wire.Generation, tagged=True)
async def get_generation(request: Request, generation_id: str) -> Response:
    """Return a generation as it is now, or with `Prefer: wait=30` as soon as it is finished."""
    context, caller = get_context(request), get_caller(request)
    account_id = caller.account_id
    etags, watchers = request.headers.get("if-none-match", ""), context.dispatcher.watchers
    wait = grant_wait(request.headers.get("prefer", ""), watchers, account_id)

    async def read() -> tuple[Any, str]:
        version = generations.get(generation_id, account_id, select=statements.version)
        row = await context.database.read(version)
        return row, _etag(context, caller, row)

    def is_new(state: tuple[Any, str]) -> bool:
        row, tag = state
        return tag not in etags if etags else STATUSES[row.state] != "processing"

    async def check() -> None:
        await context.database.read(keys.check_valid(caller, context.clock()))

    watch = partial(watchers.watch, generation_id, account_id)
    row, tag = await (await_change(watchers, watch, read, is_new, check, wait) if wait else read())
    if etags and (response := not_modified(request, _status_headers(row, tag, wait))):
        return response
    (body,) = context.responses.find(caller, get_base_url(request), [row], context.clock())
    if body is None:
        # Read again: it may have changed, and headers and body must agree.
        row = await context.database.read(generations.get(generation_id, account_id))
        tag = _etag(context, caller, row)
        (body,) = await _serialize(request, [row])
    return JsonResponse(body, headers=_status_headers(row, tag, wait))


@router.route(
    "POST", "/generations/{generation_id}/cancel", response_model=wire.Generation, repeatable=True
)
async def cancel_generation(request: Request, generation_id: str) -> Response:
    """Cancel a generation; it is refunded if rendering had not begun."""
    context, caller = get_context(request), get_caller(request)
    label = get_request_label(request)
    now = context.clock()
    canceled: list[Any] = []

    def work() -> Transaction[Answer]:
        row = yield from generations.cancel(generation_id, caller.payer, now)
        files = yield from uploads.of_generations([row])
        serialize = GenerationSerializer(context, get_base_url(request), files, caller.sign_outs)
        canceled.append(row)
        return Answer(200, orjson.dumps(serialize(row)))

    answer = await context.database.write(lambda: idempotency.run_once(label, work(), now))
    for row in canceled:
        if row.completed_at >= now:  # not canceled by an earlier request
            context.metrics.finished.inc(row.model_id, row.state)
    context.dispatcher.cancel(generation_id)
    return make_response(answer)


@router.route("DELETE", "/generations/{generation_id}/outputs", status_code=204)
async def delete_outputs(request: Request, generation_id: str) -> Response:
    """Delete the files of a finished generation; the generation stays. Repeating it does nothing.

    Its `outputUrl` is null from then on, and `outputsDeletedAt` says when.
    """
    context, payer = get_context(request), get_caller(request).payer
    keys = await context.database.write(outputs.delete(generation_id, payer, context.clock()))
    await outputs.remove_files(context.database, context.storage, keys)
    return Response(status_code=204)


async def _make_plan(context: Context, order: wire.StartGeneration, account_id: str) -> StartPlan:
    """Return the plan of an order that its engine accepts."""
    if order.webhook_url is not None:
        loopback = context.settings.webhook_loopback
        webhooks.check_url(order.webhook_url, "webhookUrl", loopback=loopback)
    if context.storage.direct:
        await receive_uploads(context, order, account_id)
    plan = await context.database.read(generations.plan(context.catalog, order, account_id))
    if problems := await context.catalog.problems(plan.model, plan.engine_order):
        raise ParameterError.fields(problems)
    return plan


def _etag(context: Context, caller: Caller, row: Any) -> str:
    fraction = max(context.dispatcher.progress.get(row.id, 0.0), row.progress)
    # The tag changes before the signed URLs in the body expire, and at a sign-out.
    period = context.clock() // (ADDRESS_SECONDS * 1000 // 2)
    version = f"{row.updated_at}.{row.state}.{fraction:.3f}.{period}.{caller.sign_outs}"
    return f'"{row.id}.{version}"'


def _status_headers(row: Any, tag: str, wait: float) -> dict[str, str]:
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    if STATUSES[row.state] == "processing":
        headers["Retry-After"] = _POLL_SECONDS
    if wait:
        headers["Preference-Applied"] = f"wait={wait:g}"
    return headers


async def _read_page(
    request: Request, limit: int, filters: dict[str, Any]
) -> tuple[str | None, list[bytes]]:
    """Return a page as JSON, and the id of its last generation if there are more."""
    context, caller = get_context(request), get_caller(request)
    account_id = caller.account_id
    now, base = context.clock(), get_base_url(request)
    work = generations.page(account_id, most=limit + 1, whole=False, **filters)
    rows = await context.database.read(work)
    cached = context.responses.find(caller, base, rows[:limit], now)
    bodies = [body for body in cached if body is not None]
    if len(bodies) < len(cached):
        # From the same first row (below the next possible id): newer generations would push the
        # last one off the page. With filters, the last one may still be another one now.
        filters["until"] = [f"{rows[0].id}0"]
        rows = await context.database.read(generations.page(account_id, most=limit + 1, **filters))
        bodies = await _serialize(request, rows[:limit])
    return rows[limit - 1].id if len(rows) > limit else None, bodies


async def _serialize(request: Request, rows: list[Any]) -> list[bytes]:
    """Return generations as JSON; finished ones are cached."""
    context, base, caller = get_context(request), get_base_url(request), get_caller(request)
    bodies: list[bytes] = []
    while batch := rows[len(bodies) : len(bodies) + _BATCH_ROWS]:
        if bodies:
            await asyncio.sleep(0)  # other requests are answered in between
        files = await context.database.read(uploads.of_generations(batch))
        serialize = GenerationSerializer(context, base, files, caller.sign_outs)
        now = context.clock()
        for row in batch:
            body = orjson.dumps(serialize(row))
            context.responses.put(caller, base, row, body, now)
            bodies.append(body)
    return bodies


def _tag_filter(request: Request, *others: str | None) -> str | None:
    """Return the tag filter ``tag.<key>=<value>``, in the format of the store.

    Only times and paging can be combined with it, so that a page is one range scan of an index.
    """
    found = [(k, v) for k, v in request.query_params.multi_items() if k.startswith("tag.")]
    if not found:
        return None
    (name, value), *more = found
    problems = [(name, sentence) for _, sentence in tag_problems({name[4:]: value})]
    if more or any(others):
        sentence = "goes with limit, cursor, createdAfter and createdBefore only"
        problems.append((name, f"{sentence}, and is given once"))
    if problems:
        raise BadRequestError.fields(problems)
    return f"{name[4:]}={value}"


def _first_id(instant: datetime | None) -> str | None:
    if instant is None:
        return None
    aware = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
    return ids.floor("gen", int(aware.timestamp() * 1000))
