"""The ASGI application of all operations: request ids, and below /v1 API key, rate limits, scopes.

It is one layer: framework middleware and dependencies take three times as long for the same. All
exceptions of the handlers become error envelopes.
"""

from __future__ import annotations

import errno
import logging
import re
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import Any
from urllib.parse import quote

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from kit.errors import (
    ApiError,
    InsufficientScopeError,
    InternalError,
    MissingApiKeyError,
    RateLimitError,
    UnavailableError,
)
from kit.service.domain import keys
from kit.service.domain.keys import Caller
from kit.service.http.context import GENERATIONS, Context, get_context
from kit.service.http.rate_limits import Verdict
from kit.service.http.routing import METHODS, RouteTable
from kit.service.store import ids

_log = logging.getLogger("kit.http")

#: The scope that all operations below a path prefix need; the first matching prefix counts.
SCOPES = (
    ("/v1/creative-studio/media-uploads", "creative:generate"),
    (GENERATIONS, "creative:generate"),
    ("/v1/webhooks", "creative:generate"),
    ("/v1/scripts", "scripts:generate"),
    ("/v1/", "read"),
)
#: Scope entry with the server's function that writes a response in one piece.
WRITE_WHOLE = "kit.whole"
#: Minimum time in milliseconds between two updates of a key's last use.
_TOUCH_MS = 60_000
#: Maximum bytes of a response that is sent in one piece.
_SHORT_BYTES = 262_144
#: Maximum of cached callers.
_MAX_CALLERS = 1000
#: Errors of the operating system if nothing can be written: a full disk, an exceeded quota, the
#: limit of a file's size, a read-only folder, a failing disk, missing rights, too many open
#: files.
_STORAGE_ERRNOS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO),
    *(errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE),
}
#: The status in the log of a request whose client disconnected before the response.
DISCONNECTED_STATUS = 499


class RequestHandler:
    """Answers HTTP requests with the operations of a table."""

    def __init__(self, routes: RouteTable) -> None:
        self._routes = routes
        self._touched_at: dict[str, int] = {}
        #: Callers that were looked up since the last change of the database.
        self._callers: dict[str, Caller] = {}
        self._version: object = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        request, path = Request(scope, receive), path_below_mount(scope)
        client_id = request.headers.get("x-request-id", "")
        scope["request_id"] = client_id if _REQUEST_ID.fullmatch(client_id) else new_request_id()
        # Removed from the scope: it refers to the server's request, which refers to the scope.
        response = _ResponseStart(scope["request_id"], send, scope.pop(WRITE_WHOLE, None))
        started = time.perf_counter()
        try:
            if path.startswith("/v1/"):
                await self._authorize(request, path, response)
            operation, arguments = self._routes.find(request.method, path)
            scope["route"] = operation
            answer = await operation.call(request, arguments)
            await answer(scope, receive, response.send)
        except ClientDisconnect:
            response.status = DISCONNECTED_STATUS
        except Exception as error:  # noqa: BLE001 - becomes a response
            await response.fail(explain(error, scope), scope, receive)
        finally:
            if slot := scope.get("slot"):  # the client has the response, or has left
                slot.release()
            seconds = time.perf_counter() - started
            # Labeled with the route's template, so that ids and unknown paths add no new series.
            route = getattr(scope.get("route"), "path", "none")
            method = scope["method"] if scope["method"] in METHODS else "other"
            metrics = scope["app"].state.context.metrics
            metrics.requests.inc(method, route, str(response.status))
            metrics.request_seconds.observe(seconds, method, route)
            if _log.isEnabledFor(logging.INFO):
                _log_request(scope, response.status, seconds)

    async def _authorize(self, request: Request, path: str, response: _ResponseStart) -> None:
        context, authorization = get_context(request), request.headers.get("authorization", "")
        caller = request.scope["caller"] = await self._caller(context, authorization)
        response.verdict = await _check_rate(context, caller, request.method, path)
        needed = needed_scope(path)
        if needed not in caller.scopes:
            raise InsufficientScopeError(f"this key lacks the scope {needed!r}")

    async def _caller(self, context: Context, authorization: str) -> Caller:
        kind, _, text = authorization.partition(" ")
        if kind.lower() != "bearer" or not text.strip():
            raise MissingApiKeyError("send the header 'Authorization: Bearer <API key>'")
        now = context.clock()
        version = context.database.version()
        if version != self._version or len(self._callers) > _MAX_CALLERS:
            self._callers.clear()
            self._version = version
        caller = self._callers.get(text := text.strip())
        if caller is None or (caller.expires_at is not None and caller.expires_at <= now):
            caller = await context.database.read(keys.find_caller(text, context.secret, now))
            self._callers[text] = caller
        key_id = caller.payer.key_id or ""
        if now - self._touched_at.get(key_id, 0) >= _TOUCH_MS:
            self._touched_at[key_id] = now
            with suppress(UnavailableError):  # reading works on a full disk, too
                await context.database.write(keys.note_use(key_id, now), durable=False)
        return caller


