"""The request handler: request ids, logs without secrets, one envelope for all errors."""

import asyncio
import json
import logging
import socket
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from kit.service.app import create_app
from kit.service.domain import accounts, keys
from kit.service.http.request_handler import needed_scope, path_below_mount
from kit.service.machine import clock
from kit.service.settings import ServiceSettings
from tests.conftest import Service
from tests.waiting import generate, until, wait_for_end


def test_secrets_never_reach_the_log(
    caplog: pytest.LogCaptureFixture, http: httpx.Client, key: str
) -> None:
    caplog.set_level(logging.DEBUG, logger="kit")
    done = wait_for_end(http, generate(http, prompt="my private idea"))
    httpx.get(done["outputUrl"], verify=False)
    http.get("/v1/nothing")
    signature = httpx.URL(done["outputUrl"]).params["signature"]

    assert done["id"] in caplog.text
    for secret in (key, signature, "my private idea"):
        assert secret not in caplog.text
    assert key[:12] in caplog.text


def test_every_response_has_its_own_request_id(http: httpx.Client) -> None:
    answers = [http.get(path) for path in ("/healthz", "/v1/account", "/v1/nothing", "/nothing")]

    assert len({answer.headers["X-Request-Id"] for answer in answers}) == 4
    assert {answer.headers["X-Content-Type-Options"] for answer in answers} == {"nosniff"}


class FailingWriter:
    """A writer that always raises."""

    def title(self, topic: str, **_: Any) -> Any:
        raise RuntimeError("secret path /home/someone")

    def scripts(self, brief: Any, **_: Any) -> Any:
        raise RuntimeError("secret path /home/someone")


def test_an_unexpected_error_gets_an_envelope_without_details(config: ServiceSettings) -> None:
    app = create_app(config, writer=FailingWriter())

    async def ask() -> tuple[httpx.Response, Any]:
        async with app.router.lifespan_context(app):
            database = app.state.context.database
            account = await database.write(accounts.create("Ada", "a@b", 1000, clock()))
            request = keys.KeyRequest(account_id=account.id, name="k", scopes=("scripts:generate",))
            key = await database.write(keys.create(request, config.secret(), clock()))
            headers = {"Authorization": f"Bearer {key.text}", "Idempotency-Key": "one"}
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://kit") as client:
                for _ in range(2):
                    path, body = "/v1/scripts/title", {"topic": "SPACE"}
                    answer = await client.post(path, json=body, headers=headers)
            return answer, await database.read(accounts.get(account.id))

    answer, account = asyncio.run(ask())
    error = answer.json()["error"]

    # The second one too: a failed writer releases the idempotency key and charges nothing.
    assert (answer.status_code, error["code"]) == (500, "internal_error")
    assert "someone" not in answer.text
    assert error["requestId"] == answer.headers["X-Request-Id"]
    assert account.balance == 1000


def test_a_client_that_disconnects_during_an_upload_leaves_no_file(
    service: Service, http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    body = {"fileName": "a", "contentType": "image/png", "fileSizeBytes": 9999, "modelId": "clay"}
    ticket = http.post("/v1/creative-studio/media-uploads", json=body).json()
    parts = urlsplit(ticket["uploadUrl"])
    caplog.set_level(logging.INFO, logger="kit")
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        connection.sendall(
            f"PUT {parts.path}?{parts.query} HTTP/1.1\r\nHost: kit\r\nContent-Type: image/png\r\n"
            "Content-Length: 9999\r\n\r\nbegun".encode()
        )
        until(lambda: list(service.settings.scratch.glob("*.part")))
    until(lambda: not list(service.settings.scratch.glob("*.part")))
    until(lambda: f"PUT {parts.path}" in caplog.text)

    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert f"PUT {parts.path} 499 " in caplog.text


@pytest.mark.parametrize("path", ["estimates", "generations"])
def test_a_client_that_disconnects_is_logged_without_a_warning(
    service: Service, key: str, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    parts = urlsplit(f"{service.url}/v1/creative-studio/{path}")
    caplog.set_level(logging.INFO, logger="kit")
    with socket.create_connection((parts.hostname, parts.port)) as connection:
        connection.sendall(
            f"POST {parts.path} HTTP/1.1\r\nHost: kit\r\nAuthorization: Bearer {key}\r\n"
            "Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{".encode()
        )
    until(lambda: f"POST {parts.path}" in caplog.text)

    assert f"POST {parts.path} 499 " in caplog.text
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    ("path", "scope"),
    [
        ("/v1/account", "read"),
        ("/v1/usage", "read"),
        ("/v1/creative-studio/models/x", "read"),
        ("/v1/creative-studio/estimates", "read"),
        ("/v1/creative-studio/media-uploads", "creative:generate"),
        ("/v1/creative-studio/generations/x/cancel", "creative:generate"),
        ("/v1/scripts/title", "scripts:generate"),
    ],
)
def test_a_path_needs_its_scope(path: str, scope: str) -> None:
    assert needed_scope(path) == scope


def test_the_prefix_of_a_mounted_service_is_left_out_of_the_path() -> None:
    assert path_below_mount({"path": "/studio/v1/account", "root_path": "/studio"}) == "/v1/account"
    assert path_below_mount({"path": "/v1/account", "root_path": "/studio"}) == "/v1/account"
    assert path_below_mount({"path": "/v1/account"}) == "/v1/account"


def test_a_mounted_service_answers_below_its_prefix(config: ServiceSettings) -> None:
    service = create_app(replace(config, workers=0))

    async def ask(app: Any, root_path: str) -> list[httpx.Response]:
        async with service.router.lifespan_context(service):
            transport = httpx.ASGITransport(app, root_path=root_path)
            async with httpx.AsyncClient(transport=transport, base_url="http://[::1]") as client:
                paths = "/studio/openapi.json", "/studio/v1/account", "/studio/docs"
                return [await client.get(path) for path in paths]

    for app, root_path in (
        (service, "/studio"),
        (Starlette(routes=[Mount("/studio", app=service)]), ""),
    ):
        document, answer, page = asyncio.run(ask(app, root_path))

        assert document.json()["servers"] == [{"url": "/studio"}]
        assert answer.status_code == 401
        assert "curl http://[::1]/studio/v1/account" in page.text


def test_the_last_use_of_a_key_is_stored(start_service: Callable[..., Service]) -> None:
    service = start_service()
    account = service.account()
    text = service.key(account)
    with service.client(text) as http:
        http.get("/v1/account")
    [row] = service.write(keys.list_keys(account))

    assert row.last_used_at >= row.created_at
    assert json.dumps(row.prefix) in json.dumps(text[:12])
