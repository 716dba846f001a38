import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from kit.errors import UnavailableError
from kit.service.writer.client import ANSWER_BYTES, ATTEMPTS, ChatClient, ChatReply, parse_endpoint
from tests.service.writer.conftest import KEY, Answer, Asked, Model

BODY = {"model": "tiny", "messages": []}


def post(model: Model, *, url: str | None = None, seconds: float = 10) -> ChatReply:
    async def ask() -> ChatReply:
        until = asyncio.get_running_loop().time() + seconds
        async with ChatClient(parse_endpoint(url or model.url, "tiny", KEY), until) as line:
            return await line.post(BODY)

    return asyncio.run(ask())


def test_a_call_carries_the_key_and_the_answer_comes_back_as_it_is(model: Model) -> None:
    model.says = [Answer(418, b"tea", {"X-Odd": "1"})]

    reply = post(model)

    assert (reply.status, reply.content, reply.headers["x-odd"]) == (418, b"tea", "1")
    assert model.asked[0].path == "/v1/chat/completions"
    assert model.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert model.asked[0].headers["accept-encoding"] == "identity"
    assert model.asked[0].body == BODY


@pytest.mark.parametrize(
    ("given", "base"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/chat/completions", "http://127.0.0.1:8080/v1"),
        ("https://llm.example/v1beta/openai/", "https://llm.example/v1beta/openai"),
    ],
)
def test_an_address_is_understood_however_much_of_it_is_given(given: str, base: str) -> None:
    assert parse_endpoint(given, "tiny").url == base


def test_the_key_is_in_no_repr() -> None:
    there = parse_endpoint("http://127.0.0.1:1", "tiny", KEY)

    assert KEY not in repr(there)
    assert KEY not in repr(ChatClient(there, 0.0))


def test_without_a_key_none_is_sent(model: Model) -> None:
    model.says = [Answer()]

    async def ask() -> None:
        async with ChatClient(parse_endpoint(model.url, "tiny"), float("inf")) as line:
            await line.post(BODY)

    asyncio.run(ask())

    assert "authorization" not in model.asked[0].headers


def test_a_wait_that_is_asked_for_is_kept(model: Model) -> None:
    model.says = [Answer(429, headers={"Retry-After": "1"}), Answer(200, b"done")]
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
def test_a_wait_that_passes_the_deadline_is_not_begun(
    model: Model, after: Callable[[], str]
) -> None:
    model.says = [Answer(429, headers={"Retry-After": after()})]
    began = time.monotonic()

    with pytest.raises(UnavailableError, match="too busy") as caught:
        post(model)

    assert time.monotonic() - began < 1
    assert 110 <= int(caught.value.headers["Retry-After"]) <= 120
    assert len(model.asked) == 1


@pytest.mark.parametrize("odd", ["soon", "-5", "nan", "inf", "1e999", ""])
def test_an_odd_wait_is_no_reason_to_fall_over(model: Model, odd: str) -> None:
    model.says = [Answer(503, headers={"Retry-After": odd}), Answer(200, b"done")]

    assert post(model).content == b"done"


def test_a_service_that_stays_busy_is_left_alone(model: Model) -> None:
    model.says = [Answer(503, headers={"Retry-After": "0"})]

    with pytest.raises(UnavailableError, match="too busy"):
        post(model)

    assert len(model.asked) == ATTEMPTS


def test_an_answer_that_breaks_off_is_asked_for_again(model: Model) -> None:
    model.says = [Answer(200, b"{", claims=100), Answer(200, b"done")]

    assert post(model).content == b"done"


def test_answers_that_keep_breaking_off_end_in_a_sentence(model: Model) -> None:
    model.says = [Answer(200, b"{", claims=100)]

    with pytest.raises(UnavailableError, match="breaks off"):
        post(model, seconds=0.5)


def test_a_huge_answer_is_not_read_to_its_end(model: Model) -> None:
    model.says = [Answer(200, b"x" * (ANSWER_BYTES + 1), claims=10**12)]

    with pytest.raises(UnavailableError, match="more than a text can have"):
        post(model)


def test_a_redirect_is_not_followed_anywhere(model: Model) -> None:
    where = model.url.replace("127.0.0.1", "localhost")
    model.says = [Answer(307, headers={"Location": f"{where}/elsewhere"})]

    assert post(model).status == 307
    assert len(model.asked) == 1


def test_nobody_at_the_address_is_a_sentence_without_it(model: Model) -> None:
    with pytest.raises(UnavailableError) as caught:
        post(model, url="http://127.0.0.1:1/v1")

    assert "cannot be reached (ConnectError); nothing was charged" in caught.value.message
    assert "127.0.0.1" not in caught.value.message


def test_many_calls_share_a_line(model: Model) -> None:
    gate = threading.Barrier(4, timeout=10)

    def together(asked: Asked) -> Answer:
        gate.wait()
        return Answer(200, b"done")

    model.app = together

    async def ask() -> list[ChatReply]:
        async with ChatClient(parse_endpoint(model.url, "tiny"), float("inf")) as line:
            return await asyncio.gather(*(line.post(BODY) for _ in range(gate.parties)))

    assert [reply.content for reply in asyncio.run(ask())] == [b"done"] * 4
