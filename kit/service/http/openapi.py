"""The OpenAPI document: what operations declare, and what handlers do with requests.

Handlers parse their bodies themselves and keys are checked before, so bodies, security, headers and
errors are described here only; a test compares the document with the running service.
"""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Iterable, Iterator, Mapping
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

_REFERENCE = "#/components/schemas/{model}"
_GENERATION = f"{GENERATIONS}/{{generation_id}}"
_EVENTS = f"{_GENERATION}/events"
_FILE, _TICKET = "/media/{key}", "/media/uploads/{upload_id}"


@cache
def words() -> dict[str, Any]:
    """Return the descriptions of fields, values and example bodies, and the names of groups."""
    file = files("kit.service.http") / "docs" / "words.toml"
    return tomllib.loads(file.read_text("utf-8"))


def build_document(operations: Iterable[Operation]) -> dict[str, Any]:
    """Return the document of all operations that have a tag."""
    shown = [operation for operation in operations if operation.tag]
    models: list[type[BaseModel]] = [wire.Problems, *(it.body for it in shown if it.body)]
    answers, definitions = TypeAdapter.json_schemas(
        [
            *((it, "serialization", TypeAdapter(it.response_model)) for it in shown),
            *((kind, "validation", TypeAdapter(kind)) for kind in models),
        ],
        ref_template=_REFERENCE,
    )
    schemas: dict[str, Any] = definitions["$defs"]
    for kind in {*models} - {wire.Problems}:
        _allow_null(schemas[kind.__name__])
    paths: dict[str, dict[str, Any]] = {}
    for it in shown:
        facts = _describe(it, answers[it, "serialization"])
        paths.setdefault(it.template, {})[it.method.lower()] = facts
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


