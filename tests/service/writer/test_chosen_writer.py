"""The writer that a service uses by its settings, tested through its responses."""

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from kit.service import settings
from kit.service.writer import BuiltInWriter, create_writer
from kit.service.writer.model import ModelWriter
from tests.conftest import ALL_SCOPES, Service
from tests.service.writer.conftest import KEY, Answer, Model, as_script, as_title, complete, text_of
from tests.waiting import balance, until

TITLE, SCRIPTS = "/v1/scripts/title", "/v1/scripts"
BRIEF = {"topic": "SPACE", "title": "Ten facts", "duration": "30"}
Start = Callable[..., Service]


def writer_settings(model: Model, **other: object) -> dict[str, object]:
    return {"writer_url": model.url, "writer_model": "tiny", "writer_key": KEY, **other}


def test_the_settings_choose_the_writer(tmp_path: Path) -> None:
    named = {"writer_url": "http://127.0.0.1:1", "writer_model": "tiny", "data": tmp_path}

    assert isinstance(create_writer(settings.load({}, data=tmp_path)), BuiltInWriter)
    assert isinstance(create_writer(settings.load({}, **named)), ModelWriter)


def test_model_texts_are_charged_and_name_their_writer(start_service: Start, model: Model) -> None:
    service = start_service(**writer_settings(model))
    model.replies = [as_title("The Ice on Mercury"), as_script(text_of(30))]
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        title = http.post(TITLE, json={"topic": "SPACE"}).json()
        [script] = http.post(SCRIPTS, json=BRIEF).json()
        left = balance(http)

    assert title == {
        "title": "The Ice on Mercury",
        "hookAngle": "Nobody told you this.",
        "writer": "model:tiny",
    }
    assert (script["content"], script["writer"]) == (text_of(30), "model:tiny")
    assert left == 99.8


def test_a_model_gets_the_titles_of_an_account_and_repeats_none(
    start_service: Start, model: Model
) -> None:
    service = start_service(**writer_settings(model))
    model.replies = [as_title("One"), as_title("Two"), as_title("Two"), as_title("Three")]
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        given = [http.post(TITLE, json={"topic": "SPACE"}).json()["title"] for _ in range(3)]

    assert given == ["One", "Two", "Three"]
    assert model.requests[-1].facts["alreadyUsed"] == ["One", "Two"]


@pytest.mark.parametrize(("path", "body"), [(TITLE, {"topic": "SPACE"}), (SCRIPTS, BRIEF)])
def test_a_failing_model_charges_nothing_and_releases_the_idempotency_key(
    start_service: Start,
    model: Model,
    caplog: pytest.LogCaptureFixture,
    path: str,
    body: dict[str, str],
) -> None:
    caplog.set_level(logging.DEBUG, logger="kit")
    service = start_service(**writer_settings(model))
    model.replies = [Answer(401, KEY.encode())]
    again = {"Idempotency-Key": "one"}
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        failed = http.post(path, json=body, headers=again)
        model.replies = [as_title("Ice")] if path == TITLE else [as_script(text_of(30))]
        then = http.post(path, json=body, headers=again)
        left = balance(http)

    error = failed.json()["error"]
    assert (failed.status_code, error["code"]) == (503, "unavailable")
    assert "refuses the key of this service; nothing was charged" in error["message"]
    assert int(failed.headers["Retry-After"]) >= 1
    assert then.is_success
    assert "Idempotency-Replayed" not in then.headers
    assert left == {TITLE: 99.95, SCRIPTS: 99.85}[path]
    assert KEY not in caplog.text + failed.text


def test_four_texts_of_an_account_are_written_at_a_time(start_service: Start, model: Model) -> None:
    service, written = start_service(**writer_settings(model)), threading.Event()
    model.app = lambda _: replace(complete(as_script(text_of(30))), waits=written)
    one, other = (service.key(service.account(), *ALL_SCOPES) for _ in range(2))
    with (
        service.client(one) as http,
        service.client(other) as stranger,
        ThreadPoolExecutor(9) as pool,
    ):
        orders = [pool.submit(http.post, SCRIPTS, json=BRIEF) for _ in range(8)]
        until(lambda: len(model.requests) == 4)
        orders.append(pool.submit(stranger.post, SCRIPTS, json=BRIEF))
        until(lambda: len(model.requests) == 5)
        written.set()
        answers = [order.result() for order in orders]

    assert [answer.status_code for answer in answers] == [201] * 9


def test_the_built_in_writer_works_while_the_default_executor_is_busy() -> None:
    async def write() -> str:
        loop, written = asyncio.get_running_loop(), threading.Event()
        loop.set_default_executor(ThreadPoolExecutor(1))
        file = loop.run_in_executor(None, written.wait)
        try:
            title = await asyncio.wait_for(BuiltInWriter(4.35).title("SPACE", seed=1, avoid=()), 20)
            return title.title
        finally:
            written.set()
            await file

    assert asyncio.run(write())


def test_no_model_is_called_without_credits(start_service: Start, model: Model) -> None:
    service = start_service(**writer_settings(model))
    with service.client(service.key(service.account(credits=0), *ALL_SCOPES)) as http:
        assert http.post(SCRIPTS, json=BRIEF).status_code == 402

    assert model.requests == []
