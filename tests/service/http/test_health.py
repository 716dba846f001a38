"""Health: up, and able to work."""

import asyncio
import time
from collections.abc import Callable

import asyncpg
import httpx
import pytest

from tests.conftest import ALL_SCOPES, Service, both_databases
from tests.waiting import generate


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
        generate(http)
        assert http.get("/readyz").json()["queued"] == 1


def test_a_storage_that_is_gone_is_no_secret(service: Service, http: httpx.Client) -> None:
    service.settings.objects.rmdir()
    answer = http.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "unavailable"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_database_that_reads_nothing_is_not_waited_for(service: Service) -> None:
    async def ask() -> tuple[int, float]:
        connection = await asyncpg.connect(service.settings.database_url)
        async with connection.transaction():
            await connection.execute("LOCK TABLE generations")
            begun = time.monotonic()
            async with httpx.AsyncClient(timeout=40, verify=False) as http:
                answer = await http.get(f"{service.url}/readyz")
            took = time.monotonic() - begun
        await connection.close()
        return answer.status_code, took

    status, took = asyncio.run(ask())

    assert (status, took < 12) == (503, True)
