"""Operations 8 and 9: titles and voice-over scripts."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from kit import wire
from kit.errors import UnavailableError
from kit.service.domain import credits, idempotency, writing
from kit.service.domain.idempotency import Answer
from kit.service.domain.writing import Draft, TitleTakenError
from kit.service.http.context import (
    Context,
    format_time,
    get_caller,
    get_context,
    get_request_label,
    get_slots,
    make_response,
)
from kit.service.http.routing import Router
from kit.service.store.database import Transaction

#: Maximum of attempts to write a text for one order; each failure means that a concurrent one won.
_MAX_ATTEMPTS = 32
#: Texts of an account that are written concurrently; further ones wait, other accounts do not.
_MAX_PER_ACCOUNT = 4

router = Router("/v1/scripts", "scripts")


@router.route("POST", "/title", response_model=wire.Title, repeatable=True)
async def suggest_title(request: Request, order: wire.SuggestTitle) -> Response:
    """Return a video title with a hook angle for a topic; 0.05 credits."""
    context, payer = get_context(request), get_caller(request).payer
    topic = writing.check_topic(order)

    async def work() -> Transaction[Answer]:
        now = context.clock()
        await context.database.read(credits.check(payer, writing.TITLE_PRICE, now))
        known_titles = await context.database.read(writing.recent_titles(payer.account_id, topic))
        title = await context.writer.title(topic, seed=_draw_seed(context), avoid=known_titles)

        def deliver() -> Transaction[Answer]:
            yield from writing.deliver_title(topic, title, payer, now, known=known_titles)
            return Answer(200, title.model_dump_json(by_alias=True).encode())

        return deliver()

    return await _answer_once(request, work)


@router.route("POST", "", status_code=201, response_model=list[wire.Script], repeatable=True)
async def write_scripts(request: Request, order: wire.WriteScripts) -> Response:
    """Return one script per variation, about as long as asked; 0.15 credits each."""
    context, payer = get_context(request), get_caller(request).payer
    brief = writing.check_order(order)

    async def work() -> Transaction[Answer]:
        now = context.clock()
        price = writing.SCRIPT_PRICE * brief.variations
        await context.database.read(credits.check(payer, price, now))
        drafts = await context.writer.scripts(brief, seed=_draw_seed(context))

        def deliver() -> Transaction[Answer]:
            rows = yield from writing.deliver_scripts(brief, drafts, payer, now)
            pairs = zip(rows, drafts, strict=True)
            return Answer(201, orjson.dumps([_serialize_script(*pair) for pair in pairs]))

        return deliver()

    return await _answer_once(request, work)


def _draw_seed(context: Context) -> int:
    fixed = context.settings.writer_seed
    return secrets.randbits(32) if fixed is None else fixed


async def _answer_once(
    request: Request, work: Callable[[], Awaitable[Transaction[Answer]]]
) -> Response:
    """Write a text and deliver it once for an idempotency key; a failure releases the key."""
    context, slots = get_context(request), get_slots(request, "writing", _MAX_PER_ACCOUNT)
    label = get_request_label(request)
    if label:
        mark = idempotency.begin(label, context.clock(), context.dispatcher.name)
        if stored := await context.database.write(mark):
            return make_response(stored)
    try:
        for _ in range(_MAX_ATTEMPTS):
            async with slots:
                delivery = await work()
            with suppress(TitleTakenError):  # a concurrent order received the same title
                transaction = idempotency.run_and_store(label, delivery)
                return make_response(await context.database.write(transaction))
        sentence = "too many orders for the same topic at once; nothing was charged"
        raise UnavailableError(sentence, headers={"Retry-After": "1"})
    except BaseException:
        if label:
            await context.database.write(idempotency.release(label))
        raise


def _serialize_script(row: dict[str, Any], draft: Draft) -> dict[str, Any]:
    return {
        "id": row["id"],
        "title": row["title"],
        "content": row["content"],
        "metrics": {
            "duration": str(round(row["duration_ms"] / 1000)),
            "wordCount": row["word_count"],
        },
        "batchId": row["batch_id"],
        "createdAt": format_time(row["created_at"]),
        "writer": draft.writer,
    }
