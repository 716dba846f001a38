"""Operations and how requests find them: a handler with its method, path, query and response.

They are declared as in FastAPI, whose import would take a third of the time of a start.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ValidationError, create_model
from starlette.requests import Request
from starlette.responses import Response

from kit.errors import BadRequestError, MethodNotAllowedError, NotFoundError
from kit.service.http.bodies import list_problems, read_body
from kit.service.http.context import get_slots
from kit.wire import Body

Handler = Callable[..., Coroutine[Any, Any, Response]]
H = TypeVar("H", bound=Handler)

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
#: Maximum of fields in a query; parsing thousands takes long.
_MAX_FIELDS = 100
#: Items from which on a page is large, and how many of an account are made and sent at once.
_LARGE_PAGE, _MAX_PAGES = 100, 8
#: An argument of the handler in a path; ``{name:path}`` may contain slashes. PostgreSQL
#: refuses the character 0, which is in no name.
_ARGUMENT = re.compile(r"\{(\w+)(:path)?\}")
_VALUES = {None: r"[^/\0]+", ":path": r"[^\0]*"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Operation:
    """A handler, which gets the request, the arguments in the path, and those in the query.

    Before those it gets the JSON body, if the type of an argument is a model of one. An operation
    without a tag is not documented.

    Parameters
    ----------
    response_model : type or None
        Type of the JSON response; None if the response is not JSON.
    tagged : bool
        Whether responses have an ``ETag``, and a request with it may be answered with 304.
    repeatable : bool
        Whether it takes an ``Idempotency-Key``. Source: contract, "Conventions".
    """

    method: str
    path: str
    handler: Handler
    tag: str
    status_code: int = 200
    response_model: Any = Any
    tagged: bool = False
    repeatable: bool = False

    @cached_property
    def path_arguments(self) -> list[str]:
        """Names of the arguments in the path."""
        return [name for name, _ in _ARGUMENT.findall(self.path)]

    @cached_property
    def template(self) -> str:
        """The path in the API document, such as ``/media/{key}``."""
        return _ARGUMENT.sub(r"{\1}", self.path)

    @cached_property
    def body(self) -> type[Body] | None:
        """The model of the JSON body."""
        hints = get_type_hints(self.handler).values()
        return next((it for it in hints if isinstance(it, type) and issubclass(it, Body)), None)

    @cached_property
    def query(self) -> type[BaseModel] | None:
        """The model of the query: the other arguments of the handler."""
        _, *arguments = signature(self.handler).parameters.values()
        hints = get_type_hints(self.handler, include_extras=True)
        fields: dict[str, Any] = {
            it.name: (hints[it.name], ... if it.default is Parameter.empty else it.default)
            for it in arguments
            if it.name not in self.path_arguments and hints[it.name] is not self.body
        }
        return create_model("Query", **fields) if fields else None

    async def call(self, request: Request, arguments: Mapping[str, str]) -> Response:
        """Call the handler with a valid query and body; raises `BadRequestError` otherwise."""
        values: dict[str, Any] = {**arguments}
        separators = request.scope["query_string"].count(b"&")
        if separators >= _MAX_FIELDS:
            raise BadRequestError(f"the query has more than {_MAX_FIELDS} fields")
        if self.query is not None:
            given = request.query_params
            names = [it.alias or name for name, it in self.query.model_fields.items()]
            repeated = [it for it in names if given.getlist(it)[1:]] if separators else ()
            problems = [(it, "may be given only once") for it in repeated]
            # Others, as of caches and signatures, are ignored.
            for it in (it for it in given if it not in names and not it.startswith("tag.")):
                close = get_close_matches(it, names, n=1, cutoff=0.8)
                problems += [(it, f"unknown field; did you mean {name!r}?") for name in close]
            if problems:
                raise BadRequestError.fields(problems)
            try:
                values |= dict(self.query.model_validate(dict(given)))
            except ValidationError as error:
                raise BadRequestError.fields(list_problems(error)) from None
        if values.get("limit", 0) > _LARGE_PAGE:  # it takes memory until its client has read it
            pages = get_slots(request, "pages", _MAX_PAGES)
            await pages.acquire()
            request.scope["slot"] = pages
        body = [await read_body(request, self.body)] if self.body else []
        return await self.handler(request, *body, **values)


class Router:
    """Registers handlers below a prefix, by decorators."""

    def __init__(self, prefix: str = "", tag: str = "") -> None:
        self.operations: list[Operation] = []
        self._prefix, self._tag = prefix, tag

    def route(
        self, method: str, path: str, *, tag: str | None = None, **facts: Any
    ) -> Callable[[H], H]:
        """Register a handler; `facts` are further fields of its `Operation`."""

        def register(handler: H) -> H:
            path_, tag_ = self._prefix + path, self._tag if tag is None else tag
            operation = Operation(method=method, path=path_, handler=handler, tag=tag_, **facts)
            self.operations.append(operation)
            return handler

        return register


class RouteTable:
    """Finds the operation of a request."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        self._exact: dict[str, dict[str, Operation]] = {}
        for it in operations:
            methods = ("GET", "HEAD") if it.method == "GET" else (it.method,)
            self._exact.setdefault(it.path, {}).update(dict.fromkeys(methods, it))
        self._patterns = []
        for path in [path for path in self._exact if "{" in path]:
            pattern = _ARGUMENT.sub(lambda it: f"(?P<{it[1]}>{_VALUES[it[2]]})", path)
            self._patterns.append((re.compile(pattern), self._exact.pop(path)))

    def find(self, method: str, path: str) -> tuple[Operation, dict[str, str]]:
        """Return the operation of a request and the arguments in its path.

        Raises `NotFoundError`, or `MethodNotAllowedError` with the methods of the path.
        """
        if (found := self._exact.get(path)) and method in found:
            return found[method], {}
        allowed = set(found or ())
        for pattern, methods in self._patterns:
            if match := pattern.fullmatch(path):
                if method in methods:
                    return methods[method], match.groupdict()
                allowed |= methods.keys()
        if not allowed:
            raise NotFoundError("there is nothing at this address")
        headers = {"Allow": ", ".join(sorted(allowed, key=METHODS.index))}
        raise MethodNotAllowedError("this address does not take this method", headers=headers)
