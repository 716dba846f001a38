"""Exceptions as answers: one envelope, whatever raised them."""

from __future__ import annotations

import errno
import logging
from collections.abc import Iterable
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from kit.errors import (
    ApiError,
    BadRequestError,
    InternalError,
    MethodNotAllowedError,
    NotFoundError,
    UnavailableError,
)
from kit.service.http.bodies import describe, name_field

_log = logging.getLogger("kit.http")

#: What the operating system says when nothing can be written: a full disk, a quota that is used up,
#: a limit of a file's size, a folder that was made read-only, a disk that fails.
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
#: The status in the log of a request whose client disconnected before it was answered.
DISCONNECTED = 499
#: Status of the framework's own errors -> our class and what it says.
_FRAMEWORK: dict[int, tuple[type[ApiError], str]] = {
    404: (NotFoundError, "there is nothing at this address"),
    405: (MethodNotAllowedError, "this address does not take this method"),
    400: (BadRequestError, "the request is malformed"),
}


def envelope(error: ApiError, request_id: str) -> Response:
    """Return an error as the answer that a client gets.

    Source: API document, "Errors"; contract, "Conventions".
    """
    problem: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.details is not None:
        problem["details"] = error.details
    problem["requestId"] = request_id
    headers = dict(error.headers)
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    body = orjson.dumps({"error": problem})
    return Response(body, error.status, headers, "application/json")


def install_error_handlers(app: FastAPI) -> None:
    """Make an application answer every error with the envelope."""

    @app.exception_handler(ApiError)
    async def _ours(request: Request, error: ApiError) -> Response:
        return envelope(error, request.scope["request_id"])

    @app.exception_handler(OSError)
    async def _system(request: Request, error: OSError) -> Response:
        if error.errno not in _NO_ROOM:
            raise error
        _log.warning("%s cannot be stored: %s", request.scope["request_id"], error)
        ours = UnavailableError("nothing can be stored just now; nothing was charged")
        return envelope(ours, request.scope["request_id"])

    @app.exception_handler(RequestValidationError)
    async def _shape(request: Request, error: RequestValidationError) -> Response:
        # The place begins with where it is: in the query or the path.
        problems = [(name_field(it["loc"][1:]), describe(it)) for it in error.errors()]
        return envelope(BadRequestError.fields(problems), request.scope["request_id"])

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> Response:
        # Raised again by the framework once this is sent: the middleware logs it.
        ours = InternalError("the service failed unexpectedly")
        return envelope(ours, request.scope["request_id"])

    @app.exception_handler(ClientDisconnect)
    async def _gone(request: Request, error: ClientDisconnect) -> Response:
        return Response(status_code=DISCONNECTED)

    @app.exception_handler(HTTPException)
    async def _theirs(request: Request, error: HTTPException) -> Response:
        kind, sentence = _FRAMEWORK.get(error.status_code, (InternalError, "the service failed"))
        headers = error.headers or {}
        ours = kind(sentence, headers={**headers, **_allowed(error, app.routes, request.scope)})
        return envelope(ours, request.scope["request_id"])


def _allowed(error: HTTPException, routes: Iterable[BaseRoute], scope: Scope) -> dict[str, str]:
    """Return the header with an address's methods; the framework names those of one route of it."""
    if error.status_code != 405:
        return {}
    scopes = {method: {**scope, "method": method} for method in METHODS}
    full = (m for m in METHODS if any(it.matches(scopes[m])[0] is Match.FULL for it in routes))
    return {"Allow": ", ".join(full)}
