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
    Asked,
    Model,
    completion,
    scripted,
    text_of,
    titled,
)
from tests.service.writer.test_prompts import brief


def writer(model: Model, *, seconds: float = 10) -> ModelWriter:
    return ModelWriter(parse_endpoint(model.url, "tiny", KEY), rate=RATE, seconds=seconds)


def title(model: Model, *avoid: str, **other: Any) -> Title:
    return asyncio.run(writer(model, **other).title("SPACE", seed=1, avoid=avoid))


def scripts(model: Model, wish: ScriptBrief | None = None, **other: Any) -> list[Draft]:
    return [*asyncio.run(writer(model, **other).scripts(wish or brief(), seed=1))]


def test_a_title_says_who_wrote_it(model: Model) -> None:
    model.says = [titled('"Why Venus Turns Backwards."', "Venus turns **backwards**.")]

    assert title(model) == Title(
        title="Why Venus Turns Backwards", hook_angle="Venus turns backwards.", writer="model:tiny"
    )


def test_a_title_that_was_given_before_is_asked_for_once_more(model: Model) -> None:
    model.says = [titled("Why Venus turns backwards!"), titled("The Ice on Mercury")]

    assert title(model, "Why Venus Turns Backwards").title == "The Ice on Mercury"
    assert model.asked[0].facts["alreadyUsed"] == ["Why Venus Turns Backwards"]
    assert "used already" in model.asked[1].last


def test_a_title_is_never_repeated(model: Model) -> None:
    model.says = [titled("Why Venus Turns Backwards")]

    with pytest.raises(UnavailableError, match="only titles that this account has"):
        title(model, "Why Venus Turns Backwards")
    assert len(model.asked) == 2


@pytest.mark.parametrize("name", ["x" * 101, "", "?!", "\U0001f680"])
def test_a_title_of_no_use_is_asked_for_once_more(model: Model, name: str) -> None:
    model.says = [titled(name), titled("The Ice on Mercury")]

    assert title(model).title == "The Ice on Mercury"


def test_an_answer_that_is_no_json_is_repaired_once(model: Model) -> None:
    model.says = ["Here you go: Venus!", titled("The Ice on Mercury")]

    assert title(model).title == "The Ice on Mercury"
    system, facts, said, request = model.asked[1].body["messages"]
    assert [system["role"], facts["role"]] == ["system", "user"]
    assert said == {"role": "assistant", "content": "Here you go: Venus!"}
    assert "there is no JSON object in it" in request["content"]


def test_a_model_that_talks_noise_fails_after_one_repair(model: Model) -> None:
    model.says = ["\x00\x01 noise"]

    with pytest.raises(UnavailableError, match="does not follow the format; nothing was charged"):
        title(model)
    assert len(model.asked) == 2


def test_a_script_is_measured_on_what_is_delivered(model: Model) -> None:
    text = text_of(30)
    model.says = [scripted(f"**Narrator:** {text}\n\n#space")]

    [draft] = scripts(model)

    assert draft == Draft(text, seconds(text), len(words(text)), "model:tiny")
    assert draft.seconds == pytest.approx(30, rel=0.1)


@pytest.mark.parametrize(("first", "word"), [(15, "longer"), (60, "shorter")])
def test_another_length_is_asked_for_once_with_the_figures(
    model: Model, first: int, word: str
) -> None:
    model.says = [scripted(text_of(first)), scripted(text_of(30))]

    [draft] = scripts(model)

    assert draft.content == text_of(30)
    assert word in model.asked[1].last
    assert "it must last 30" in model.asked[1].last
    assert len(model.asked) == 2


def test_what_stays_too_long_is_trimmed(model: Model) -> None:
    model.says = [scripted(text_of(90)), scripted(text_of(50))]

    [draft] = scripts(model)

    assert draft.seconds == pytest.approx(30, rel=0.1)
    assert draft.content.split(".")[0] == text_of(50).split(".")[0]
    assert len(model.asked) == 2


