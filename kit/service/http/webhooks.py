"""Webhooks of an account: list, create, delete, and rotate the secret.

A generation can have its own webhook: `webhookUrl` in its start.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from kit import wire
from kit.service.domain import webhooks
from kit.service.http.context import JsonResponse, format_time, get_caller, get_context
from kit.service.http.routing import Router
from kit.service.store.database import Transaction

router = Router("/v1/webhooks", "webhooks")


@router.route("GET", "", response_model=list[wire.Webhook])
async def list_webhooks(request: Request) -> Response:
    """Return the account's webhooks, oldest first."""
    found = describe_all(get_caller(request).account_id)
    return JsonResponse(await get_context(request).database.read(found))


@router.route("POST", "", status_code=201, response_model=wire.Webhook)
async def create_webhook(request: Request, body: wire.CreateWebhook) -> Response:
    """Create a webhook, a URL notified of each generation that ends; its `secret` is shown once.

    Messages follow Standard Webhooks 1.0: `generation.completed`, `generation.failed` and
    `generation.canceled` have the generation, without signed URLs. Each is sent at least once,
    always with the same `webhook-id`, and retried for about a day until the answer is 2xx.
    """
    context, payer = get_context(request), get_caller(request).payer
    url = webhooks.check_url(body.url, "url", loopback=context.settings.webhook_loopback)
    work = webhooks.create(payer.account_id, url, context.clock(), actor=payer.actor)
    row = await context.database.write(work)
    return JsonResponse(describe(row, {}, context.secret), status_code=201)


@router.route("GET", "/{webhook_id}", response_model=wire.Webhook)
async def get_webhook(request: Request, webhook_id: str) -> Response:
    """Return a webhook, with its numbers of pending and failed messages."""
    account_id = get_caller(request).account_id

    def work() -> Transaction[dict[str, Any]]:
        row = yield from webhooks.get(webhook_id, account_id)
        return describe(row, (yield from webhooks.count_deliveries(row.id)))

    return JsonResponse(await get_context(request).database.read(work()))


@router.route("DELETE", "/{webhook_id}", status_code=204)
async def delete_webhook(request: Request, webhook_id: str) -> Response:
    """Delete a webhook and its pending messages."""
    context, payer = get_context(request), get_caller(request).payer
    work = webhooks.delete(webhook_id, payer.account_id, context.clock(), actor=payer.actor)
    await context.database.write(work)
    return Response(status_code=204)


@router.route("POST", "/{webhook_id}/rotate", response_model=wire.Webhook)
async def rotate_webhook(request: Request, webhook_id: str) -> Response:
    """Give a webhook a new `secret`, shown once; for a day messages are signed with both.

    With the id `requests` it is the secret for the `webhookUrl` of single generations.
    """
    context, payer = get_context(request), get_caller(request).payer
    work = webhooks.rotate(webhook_id, payer.account_id, context.clock(), actor=payer.actor)
    row = await context.database.write(work)
    return JsonResponse(describe(row, {}, context.secret))


def describe_all(account_id: str) -> Transaction[list[dict[str, Any]]]:
    """Return the webhooks of an account as in responses of the API."""
    found = []
    for row in (yield from webhooks.list_webhooks(account_id)):
        found.append(describe(row, (yield from webhooks.count_deliveries(row.id))))
    return found


def describe(row: Any, counts: dict[str, int], secret: bytes | None = None) -> dict[str, Any]:
    """Return a webhook as in responses; with the service's `secret`, its own secret is included."""
    return {
        "id": row.id,
        "url": row.url,
        "createdAt": format_time(row.created_at),
        "disabledAt": format_time(row.disabled_at),
        "secret": webhooks.secret_of(row, secret) if secret else None,
        "pending": counts.get("pending", 0),
        "failed": counts.get("failed", 0),
    }
