"""The OpenAPI document: what operations declare, and what handlers do with requests.

Handlers parse their bodies themselves and keys are checked before, so bodies, security, headers and
errors are described here only; a test compares the document with the running service.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, TypeAdapter

from kit import wire
from kit.errors import ApiError
from kit.service.http.context import GENERATIONS
from kit.service.http.events import MAX_WAIT
from kit.service.http.request_handler import needed_scope
from kit.service.http.routing import Operation
from kit.version import __version__

DESCRIPTION = """\
Creative Studio models, uploads, asynchronous image and video generation, titles and voice-over
scripts. Every operation below `/v1` needs `Authorization: Bearer <API key>`. Credits are exact to
1/1000; a failed generation is refunded in full. `HEAD` is answered as `GET`, without a body; other
methods than those listed with 405 `method_not_allowed`.
"""

WEBHOOKS = "/v1/webhooks"
_REFERENCE = "#/components/schemas/{model}"
#: Operations with a JSON body.
BODIES: Mapping[str, type[BaseModel]] = {
    "/v1/creative-studio/media-uploads": wire.RequestUpload,
    GENERATIONS: wire.StartGeneration,
    "/v1/creative-studio/estimates": wire.StartGeneration,
    "/v1/scripts/title": wire.SuggestTitle,
    "/v1/scripts": wire.WriteScripts,
    WEBHOOKS: wire.CreateWebhook,
}
GENERATION = f"{GENERATIONS}/{{generation_id}}"
EVENTS = f"{GENERATION}/events"
#: Operations that charge credits or require them.
PAID = frozenset(
    {"/v1/creative-studio/media-uploads", GENERATIONS, "/v1/scripts/title", "/v1/scripts"}
)
#: POST operations that take an idempotency key. Source: contract, "Conventions".
REPEATABLE = PAID | {f"{GENERATION}/cancel"}
_FILE, _TICKET = "/media/{key}", "/media/uploads/{upload_id}"
#: Operations whose response has an ETag, and those with pages.
TAGGED = frozenset(
    {"/v1/creative-studio/models", "/v1/creative-studio/models/{model_id}", GENERATION, _FILE}
)
PAGED = frozenset({GENERATIONS, "/v1/usage"})


@cache
def words() -> dict[str, Any]:
    """Return the descriptions of fields, values and example bodies, and the names of groups."""
    file = files("kit.service.http") / "docs" / "words.toml"
    return tomllib.loads(file.read_text("utf-8"))


def build_document(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the document of all operations that have a tag."""
    shown = [operation for operation in operations if operation.tag]
    answers, definitions = TypeAdapter.json_schemas(
        [(it, "serialization", TypeAdapter(it.response_model)) for it in shown],
        ref_template=_REFERENCE,
    )
    schemas: dict[str, Any] = definitions.get("$defs", {})
    models: tuple[type[BaseModel], ...] = (*BODIES.values(), wire.Problems)
    for model in models:
        schemas.update(_schemas(model))
    paths: dict[str, dict[str, Any]] = {}
    for it in shown:
        facts = _describe(it, answers[it, "serialization"])
        paths.setdefault(it.template, {})[it.method.lower()] = facts
    paths[_TICKET]["get"] = _copy_read_operation(paths[_FILE]["get"])
    paths[_TICKET]["put"]["requestBody"] = _FILE_BODY
    for path, methods in paths.items():
        for method, facts in methods.items():
            _complete(path, method, facts)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Creative Studio", "description": DESCRIPTION, "version": __version__},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer", "description": "an API key"}
            },
        },
        "webhooks": {"generation": {"post": _MESSAGE}},
    }


