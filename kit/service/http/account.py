"""Operation 1: the account, its credits and its ledger."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from kit import wire
from kit.service.domain import accounts, credits
from kit.service.http.context import JsonResponse, get_base_url, get_caller, get_context, to_credits
from kit.service.http.routing import Router
from kit.service.http.serializers import serialize_account, serialize_entry
from kit.service.store import ids

router = Router("/v1", "account")


@router.route("GET", "/account", response_model=wire.Account)
async def get_account(request: Request) -> Response:
    """Return the account behind the key."""
    account = await get_context(request).database.read(accounts.get(get_caller(request).account_id))
    return JsonResponse(serialize_account(account))


@router.route("GET", "/account/credits", response_model=wire.Balance)
async def get_credits(request: Request) -> Response:
    """Return the balance, credits reserved for running generations, and sums of 30 days."""
    context = get_context(request)
    work = credits.balance(get_caller(request).account_id, context.clock())
    figures = await context.database.read(work)
    return JsonResponse({name: to_credits(value) for name, value in figures.items()})


@router.route("GET", "/usage", response_model=list[wire.Entry])
async def list_usage(
    request: Request,
    limit: Annotated[int, Field(ge=1, le=1000)] = 50,
    cursor: Annotated[
        str | None, Field(pattern=ids.pattern("led"), description="from the Link header")
    ] = None,
) -> Response:
    """Return the entries of the ledger, newest first; their sum is always the balance."""
    work = credits.list_entries(get_caller(request).account_id, most=limit + 1, before=cursor)
    rows = await get_context(request).database.read(work)
    page = rows[:limit]
    headers = None
    if len(rows) > limit:
        address = f"{get_base_url(request)}/v1/usage?limit={limit}&cursor={page[-1].id}"
        headers = {"Link": f'<{address}>; rel="next"'}
    return JsonResponse([serialize_entry(row) for row in page], headers=headers)
