"""The health and readiness endpoints."""

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
        health = http.get("/healthz").json()

    assert health["status"] == "ok"
    assert health["instance"] == service.context.dispatcher.name


@both_databases
def test_a_running_service_is_ready(service: Service) -> None:
    with service.client(None) as http:
        answer = http.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["workers"] == 1


@both_databases
def test_readiness_counts_queued_generations(start_service: Callable[..., Service]) -> None:
    service = start_service(workers=0)
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        generate(http)
        assert http.get("/readyz").json()["queued"] == 1


def test_a_missing_storage_folder_is_unavailable(service: Service, http: httpx.Client) -> None:
    service.settings.objects.rmdir()
    answer = http.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "unavailable"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_locked_database_is_unavailable_within_seconds(service: Service) -> None:
    async def ask() -> tuple[int, float]:
        connection = await asyncpg.connect(service.settings.database_url)
        async with connection.transaction():
            await connection.execute("LOCK TABLE generations")
            started = time.monotonic()
            async with httpx.AsyncClient(timeout=40, verify=False) as http:
                answer = await http.get(f"{service.url}/readyz")
            took = time.monotonic() - started
        await connection.close()
        return answer.status_code, took

    status, took = asyncio.run(ask())

    assert (status, took < 12) == (503, True)
