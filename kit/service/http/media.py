"""Operation 4: tickets for uploads; the transfer of files, and downloads, whole or in ranges.

All except the request for a ticket use signed URLs.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.types import Message, Receive, Scope, Send

from kit import parameters, wire
from kit.errors import (
    AccessDeniedError,
    BadRequestError,
    ConflictError,
    NotFoundError,
    RangeNotSatisfiableError,
)
from kit.private import make_folder
from kit.service.domain import accounts, generations, idempotency, uploads
from kit.service.domain.idempotency import Answer
from kit.service.http.context import (
    Context,
    JsonResponse,
    get_base_url,
    get_caller,
    get_context,
    get_request_label,
    make_response,
    not_modified,
)
from kit.service.http.routing import Router
from kit.service.storage import make_ticket
from kit.service.storage.keys import UPLOADS, content_type, owner, upload_key
from kit.service.storage.local import LocalStorage
from kit.service.storage.signing import Grant
from kit.service.store.database import Transaction

router = Router()

_RANGE = re.compile(r"(\d{0,18})-(\d{0,18})")
_RANGES = re.compile(
    r"bytes=\s*(?:\d{1,18}-\d{0,18}|-\d{1,18})(?:\s*,\s*(?:\d{1,18}-\d{0,18}|-\d{1,18})){0,9}",
    re.IGNORECASE,
)
Expires = Annotated[int, Field(description="seconds since 1970")]
Signature = Annotated[str, Field(description="over method, path, time, type and length")]


@router.route(
    "POST",
    "/v1/creative-studio/media-uploads",
    status_code=201,
    response_model=wire.Ticket,
    tag="uploads",
    repeatable=True,
)
async def request_upload(request: Request, order: wire.RequestUpload) -> Response:
    """Return a ticket: PUT the file to `uploadUrl` with exactly its `requiredHeaders`."""
    context, caller = get_context(request), get_caller(request)
    label, base, now = get_request_label(request), get_base_url(request), context.clock()

    def work() -> Transaction[Answer]:
        max_bytes = context.settings.account_upload_bytes
        row = yield from uploads.issue_ticket(context.catalog, order, caller.payer, max_bytes, now)
        expires = row.expires_at // 1000
        file = row.id, row.content_type, row.size_bytes
        ticket = make_ticket(
            context.storage, base, *file, expires=expires, sign_outs=caller.sign_outs
        )
        return Answer(201, ticket.model_dump_json(by_alias=True).encode())

    answer = await context.database.write(lambda: idempotency.run_once(label, work(), now))
    return make_response(answer)


@router.route("PUT", "/media/uploads/{upload_id}", tag="uploads")
async def fill_ticket(
    request: Request, upload_id: str, expires: Expires, signature: Signature
) -> Response:
    """Receive the file of a ticket; it is checked and decoded before the answer."""
    context = get_context(request)
    local_storage(context)
    length, kind = (request.headers.get(f"content-{name}", "") for name in ("length", "type"))
    if not length.isascii() or not length.isdigit():
        raise AccessDeniedError("send the header Content-Length as the ticket has it")
    sign_outs = await context.database.read(accounts.count_sign_outs(upload_id))
    grant = Grant("PUT", UPLOADS + upload_id, expires, kind, int(length), sign_outs)
    context.signer.check(grant, signature, context.clock())
    if upload_id in context.receiving:  # each transfer needs disk space
        raise ConflictError("a file for this ticket is being received: one PUT at a time")
    context.receiving.add(upload_id)
    try:
        row = await context.database.read(uploads.get_open_ticket(upload_id, context.clock()))
        path, digest = await _receive(request.stream(), context.settings.scratch, row.size_bytes)
        try:
            async with context.inspectors.lock(row.account_id):
                facts = await context.inspectors.inspect(row, path)
                await _store(context, row, path, digest, facts)
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)
    finally:
        context.receiving.discard(upload_id)
    return JsonResponse({"uploadId": upload_id, "sha256": digest})


async def receive_uploads(context: Context, order: wire.StartGeneration, account_id: str) -> None:
    """Verify and store the files of an order that clients have sent directly to the storage."""
    model, media = context.catalog.models.get(order.model_id), generations.media_of(order)
    if model is None or [*parameters.rejected_media(model, media)]:
        return  # refused later with a message
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
            return  # a concurrent request was faster
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


async def _receive(body: AsyncIterator[bytes], folder: Path, length: int) -> tuple[Path, str]:
    """Write a body to a temporary file; return its path and SHA-256."""
    make_folder(folder)
    descriptor, name = tempfile.mkstemp(suffix=".part", dir=folder)
    path, digest, size = Path(name), hashlib.sha256(), 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            async for chunk in body:
                size += len(chunk)
                if size > length:
                    sentence = f"the file is longer than the {length:,} bytes announced"
                    raise AccessDeniedError(sentence)
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
    transaction = uploads.mark_filled(
        row.id, sha256=digest, duration_ms=length, made_by=facts.get("made_by"), now=context.clock()
    )
    try:
        await context.database.write(transaction)
    except NotFoundError:
        await context.storage.remove(UPLOADS + row.id)
        raise


@router.route("GET", "/media/{key:path}", response_model=None, tag="media", tagged=True)
async def read_file(request: Request, key: str, expires: Expires, signature: Signature) -> Response:
    """Return a file, or redirect to its bucket; `Range`, `If-Range` and `HEAD` work."""
    context = get_context(request)
    sign_outs = await context.database.read(accounts.count_sign_outs(owner(key)))
    grant = Grant("GET", key, expires, sign_outs=sign_outs)
    context.signer.check(grant, signature, context.clock())
    _check_range(request)
    if url := context.storage.read_address(request.method, key):
        # Not cached, so that a sign-out of the account ends it in all storages.
        headers = {"Cache-Control": "no-store", "Access-Control-Allow-Origin": "*"}
        return RedirectResponse(url, headers=headers)
    path = local_storage(context).outputs.path(key)
    try:
        facts = path.stat()
    except OSError:
        raise NotFoundError("the file is gone") from None
    # The file of a key never changes, so the key is its version.
    headers = {
        "ETag": f'"{hashlib.sha256(key.encode()).hexdigest()[:32]}"',
        "Cache-Control": "private, max-age=86400, immutable",
        "Access-Control-Allow-Origin": "*",
    }
    return not_modified(request, headers) or _RangedFile(
        path, headers=headers, media_type=content_type(key), stat_result=facts
    )


def local_storage(context: Context) -> LocalStorage:
    """Return the local storage; raises if clients transfer files directly to a bucket."""
    if not isinstance(context.storage, LocalStorage):
        raise NotFoundError("clients of this service transfer files directly to and from a bucket")
    return context.storage


class _RangedFile(FileResponse):
    """A file response that raises our errors if a range or the file does not exist."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_checked(message: Message) -> None:
            if message.get("status") == 416:
                content_range = Headers(raw=message["headers"])["content-range"]
                length = int(content_range.removeprefix("bytes */"))
                raise RangeNotSatisfiableError(
                    f"the range is not in the file, which has {length:,} bytes",
                    headers={"Content-Range": content_range},
                )
            await send(message)

        try:
            await super().__call__(scope, receive, send_checked)
        except FileNotFoundError:
            raise NotFoundError("the file is gone") from None


def _check_range(request: Request) -> None:
    """Refuse a malformed range here: the framework's response has no error envelope.

    A unit other than bytes is ignored. Source: RFC 9110, section 14.2.
    """
    header = request.headers.get("range", "")
    if header.partition("=")[0].strip().lower() != "bytes":
        request.scope["headers"] = [it for it in request.scope["headers"] if it[0] != b"range"]
        return
    ends = _RANGE.findall(header)
    is_ordered = all(not first or not last or int(first) <= int(last) for first, last in ends)
    if not (is_ordered and _RANGES.fullmatch(header)):
        raise BadRequestError.fields([("Range", f"must be like 'bytes=0-99', not {header[:60]!r}")])
