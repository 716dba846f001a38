import asyncio
import itertools
import json
import logging
import threading
import time
from typing import Any

import pytest

from kit.engines.text.speech import RATE, seconds, words
from kit.errors import UnavailableError
from kit.service.domain.writing import Draft, ScriptBrief
from kit.service.writer.client import parse_endpoint
from kit.service.writer.model import ModelWriter
from kit.wire import Title
from tests.service.writer.conftest import (
    KEY,
    Answer,
    ChatRequest,
    Model,
    as_script,
    as_title,
    complete,
    text_of,
)
from tests.service.writer.test_prompts import make_brief


def new_writer(model: Model, *, seconds: float = 10) -> ModelWriter:
    return ModelWriter(parse_endpoint(model.url, "tiny", KEY), rate=RATE, seconds=seconds)


def write_title(model: Model, *avoid: str, **other: Any) -> Title:
    return asyncio.run(new_writer(model, **other).title("SPACE", seed=1, avoid=avoid))


def write_scripts(model: Model, brief: ScriptBrief | None = None, **other: Any) -> list[Draft]:
    return [*asyncio.run(new_writer(model, **other).scripts(brief or make_brief(), seed=1))]


def test_a_title_names_its_writer(model: Model) -> None:
    model.replies = [as_title('"Why Venus Turns Backwards."', "Venus turns **backwards**.")]

    assert write_title(model) == Title(
        title="Why Venus Turns Backwards", hook_angle="Venus turns backwards.", writer="model:tiny"
    )


def test_a_title_that_is_already_used_is_requested_again(model: Model) -> None:
    model.replies = [as_title("Why Venus turns backwards!"), as_title("The Ice on Mercury")]

    assert write_title(model, "Why Venus Turns Backwards").title == "The Ice on Mercury"
    assert model.requests[0].facts["alreadyUsed"] == ["Why Venus Turns Backwards"]
    assert "used already" in model.requests[1].last


def test_a_title_is_never_repeated(model: Model) -> None:
    model.replies = [as_title("Why Venus Turns Backwards")]

    with pytest.raises(UnavailableError, match="only titles that this account has"):
        write_title(model, "Why Venus Turns Backwards")
    assert len(model.requests) == 2


@pytest.mark.parametrize("name", ["x" * 101, "", "?!", "\U0001f680"])
def test_an_unusable_title_is_requested_again(model: Model, name: str) -> None:
    model.replies = [as_title(name), as_title("The Ice on Mercury")]

    assert write_title(model).title == "The Ice on Mercury"


def test_a_reply_that_is_not_json_is_repaired_once(model: Model) -> None:
    model.replies = ["Here you go: Venus!", as_title("The Ice on Mercury")]

    assert write_title(model).title == "The Ice on Mercury"
    system, facts, reply, request = model.requests[1].body["messages"]
    assert [system["role"], facts["role"]] == ["system", "user"]
    assert reply == {"role": "assistant", "content": "Here you go: Venus!"}
    assert "there is no JSON object in it" in request["content"]


def test_a_model_that_writes_noise_fails_after_one_repair(model: Model) -> None:
    model.replies = ["\x00\x01 noise"]

    with pytest.raises(UnavailableError, match="does not follow the format; nothing was charged"):
        write_title(model)
    assert len(model.requests) == 2


def test_the_duration_of_a_script_is_that_of_the_cleaned_text(model: Model) -> None:
    text = text_of(30)
    model.replies = [as_script(f"**Narrator:** {text}\n\n#space")]

    [draft] = write_scripts(model)

    assert draft == Draft(text, seconds(text), len(words(text)), "model:tiny")
    assert draft.seconds == pytest.approx(30, rel=0.1)


@pytest.mark.parametrize(("first", "word"), [(15, "longer"), (60, "shorter")])
def test_another_duration_is_requested_once_with_the_measured_one(
    model: Model, first: int, word: str
) -> None:
    model.replies = [as_script(text_of(first)), as_script(text_of(30))]

    [draft] = write_scripts(model)

    assert draft.content == text_of(30)
    assert word in model.requests[1].last
    assert "it must last 30" in model.requests[1].last
    assert len(model.requests) == 2