def _describe(operation: Operation, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an operation's code says: its arguments, its response and its docstring."""
    name = operation.handler.__name__  # also the name of a generated client's method
    success: dict[str, Any] = {"description": "Successful Response"}
    if operation.response_model is not None and operation.status_code != 204:
        success["content"] = {"application/json": {"schema": answer}}
    return {
        "tags": [operation.tag],
        "summary": name.replace("_", " ").title(),
        "description": inspect.getdoc(operation.handler) or "",
        "operationId": name,
        "parameters": [
            *map(_describe_argument, operation.path_arguments),
            *_describe_query(operation),
        ],
        "responses": {str(operation.status_code): success, **operation.responses},
    }


def _describe_argument(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _describe_query(operation: Operation) -> Iterator[dict[str, Any]]:
    schema = operation.query.model_json_schema() if operation.query else {"properties": {}}
    for name, field in schema["properties"].items():
        if field.get("default", "") is None:
            del field["default"]  # it is not set
        facts = {"name": name, "in": "query", "required": name in schema.get("required", ())}
        text = {"description": field["description"]} if "description" in field else {}
        yield {**facts, "schema": field, **text}


def _copy_read_operation(file_operation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the GET operation for a ticket's URL, whose prefix is also one of the files'."""
    operation: dict[str, Any] = deepcopy(dict(file_operation))
    operation["operationId"] += "_of_ticket"
    operation["summary"] = "Read ticket"
    operation["description"] = "Always refused: a ticket's URL only receives a file."
    for parameter in operation["parameters"]:
        if parameter["name"] == "key":
            parameter["name"] = "upload_id"
    return operation


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    success = next(iter(responses.values()))
    success["headers"] = _headers(*_common_headers(path), *_success_headers(path, method))
    if path in BODIES and method == "post":
        name = BODIES[path].__name__
        content = {"schema": _reference(name), "example": words()["bodies"][name]}
        operation["requestBody"] = {"required": True, "content": {"application/json": content}}
    if path.startswith("/v1/"):
        operation["security"] = [{"key": []}]
        scope = needed_scope(path)
        operation["description"] += f"\n\nScope: `{scope}`."
    if path in _TEXT_RESPONSES:
        success["content"] = dict([_TEXT_RESPONSES[path]])
    for other, description, names in _other_answers(path, method):
        headers = _headers(*_common_headers(path), *names)
        responses[other] = {"description": description, "headers": headers}
    operation["parameters"] += _request_headers(path, method)
    has_query = any(parameter["in"] == "query" for parameter in operation["parameters"])
    for status in _failures(path, method, has_query=has_query):
        responses[str(status)] = _failure(path, status)


def _other_answers(path: str, method: str) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    if path == EVENTS:
        yield "204", "the client has received all events; do not reconnect", []
    if path == _FILE:
        yield "206", "the requested part", [_ETAG, *_FILE_HEADERS, _CONTENT_RANGE]
    if path in TAGGED and method == "get":
        yield "304", "the client has it already", [_ETAG]


def _request_headers(path: str, method: str) -> Iterator[dict[str, Any]]:
    if path in REPEATABLE and method == "post":
        yield _IDEMPOTENCY_KEY
    if path == EVENTS:
        yield _LAST_EVENT_ID
    if path in TAGGED and method == "get":
        yield _IF_NONE_MATCH
    if path == GENERATION:
        yield _PREFER
    if path == _FILE:
        yield _RANGE


def _common_headers(path: str, status: int = 200) -> Iterator[tuple[str, str]]:
    yield "X-Request-Id", "names the request in the service's log"
    if path.startswith("/v1/") and status not in (401, 431):
        yield "RateLimit", "remaining requests, and seconds until all are available"
        yield "RateLimit-Policy", "requests a minute"


def _success_headers(path: str, method: str) -> Iterator[tuple[str, str]]:
    if path in REPEATABLE and method == "post":
        yield "Idempotency-Replayed", "true for the stored answer of an earlier request"
    if path == GENERATIONS and method == "post":
        yield "Location", "the statusUrl"
        yield "X-Credits-Charged", "credits that this start took"
        yield "X-Credits-Remaining", "the balance afterwards"
    if (path, method) in ((GENERATIONS, "post"), ("/v1/creative-studio/models/{model_id}", "get")):
        yield "Deprecation", "`@` and seconds since 1970, where the model has a `retiresAt`"
        yield "Sunset", "the same as an HTTP date: from then on there is no such model"
    if path == _FILE:
        yield from _FILE_HEADERS
    if path in TAGGED:
        yield _ETAG
    if path in PAGED and method == "get":
        yield "Link", 'rel="next" leads to the next page'
    if path == GENERATION:
        yield "Preference-Applied", "the `wait` that was applied, if requested"
        yield "Retry-After", "seconds until the next poll, while it is processing"


def _failures(path: str, method: str, *, has_query: bool) -> list[int]:
    """Return the statuses of the errors that an operation may return."""
    body = method == "post" and path in BODIES
    repeatable = method == "post" and path in REPEATABLE
    media = path.startswith("/media")
    possible = {
        400: body or repeatable or has_query or path in TAGGED,
        401: path.startswith("/v1/"),
        402: method == "post" and path in PAID,
        403: path.startswith("/v1/") or media,
        404: body or "{" in path,
        408: body or method == "put",
        409: repeatable or method in ("put", "delete") or (path == WEBHOOKS and body),
        413: body,
        415: body,
        416: media and method == "get",
        422: repeatable,
        429: path.startswith("/v1/"),
        431: True,
        500: True,
        503: True,
    }
    return [status for status, is_possible in possible.items() if is_possible]


def _failure(path: str, status: int) -> dict[str, Any]:
    codes = sorted(code for code, kind in ApiError.by_code.items() if kind.status == status)
    has_header = status in _FAILURE_HEADERS and (status != 409 or path in REPEATABLE)
    own = [_FAILURE_HEADERS[status]] if has_header else []
    return {
        "description": f"error code {' or '.join(codes)}",
        "headers": _headers(*_common_headers(path, status), *own),
        "content": {"application/json": {"schema": _reference("Problems")}},
    }


_CONTENT_RANGE = (
    "Content-Range",
    "`bytes 0-99/N`, or `bytes */N` if the range is outside the file",
)
_ETAG = ("ETag", "send it as If-None-Match")
_FILE_HEADERS = (("Accept-Ranges", "bytes"), ("X-Content-Type-Options", "nosniff"))
_FAILURE_HEADERS = {
    401: ("WWW-Authenticate", "Bearer"),
    409: ("Retry-After", "seconds, while the request with the same Idempotency-Key is running"),
    416: _CONTENT_RANGE,
    429: ("Retry-After", "seconds until the next request is accepted"),
    503: ("Retry-After", "seconds, if known"),
}


def _schemas(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema(ref_template=_REFERENCE)
    if issubclass(model, wire.Body):
        needed, fields = schema.get("required", ()), schema["properties"]
        schema["properties"] = {
            name: field if name in needed else _optional(field) for name, field in fields.items()
        }
    return {**schema.pop("$defs", {}), model.__name__: schema}


def _optional(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a field that may also be null, which means that it is not set."""
    if "anyOf" in schema:
        return schema
    annotations: dict[str, Any] = {
        word: schema.pop(word) for word in ("default", "title") if word in schema
    }
    return {"anyOf": [schema, {"type": "null"}], **annotations}


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": _REFERENCE.format(model=name)}


def _headers(*headers: tuple[str, str]) -> dict[str, Any]:
    return {name: {"description": text, "schema": {"type": "string"}} for name, text in headers}


def _parameter(name: str, text: str, **schema: Any) -> dict[str, Any]:
    facts = {"name": name, "in": "header", "required": False}
    return {**facts, "description": text, "schema": {"type": "string", **schema}}


_IDEMPOTENCY_KEY = _parameter(
    "Idempotency-Key",
    "the same key with the same body is answered once, for 24 hours",
    minLength=1,
    maxLength=255,
    pattern="^[!-~]+$",
)
_LAST_EVENT_ID = _parameter(
    "Last-Event-ID", "id of the last event received; only later ones are sent"
)
_IF_NONE_MATCH = _parameter("If-None-Match", "an `ETag`; the answer is 304 while it is current")
_RANGE = _parameter("Range", "a part of the file, or several", example="bytes=0-99")
_PREFER = _parameter(
    "Prefer",
    f"`wait=N` holds the answer up to N seconds, {MAX_WAIT} at most, until the generation is"
    " finished, or with If-None-Match until it has changed",
    example="wait=30",
)
#: Content type and example of operations whose response is not JSON.
_TEXT_RESPONSES: Mapping[str, tuple[str, dict[str, Any]]] = {
    EVENTS: (
        "text/event-stream",
        {
            "example": "retry: 1000\n\n"
            'id: 10000\nevent: status\ndata: {"status":"processing"}\n\n'
            'id: 10421\nevent: progress\ndata: {"progress":0.42}\n\n'
        },
    ),
    "/metrics": (
        "text/plain",
        {
            "schema": {"type": "string"},
            "example": "# TYPE kit_queue_depth gauge\nkit_queue_depth 3.0\n",
        },
    ),
}
#: The body of a PUT to a ticket's URL.
_FILE_BODY = {
    "required": True,
    "description": "the file, with the ticket's `requiredHeaders`",
    "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
}
_END_STATES = ("completed", "failed", "canceled")
#: The messages to webhooks. Source: contract, "Webhooks"; Standard Webhooks 1.0.
_MESSAGE: Mapping[str, Any] = {
    "operationId": "generation_ended",
    "summary": "A generation has ended",
    "description": "URLs of files are null in it; get the generation for them.",
    "parameters": [
        _parameter("webhook-id", "the same with each attempt"),
        _parameter("webhook-timestamp", "seconds since 1970"),
        _parameter("webhook-signature", "`v1,` and a signature, or several, separated by spaces"),
    ],
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["type", "timestamp", "data"],
                    "properties": {
                        "type": {"enum": [f"generation.{state}" for state in _END_STATES]},
                        "timestamp": {"type": "string", "format": "date-time"},
                        "data": _reference("Generation"),
                    },
                }
            }
        }
    },
    "responses": {
        "2XX": {"description": "received"},
        "410": {"description": "disables the webhook"},
    },
}
