"""Whether the process is up, and whether it can work."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from kit.service.domain import queue
from kit.service.http.context import get_context, json_response
from kit.service.storage.signing import proof

router = APIRouter(tags=["health"])
Challenge = Annotated[
    str | None,
    Query(pattern="^[0-9a-f]{32}$", description="random; answered with `proof`"),
]


@router.get("/healthz")
async def healthz(request: Request, challenge: Challenge = None) -> Response:
    """Answer as long as the process is up, with the name of this run of it.

    A challenge is answered with a proof that only its data folder's owner can check.
    """
    context = get_context(request)
    answer = {"status": "ok", "instance": context.dispatcher.name}
    if challenge:
        host, port = request.scope["server"]
        answer["proof"] = proof(context.secret, f"{host}:{port}", challenge)
    return json_response(answer)


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """Answer whether database, storage and workers do: a row and a file are written.

    However often it is asked, that is done once a second at most.
    """
    context = get_context(request)
    await context.readiness.probe()
    waiting = await context.database.read(queue.count_waiting())
    return json_response({"status": "ok", "queued": waiting, "workers": context.settings.workers})
