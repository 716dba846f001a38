"""Exceptions as answers: one envelope, whatever raised them."""

from __future__ import annotations

import errno
import logging
from typing import Any

import orjson
from fastapi import Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match
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
#: a limit of a file's size, a folder that was made read-only, a disk that fails, rights that are
#: missing, too many open files.
_UNAVAILABLE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE),
}
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


def explain(error: Exception, scope: Scope) -> ApiError:
    """Return what a client is told of an exception; one that nothing explains is logged."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, OSError) and error.errno in _UNAVAILABLE:
        _log.warning("%s cannot be stored: %s", scope["request_id"], error)
        return UnavailableError("nothing can be stored just now; nothing was charged")
    if isinstance(error, RequestValidationError):
        # The place begins with where it is: in the query or the path.
        problems = [(name_field(it["loc"][1:]), describe(it)) for it in error.errors()]
        return BadRequestError.fields(problems)
    if isinstance(error, HTTPException):
        kind, sentence = _FRAMEWORK.get(error.status_code, (InternalError, "the service failed"))
        return kind(sentence, headers={**(error.headers or {}), **_allowed(error, scope)})
    _log.error("%s failed", scope["request_id"], exc_info=error)
    return InternalError("the service failed unexpectedly")


def _allowed(error: HTTPException, scope: Scope) -> dict[str, str]:
    """Return the header with an address's methods; the framework names those of one route of it."""
    if error.status_code != 405:
        return {}
    routes, scopes = (
        scope["app"].routes,
        {method: {**scope, "method": method} for method in METHODS},
    )
    full = (m for m in METHODS if any(it.matches(scopes[m])[0] is Match.FULL for it in routes))
    return {"Allow": ", ".join(full)}
