"""Operation 1: the account, its credits and its ledger."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from kit import wire
from kit.service.domain import accounts, credits
from kit.service.http.context import base_of, caller_of, context_of, json, moment, number
from kit.service.http.serializers import serialize_entry
from kit.service.store import ids

router = APIRouter(prefix="/v1", tags=["account"])


@router.get("/account", response_model=wire.Account)
async def get_account(request: Request) -> Response:
    """Return the account behind the key."""
    account = await context_of(request).database.read(accounts.get(caller_of(request).account_id))
    return json(
        {
            "id": account.id,
            "name": account.name,
            "email": account.email,
            "createdAt": moment(account.created_at),
            "credits": number(account.balance),
        }
    )


@router.get("/account/credits", response_model=wire.Balance)
async def get_credits(request: Request) -> Response:
    """Return the balance, what is reserved for running generations, and the last 30 days."""
    context = context_of(request)
    figures = await context.database.read(
        credits.balance(caller_of(request).account_id, context.clock())
    )
    return json({name: number(value) for name, value in figures.items()})


@router.get("/usage", response_model=list[wire.Entry])
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
        credits.list_entries(account_id, most=limit + 1, before=cursor)
    )
    page = rows[:limit]
    headers = None
    if len(rows) > limit:
        address = f"{base_of(request)}/v1/usage?limit={limit}&cursor={page[-1].id}"
        headers = {"Link": f'<{address}>; rel="next"'}
    return json([serialize_entry(row) for row in page], headers=headers)
