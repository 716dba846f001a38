"""Health and metrics for operators: liveness, readiness, counters.

No key is needed: the responses contain routes, models and sums, but no accounts or secrets.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from kit.errors import UnavailableError
from kit.pricing import UNITS_PER_CREDIT
from kit.service.domain import credits, queue, webhooks
from kit.service.http.context import Context, JsonResponse, get_context
from kit.service.http.routing import Router
from kit.service.storage.signing import proof
from kit.service.store.database import Transaction

router = Router(tag="health")
Challenge = Annotated[
    str | None, Field(pattern="^[0-9a-f]{32}$", description="random; answered with `proof`")
]


@router.route("GET", "/healthz")
async def healthz(request: Request, challenge: Challenge = None) -> Response:
    """Answer as long as the process is up, with the name of this run of it.

    A challenge is answered with a proof that only its data folder's owner can check.
    """
    context = get_context(request)
    answer = {"status": "ok", "instance": context.dispatcher.name}
    if challenge:
        host, port = request.scope["server"]
        answer["proof"] = proof(context.secret, f"{host}:{port}", challenge)
    return JsonResponse(answer)


@router.route("GET", "/readyz")
async def readyz(request: Request) -> Response:
    """Answer whether database, storage and workers do: a row and a file are written.

    Requests within a second get the same answer.
    """
    context = get_context(request)
    await context.readiness.probe()
    queued = (await context.readiness.read(queue.count_states()))["queued"]
    workers = context.dispatcher.slots
    return JsonResponse({"status": "ok", "queued": queued, "workers": workers})


@router.route("GET", "/metrics")
async def read_metrics(request: Request) -> Response:
    """Return the service's counts in the Prometheus text format.

    Block it at the proxy if the sums are confidential.
    """
    context = get_context(request)
    await update_metrics(context)
    # In a thread: the first call imports a library.
    text, content_type = await asyncio.to_thread(context.metrics.text)
    return Response(text, 200, {"Content-Type": content_type, "Cache-Control": "no-store"})


async def update_metrics(context: Context) -> None:
    """Update the metrics that are not counted; its cost does not grow with the history.

    If the database is unavailable, its metrics are omitted: old values would hide the outage.
    """
    metrics, before = context.metrics, context.metrics.ledger_read
    metrics.jobs_here.set(context.dispatcher.running)
    metrics.workers.set(context.dispatcher.slots)
    metrics.streams.set(context.dispatcher.watchers.count)
    try:
        jobs, pending, (last, sums) = await context.readiness.read(_count(before, context.clock()))
    except UnavailableError:
        for unknown in metrics.jobs, metrics.queued, metrics.deliveries_pending:
            unknown.clear()
        metrics.database.set(0)
        return
    metrics.database.set(1)
    for state, number in jobs.items():
        metrics.jobs.set(number, state)
    metrics.queued.set(jobs["queued"])
    metrics.deliveries_pending.set(pending)
    if metrics.ledger_read != before:
        return  # a concurrent request has counted the same entries
    metrics.ledger_read = last
    metrics.refunded.inc(by=sums.pop("refund", 0) / UNITS_PER_CREDIT)
    sums.pop("grant", None)
    for kind, amount in sums.items():
        metrics.charged.inc(kind, by=-amount / UNITS_PER_CREDIT)


def _count(
    before: str, now: int
) -> Transaction[tuple[dict[str, int], int, tuple[str, dict[str, int]]]]:
    jobs, pending = (yield from queue.count_states()), (yield from webhooks.count_pending())
    return jobs, pending, (yield from credits.turnover(before, now))
