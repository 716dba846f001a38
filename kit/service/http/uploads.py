"""Operation 4: permission to send a file."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from kit import wire
from kit.service.domain import idempotency, uploads
from kit.service.domain.idempotency import Answer
from kit.service.http.bodies import body_of
from kit.service.http.context import base_of, caller_of, context_of, label_of, to_response
from kit.service.store.database import Transaction

router = APIRouter(prefix="/v1/creative-studio/media-uploads", tags=["uploads"])


@router.post("", status_code=201, response_model=wire.Ticket)
async def request_upload(request: Request) -> Response:
    """Return a ticket: PUT the file to `uploadUrl` with exactly the headers it names."""
    context, caller = context_of(request), caller_of(request)
    order, content = await body_of(request, wire.RequestUpload)
    label, base, now = label_of(request, content), base_of(request), context.clock()

    def work() -> Transaction[Answer]:
        row = yield from uploads.ticket(context.catalog, order, caller.payer, context.settings, now)
        expires = row.expires_at // 1000
        ticket = context.storage.ticket(
            base,
            row.id,
            row.content_type,
            row.size_bytes,
            expires=expires,
            sign_outs=caller.sign_outs,
        )
        return Answer(201, ticket.model_dump_json(by_alias=True).encode())

    return to_response(await context.database.write(idempotency.once(label, work(), now)))
