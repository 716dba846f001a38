"""Health: up, and able to work."""

from collections.abc import Callable

import httpx

from tests.conftest import ALL_SCOPES, Service, both_databases
from tests.waiting import started


def test_a_running_service_is_healthy_without_a_key(service: Service) -> None:
    with service.client(None) as http:
        told = http.get("/healthz").json()

    assert told["status"] == "ok"
    assert told["instance"] == service.context.dispatcher.name


@both_databases
def test_a_running_service_is_ready(service: Service) -> None:
    with service.client(None) as http:
        answer = http.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["workers"] == 1


@both_databases
def test_readiness_counts_what_waits(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        started(http)
        assert http.get("/readyz").json()["queued"] == 1


def test_a_storage_that_is_gone_is_no_secret(service: Service, http: httpx.Client) -> None:
    service.settings.objects.rmdir()
    answer = http.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "unavailable"
