"""The OpenAPI document, held against the running service and the wire."""

from typing import Any

import pytest

from kit import wire
from kit.service import settings
from kit.service.app import create_app
from kit.service.http.openapi import BODIES, PAID, REPEATABLE
from kit.wire import WireShape


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the application says about itself."""
    return create_app(settings.load({}, data=tmp_path_factory.mktemp("data"))).openapi()


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_of_the_api_is_described(document: dict[str, Any]) -> None:
    studio = "/v1/creative-studio"

    assert set(operations(document)) >= {
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


def test_every_operation_says_how_it_fails(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        answers = operation["responses"]
        assert "422" not in answers or name.partition(" ")[2] in REPEATABLE, name
        assert {"500", "503"} <= answers.keys(), name
        if " /v1/" in name:
            assert {"401", "403", "429"} <= answers.keys(), name
            assert operation["security"] == [{"key": []}], name
            assert "Retry-After" in answers["429"]["headers"], name
            assert "WWW-Authenticate" in answers["401"]["headers"], name


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
def test_headers_of_an_answer_are_described(
    document: dict[str, Any], name: str, status: str, headers: set[str]
) -> None:
    assert headers <= operations(document)[name]["responses"][status]["headers"].keys()


def test_every_answer_names_its_request(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        for status, answer in operation["responses"].items():
            assert status == "307" or "X-Request-Id" in answer["headers"], (name, status)


def test_the_file_that_a_ticket_takes_is_described(document: dict[str, Any]) -> None:
    body = document["paths"]["/media/uploads/{upload_id}"]["put"]["requestBody"]

    assert body["required"] is True
    assert "requiredHeaders" in body["description"]


def test_what_is_sent_to_webhooks_is_described(document: dict[str, Any]) -> None:
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
    ("body", "field", "told"),
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
def test_a_body_is_as_bounded_as_the_checks_have_it(
    document: dict[str, Any], body: str, field: str, told: dict[str, Any]
) -> None:
    schema = document["components"]["schemas"][body]["properties"][field]
    [schema] = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]

    assert {word: schema.get(word) for word in told} == told


def test_what_may_be_left_out_may_be_null(document: dict[str, Any], http: Any) -> None:
    for kind in BODIES.values():
        schema = document["components"]["schemas"][kind.__name__]
        for field, told in schema["properties"].items():
            nullable = {"type": "null"} in told.get("anyOf", ())
            assert nullable == (field not in schema["required"]), field

    script = {"topic": "SPACE", "title": "x", "duration": "10", "useHook": None, "variations": None}
    assert http.post("/v1/scripts", json=script).status_code == 201


def test_uploads_of_a_medium_are_as_many_as_the_checks_have_it(document: dict[str, Any]) -> None:
    told = document["components"]["schemas"]["StartGeneration"]["properties"]["mediaUploads"]
    schema, nothing = told["anyOf"]

    assert nothing == {"type": "null"}
    assert {one.get("maxItems") for one in schema["additionalProperties"]["anyOf"]} == {None, 200}


@pytest.mark.parametrize("path", sorted(PAID))
def test_what_costs_says_so(document: dict[str, Any], path: str) -> None:
    assert "402" in document["paths"][path]["post"]["responses"]


@pytest.mark.parametrize("path", sorted(REPEATABLE))
def test_what_can_be_repeated_names_the_header(document: dict[str, Any], path: str) -> None:
    operation = document["paths"][path]["post"]

    assert {"409", "422"} <= operation["responses"].keys()
    assert "Idempotency-Key" in [parameter["name"] for parameter in operation["parameters"]]


def answers() -> dict[str, type[WireShape]]:
    kinds = {name: getattr(wire, name) for name in wire.__all__}
    return {
        name: kind
        for name, kind in kinds.items()
        if isinstance(kind, type)
        and issubclass(kind, WireShape)
        and kind not in (WireShape, wire.Wire, wire.Body)
    }


@pytest.mark.parametrize(("name", "kind"), answers().items())
def test_every_wire_field_is_in_a_schema(
    document: dict[str, Any], name: str, kind: type[WireShape]
) -> None:
    schemas = document["components"]["schemas"]

    assert set(schemas[name]["properties"]) == {f.alias for f in kind.model_fields.values()}


def test_generated_clients_get_plain_names_and_instants(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for operation in operations(document).values()]

    assert {"list_models", "start_generation", "get_generation", "write_scripts"} <= set(names)
    assert len(set(names)) == len(names)
    for kind, field in (
        ("Generation", "createdAt"),
        ("Entry", "createdAt"),
        ("Ticket", "expiresAt"),
    ):
        found = document["components"]["schemas"][kind]["properties"][field]
        assert "date-time" in [one.get("format") for one in found.get("anyOf", [found])]


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
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


def test_it_is_served(http: Any) -> None:
    assert http.get("/openapi.json").json()["info"]["title"] == "Creative Studio"
    assert http.get("/docs").status_code == 200
