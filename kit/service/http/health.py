"""Whether the process is up, and whether it can work."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from kit.errors import UnavailableError
from kit.service.domain import queue
from kit.service.http.context import context_of, json

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz(request: Request) -> Response:
    """Answer as long as the process is up, with the name of this run of it."""
    return json({"status": "ok", "instance": context_of(request).dispatcher.name})


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """Answer whether database, storage and workers do."""
    context = context_of(request)
    waiting = await context.database.read(queue.waiting())
    if not await context.storage.ready():
        raise UnavailableError("the storage cannot be written")
    return json({"status": "ok", "queued": waiting, "workers": context.settings.workers})