def _describe(it: Operation, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an operation declares, and what is done with all requests."""
    name = it.handler.__name__  # also the name of a generated client's method
    own = {"in": "path", "required": True, "schema": {"type": "string"}}
    parameters = [{"name": argument, **own} for argument in it.path_arguments]
    facts: dict[str, Any] = {
        "tags": [it.tag],
        "summary": name.replace("_", " ").title(),
        "description": inspect.getdoc(it.handler) or "",
        "operationId": name,
        "parameters": [*parameters, *_describe_query(it), *_request_headers(it)],
        "responses": {
            str(it.status_code): _describe_success(it, answer),
            **dict(_other_answers(it)),
            **{str(status): _failure(it, status) for status in _failures(it)},
        },
    }
    if it.body:
        name = it.body.__name__
        content = {"schema": _reference(name), "example": words()["bodies"][name]}
        facts["requestBody"] = {"required": True, "content": {"application/json": content}}
    elif it.template == _TICKET:
        facts["requestBody"] = _FILE_BODY
    if it.path.startswith("/v1/"):
        facts["security"] = [{"key": []}]
        facts["description"] += f"\n\nScope: `{needed_scope(it.path)}`."
    return facts


def _describe_query(operation: Operation) -> Iterator[dict[str, Any]]:
    schema = operation.query.model_json_schema() if operation.query else {"properties": {}}
    for name, field in schema["properties"].items():
        if field.get("default", "") is None:
            del field["default"]  # it is not set
        facts = {"name": name, "in": "query", "required": name in schema.get("required", ())}
        text = {"description": field["description"]} if "description" in field else {}
        yield {**facts, "schema": field, **text}


def _describe_success(it: Operation, answer: Mapping[str, Any]) -> dict[str, Any]:
    headers = _headers(*_common_headers(it), *_success_headers(it))
    success: dict[str, Any] = {"description": "Successful Response", "headers": headers}
    if it.path in _TEXT_RESPONSES:
        success["content"] = dict([_TEXT_RESPONSES[it.path]])
    elif it.response_model is not None and it.status_code != 204:
        success["content"] = {"application/json": {"schema": answer}}
    return success


def _other_answers(it: Operation) -> Iterator[tuple[str, dict[str, Any]]]:
    def describe(text: str, *headers: tuple[str, str]) -> dict[str, Any]:
        return {"description": text, "headers": _headers(*_common_headers(it), *headers)}

    if it.path == _EVENTS:
        yield "204", describe("the client has received all events; do not reconnect")
    if it.template == _FILE:
        yield "206", describe("the requested part", _ETAG, *_FILE_HEADERS, _CONTENT_RANGE)
        yield "307", {"description": "the file is in a bucket: follow `Location`"}
    if it.tagged:
        yield "304", describe("the client has it already", _ETAG)


def _request_headers(it: Operation) -> Iterator[dict[str, Any]]:
    if it.repeatable:
        text = "the same key with the same body is answered once, for 24 hours"
        form = {"minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}
        yield _parameter("Idempotency-Key", text, **form)
    if it.path == _EVENTS:
        text = "id of the last event received; only later ones are sent"
        yield _parameter("Last-Event-ID", text)
    if it.tagged:
        text = "an `ETag`; the answer is 304 while it is current"
        yield _parameter("If-None-Match", text)
    if it.handler.__name__ == "get_generation":
        text = (
            f"`wait=N` holds the answer up to N seconds, {MAX_WAIT} at most, until the generation "
            "is finished, or with If-None-Match until it has changed"
        )
        yield _parameter("Prefer", text, example="wait=30")
    if it.template == _FILE:
        yield _parameter("Range", "a part of the file, or several", example="bytes=0-99")


def _common_headers(it: Operation, status: int = 200) -> Iterator[tuple[str, str]]:
    yield "X-Request-Id", "names the request in the service's log"
    if it.path.startswith("/v1/") and status not in (401, 431):
        yield "RateLimit", "remaining requests, and seconds until all are available"
        yield "RateLimit-Policy", "requests a minute"


def _success_headers(it: Operation) -> Iterator[tuple[str, str]]:
    name = it.handler.__name__
    if it.repeatable:
        yield "Idempotency-Replayed", "true for the stored answer of an earlier request"
    if name == "start_generation":
        yield "Location", "the statusUrl"
        yield "X-Credits-Charged", "credits that this start took"
        yield "X-Credits-Remaining", "the balance afterwards"
    if name in ("start_generation", "get_model"):
        yield "Deprecation", "`@` and seconds since 1970, where the model has a `retiresAt`"
        yield "Sunset", "the same as an HTTP date: from then on there is no such model"
    if it.template == _FILE:
        yield from _FILE_HEADERS
    if it.tagged:
        yield _ETAG
    if it.query and "cursor" in it.query.model_fields:
        yield "Link", 'rel="next" leads to the next page'
    if name == "get_generation":
        yield "Preference-Applied", "the `wait` that was applied, if requested"
        yield "Retry-After", "seconds until the next poll, while it is processing"


def _failures(it: Operation) -> list[int]:
    """Return the statuses of the errors that an operation may return."""
    is_keyed, is_media = it.path.startswith("/v1/"), it.path.startswith("/media")
    has_body = it.body is not None
    possible = {
        400: has_body or it.repeatable or it.query or it.tagged,
        401: is_keyed,
        402: has_body and it.repeatable,
        403: is_keyed or is_media,
        404: has_body or it.path_arguments,
        408: has_body or it.method == "PUT",
        409: it.repeatable or it.method in ("PUT", "DELETE") or it.body is wire.CreateWebhook,
        413: has_body,
        415: has_body,
        416: is_media and it.method == "GET",
        422: it.repeatable,
        429: is_keyed,
        431: True,
        500: True,
        503: True,
    }
    return [status for status, is_possible in possible.items() if is_possible]


def _failure(it: Operation, status: int) -> dict[str, Any]:
    codes = sorted(code for code, kind in ApiError.by_code.items() if kind.status == status)
    has_header = status in _FAILURE_HEADERS and (status != 409 or it.repeatable)
    own = [_FAILURE_HEADERS[status]] if has_header else []
    return {
        "description": f"error code {' or '.join(codes)}",
        "headers": _headers(*_common_headers(it, status), *own),
        "content": {"application/json": {"schema": _reference("Problems")}},
    }


_CONTENT_RANGE = ("Content-Range", "`bytes 0-99/N`, or `bytes */N` if it is outside the file")
_ETAG = ("ETag", "send it as If-None-Match")
_FILE_HEADERS = (("Accept-Ranges", "bytes"), ("X-Content-Type-Options", "nosniff"))
_FAILURE_HEADERS = {
    401: ("WWW-Authenticate", "Bearer"),
    409: ("Retry-After", "seconds, while the request with the same Idempotency-Key is running"),
    416: _CONTENT_RANGE,
    429: ("Retry-After", "seconds until the next request is accepted"),
    503: ("Retry-After", "seconds, if known"),
}


def _allow_null(schema: dict[str, Any]) -> None:
    """Change the schema of a body: its optional fields may be null, which means not set."""
    for name, field in schema["properties"].items():
        if name not in schema.get("required", ()) and "anyOf" not in field:
            words = {word: field.pop(word) for word in ("default", "title") if word in field}
            schema["properties"][name] = {"anyOf": [field, {"type": "null"}], **words}


def _reference(name: str) -> dict[str, Any]:
    return {"$ref": _REFERENCE.format(model=name)}


def _headers(*headers: tuple[str, str]) -> dict[str, Any]:
    return {name: {"description": text, "schema": {"type": "string"}} for name, text in headers}


def _parameter(name: str, text: str, **schema: Any) -> dict[str, Any]:
    facts = {"name": name, "in": "header", "required": False}
    return {**facts, "description": text, "schema": {"type": "string", **schema}}


#: Content type and example of operations whose response is not JSON.
_TEXT_RESPONSES: Mapping[str, tuple[str, dict[str, Any]]] = {
    _EVENTS: (
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
_MESSAGE_SCHEMA = {
    "type": "object",
    "required": ["type", "timestamp", "data"],
    "properties": {
        "type": {"enum": [f"generation.{state}" for state in _END_STATES]},
        "timestamp": {"type": "string", "format": "date-time"},
        "data": _reference("Generation"),
    },
}
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
    "requestBody": {"content": {"application/json": {"schema": _MESSAGE_SCHEMA}}},
    "responses": {
        "2XX": {"description": "received"},
        "410": {"description": "disables the webhook"},
    },
}
