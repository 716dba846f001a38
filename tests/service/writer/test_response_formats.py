import asyncio
from collections.abc import Callable, Collection
from typing import Any

import pytest

from kit.errors import UnavailableError
from kit.service.writer.client import ChatClient, parse_endpoint
from kit.service.writer.prompts import schema
from kit.service.writer.structured_output import REMEMBERED_SECONDS, ResponseFormats
from tests.service.writer.conftest import KEY, Answer, ChatRequest, Model, Reply, complete

SCHEMA = schema(content="the words")
ALL: list[Any] = ["json_schema", "json_object", "json_object", None]


def ask(model: Model, formats: ResponseFormats | None = None) -> str:
    async def once() -> str:
        until = asyncio.get_running_loop().time() + 10
        async with ChatClient(parse_endpoint(model.url, "tiny", KEY), until) as client:
            messages = [{"role": "user", "content": "Hi."}]
            return await (formats or ResponseFormats()).ask(client, SCHEMA, messages)

    return asyncio.run(once())


def refuse_formats(status: int, kinds: Collection[str | None]) -> Callable[[ChatRequest], Reply]:
    """Return an app that refuses some formats; `schema` is a schema beside `json_object`."""

    def app(asked: ChatRequest) -> Reply:
        kind = asked.format
        if kind == "json_object" and "schema" in asked.body["response_format"]:
            kind = "schema"
        return Answer(status, b'{"error": "no"}') if kind in kinds else "yes"

    return app


@pytest.mark.parametrize("status", [400, 404, 422, 500])
@pytest.mark.parametrize(
    ("refused", "tries"),
    [
        ([], 1),
        (["json_schema"], 2),
        (["json_schema", "schema"], 3),
        (["json_schema", "schema", "json_object"], 4),
    ],
)
def test_a_server_gets_the_strictest_format_that_it_accepts(
    model: Model, status: int, refused: list[str], tries: int
) -> None:
    model.app = refuse_formats(status, refused)

    assert ask(model) == "yes"
    assert [asked.format for asked in model.requests] == ALL[:tries]


def test_the_schema_is_strict_and_closed(model: Model) -> None:
    model.replies = ["yes"]
    ask(model)

    sent = model.requests[0].body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["required"] == ["content"]
    assert sent["schema"]["additionalProperties"] is False
    assert model.requests[0].body["model"] == "tiny"
    assert model.requests[0].body["stream"] is False


def test_the_format_that_worked_is_remembered_for_a_while(model: Model) -> None:
    now = [0.0]
    formats = ResponseFormats(lambda: now[0])
    model.app = refuse_formats(500, ["json_schema", "schema"])
    for _ in range(2):
        ask(model, formats)
    now[0] = REMEMBERED_SECONDS + 1
    model.replies, model.app = ["yes"], None
    ask(model, formats)

    assert [asked.format for asked in model.requests] == [*ALL[:3], "json_object", "json_schema"]


def test_a_remembered_format_is_dropped_when_it_fails(model: Model) -> None:
    formats = ResponseFormats()
    model.app = refuse_formats(400, ["json_schema"])
    ask(model, formats)
    model.app = refuse_formats(400, [*ALL, "schema"])
    with pytest.raises(UnavailableError):
        ask(model, formats)

    assert formats.first == 0


@pytest.mark.parametrize(
    ("answer", "sentence", "tries"),
    [
        (Answer(401), "refuses the key of this service", 1),
        (Answer(403, KEY.encode()), "refuses the key of this service", 1),
        (Answer(402), "out of credits", 1),
        (Answer(404), "not found at its address", 4),
        (Answer(400, KEY.encode()), "answers 400", 4),
        (Answer(500), "answers 500", 4),
        (Answer(301, headers={"Location": "http://127.0.0.2/"}), "redirects, which is not", 1),
        (Answer(418), "answers 418", 1),
        (Answer(200, b"<html>"), "answers with something else", 1),
        (Answer(200, b"[]"), "answers with something else", 1),
        (Answer(200, b'{"choices": []}'), "answers with something else", 1),
        (Answer(200, b'{"choices": [{"message": null}]}'), "answers with something else", 1),
        (Answer(200, b"\xff\xfe"), "answers with something else", 1),
        (complete({"content": None, "refusal": "I cannot."}), "declines to write", 1),
        (complete("half", finish_reason="content_filter"), "declines to write", 1),
    ],
)
def test_an_unusable_response_raises_an_error_that_does_not_repeat_it(
    model: Model, answer: Answer, sentence: str, tries: int
) -> None:
    model.replies = [answer]

    with pytest.raises(UnavailableError, match=sentence) as caught:
        ask(model)

    assert caught.value.message.endswith("; nothing was charged")
    assert KEY not in caught.value.message
    assert len(model.requests) == tries


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": [{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]}, "yes"),
        ({"content": None, "reasoning_content": "hm"}, ""),
        ({"role": "assistant"}, ""),
    ],
)
def test_the_content_of_a_reply_may_be_in_pieces_or_missing(
    model: Model, message: Any, text: str
) -> None:
    model.replies = [complete(message)]

    assert ask(model) == text
