"""What handlers need: the parts of the service, the caller of a request, the base URL."""

from __future__ import annotations

import hashlib
import re
import time
from asyncio import Semaphore
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from weakref import WeakValueDictionary

import orjson
from starlette.requests import Request
from starlette.responses import Response

from kit.internet import LOOPBACK
from kit.pricing import UNITS_PER_CREDIT
from kit.service.domain import idempotency
from kit.service.domain.catalog import Catalog
from kit.service.domain.generations import STATUSES
from kit.service.domain.idempotency import Answer, RequestLabel
from kit.service.domain.keys import Caller
from kit.service.domain.upkeep import Readiness
from kit.service.domain.writing import Writer
from kit.service.http.rate_limits import RateLimiter
from kit.service.metrics import ServiceMetrics
from kit.service.settings import ServiceSettings
from kit.service.storage import Storage
from kit.service.storage.signing import Signer
from kit.service.store import Database
from kit.service.worker.dispatcher import Dispatcher
from kit.service.worker.inspection import Inspectors

GENERATIONS = "/v1/creative-studio/generations"


class ResponseCache:
    """Finished generations as JSON: they do not change; only their signed URLs expire.

    Polling and lists request the same ones repeatedly. A cached body is valid for the minute in
    which its URLs were signed, so that the URLs of all responses are valid for a day. Only the
    account that received a body finds it again, whatever a statement returned.
    """

    #: Number of cached bodies; a full page of the list has a thousand.
    limit = 4096

    def __init__(self) -> None:
        self._bodies: dict[tuple[str, int, str, int, str, int], bytes] = {}

    def find(self, caller: Caller, base: str, rows: list[Any], now: int) -> list[bytes | None]:
        """Return the cached bodies of generations in these versions, None if not cached."""
        prefix, find = self._request_key(caller, base, now), self._bodies.get
        return [find((*prefix, row.id, row.updated_at)) for row in rows]

    def put(self, caller: Caller, base: str, row: Any, body: bytes, now: int) -> None:
        """Cache the body of a generation if it is finished."""
        if len(self._bodies) >= self.limit:
            self._bodies.clear()
        if STATUSES[row.state] != "processing":
            self._bodies[*self._request_key(caller, base, now), row.id, row.updated_at] = body

    @staticmethod
    def _request_key(caller: Caller, base: str, now: int) -> tuple[str, int, str, int]:
        return caller.account_id, caller.sign_outs, base, now // 60_000


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Context:
    """The parts of a running service."""

    settings: ServiceSettings
    secret: bytes
    database: Database
    storage: Storage
    signer: Signer
    catalog: Catalog
    limiter: RateLimiter
    writer: Writer
    dispatcher: Dispatcher
    inspectors: Inspectors
    readiness: Readiness
    metrics: ServiceMetrics
    clock: Callable[[], int]
    responses: ResponseCache = field(default_factory=ResponseCache)
    #: Uploads whose file is being received.
    receiving: set[str] = field(default_factory=set)
    #: Semaphores in use, by kind of work and account.
    slots: WeakValueDictionary[tuple[str, str], Semaphore] = field(
        default_factory=WeakValueDictionary
    )


def get_context(request: Request) -> Context:
    """Return the context of the service that handles a request."""
    context: Context = request.app.state.context
    return context


def get_caller(request: Request) -> Caller:
    """Return the caller of a request, as authenticated by the request handler."""
    caller: Caller = request.scope["caller"]
    return caller


def get_slots(request: Request, work: str, number: int) -> Semaphore:
    """Return the semaphore for a kind of work that an account does `number` times at once."""
    key = work, get_caller(request).account_id
    return get_context(request).slots.setdefault(key, Semaphore(number))


def get_base_url(request: Request) -> str:
    """Return the base of URLs in responses, without a slash at the end.

    A request to a host name that is not known to be the service's own gets relative URLs.
    """
    settings = get_context(request).settings
    if settings.public_url:
        return settings.public_url.rstrip("/")
    scope = request.scope
    host = request.headers.get("host", "")
    prefix = scope.get("root_path", "")
    server = (scope.get("server") or ("",))[0]
    return _base(scope["scheme"], host, prefix, server, settings.allowed_hosts)


@lru_cache(256)
def _base(scheme: str, host: str, prefix: str, server: str, allowed: tuple[str, ...]) -> str:
    match = _HOST.fullmatch(host)
    known = match and match[1].strip("[]").lower() in {*LOOPBACK, server, *allowed}
    return f"{scheme}://{match[0]}{prefix}".rstrip("/") if match and known else prefix.rstrip("/")


#: A host name or an IP address, and a port.
_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?", re.ASCII)


def get_request_label(request: Request) -> RequestLabel | None:
    """Return the idempotency label of a request, if it has one."""
    key = request.headers.get("idempotency-key")
    if key is None:
        return None
    idempotency.check_key(key)
    content = request.scope.get("content", b"")
    text = b"\n".join((request.method.encode(), request.url.path.encode(), content))
    return RequestLabel(get_caller(request).account_id, key, hashlib.sha256(text).hexdigest())


class JsonResponse(Response):
    """A JSON response from a value, or from bytes that are already JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Return the body."""
        return content if isinstance(content, bytes) else orjson.dumps(content)


def make_response(answer: Answer) -> Response:
    """Return a stored or new answer as a response."""
    headers = dict(answer.headers)
    if answer.replayed:
        headers["Idempotency-Replayed"] = "true"
    return JsonResponse(answer.body, answer.status, headers)


def not_modified(request: Request, headers: Mapping[str, str]) -> Response | None:
    """Return a 304 response if the client already has the current ``ETag``."""
    tags = request.headers.get("if-none-match", "")
    known = headers["ETag"] in tags or tags == "*"
    return Response(status_code=304, headers=dict(headers)) if known else None


def to_credits(millicredits: int) -> float | int:
    """Return millicredits as the nearest JSON number of credits."""
    whole, rest = divmod(millicredits, UNITS_PER_CREDIT)
    return millicredits / UNITS_PER_CREDIT if rest else whole


def format_time(milliseconds: int | None) -> str | None:
    """Return a time in the format of the API."""
    if milliseconds is None:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_format_second(seconds)}.{rest:03d}Z"


@lru_cache(4096)
def _format_second(seconds: int) -> str:
    # Cached, because a page of generations contains the same few seconds repeatedly.
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
