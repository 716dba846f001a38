"""The fast path: the three busiest operations bypass the framework's own layers.

The framework spends more on finding and wrapping a handler than these handlers take. They are the
same functions as in its routes, so there is one behavior and one document.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from kit.service.http import generations
from kit.service.http.middleware import GENERATIONS


@dataclass(frozen=True, slots=True)
class FastRoute:
    """A handler and the template of its route, as the framework would name it."""

    path: str
    call: Callable[[Request], Awaitable[Response]]


def _one(request: Request) -> Awaitable[Response]:
    return generations.get_generation(request, request.scope["path"].rpartition("/")[2])


_GET = FastRoute(f"{GENERATIONS}/{{generation_id}}", _one)
_EXACT = {
    ("GET", GENERATIONS): FastRoute(
        GENERATIONS, lambda request: generations.list_generations(request)
    ),
    ("POST", GENERATIONS): FastRoute(GENERATIONS, generations.start_generation),
}


def find_fast_route(scope: Scope, path: str) -> FastRoute | None:
    """Return the route of a request that bypasses the framework, or None.

    Parameters
    ----------
    path : str
        Below the prefix that the service is mounted under.
    """
    method = scope["method"]
    if path == GENERATIONS:
        # A query is for the framework to check.
        return None if scope["query_string"] else _EXACT.get((method, path))
    if method == "GET" and path.startswith(f"{GENERATIONS}/") and path.count("/") == 4:
        return _GET
    return None
