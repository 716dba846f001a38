"""The account's ledger."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from kit import wire
from kit.service.domain import credits
from kit.service.http.context import base_of, caller_of, context_of, json
from kit.service.http.described import entry
from kit.service.store import ids

router = APIRouter(prefix="/v1/usage", tags=["account"])


@router.get("", response_model=list[wire.Entry])
async def list_usage(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
    cursor: Annotated[
        str | None, Query(pattern=ids.pattern("led"), description="from the Link header")
    ] = None,
) -> Response:
    """Return the entries of the ledger, newest first; their sum is the balance, always."""
    account_id = caller_of(request).account_id
    rows = await context_of(request).database.read(
        credits.usage(account_id, most=limit + 1, before=cursor)
    )
    page = rows[:limit]
    headers = None
    if len(rows) > limit:
        address = f"{base_of(request)}/v1/usage?limit={limit}&cursor={page[-1].id}"
        headers = {"Link": f'<{address}>; rel="next"'}
    return json([entry(row) for row in page], headers=headers)
