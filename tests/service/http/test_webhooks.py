"""Webhooks: receivers on loopback get a signed message for every end, repeated if necessary."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpcore
import httpx
import pytest
from standardwebhooks import Webhook

from kit.service.domain import webhooks
from kit.service.http.delivery_sender import TIMEOUT, CheckedBackend, DeliverySender, resolve
from kit.service.store.database import Transaction
from kit.service.store.statements import Statement
from tests.conftest import Service, both_databases, run_coroutine, sql
from tests.service.http.test_metrics import scrape
from tests.waiting import GENERATIONS, generate, until, wait_for_end

HOOKS = "/v1/webhooks"


@dataclass
class Receiver:
    """The messages sent to a URL; `answers` are the statuses and headers of the next responses.

    It sends no response until it is `open`.
    """

    url: str = ""
    open: threading.Event = field(default_factory=threading.Event)
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)
    answers: list[tuple[int, dict[str, str]]] = field(default_factory=list)

    def verified(self, secret: str, place: int = -1) -> Any:
        """Return a message after the library of the standard has checked its signature."""
        headers, body = self.got[place]
        return Webhook(secret).verify(body, headers)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    receiver.open.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.got.append(({k.lower(): v for k, v in self.headers.items()}, body))
            receiver.open.wait(60)
            status, headers = receiver.answers.pop(0) if receiver.answers else (204, {})
            self.send_response(status)
            for name, value in {"content-length": "0", **headers}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_address[1]}/ends"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield receiver
        receiver.open.set()
        server.shutdown()


@pytest.fixture
def service(start_service: Callable[..., Service]) -> Service:
    """A service that may send webhooks to its own machine."""
    return start_service(webhook_loopback=True)


@pytest.fixture
def hook(http: httpx.Client, receiver: Receiver) -> dict[str, Any]:
    response = http.post(HOOKS, json={"url": receiver.url})
    assert response.status_code == 201, response.text
    return dict(response.json())


def make_due(service: Service) -> None:
    """Make all pending deliveries due now."""
    text = "UPDATE deliveries SET due_at = 0 WHERE state = 'pending'"
    service.write(sql(text))


def states(service: Service) -> list[str]:
    return [row.state for row in service.write(sql("SELECT state FROM deliveries"))]


@both_databases
def test_each_end_is_sent_with_the_generation_and_without_signed_urls(
    http: httpx.Client, receiver: Receiver, hook: dict[str, Any]
) -> None:
    done = wait_for_end(http, generate(http))
    failed = wait_for_end(http, generate(http, does="fails"))

    until(lambda: len(receiver.got) == 2)
    sent = {body["data"]["id"]: body for _, body in ((h, json.loads(b)) for h, b in receiver.got)}
    message = sent[done["id"]]
    assert set(message) == {"type", "timestamp", "data"}
    assert message["type"] == "generation.completed"
    assert message["timestamp"] == done["completedAt"]
    assert message["data"]["output"]["sha256"] == done["output"]["sha256"]
    assert message["data"].keys() == done.keys()
    assert message["data"]["outputUrl"] is None
    assert b"signature=" not in b"".join(body for _, body in receiver.got)
    assert sent[failed["id"]]["type"] == "generation.failed"
    receiver.verified(hook["secret"])


def test_a_cancel_is_sent(
    http: httpx.Client, receiver: Receiver, hook: dict[str, Any], service: Service
) -> None:
    name = generate(http, does="hangs")
    assert http.post(f"{GENERATIONS}/{name}/cancel").json()["status"] == "canceled"

    until(lambda: receiver.got)
    assert receiver.verified(hook["secret"])["type"] == "generation.canceled"


def test_a_start_may_have_its_own_webhook_url(http: httpx.Client, receiver: Receiver) -> None:
    secret = http.post(f"{HOOKS}/requests/rotate").json()["secret"]
    name = generate(http, webhookUrl=receiver.url)
    wait_for_end(http, generate(http))

    until(lambda: receiver.got)
    assert receiver.verified(secret)["data"]["id"] == name
    assert [json.loads(body)["data"]["id"] for _, body in receiver.got] == [name]
    assert http.get(HOOKS).json() == []


@both_databases
def test_a_message_that_is_not_accepted_is_sent_again_with_its_id(
    http: httpx.Client, receiver: Receiver, hook: dict[str, Any], service: Service
) -> None:
    receiver.answers = [(500, {}), (302, {"location": receiver.url})]
    wait_for_end(http, generate(http))

    for count in (1, 2, 3):
        until(lambda total=count: len(receiver.got) == total)
        until(lambda total=count: states(service) == ["delivered" if total == 3 else "pending"])
        make_due(service)
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert len({body for _, body in receiver.got}) == 1


def test_a_message_that_is_never_accepted_fails_and_can_be_resent(
    http: httpx.Client, receiver: Receiver, hook: dict[str, Any], service: Service, account: str
) -> None:
    receiver.answers = [(503, {})] * 100
    wait_for_end(http, generate(http))

    def has_failed() -> bool:
        make_due(service)  # even one that is being sent, which is then sent once more
        return states(service) == ["failed"]

    until(has_failed, seconds=60)
    assert [row.attempts for row in service.write(sql("SELECT attempts FROM deliveries"))] >= [7]
    receiver.answers.clear()
    sent = len(receiver.got)
    assert http.get(f"{HOOKS}/{hook['id']}").json()["failed"] == 1
    assert service.write(webhooks.resend(hook["id"], account, service.context.clock())) == 1
    until(lambda: states(service) == ["delivered"])
    assert len(receiver.got) > sent


def test_the_log_says_why_a_message_was_not_accepted(
    http: httpx.Client,
    receiver: Receiver,
    hook: dict[str, Any],
    service: Service,
    caplog: pytest.LogCaptureFixture,
) -> None:
    receiver.answers = [(503, {}), (410, {})]
    name = wait_for_end(http, generate(http))["id"]

    for count in (1, 2):
        until(lambda most=count: caplog.text.count("attempt") == most)
        make_due(service)
    line = f"delivery {name}_{hook['id']}, attempt"
    assert f"{line} 1: pending, the answer was 503" in caplog.text
    assert f"{line} 2: failed, the answer was 410" in caplog.text


def test_a_receiver_may_delay_the_next_attempt_with_retry_after(
    http: httpx.Client, receiver: Receiver, hook: dict[str, Any], service: Service
) -> None:
    receiver.answers = [(429, {"retry-after": "900"})]
    wait_for_end(http, generate(http))

    until(lambda: receiver.got)
    row = until(
        lambda: service.write(sql("SELECT due_at, error FROM deliveries"))[0], lambda it: it.error
    )
    assert 890_000 < row.due_at - service.context.clock() <= 900_000


def test_a_receiver_that_responds_with_410_is_disabled(
    http: httpx.Client, receiver: Receiver, hook: dict[str, Any], service: Service
) -> None:
    receiver.answers = [(410, {})]
    wait_for_end(http, generate(http))
    until(lambda: http.get(f"{HOOKS}/{hook['id']}").json()["disabledAt"])
    wait_for_end(http, generate(http))

    assert states(service) == ["failed"]
    assert len(receiver.got) == 1


@both_databases
def test_deliveries_are_counted_in_the_metrics(
    http: httpx.Client, receiver: Receiver, hook: dict[str, Any], service: Service
) -> None:
    def count() -> list[float]:
        found, name = scrape(service), "kit_webhook_deliveries"
        ended = [found[f"{name}_total", (("state", it),)] for it in ("delivered", "failed")]
        return [*ended, found[f"{name}_pending", ()]]

    receiver.answers = [(204, {}), (503, {}), (410, {})]
    for counts in ([1, 0, 0], [1, 0, 1]):
        wait_for_end(http, generate(http))
        until(count, lambda found, counts=counts: found == counts)
    make_due(service)
    until(count, lambda found: found == [1, 1, 0])


def test_two_secrets_are_valid_for_a_day_after_a_rotation(
    http: httpx.Client, receiver: Receiver, hook: dict[str, Any], service: Service
) -> None:
    new = http.post(f"{HOOKS}/{hook['id']}/rotate").json()["secret"]
    wait_for_end(http, generate(http))

    until(lambda: receiver.got)
    assert new != hook["secret"]
    assert receiver.verified(new) == receiver.verified(hook["secret"])
    row = service.write(webhooks.get(hook["id"], http.get("/v1/account").json()["id"]))
    later = datetime.now(UTC) + timedelta(hours=25)
    marks = webhooks.sign(row, service.settings.secret(), "m", b"", int(later.timestamp() * 1000))
    assert len(marks["webhook-signature"].split()) == 1


def test_a_secret_is_shown_once_and_not_stored(
    http: httpx.Client, hook: dict[str, Any], service: Service
) -> None:
    seen = [http.get(HOOKS).json()[0], http.get(f"{HOOKS}/{hook['id']}").json()]

    assert hook["secret"].startswith("whsec_")
    assert {one["secret"] for one in seen} == {None}
    rows = service.write(sql("SELECT * FROM webhooks"))
    assert hook["secret"][6:] not in str(rows)


def test_an_unusable_webhook_url_is_refused(start_service: Callable[..., Service]) -> None:
    service = start_service()
    with service.client(service.key(service.account(), "creative:generate")) as http:
        for url in (
            "http://example.org/x",
            "ftp://example.org",
            "https://10.0.0.1/x",
            "https://[::ffff:169.254.169.254]/x",
            "https://127.0.0.1/x",
            "https://localhost/x",
            "https://ada:pw@example.org/x",
            "https://exa mple.org",
            "https://example.org:99999",
            "x",
            "",
            "https://",
            "https://example.org/" + "x" * 2000,
        ):
            assert http.post(HOOKS, json={"url": url}).status_code == 400, url
            order = {"modelId": "flat", "prompt": "x", "webhookUrl": url}
            answer = http.post(GENERATIONS, json=order)
            assert answer.status_code == 400, url
            assert "webhookUrl" in answer.json()["error"]["message"]


def test_webhooks_of_other_accounts_are_not_found(
    http: httpx.Client, service: Service, hook: dict[str, Any]
) -> None:
    with service.client(service.key(service.account(), "creative:generate")) as stranger:
        address = f"{HOOKS}/{hook['id']}"
        assert stranger.get(HOOKS).json() == []
        for answer in (
            stranger.get(address),
            stranger.delete(address),
            stranger.post(f"{address}/rotate"),
        ):
            assert answer.status_code == 404
    with service.client(service.key(service.account())) as reader:
        assert reader.get(HOOKS).status_code == 403
    assert http.delete(f"{HOOKS}/{hook['id']}").status_code == 204
    assert http.get(HOOKS).json() == []


def test_the_webhooks_of_an_account_are_limited(http: httpx.Client, receiver: Receiver) -> None:
    statuses = [http.post(HOOKS, json={"url": receiver.url}).status_code for _ in range(21)]

    assert statuses == [201] * 20 + [409]


PRIVATE = ["10.0.0.1", "::ffff:127.0.0.1", "fe80::1%0", "169.254.169.254", "224.0.0.1", "::1"]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_host_is_resolved_and_checked_for_each_connection(address: str) -> None:
    """A name that was resolved to a public address before may now be resolved to a private one."""
    backend = CheckedBackend(lambda *_: resolve_to("93.184.216.34", address), loopback=False)

    with pytest.raises(httpcore.ConnectError, match="private network"):
        run_coroutine(backend.connect_tcp("ends.example", 443))


def test_resolving_a_host_works_while_the_default_executor_is_busy() -> None:
    async def look() -> list[str]:
        loop, found = asyncio.get_running_loop(), threading.Event()
        loop.set_default_executor(ThreadPoolExecutor(1))
        writing = loop.run_in_executor(None, found.wait)
        try:
            return await asyncio.wait_for(resolve("127.0.0.1", 80), 5)
        finally:
            found.set()
            await writing

    assert asyncio.run(look()) == ["127.0.0.1"]


def test_the_connection_uses_the_address_that_was_checked(receiver: Receiver) -> None:
    backend = CheckedBackend(lambda *_: resolve_to("127.0.0.1"), loopback=True)

    async def post() -> int:
        async with httpcore.AsyncConnectionPool(network_backend=backend) as pool:
            url = receiver.url.replace("127.0.0.1", "ends.example")
            return (await pool.request("POST", url, content=b"{}")).status

    assert run_coroutine(post()) == 204
    assert receiver.got[0][0]["host"].startswith("ends.example:")


def test_deliveries_at_once_are_limited_per_account(service: Service, receiver: Receiver) -> None:
    for accounts, most in ((1, 4), (9, 32)):
        while (made := len(receiver.got)) < 5 * accounts:
            with service.client(service.key(service.account(), "creative:generate")) as http:
                for name in [generate(http, webhookUrl=receiver.url) for _ in range(5)]:
                    wait_for_end(http, name)
            until(lambda expected=made + 5: len(receiver.got) == expected)
        until(lambda: set(states(service)) == {"delivered"})

        receiver.open.clear()
        receiver.got.clear()
        service.write(sql("UPDATE deliveries SET state = 'pending', attempts = 0, due_at = 0"))

        until(lambda expected=most: len(receiver.got) == expected)
        time.sleep(0.8)  # longer than the interval between checks for due deliveries
        assert len(receiver.got) == most
        receiver.open.set()
        until(lambda expected=5 * accounts: len(receiver.got) == expected)


def test_an_attempt_has_a_timeout(receiver: Receiver) -> None:
    receiver.open.clear()
    sender = DeliverySender(lambda *_: resolve_to("127.0.0.1"), loopback=True, seconds=0.2)

    assert run_coroutine(sender.send(receiver.url, {}, b"{}")) == (0, 0.0, "TimeoutError")
    assert TIMEOUT == 15


async def resolve_to(*addresses: str) -> list[str]:
    return [*addresses]


def test_the_pending_deliveries_of_an_account_are_limited(
    http: httpx.Client, service: Service, hook: dict[str, Any], account: str
) -> None:
    statement = Statement(
        {
            "": "INSERT INTO deliveries"
            " (id, webhook_id, account_id, generation_id, state, attempts,"
            " due_at) VALUES (:id, 'whk_', :account, 'gen_', 'pending', 0, 9000000000000)"
        }
    )

    def fill() -> Transaction[None]:
        for number in range(webhooks.MAX_PENDING):
            yield statement(id=f"gen_Z{number:04}", account=account)

    service.write(fill())
    wait_for_end(http, generate(http))

    assert http.get(f"{HOOKS}/{hook['id']}").json()["failed"] == 1