class _ResponseStart:
    """Adds the common headers to a response and stores its status.

    The head waits for the body: a complete response is sent in one piece, if the server can, and an
    error in between is a response of its own.
    """

    def __init__(self, request_id: str, send: Send, write: Callable[..., bool] | None) -> None:
        self.status = 0
        self.verdict: Verdict | None = None
        self._request_id = request_id
        self._send = send
        self._write = write
        self._head: Message | None = None

    async def send(self, message: Message) -> None:
        """Send a message."""
        if message["type"] == "http.response.start":
            self._head = message
            return
        if head := self._head:
            self._head, self.status, headers = None, head["status"], head["headers"]
            headers += [(b"x-request-id", self._request_id.encode()), _NO_SNIFFING]
            # The error of a refused request has these headers already.
            if self.verdict:
                rate_headers = self.verdict.headers().items()
                headers += [(name.lower().encode(), value.encode()) for name, value in rate_headers]
            body, is_whole = message.get("body", b""), not message.get("more_body", False)
            is_short = is_whole and len(body) <= _SHORT_BYTES
            if is_short and self._write is not None and self._write(self.status, headers, body):
                return
            await self._send(head)
            if is_whole and not is_short:
                await self._send({**message, "more_body": True})
                message = {"type": message["type"]}  # the server waits until the client has read
        await self._send(message)

    async def fail(self, error: ApiError, scope: Scope, receive: Receive) -> None:
        """Send an error, unless a response has begun."""
        if self.status == 0:
            await envelope(error, self._request_id)(scope, receive, self.send)


def envelope(error: ApiError, request_id: str) -> Response:
    """Return the response for an error. Source: API document, "Errors"."""
    problem: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.details is not None:
        problem["details"] = error.details
    problem["requestId"] = request_id
    headers = dict(error.headers)
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(orjson.dumps({"error": problem}), error.status, headers, "application/json")


def explain(error: Exception, scope: Scope) -> ApiError:
    """Return the error that the client gets for an exception; unexpected ones are logged."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, OSError) and error.errno in _STORAGE_ERRNOS:
        _log.warning("%s cannot be stored: %s", scope["request_id"], error)
        return UnavailableError("nothing can be stored now; nothing was charged")
    _log.error("%s failed", scope["request_id"], exc_info=error)
    return InternalError("the service failed unexpectedly")


def path_below_mount(scope: Scope) -> str:
    """Return a request's path below the prefix at which the service is mounted."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


def needed_scope(path: str) -> str:
    """Return the scope that a path needs. Source: API document, "Authentication"."""
    return next(scope for prefix, scope in SCOPES if path.startswith(prefix))


async def _check_rate(context: Context, caller: Caller, method: str, path: str) -> Verdict:
    key_id = caller.payer.key_id or caller.account_id
    verdict = await context.limiter.count("requests", key_id)
    if verdict.wait == 0 and method == "POST" and path == GENERATIONS:
        starts = await context.limiter.count("starts", key_id)
        verdict = starts if starts.wait > 0 else verdict
    if verdict.wait > 0:
        headers = verdict.headers()
        raise RateLimitError(
            f"more than {verdict.limit} a minute; try again in {headers['Retry-After']} s",
            headers=headers,
        )
    return verdict


def new_request_id() -> str:
    """Return a new request id."""
    return f"{_ID_PREFIX}{next(_ID_NUMBERS):08X}"


def _log_request(scope: Scope, status: int, seconds: float) -> None:
    """Log one line for a request; never its query, which may contain a signature."""
    caller: Caller | None = scope.get("caller")
    facts = {
        "event": "request",
        "request": scope["request_id"],
        "method": scope["method"],
        # Quoted, so that no path starts a new line; a key in the path is removed.
        "path": _KEY_TEXT.sub(r"\1…", quote(path_below_mount(scope))),
        "status": status,
        "ms": round(seconds * 1000, 2),
        "key": caller.payer.key_prefix if caller else "-",
        "account": caller.account_id if caller else "-",
    }
    _log.info("%(request)s %(method)s %(path)s %(status)d %(ms).1f ms %(key)s %(account)s", facts)


#: Request ids: a random prefix of the process, and a counter.
_ID_PREFIX = ids.new("req", time.time_ns() // 1_000_000)[:-8]
_ID_NUMBERS = count(1)
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")

#: Request ids that clients may choose, and API keys in paths.
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_KEY_TEXT = re.compile(r"(cs_(?:live|test)_)\w+")
