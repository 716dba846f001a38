"""Operation 4: permission to send a file; and the file that comes with it."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response

from kit import parameters, wire
from kit.errors import AccessDeniedError, BadRequestError, ConflictError, NotFoundError
from kit.private import make_folder
from kit.service.domain import accounts, generations, idempotency, uploads
from kit.service.domain.idempotency import Answer
from kit.service.http.bodies import read_body
from kit.service.http.context import (
    Context,
    get_base_url,
    get_caller,
    get_context,
    get_request_label,
    json_response,
    make_response,
)
from kit.service.http.media import Expires, Signature, local_storage
from kit.service.storage.keys import UPLOADS, upload_key
from kit.service.storage.signing import Grant
from kit.service.store.database import Transaction

router = APIRouter(tags=["uploads"])


@router.post("/v1/creative-studio/media-uploads", status_code=201, response_model=wire.Ticket)
async def request_upload(request: Request) -> Response:
    """Return a ticket: PUT the file to `uploadUrl` with exactly the headers it names."""
    context, caller = get_context(request), get_caller(request)
    order, content = await read_body(request, wire.RequestUpload)
    label, base, now = get_request_label(request, content), get_base_url(request), context.clock()

    def work() -> Transaction[Answer]:
        row = yield from uploads.issue_ticket(
            context.catalog, order, caller.payer, context.settings, now
        )
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

    return make_response(
        await context.database.write(lambda: idempotency.run_once(label, work(), now))
    )


@router.put("/media/uploads/{upload_id}")
async def fill_ticket(
    request: Request, upload_id: str, expires: Expires, signature: Signature
) -> Response:
    """Receive the file of a ticket: checked while it arrives, and decoded once it is complete."""
    context = get_context(request)
    local_storage(context)
    ended = await context.database.read(accounts.count_sign_outs(upload_id))
    grant = replace(_grant_of(request, upload_id, expires), sign_outs=ended)
    context.signer.check(grant, signature, context.clock())
    with _one_at_a_time(context.arriving, upload_id):
        row = await context.database.read(uploads.get_open_ticket(upload_id, context.clock()))
        path, digest = await _receive(request.stream(), context.settings.scratch, row.size_bytes)
        try:
            async with context.inspectors.lock(row.account_id):
                facts = await context.inspectors.inspect(row, path)
                await _store(context, row, path, digest, facts)
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)
    return json_response({"uploadId": upload_id, "sha256": digest})


async def receive_uploads(context: Context, order: wire.StartGeneration, account_id: str) -> None:
    """Verify and store the files of an order that clients have sent straight to the storage."""
    model, media = context.catalog.models.get(order.model_id), generations.media_of(order)
    if model is None or [*parameters.medium_problems(model, media)]:
        return  # refused with a sentence later
    for name, upload_ids in media.items():
        rows = await context.database.read(uploads.find(upload_ids))
        for row in rows.values():
            if row.account_id == account_id and row.state == "waiting":
                try:
                    await _receive_direct(context, row)
                except BadRequestError as error:
                    await context.storage.discard_received(row.id)
                    problem = f"mediaUploads.{name}", f"{row.id}: {error.message}"
                    raise BadRequestError.fields([problem]) from None


async def _receive_direct(context: Context, row: Any) -> None:
    async with context.inspectors.lock(row.account_id):
        rows = await context.database.read(uploads.find([row.id]))
        if row.id not in rows or rows[row.id].state != "waiting":
            return  # another request was faster
        folder = context.settings.scratch
        path = await context.storage.fetch_received(row.id, row.size_bytes, folder)
        if path is None:
            return
        try:
            with path.open("rb") as file:
                digest = await asyncio.to_thread(hashlib.file_digest, file, "sha256")
            facts = await context.inspectors.inspect(row, path)
            with suppress(ConflictError):  # another process was faster
                await _store(context, row, path, digest.hexdigest(), facts)
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        await context.storage.discard_received(row.id)


@contextmanager
def _one_at_a_time(arriving: set[str], upload_id: str) -> Iterator[None]:
    """Receive one file for a ticket at a time: each takes room on the disk."""
    if upload_id in arriving:
        raise ConflictError("a file for this ticket is just coming in: one PUT at a time")
    arriving.add(upload_id)
    try:
        yield
    finally:
        arriving.discard(upload_id)


def _grant_of(request: Request, upload_id: str, expires: int) -> Grant:
    """Return what the request says that it brings, for the signature to be checked against."""
    length = request.headers.get("content-length", "")
    if not length.isascii() or not length.isdigit():
        raise AccessDeniedError("send the header Content-Length as the ticket has it")
    kind = request.headers.get("content-type", "")
    return Grant("PUT", UPLOADS + upload_id, expires, kind, int(length))


async def _receive(body: AsyncIterator[bytes], folder: Path, length: int) -> tuple[Path, str]:
    """Write a body to a file of its own and return it with its SHA-256."""
    make_folder(folder)
    descriptor, name = tempfile.mkstemp(suffix=".part", dir=folder)
    path, digest, size = Path(name), hashlib.sha256(), 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            async for chunk in body:
                size += len(chunk)
                if size > length:
                    raise AccessDeniedError(
                        f"the file is longer than the {length:,} bytes announced"
                    )
                digest.update(chunk)
                await asyncio.to_thread(file.write, chunk)
        if size != length:
            sentence = f"the file has {size:,} bytes, {length:,} were announced"
            raise BadRequestError.fields([("fileSizeBytes", sentence)])
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return path, digest.hexdigest()


async def _store(
    context: Context, row: Any, path: Path, digest: str, facts: dict[str, Any]
) -> None:
    key = upload_key(row._replace(sha256=digest))
    await context.storage.keep({key: path})
    seconds = facts.get("duration_seconds")
    length = None if seconds is None else round(seconds * 1000)
    filled = uploads.mark_filled(
        row.id,
        sha256=digest,
        duration_ms=length,
        made_by=facts.get("made_by"),
        now=context.clock(),
    )
    try:
        await context.database.write(filled)
    except NotFoundError:
        await context.storage.remove(UPLOADS + row.id)
        raise
