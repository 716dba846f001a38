"""The gate: every request gets an id, and those below /v1 show a key, keep to their rate and scope.

One pure ASGI layer: framework middleware and dependencies for the same cost three times as much.
Whatever goes wrong below it leaves as the error envelope.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kit.errors import (
    ApiError,
    InsufficientScopeError,
    InternalError,
    MissingApiKeyError,
    RateLimitError,
)
from kit.service.domain import keys
from kit.service.domain.keys import Caller
from kit.service.http.context import Context
from kit.service.http.errors import envelope
from kit.service.http.limits import Verdict
from kit.service.metrics import REQUEST_SECONDS, REQUESTS, Metrics
from kit.service.store import ids

_log = logging.getLogger("kit.http")

GENERATIONS = "/v1/creative-studio/generations"
#: Path prefix -> the scope that every operation below it needs; the first that fits counts.
SCOPES = (
    ("/v1/creative-studio/media-uploads", "creative:generate"),
    (GENERATIONS, "creative:generate"),
    ("/v1/scripts", "scripts:generate"),
    ("/v1/", "read"),
)
#: A key's last use is noted at most once in this time, in milliseconds.
_TOUCH_MS = 60_000


class Gate:
    """An ASGI application in front of another.

    Parameters
    ----------
    context : callable
        Returns the service's parts; they exist only once it has started.
    """

    def __init__(self, app: ASGIApp, context: Callable[[], Context]) -> None:
        self._app = app
        self._context = context
        self._touched: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer why not."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["request_id"] = _request_id(scope, self._context())
        answer = _Answer(scope["request_id"], send)
        started = time.perf_counter()
        try:
            if below(scope).startswith("/v1/"):
                await self._admit(scope, answer)
            await self._app(scope, receive, answer.send)
        except ApiError as error:
            await answer.fail(error, scope, receive)
        except ClientDisconnect:
            _log.info("%s was broken off by the client", scope["request_id"])
        except Exception:  # noqa: BLE001 - logged and answered
            _log.exception("%s failed", scope["request_id"])
            await answer.fail(InternalError("the service failed unexpectedly"), scope, receive)
        finally:
            seconds = time.perf_counter() - started
            _count(self._context().metrics, scope, answer.status, seconds)
            if _log.isEnabledFor(logging.INFO):
                _note(scope, answer.status, seconds)

    async def _admit(self, scope: Scope, answer: _Answer) -> None:
        context = self._context()
        caller = scope["caller"] = await self._caller(context, Headers(scope=scope))
        answer.verdict = _counted(context, caller, scope)
        needed = needed_scope(below(scope))
        if needed not in caller.scopes:
            raise InsufficientScopeError(f"this key lacks the scope {needed!r}")

    async def _caller(self, context: Context, headers: Headers) -> Caller:
        kind, _, text = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not text.strip():
            raise MissingApiKeyError("send the header 'Authorization: Bearer <API key>'")
        now = context.clock()
        caller = await context.database.read(keys.caller(text.strip(), context.secret, now))
        key_id = caller.payer.key_id or ""
        if now - self._touched.get(key_id, 0) >= _TOUCH_MS:
            self._touched[key_id] = now
            await context.database.write(keys.touch(key_id, now))
        return caller


class _Answer:
    """The answer to one request: adds the headers that every answer has."""

    def __init__(self, request_id: str, send: Send) -> None:
        self.status = 0
        self.verdict: Verdict | None = None
        self._request_id = request_id
        self._send = send

    async def send(self, message: Message) -> None:
        """Pass a message on, with our headers in the first."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["X-Request-Id"] = self._request_id
            headers.setdefault("X-Content-Type-Options", "nosniff")
            if self.verdict:
                for name, value in self.verdict.headers().items():
                    headers.setdefault(name, value)
        await self._send(message)

    async def fail(self, error: ApiError, scope: Scope, receive: Receive) -> None:
        """Answer an error, unless the answer has begun already."""
        if self.status == 0:
            await envelope(error, self._request_id)(scope, receive, self.send)


def below(scope: Scope) -> str:
    """Return a request's path below the prefix that the service is mounted under."""
    path: str = scope["path"]
    root: str = scope.get("root_path", "")
    return path[len(root) :] if root and path.startswith(root) else path


def needed_scope(path: str) -> str:
    """Return the scope that a path needs.

    Source: API document, "Authentication".
    """
    return next(scope for prefix, scope in SCOPES if path.startswith(prefix))


def _counted(context: Context, caller: Caller, scope: Scope) -> Verdict:
    key_id = caller.payer.key_id or caller.account_id
    verdict = context.limiter.hit("requests", key_id)
    if verdict.wait == 0 and scope["method"] == "POST" and below(scope) == GENERATIONS:
        starts = context.limiter.hit("starts", key_id)
        verdict = starts if starts.wait > 0 else verdict
    if verdict.wait > 0:
        headers = verdict.headers()
        raise RateLimitError(
            f"more than {verdict.limit} a minute; try again in {headers['Retry-After']} s",
            headers=headers,
        )
    return verdict


def _request_id(scope: Scope, context: Context) -> str:
    """Return the id that the client gave a request, or a new one."""
    given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    if _REQUEST_ID.fullmatch(given):
        return str(given, "ascii")
    return ids.new("req", context.clock())


def _count(metrics: Metrics, scope: Scope, status: int, seconds: float) -> None:
    """Count a request under its route's template: ids and unknown paths make no new series."""
    method = scope["method"] if scope["method"] in _METHODS else "other"
    route = getattr(scope.get("route"), "path", "none")
    metrics.count(REQUESTS, method, route, str(status))
    metrics.measure(REQUEST_SECONDS, seconds, method, route)


def _note(scope: Scope, status: int, seconds: float) -> None:
    """Log one line for a request; never its query, which may hold a signature."""
    caller: Caller | None = scope.get("caller")
    facts = {
        "event": "request",
        "request": scope["request_id"],
        "method": scope["method"],
        # Quoted, so that no path begins a new line; a key that was put there is not kept.
        "path": _KEY.sub(r"\1…", quote(below(scope))),
        "status": status,
        "ms": round(seconds * 1000, 2),
        "key": caller.payer.key_prefix if caller else "-",
        "account": caller.account_id if caller else "-",
    }
    _log.info("%(request)s %(method)s %(path)s %(status)d %(ms).1f ms %(key)s %(account)s", facts)


#: Ids of requests that clients may choose, methods that get a series of their own, and keys.
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})
_KEY = re.compile(r"(cs_(?:live|test)_)\w+")
