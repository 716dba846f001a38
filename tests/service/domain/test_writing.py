"""Titles and scripts: orders are checked first and charged on delivery."""

from typing import Any

import pytest

from kit.errors import BadRequestError, InsufficientCreditsError
from kit.service.domain import accounts, credits, writing
from kit.service.domain.credits import Payer
from kit.service.domain.writing import Draft, TitleTakenError
from kit.wire import SuggestTitle, Title, WriteScripts
from tests.service.domain.conftest import NOW, Write

ORDER = {"topic": "SPACE", "title": " Ten facts ", "duration": "30"}


def make_brief(**other: Any) -> writing.ScriptBrief:
    return writing.check_order(WriteScripts(**{**ORDER, **other}))


def test_a_brief_is_read_with_its_defaults() -> None:
    brief = make_brief()

    assert (brief.title, brief.duration_seconds, brief.variations) == ("Ten facts", 30, 1)
    assert brief.hook_angle is None
    assert not any((brief.use_hook, brief.use_cta, brief.use_ragebait))


@pytest.mark.parametrize("duration", ["10", "180"])
def test_the_bounds_of_the_duration_are_allowed(duration: str) -> None:
    assert make_brief(duration=duration).duration_seconds == int(duration)


@pytest.mark.parametrize(
    "duration", ["", "9", "181", "030", "-20", "20s", "\u0662\u0660", " 20", "1" * 5000]
)
def test_a_duration_must_be_whole_seconds_as_text(duration: str) -> None:
    with pytest.raises(BadRequestError, match="whole seconds") as caught:
        make_brief(duration=duration)

    assert len(str(caught.value)) < 150


def test_all_invalid_fields_are_reported_together() -> None:
    with pytest.raises(BadRequestError) as caught:
        make_brief(topic="SPACES", title="", duration="x", variations="9", hook_angle="x" * 301)

    fields = [detail["field"] for detail in caught.value.details or ()]
    assert fields == ["topic", "title", "hookAngle", "duration", "variations"]


def test_an_unknown_topic_error_suggests_the_closest_topic() -> None:
    assert writing.check_topic(SuggestTitle(topic="SPACE")) == "SPACE"
    with pytest.raises(BadRequestError, match="did you mean 'SCIENCE'"):
        writing.check_topic(SuggestTitle(topic="SCIENCES"))


def test_a_delivered_title_is_charged_and_stored(write: Write, payer: Payer) -> None:
    write(writing.deliver_title("SPACE", Title(title="Ten facts"), payer, NOW, known=[]))

    assert write(credits.balance(payer.account_id, NOW))["balance"] == 9950
    assert write(writing.recent_titles(payer.account_id, "SPACE")) == ["Ten facts"]
    assert write(writing.recent_titles(payer.account_id, "FOOD")) == []
    other = write(accounts.create("Bob", "bob@example.org", 0, NOW)).id
    assert write(writing.recent_titles(other, "SPACE")) == []


@pytest.mark.parametrize("other", ["Ten facts", "TEN FACTS!"])
def test_a_title_that_was_delivered_meanwhile_is_refused_and_not_charged(
    write: Write, payer: Payer, other: str
) -> None:
    write(writing.deliver_title("SPACE", Title(title="Ten facts"), payer, NOW, known=[]))

    with pytest.raises(TitleTakenError):
        write(writing.deliver_title("SPACE", Title(title=other), payer, NOW, known=[]))
    assert write(credits.balance(payer.account_id, NOW))["balance"] == 9950
    assert write(writing.recent_titles(payer.account_id, "SPACE")) == ["Ten facts"]


def test_a_known_title_can_be_delivered_again(write: Write, payer: Payer) -> None:
    for seen in ([], ["Ten facts"]):
        write(writing.deliver_title("SPACE", Title(title="Ten facts"), payer, NOW, known=seen))

    assert write(credits.balance(payer.account_id, NOW))["balance"] == 9900


def test_delivered_scripts_share_a_batch_and_one_charge(write: Write, payer: Payer) -> None:
    drafts = [Draft("one", 29.6, 1, "offline"), Draft("two words", 31.0, 2, "offline")]
    rows = write(writing.deliver_scripts(make_brief(variations="2"), drafts, payer, NOW))

    assert [row["content"] for row in rows] == ["one", "two words"]
    assert len({row["batch_id"] for row in rows}) == 1
    assert [row["duration_ms"] for row in rows] == [29_600, 31_000]
    assert write(credits.balance(payer.account_id, NOW))["balance"] == 9700


def test_without_credits_nothing_is_delivered(write: Write, payer: Payer) -> None:
    drafts = [Draft("one", 30.0, 1, "offline")] * 67
    with pytest.raises(InsufficientCreditsError):
        write(writing.deliver_scripts(make_brief(), drafts, payer, NOW))

    assert write(credits.balance(payer.account_id, NOW))["balance"] == 10_000
