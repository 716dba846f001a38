"""The model writer with a llama.cpp server and a model of one megabyte.

It needs ``pip install xllamacpp`` (no dependencies, 34 MB) and is skipped without it.
"""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kit.engines.text.speech import RATE
from kit.errors import UnavailableError
from kit.service.writer import prompts
from kit.service.writer.client import ChatClient, parse_endpoint
from kit.service.writer.model import ModelWriter
from kit.service.writer.structured_output import ResponseFormats
from kit.service.writer.text import split_sentences
from tests.conftest import ALL_SCOPES, Service
from tests.service.writer import tiny
from tests.service.writer.conftest import text_of
from tests.service.writer.test_prompts import make_brief
from tests.waiting import balance

llama = pytest.importorskip("xllamacpp")
Serve = Callable[..., str]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Serve a model that writes one text, or noise, and return the URL."""
    servers = []

    def start(*parts: str, **other: Any) -> str:
        params = llama.CommonParams()
        params.model.path = str(tiny.write_model(tmp_path / f"{len(servers)}.gguf", parts, **other))
        params.n_ctx, params.n_parallel, params.cpuparams.n_threads = 16_384, 2, 1
        params.warmup, params.verbosity = False, 0
        servers.append(llama.Server(params))
        return f"{servers[-1].listening_address}/v1"

    yield start
    servers.clear()


def new_writer(url: str) -> ModelWriter:
    return ModelWriter(parse_endpoint(url, "tiny"), rate=RATE, seconds=30)


def split_parts(text: str) -> list[str]:
    first, *others = split_sentences(text)
    return [first, *(f" {sentence}" for sentence in others)]


def test_a_title_is_written_with_a_grammar(serve: Serve) -> None:
    title = asyncio.run(new_writer(serve("The Ice on Mercury")).title("SPACE", seed=1, avoid=[]))

    assert (title.title, title.hook_angle) == ("The Ice on Mercury", "The Ice on Mercury")
    assert title.writer == "model:tiny"


@pytest.mark.parametrize("index", [0, 1])
def test_both_ways_to_send_a_schema_work(serve: Serve, index: int) -> None:
    formats, url = ResponseFormats(), serve("The Ice on Mercury")
    formats.remember(index)

    async def ask() -> str:
        async with ChatClient(parse_endpoint(url, "tiny"), float("inf")) as client:
            return await formats.ask(client, prompts.TITLE_SCHEMA, prompts.title("SPACE", []))

    assert json.loads(asyncio.run(ask())).keys() == {"title", "hookAngle"}
    assert formats.first == index


def test_a_script_of_the_requested_duration_is_delivered_and_charged(
    serve: Serve, start_service: Callable[..., Service]
) -> None:
    url = serve(*split_parts(text_of(30)))
    service = start_service(writer_url=url, writer_model="tiny")
    order = {"topic": "SPACE", "title": "My Neighbor's Bicycle", "duration": "30"}
    with service.client(service.key(service.account(), *ALL_SCOPES)) as http:
        [script] = http.post("/v1/scripts", json=order).json()
        left = balance(http)

    assert script["content"] == text_of(30)
    assert (script["writer"], left) == ("model:tiny", 99.85)


def test_a_script_that_stays_too_long_is_trimmed(serve: Serve) -> None:
    url = serve(*split_parts(text_of(60)))

    [draft] = asyncio.run(new_writer(url).scripts(make_brief(), seed=1))

    assert draft.seconds == pytest.approx(30, rel=0.1)
    assert set(split_sentences(draft.content)) < set(split_sentences(text_of(60)))


def test_a_model_that_writes_the_same_text_twice_delivers_nothing(serve: Serve) -> None:
    url = serve(*split_parts(text_of(30)))

    with pytest.raises(UnavailableError, match="the same text twice"):
        asyncio.run(new_writer(url).scripts(make_brief(variations=2), seed=1))


def test_noise_is_never_delivered_as_a_script(serve: Serve) -> None:
    with pytest.raises(UnavailableError, match="nothing was charged"):
        asyncio.run(new_writer(serve(seed=1)).scripts(make_brief(duration_seconds=180), seed=1))
