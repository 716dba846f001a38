"""The OpenAPI document, compared with the running service and the wire classes."""

from pathlib import Path
from typing import Any

import pytest

from kit import wire
from kit.service import settings
from kit.service.app import create_app
from kit.wire import WireShape

APP = create_app(settings.load({}, data=Path("unused")), engines={})
BODIES = {it.template: it.body for it in APP.operations if it.body}
REPEATABLE = {it.template for it in APP.operations if it.repeatable}
PAID = sorted(REPEATABLE & BODIES.keys())


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The OpenAPI document of the application."""
    return APP.openapi


def list_operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_of_the_api_is_described(document: dict[str, Any]) -> None:
    studio = "/v1/creative-studio"

    assert set(list_operations(document)) >= {
        "GET /v1/account",
        "GET /v1/account/credits",
        f"GET {studio}/models",
        f"GET {studio}/models/{{model_id}}",
        f"POST {studio}/media-uploads",
        f"POST {studio}/generations",
        f"POST {studio}/estimates",
        f"GET {studio}/generations",
        f"GET {studio}/generations/{{generation_id}}",
        f"POST {studio}/generations/{{generation_id}}/cancel",
        "POST /v1/scripts/title",
        "POST /v1/scripts",
        "GET /v1/usage",
        "GET /media/{key}",
        "PUT /media/uploads/{upload_id}",
        "GET /healthz",
        "GET /readyz",
    }


def test_every_operation_describes_its_errors(document: dict[str, Any]) -> None:
    for name, operation in list_operations(document).items():
        responses = operation["responses"]
        assert "422" not in responses or name.partition(" ")[2] in REPEATABLE, name
        assert {"500", "503"} <= responses.keys(), name
        if " /v1/" in name:
            assert {"401", "403", "429"} <= responses.keys(), name
            assert operation["security"] == [{"key": []}], name
            assert "Retry-After" in responses["429"]["headers"], name
            assert "WWW-Authenticate" in responses["401"]["headers"], name


@pytest.mark.parametrize(
    ("name", "status", "headers"),
    [
        ("POST /v1/creative-studio/generations", "202", {"Location", "Deprecation", "Sunset"}),
        ("POST /v1/creative-studio/generations", "409", {"Retry-After"}),
        ("GET /v1/creative-studio/models/{model_id}", "200", {"ETag", "Deprecation", "Sunset"}),
        ("GET /v1/creative-studio/models", "304", {"ETag", "RateLimit"}),
        ("GET /v1/usage", "429", {"Retry-After", "RateLimit", "RateLimit-Policy"}),
        ("GET /media/{key}", "200", {"ETag", "X-Content-Type-Options"}),
        ("GET /media/{key}", "206", {"Content-Range"}),
    ],
)
def test_headers_of_a_response_are_described(
    document: dict[str, Any], name: str, status: str, headers: set[str]
) -> None:
    assert headers <= list_operations(document)[name]["responses"][status]["headers"].keys()


def test_every_response_has_a_request_id_header(document: dict[str, Any]) -> None:
    for name, operation in list_operations(document).items():
        for status, answer in operation["responses"].items():
            assert status == "307" or "X-Request-Id" in answer["headers"], (name, status)


def test_the_file_of_an_upload_is_described(document: dict[str, Any]) -> None:
    body = document["paths"]["/media/uploads/{upload_id}"]["put"]["requestBody"]

    assert body["required"] is True
    assert "requiredHeaders" in body["description"]


def test_webhook_messages_are_described(document: dict[str, Any]) -> None:
    message = document["webhooks"]["generation"]["post"]
    schema = message["requestBody"]["content"]["application/json"]["schema"]

    assert {it["name"] for it in message["parameters"]} == {
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    }
    assert set(schema["properties"]) == {"type", "timestamp", "data"}


@pytest.mark.parametrize("path", BODIES)
def test_a_body_is_described_field_by_field(document: dict[str, Any], path: str) -> None:
    operation = document["paths"][path]["post"]
    content = operation["requestBody"]["content"]["application/json"]
    schema = document["components"]["schemas"][content["schema"]["$ref"].rpartition("/")[2]]

    assert {"400", "404", "413", "415"} <= operation["responses"].keys()
    assert set(schema["properties"]) == {f.alias for f in BODIES[path].model_fields.values()}
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("body", "field", "limits"),
    [
        ("StartGeneration", "modelId", {"maxLength": 200}),
        ("StartGeneration", "prompt", {"maxLength": 4000}),
        ("StartGeneration", "parameters", {"maxProperties": 200}),
        ("StartGeneration", "mediaUploads", {"maxProperties": 200}),
        ("RequestUpload", "fileName", {"minLength": 1, "maxLength": 255}),
        ("RequestUpload", "contentType", {"enum": [*wire.CONTENT_TYPES]}),
        ("RequestUpload", "fileSizeBytes", {"minimum": 1}),
        ("SuggestTitle", "topic", {"enum": [*wire.TOPICS]}),
        ("WriteScripts", "title", {"minLength": 1, "maxLength": 200}),
        ("WriteScripts", "hookAngle", {"maxLength": 300}),
        ("WriteScripts", "variations", {"enum": ["1", "2"]}),
    ],
)
def test_the_limits_of_a_body_equal_those_of_the_checks(
    document: dict[str, Any], body: str, field: str, limits: dict[str, Any]
) -> None:
    schema = document["components"]["schemas"][body]["properties"][field]
    [schema] = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]

    assert {word: schema.get(word) for word in limits} == limits


def test_optional_fields_may_be_null(document: dict[str, Any], http: Any) -> None:
    for kind in BODIES.values():
        schema = document["components"]["schemas"][kind.__name__]
        for field, description in schema["properties"].items():
            nullable = {"type": "null"} in description.get("anyOf", ())
            assert nullable == (field not in schema["required"]), field

    script = {"topic": "SPACE", "title": "x", "duration": "10", "useHook": None, "variations": None}
    assert http.post("/v1/scripts", json=script).status_code == 201


def test_the_uploads_of_a_medium_are_limited_as_in_the_checks(document: dict[str, Any]) -> None:
    uploads = document["components"]["schemas"]["StartGeneration"]["properties"]["mediaUploads"]
    schema, nothing = uploads["anyOf"]

    assert nothing == {"type": "null"}
    assert {one.get("maxItems") for one in schema["additionalProperties"]["anyOf"]} == {None, 200}


def test_the_five_operations_of_the_contract_are_repeatable() -> None:
    studio = "/v1/creative-studio"
    start = f"{studio}/generations"
    paid = {f"{studio}/media-uploads", start, "/v1/scripts", "/v1/scripts/title"}

    assert set(PAID) == paid
    assert {*paid, f"{start}/{{generation_id}}/cancel"} == REPEATABLE


@pytest.mark.parametrize("path", PAID)
def test_operations_that_cost_credits_describe_402(document: dict[str, Any], path: str) -> None:
    assert "402" in document["paths"][path]["post"]["responses"]


@pytest.mark.parametrize("path", sorted(REPEATABLE))
def test_repeatable_operations_take_an_idempotency_key(document: dict[str, Any], path: str) -> None:
    operation = document["paths"][path]["post"]

    assert {"409", "422"} <= operation["responses"].keys()
    assert "Idempotency-Key" in [parameter["name"] for parameter in operation["parameters"]]


def list_wire_shapes() -> dict[str, type[WireShape]]:
    kinds = {name: getattr(wire, name) for name in wire.__all__}
    return {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type)
        and issubclass(kind, WireShape)
        and kind not in (WireShape, wire.Wire, wire.Body)
    }


@pytest.mark.parametrize(("name", "kind"), list_wire_shapes().items())
def test_every_wire_field_is_in_a_schema(
    document: dict[str, Any], name: str, kind: type[WireShape]
) -> None:
    schemas = document["components"]["schemas"]

    assert set(schemas[name]["properties"]) == {f.alias for f in kind.model_fields.values()}


def test_generated_clients_get_plain_names_and_datetimes(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for operation in list_operations(document).values()]

    assert {"list_models", "start_generation", "get_generation", "write_scripts"} <= set(names)
    assert len(set(names)) == len(names)
    for kind, field in (
        ("Generation", "createdAt"),
        ("Entry", "createdAt"),
        ("Ticket", "expiresAt"),
    ):
        found = document["components"]["schemas"][kind]["properties"][field]
        assert "date-time" in [one.get("format") for one in found.get("anyOf", [found])]


def test_every_reference_has_its_schema(document: dict[str, Any]) -> None:
    def references(part: Any) -> list[str]:
        if isinstance(part, dict):
            own = [part["$ref"]] if isinstance(part.get("$ref"), str) else []
            return own + [found for value in part.values() for found in references(value)]
        return (
            [found for item in part for found in references(item)] if isinstance(part, list) else []
        )

    found = references(document)

    assert found
    for reference in found:
        assert reference.rpartition("/")[2] in document["components"]["schemas"]


def test_the_document_and_its_page_are_served(http: Any) -> None:
    assert http.get("/openapi.json").json()["info"]["title"] == "Creative Studio"
    assert http.get("/docs").status_code == 200
