"""Operation 1: the account, and what it can spend."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from kit import wire
from kit.service.domain import accounts, credits
from kit.service.http.context import caller_of, context_of, json, moment, number

router = APIRouter(prefix="/v1/account", tags=["account"])


@router.get("", response_model=wire.Account)
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


@router.get("/credits", response_model=wire.Balance)
async def get_credits(request: Request) -> Response:
    """Return the balance, what is reserved for running generations, and the last 30 days."""
    context = context_of(request)
    figures = await context.database.read(
        credits.balance(caller_of(request).account_id, context.clock())
    )
    return json({name: number(value) for name, value in figures.items()})