def test_a_script_that_stays_too_long_is_trimmed(model: Model) -> None:
    model.replies = [as_script(text_of(90)), as_script(text_of(50))]

    [draft] = write_scripts(model)

    assert draft.seconds == pytest.approx(30, rel=0.1)
    assert draft.content.split(".")[0] == text_of(50).split(".")[0]
    assert len(model.requests) == 2


def test_a_script_that_stays_too_short_is_not_delivered(model: Model) -> None:
    model.replies = [as_script("Honey never spoils.")]

    with pytest.raises(UnavailableError, match="no text of about 30 seconds; its last one takes 1"):
        write_scripts(model)
    assert len(model.requests) == 2


def test_format_and_duration_are_each_corrected_once(model: Model) -> None:
    model.replies = ["noise", as_script(text_of(60)), as_script(text_of(30))]

    assert write_scripts(model)[0].content == text_of(30)


def test_a_long_text_is_trimmed_even_when_its_revision_is_noise(model: Model) -> None:
    model.replies = [as_script(text_of(60)), "noise", "noise"]

    assert write_scripts(model)[0].seconds == pytest.approx(30, rel=0.1)


def test_an_endless_script_is_requested_again(model: Model) -> None:
    model.replies = [as_script("and on " * 50_000), as_script(text_of(30))]

    assert write_scripts(model)[0].content == text_of(30)


def test_two_variations_are_requested_concurrently(model: Model) -> None:
    gate = threading.Barrier(2, timeout=10)

    def app(asked: ChatRequest) -> str:
        gate.wait()
        return as_script(text_of(30, seed=9 if "other way round" in asked.rules else 1))

    model.app = app

    drafts = write_scripts(model, make_brief(variations=2))

    assert [draft.content for draft in drafts] == [text_of(30, seed=1), text_of(30, seed=9)]


def test_a_second_variation_that_equals_the_first_is_written_again(model: Model) -> None:
    def app(asked: ChatRequest) -> str:
        return as_script(text_of(30, seed=9 if "otherText" in asked.facts else 1))

    model.app = app

    first, second = write_scripts(model, make_brief(variations=2))

    assert (first.content, second.content) == (text_of(30, seed=1), text_of(30, seed=9))
    assert model.requests[2].facts["otherText"] == first.content


def test_variations_that_stay_the_same_are_not_delivered(model: Model) -> None:
    model.replies = [as_script(text_of(30))]

    with pytest.raises(UnavailableError, match="the same text twice"):
        write_scripts(model, make_brief(variations=2))


def test_a_failed_variation_ends_the_wait_for_the_other(model: Model) -> None:
    never = threading.Event()
    count = itertools.count()
    model.app = lambda asked: Answer(401) if next(count) else Answer(waits=never)
    began = time.monotonic()

    with pytest.raises(UnavailableError, match="refuses the key"):
        write_scripts(model, make_brief(variations=2))

    never.set()
    assert time.monotonic() - began < 5


def test_a_model_that_takes_too_long_times_out(model: Model) -> None:
    never = threading.Event()
    model.replies = [Answer(waits=never)]
    began = time.monotonic()

    with pytest.raises(UnavailableError, match=r"longer than 0\.3 seconds; nothing was charged"):
        write_scripts(model, seconds=0.3)

    never.set()
    assert time.monotonic() - began < 5


def test_the_event_loop_runs_while_a_model_writes(model: Model) -> None:
    writes = threading.Event()
    model.app = lambda asked: Answer(complete(as_title("Ice")).status, waits=writes)

    async def count_turns() -> int:
        order = asyncio.create_task(new_writer(model).title("SPACE", seed=1, avoid=[]))
        turns = 0
        while not model.requests or turns < 10:
            await asyncio.sleep(0)
            turns += 1
        order.cancel()
        writes.set()
        with pytest.raises(asyncio.CancelledError):
            await order
        return turns

    assert asyncio.run(count_turns()) >= 10


def test_the_log_contains_neither_the_key_nor_a_text(
    model: Model, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kit")
    model.replies = [as_script(f"my private text {KEY}")]

    with pytest.raises(UnavailableError) as caught:
        write_scripts(model, make_brief(title="My Private Title"))

    assert "model:tiny wrote nothing: the language model gives no text" in caplog.text
    for it in (caplog.text, caught.value.message, repr(new_writer(model)), json.dumps(str(caught))):
        assert KEY not in it
        assert "private" not in it.lower()
