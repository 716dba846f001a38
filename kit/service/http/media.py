"""Files under signed addresses, read as a whole or in ranges."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.datastructures import Headers
from starlette.responses import FileResponse, RedirectResponse
from starlette.types import Message, Receive, Scope, Send

from kit.errors import (
    BadRequestError,
    NotFoundError,
    RangeNotSatisfiableError,
)
from kit.service.domain import accounts
from kit.service.http.context import Context, get_context
from kit.service.storage.keys import content_type, owner
from kit.service.storage.local import LocalStorage
from kit.service.storage.signing import Grant

router = APIRouter(prefix="/media", tags=["media"])

_RANGE = re.compile(r"(\d{0,18})-(\d{0,18})")
_RANGES = re.compile(
    r"bytes=\s*(?:\d{1,18}-\d{0,18}|-\d{1,18})(?:\s*,\s*(?:\d{1,18}-\d{0,18}|-\d{1,18})){0,9}"
)
_ELSEWHERE: dict[int | str, dict[str, Any]] = {
    307: {"description": "the file is in a bucket: follow `Location`"}
}
Expires = Annotated[int, Query(description="seconds since 1970")]
Signature = Annotated[str, Query(description="over method, path, time, type and length")]


class _KeyConvertor(PathConvertor):
    """A path with line breaks, too, which the framework's takes for another address."""

    regex = r"[\s\S]*"


register_url_convertor("key", _KeyConvertor())


@router.head("/{key:key}", response_class=FileResponse, include_in_schema=False)
@router.get("/{key:key}", response_class=FileResponse, responses=_ELSEWHERE)
async def read_file(request: Request, key: str, expires: Expires, signature: Signature) -> Response:
    """Return a file, or lead to the bucket that has it; `Range`, `If-Range` and `HEAD` work."""
    context = get_context(request)
    ended = await context.database.read(accounts.count_sign_outs(owner(key)))
    grant = Grant("GET", key, expires, sign_outs=ended)
    context.signer.check(grant, signature, context.clock())
    _check_range(request.headers.get("range", ""))
    if elsewhere := context.storage.read_address(request.method, key):
        # Asked anew each time: so the account's sign-out ends it, wherever the file lies.
        headers = {"Cache-Control": "no-store", "Access-Control-Allow-Origin": "*"}
        return RedirectResponse(elsewhere, headers=headers)
    path = local_storage(context).path(key)
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
    return _RangedFile(path, headers=headers, media_type=content_type(key))


def local_storage(context: Context) -> LocalStorage:
    """Return the storage of a service that takes and serves files itself."""
    if not isinstance(context.storage, LocalStorage):
        raise NotFoundError("the files of this service are sent to other addresses")
    return context.storage


class _RangedFile(FileResponse):
    """A file; where the framework refuses a range without a word, our error does."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file or the parts of it that are asked for."""

        async def send_checked(message: Message) -> None:
            if message.get("status") == 416:
                whole = Headers(raw=message["headers"])["content-range"]
                length = int(whole.removeprefix("bytes */"))
                raise RangeNotSatisfiableError(
                    f"the range is not in the file, which has {length:,} bytes",
                    headers={"Content-Range": whole},
                )
            await send(message)

        await super().__call__(scope, receive, send_checked)


def _check_range(asked: str) -> None:
    """Refuse a malformed range here: the framework's answer has no envelope."""
    ends = _RANGE.findall(asked)
    orderly = all(not first or not last or int(first) <= int(last) for first, last in ends)
    if asked and not (orderly and _RANGES.fullmatch(asked)):
        sentence = f"must be like 'bytes=0-99', not {asked[:60]!r}"
        raise BadRequestError.fields([("Range", sentence)])
