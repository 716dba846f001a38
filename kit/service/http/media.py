"""Files under signed addresses: sent once with a ticket, read with ranges."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.datastructures import Headers
from starlette.responses import FileResponse
from starlette.types import Message, Receive, Scope, Send

from kit.errors import (
    AccessDeniedError,
    BadRequestError,
    ConflictError,
    NotFoundError,
    RangeNotSatisfiableError,
)
from kit.private import make_folder
from kit.service.domain import accounts, uploads
from kit.service.http.context import Context, context_of, json
from kit.service.storage.keys import content_type, owner, upload_key
from kit.service.storage.local import UPLOADS
from kit.service.storage.signing import Grant

router = APIRouter(prefix="/media", tags=["media"])

_RANGE = re.compile(r"(\d{0,18})-(\d{0,18})")
_RANGES = re.compile(
    r"bytes=\s*(?:\d{1,18}-\d{0,18}|-\d{1,18})(?:\s*,\s*(?:\d{1,18}-\d{0,18}|-\d{1,18})){0,9}"
)
Expires = Annotated[int, Query(description="seconds since 1970")]
Signature = Annotated[str, Query(description="over method, path, time, type and length")]


class _KeyConvertor(PathConvertor):
    """A path with line breaks, too, which the framework's takes for another address."""

    regex = r"[\s\S]*"


register_url_convertor("key", _KeyConvertor())


@router.head("/{key:key}", response_class=FileResponse, include_in_schema=False)
@router.get("/{key:key}", response_class=FileResponse)
async def read_file(request: Request, key: str, expires: Expires, signature: Signature) -> Response:
    """Return a file; `Range`, `If-Range` and `HEAD` work."""
    context = context_of(request)
    storage = context.storage
    ended = await context.database.read(accounts.sign_outs(owner(key)))
    grant = Grant("GET", key, expires, sign_outs=ended)
    storage.signer.check(grant, signature, context.clock())
    _check_range(request.headers.get("range", ""))
    path = storage.path(key)
    if not path.is_file():
        raise NotFoundError("the file is gone")
    # What lies under a key never changes, so its name is its version.
    headers = {
        "ETag": f'"{hashlib.sha256(key.encode()).hexdigest()[:32]}"',
        "Cache-Control": "private, max-age=86400, immutable",
        "Access-Control-Allow-Origin": "*",
    }
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return _File(path, headers=headers, media_type=content_type(key))


class _File(FileResponse):
    """A file; where the framework refuses a range without a word, our error does."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file or the parts of it that are asked for."""

        async def checked(message: Message) -> None:
            if message.get("status") == 416:
                whole = Headers(raw=message["headers"])["content-range"]
                length = int(whole.removeprefix("bytes */"))
                raise RangeNotSatisfiableError(
                    f"the range is not in the file, which has {length:,} bytes",
                    headers={"Content-Range": whole},
                )
            await send(message)

        await super().__call__(scope, receive, checked)


def _check_range(asked: str) -> None:
    """Refuse a malformed range here: the framework's answer has no envelope."""
    ends = _RANGE.findall(asked)
    orderly = all(not first or not last or int(first) <= int(last) for first, last in ends)
    if asked and not (orderly and _RANGES.fullmatch(asked)):
        sentence = f"must be like 'bytes=0-99', not {asked[:60]!r}"
        raise BadRequestError.fields([("Range", sentence)])


@router.put("/uploads/{upload_id}", status_code=200)
async def fill_ticket(
    request: Request, upload_id: str, expires: Expires, signature: Signature
) -> Response:
    """Take in the file of a ticket: checked while it arrives, and decoded once it is here."""
    context = context_of(request)
    ended = await context.database.read(accounts.sign_outs(upload_id))
    grant = replace(_announced(request, upload_id, expires), sign_outs=ended)
    context.storage.signer.check(grant, signature, context.clock())
    with _only_one(context.arriving, upload_id):
        row = await context.database.read(uploads.waiting(upload_id, context.clock()))
        path, digest = await _received(request.stream(), context.settings.scratch, row.size_bytes)
        try:
            async with context.inspectors.turn(row.account_id):
                facts = await context.inspectors.inspect(row, path)
                await _filled(context, row, path, digest, facts)
        finally:
            await asyncio.to_thread(path.unlink, missing_ok=True)
    return json({"uploadId": upload_id, "sha256": digest})


@contextmanager
def _only_one(arriving: set[str], upload_id: str) -> Iterator[None]:
    """Take in one file for a ticket at a time, each of which takes room."""
    if upload_id in arriving:
        raise ConflictError("a file for this ticket is just coming in: one PUT at a time")
    arriving.add(upload_id)
    try:
        yield
    finally:
        arriving.discard(upload_id)


def _announced(request: Request, upload_id: str, expires: int) -> Grant:
    """Return what the request says it brings; the signature tells whether it may."""
    length = request.headers.get("content-length", "")
    if not length.isascii() or not length.isdigit():
        raise AccessDeniedError("send the header Content-Length as the ticket has it")
    kind = request.headers.get("content-type", "")
    return Grant("PUT", UPLOADS + upload_id, expires, kind, int(length))


async def _received(body: AsyncIterator[bytes], folder: Path, length: int) -> tuple[Path, str]:
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


async def _filled(
    context: Context, row: Any, path: Path, digest: str, facts: dict[str, Any]
) -> None:
    key = upload_key(row._replace(sha256=digest))
    await context.storage.keep({key: path})
    seconds = facts.get("duration_seconds")
    length = None if seconds is None else round(seconds * 1000)
    filled = uploads.fill(row.id, sha256=digest, duration_ms=length, now=context.clock())
    try:
        await context.database.write(filled)
    except NotFoundError:
        await context.storage.remove(UPLOADS + row.id)
        raise
