"""Exceptions as responses: all errors have the same envelope."""

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

#: Errors of the operating system if nothing can be written: a full disk, an exceeded quota, the
#: limit of a file's size, a read-only folder, a failing disk, missing rights, too many open
#: files.
_STORAGE_ERRNOS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE),
}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
#: The status in the log of a request whose client disconnected before the response.
DISCONNECTED_STATUS = 499
#: Our error class and message for statuses of the framework's own errors.
_HTTP_ERRORS: dict[int, tuple[type[ApiError], str]] = {
    404: (NotFoundError, "there is nothing at this address"),
    405: (MethodNotAllowedError, "this address does not take this method"),
    400: (BadRequestError, "the request is malformed"),
}


def envelope(error: ApiError, request_id: str) -> Response:
    """Return the response for an error. Source: API document, "Errors"."""
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
    """Return the error that the client gets for an exception; unexpected ones are logged."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, OSError) and error.errno in _STORAGE_ERRNOS:
        _log.warning("%s cannot be stored: %s", scope["request_id"], error)
        return UnavailableError("nothing can be stored now; nothing was charged")
    if isinstance(error, RequestValidationError):
        # The location begins with its kind: query or path.
        problems = [(name_field(it["loc"][1:]), describe(it)) for it in error.errors()]
        return BadRequestError.fields(problems)
    if isinstance(error, HTTPException):
        kind, sentence = _HTTP_ERRORS.get(error.status_code, (InternalError, "the service failed"))
        return kind(sentence, headers={**(error.headers or {}), **_allow_header(error, scope)})
    _log.error("%s failed", scope["request_id"], exc_info=error)
    return InternalError("the service failed unexpectedly")


def _allow_header(error: HTTPException, scope: Scope) -> dict[str, str]:
    """Return the ``Allow`` header of a path; the framework names the methods of one route only."""
    if error.status_code != 405:
        return {}
    routes, scopes = scope["app"].routes, {name: {**scope, "method": name} for name in METHODS}
    full = (m for m in METHODS if any(it.matches(scopes[m])[0] is Match.FULL for it in routes))
    return {"Allow": ", ".join(full)}