def test_what_stays_too_short_is_not_delivered(model: Model) -> None:
    model.says = [scripted("Honey never spoils.")]

    with pytest.raises(UnavailableError, match="no text of about 30 seconds; its last one takes 1"):
        scripts(model)
    assert len(model.asked) == 2


def test_form_and_length_may_each_be_cured_once(model: Model) -> None:
    model.says = ["noise", scripted(text_of(60)), scripted(text_of(30))]

    assert scripts(model)[0].content == text_of(30)


def test_a_long_text_is_trimmed_even_when_its_revision_is_noise(model: Model) -> None:
    model.says = [scripted(text_of(60)), "noise", "noise"]

    assert scripts(model)[0].seconds == pytest.approx(30, rel=0.1)


def test_an_endless_text_is_not_looked_at(model: Model) -> None:
    model.says = [scripted("and on " * 50_000), scripted(text_of(30))]

    assert scripts(model)[0].content == text_of(30)


def test_two_variations_are_asked_for_at_the_same_time(model: Model) -> None:
    gate = threading.Barrier(2, timeout=10)

    def app(asked: Asked) -> str:
        gate.wait()
        return scripted(text_of(30, seed=9 if "other way round" in asked.rules else 1))

    model.app = app

    drafts = scripts(model, brief(variations=2))

    assert [draft.content for draft in drafts] == [text_of(30, seed=1), text_of(30, seed=9)]


def test_a_second_variation_that_is_the_first_is_written_anew(model: Model) -> None:
    def app(asked: Asked) -> str:
        return scripted(text_of(30, seed=9 if "otherText" in asked.facts else 1))

    model.app = app

    first, second = scripts(model, brief(variations=2))

    assert (first.content, second.content) == (text_of(30, seed=1), text_of(30, seed=9))
    assert model.asked[2].facts["otherText"] == first.content


def test_variations_that_stay_the_same_are_not_delivered(model: Model) -> None:
    model.says = [scripted(text_of(30))]

    with pytest.raises(UnavailableError, match="the same text twice"):
        scripts(model, brief(variations=2))


def test_when_one_variation_fails_the_other_is_not_waited_for(model: Model) -> None:
    never = threading.Event()
    count = itertools.count()
    model.app = lambda asked: Answer(401) if next(count) else Answer(waits=never)
    began = time.monotonic()

    with pytest.raises(UnavailableError, match="refuses the key"):
        scripts(model, brief(variations=2))

    never.set()
    assert time.monotonic() - began < 5


def test_time_is_up_when_it_is_up(model: Model) -> None:
    never = threading.Event()
    model.says = [Answer(waits=never)]
    began = time.monotonic()

    with pytest.raises(UnavailableError, match=r"longer than 0\.3 seconds; nothing was charged"):
        scripts(model, seconds=0.3)

    never.set()
    assert time.monotonic() - began < 5


def test_the_loop_goes_on_while_a_model_writes(model: Model) -> None:
    writes = threading.Event()
    model.app = lambda asked: Answer(completion(titled("Ice")).status, waits=writes)

    async def both() -> int:
        order = asyncio.create_task(writer(model).title("SPACE", seed=1, avoid=[]))
        beats = 0
        while not model.asked or beats < 10:
            await asyncio.sleep(0)
            beats += 1
        order.cancel()
        writes.set()
        with pytest.raises(asyncio.CancelledError):
            await order
        return beats

    assert asyncio.run(both()) >= 10


def test_neither_the_key_nor_a_text_is_in_the_log(
    model: Model, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="kit")
    model.says = [scripted(f"my private text {KEY}")]

    with pytest.raises(UnavailableError) as caught:
        scripts(model, brief(title="My Private Title"))

    assert "model:tiny wrote nothing: the language model gives no text" in caplog.text
    for told in (caplog.text, caught.value.message, repr(writer(model)), json.dumps(str(caught))):
        assert KEY not in told
        assert "private" not in told.lower()
