import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from kit.errors import UnavailableError
from kit.service.writer.client import ANSWER_BYTES, ATTEMPTS, ChatClient, ChatReply, parse_endpoint
from tests.service.writer.conftest import KEY, Answer, ChatRequest, Model

BODY = {"model": "tiny", "messages": []}


def post(model: Model, *, url: str | None = None, seconds: float = 10) -> ChatReply:
    async def ask() -> ChatReply:
        until = asyncio.get_running_loop().time() + seconds
        async with ChatClient(parse_endpoint(url or model.url, "tiny", KEY), until) as client:
            return await client.post(BODY)

    return asyncio.run(ask())


def test_a_call_sends_the_key_and_returns_the_response_unchanged(model: Model) -> None:
    model.replies = [Answer(418, b"tea", {"X-Odd": "1"})]

    reply = post(model)

    assert (reply.status, reply.content, reply.headers["x-odd"]) == (418, b"tea", "1")
    assert model.requests[0].path == "/v1/chat/completions"
    assert model.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert model.requests[0].headers["accept-encoding"] == "identity"
    assert model.requests[0].body == BODY


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/chat/completions", "http://127.0.0.1:8080/v1"),
        ("https://llm.example/v1beta/openai/", "https://llm.example/v1beta/openai"),
    ],
)
def test_the_base_url_is_derived_from_a_complete_or_partial_url(given: str, base: str) -> None:
    assert parse_endpoint(given, "tiny").url == base


def test_the_key_is_not_in_any_repr() -> None:
    endpoint = parse_endpoint("http://127.0.0.1:1", "tiny", KEY)

    assert KEY not in repr(endpoint)
    assert KEY not in repr(ChatClient(endpoint, 0.0))


def test_no_authorization_header_is_sent_without_a_key(model: Model) -> None:
    model.replies = [Answer()]

    async def ask() -> None:
        async with ChatClient(parse_endpoint(model.url, "tiny"), float("inf")) as client:
            await client.post(BODY)

    asyncio.run(ask())

    assert "authorization" not in model.requests[0].headers


def test_retry_after_is_respected(model: Model) -> None:
    model.replies = [Answer(429, headers={"Retry-After": "1"}), Answer(200, b"done")]
    began = time.monotonic()

    assert post(model).content == b"done"
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    "after",
    [
        lambda: "120",
        lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=120), usegmt=True),
    ],
)
def test_a_retry_after_the_deadline_fails_at_once(model: Model, after: Callable[[], str]) -> None:
    model.replies = [Answer(429, headers={"Retry-After": after()})]
    began = time.monotonic()

    with pytest.raises(UnavailableError, match="too busy") as caught:
        post(model)

    assert time.monotonic() - began < 1
    assert 110 <= int(caught.value.headers["Retry-After"]) <= 120
    assert len(model.requests) == 1


@pytest.mark.parametrize("wait", ["soon", "-5", "nan", "inf", "1e999", ""])
def test_an_invalid_retry_after_is_ignored(model: Model, wait: str) -> None:
    model.replies = [Answer(503, headers={"Retry-After": wait}), Answer(200, b"done")]

    assert post(model).content == b"done"


def test_a_busy_service_is_retried_a_limited_number_of_times(model: Model) -> None:
    model.replies = [Answer(503, headers={"Retry-After": "0"})]

    with pytest.raises(UnavailableError, match="too busy"):
        post(model)

    assert len(model.requests) == ATTEMPTS


def test_a_truncated_response_is_requested_again(model: Model) -> None:
    model.replies = [Answer(200, b"{", claims=100), Answer(200, b"done")]

    assert post(model).content == b"done"


def test_repeatedly_truncated_responses_raise_an_error(model: Model) -> None:
    model.replies = [Answer(200, b"{", claims=100)]

    with pytest.raises(UnavailableError, match="breaks off"):
        post(model, seconds=0.5)


def test_a_huge_response_is_not_read_completely(model: Model) -> None:
    model.replies = [Answer(200, b"x" * (ANSWER_BYTES + 1), claims=10**12)]

    with pytest.raises(UnavailableError, match="more than a text can have"):
        post(model)


def test_a_redirect_is_not_followed(model: Model) -> None:
    where = model.url.replace("127.0.0.1", "localhost")
    model.replies = [Answer(307, headers={"Location": f"{where}/elsewhere"})]

    assert post(model).status == 307
    assert len(model.requests) == 1


def test_an_unreachable_service_raises_an_error_without_its_url(model: Model) -> None:
    with pytest.raises(UnavailableError) as caught:
        post(model, url="http://127.0.0.1:1/v1")

    assert "cannot be reached (ConnectError); nothing was charged" in caught.value.message
    assert "127.0.0.1" not in caught.value.message


def test_concurrent_calls_share_a_client(model: Model) -> None:
    gate = threading.Barrier(4, timeout=10)

    def respond_together(asked: ChatRequest) -> Answer:
        gate.wait()
        return Answer(200, b"done")

    model.app = respond_together

    async def ask() -> list[ChatReply]:
        async with ChatClient(parse_endpoint(model.url, "tiny"), float("inf")) as client:
            return await asyncio.gather(*(client.post(BODY) for _ in range(gate.parties)))

    assert [reply.content for reply in asyncio.run(ask())] == [b"done"] * 4
