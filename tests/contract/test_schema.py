"""Requests drawn from the OpenAPI document: every answer is described by it, and none is a 5xx."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from kit.service import server
from kit.service.app import create_app
from kit.service.settings import load
from tests.conftest import ALL_SCOPES, Service

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = 25


def operations() -> Iterator[Any]:
    """Return every operation of the document, but the stream that stays open."""
    app = create_app(load({}, workers=0), engines={})
    schema = schemathesis.openapi.from_dict(json.loads(json.dumps(app.openapi())))
    for result in schema.get_all_operations():
        operation = result.ok()
        if not operation.path.endswith("/events"):
            yield operation


OPERATIONS = list(operations())
LABELS = [operation.label for operation in OPERATIONS]


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """An address and the headers of an account that can pay, on a service without a rate."""
    data = tmp_path_factory.mktemp("schema") / "data"
    given = load({}, data=data, workers=0, requests_per_minute=10**6, starts_per_minute=10**6)
    one = server.start(given)
    service = Service(one.url, one.app.state.context, given, one.stop)
    key = service.key(service.account(credits=10**6), *ALL_SCOPES)
    yield service.url, {"Authorization": f"Bearer {key}"}
    one.stop()


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=LABELS)
def test_every_answer_is_described(operation: Any, caller: tuple[str, dict[str, str]]) -> None:
    url, headers = caller

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        response = case.call(base_url=url, headers=headers, timeout=30)
        case.validate_response(response, checks=CHECKS)

    ask()


@pytest.mark.slow
@pytest.mark.parametrize("operation", OPERATIONS, ids=LABELS)
def test_without_a_key_nothing_below_v1_answers(
    operation: Any, caller: tuple[str, dict[str, str]]
) -> None:
    url, _ = caller
    if not operation.path.startswith("/v1/"):
        pytest.skip("needs no key")

    @settings(max_examples=3, deadline=None, derandomize=True, database=None)
    @given(case=operation.as_strategy())
    def ask(case: Any) -> None:
        response = case.call(base_url=url, timeout=30)
        case.validate_response(response, checks=CHECKS)
        assert response.status_code == 401

    ask()
