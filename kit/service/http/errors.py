"""Exceptions as responses: all errors have the same envelope."""

from __future__ import annotations

import errno
import logging
from typing import Any

import orjson
from starlette.responses import Response
from starlette.types import Scope

from kit.errors import ApiError, InternalError, UnavailableError

_log = logging.getLogger("kit.http")

#: Errors of the operating system if nothing can be written: a full disk, an exceeded quota, the
#: limit of a file's size, a read-only folder, a failing disk, missing rights, too many open
#: files.
_STORAGE_ERRNOS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE),
}
#: The status in the log of a request whose client disconnected before the response.
DISCONNECTED_STATUS = 499


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
    _log.error("%s failed", scope["request_id"], exc_info=error)
    return InternalError("the service failed unexpectedly")
