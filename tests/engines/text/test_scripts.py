"""Scripts and titles of the offline writer: their subject, duration and clean text."""

import dataclasses
import random
import re
import time
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit.engines.text.assembly import Ends, EntryRules, fill_script
from kit.engines.text.bank import bank, find_lead, rank_entries
from kit.engines.text.offline import TITLE_LIMIT, ScriptOrder, suggest_title, write_scripts
from kit.engines.text.speech import seconds
from kit.errors import BadRequestError
from kit.wire import TOPICS

ALONE = ("7 Things About Coffee and Sleep", "What is \U0001f680 {subject}?!", "Zug", "\U0001f680")
ANGLES = (None, "", "Start with how strange it is", "You have been told the wrong story " * 8)


def sentences(text: str) -> list[str]:
    return re.split(r"(?<=[.!?]) (?=[A-Z0-9])", text)


def write(topic: str, title: str, duration: int, *, seed: int = 3, **options: Any) -> str:
    order = ScriptOrder(topic=topic, title=title, duration_seconds=duration, **options)
    return write_scripts(order, seed=seed)[0]


def subjects(topic: str, text: str) -> set[str]:
    """Return the subjects of a script."""
    return {entry.subject for entry in bank(topic).entries if entry.text in text}


@st.composite
def orders(draw: st.DrawFn) -> ScriptOrder:
    topic = draw(st.sampled_from(TOPICS))
    known = suggest_title(topic, seed=draw(st.integers(0, 99)))
    title = draw(st.sampled_from((known.title, known.title, *ALONE)))
    return ScriptOrder(
        topic=topic,
        title=title,
        duration_seconds=draw(st.one_of(st.integers(10, 30), st.integers(10, 180))),
        hook_angle=draw(st.sampled_from((known.hook_angle, *ANGLES))),
        use_hook=draw(st.booleans()),
        use_cta=draw(st.booleans()),
        use_ragebait=draw(st.booleans()),
        variations=2,
    )


def test_a_title_of_ligatures_is_written_in_time() -> None:
    began = time.process_time()

    assert write("SPACE", "\ufdfa" * 200, 180, use_hook=True, hook_angle="\ufdfa" * 300)

    assert time.process_time() - began < 2.0, "each is 18 letters, which took 5 s before"


@given(orders(), st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_any_order_gives_clean_text_of_its_duration(order: ScriptOrder, seed: int) -> None:
    first, second = write_scripts(order, seed=seed)

    assert first != second
    for text in (first, second):
        assert seconds(text) == pytest.approx(order.duration_seconds, rel=0.1)
        assert not re.search(r"  |\.\.|\s[.,;:?!]|[{}*#_\n]", text)
        assert text.endswith((".", "?")), "the last sentence is whole"
        repeated = [s for s, count in Counter(sentences(text)).items() if count > 1]
        assert repeated == []
    if order.title not in ALONE:
        assert subjects(order.topic, second) - subjects(order.topic, first), "new subjects"


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_meets_the_hardest_durations_with_every_switch(topic: str) -> None:
    duration = (10, 11, 180)[TOPICS.index(topic) % 3]
    switches = {"use_hook": True, "use_cta": True, "use_ragebait": True}
    angle = "You have been told the wrong story"

    text = write(topic, ALONE[0], duration, hook_angle=angle, **switches)

    assert seconds(text) == pytest.approx(duration, rel=0.1)


@pytest.mark.parametrize("rate", [3.5, 5.5])
def test_a_script_fits_the_rate_of_its_reader(rate: float) -> None:
    text = write("SPACE", "Venus", 60, rate=rate)

    assert seconds(text, rate=rate) == pytest.approx(60, rel=0.1)


def test_scripts_depend_only_on_the_order_and_the_seed() -> None:
    order = ScriptOrder(topic="FOOD", title="Who invented toast", duration_seconds=60, variations=2)

    assert write_scripts(order, seed=4) == write_scripts(order, seed=4)
    assert write_scripts(order, seed=4) != write_scripts(order, seed=5)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_script_is_about_its_title_from_the_start(topic: str) -> None:
    entry = bank(topic).entries[0]

    assert write(topic, entry.titles[0], 30).startswith(entry.text)


def test_a_script_uses_the_bank_for_a_known_title_and_names_an_unknown_one() -> None:
    unknown = write("NATURE", "My Neighbor's Tomatoes", 30)
    known = write("NATURE", "How clever is an octopus?", 30)

    assert "My Neighbor's Tomatoes" in sentences(unknown)[0]
    assert "octopus" in " ".join(sentences(known)[:2])


def test_the_hook_follows_the_angle() -> None:
    angle = "Open with how hot it gets on our neighbor planet"
    text = write("SPACE", "Venus", 45, hook_angle=angle, use_hook=True)

    assert sentences(text)[0] == "Here is how hot it gets on our neighbor planet."


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("switch", ["use_cta", "use_ragebait"])
def test_a_switch_adds_its_lines(topic: str, switch: str) -> None:
    title = suggest_title(topic, seed=7).title
    plain, switched = (write(topic, title, 40), write(topic, title, 40, **{switch: True}))

    changed = sentences(switched)[-1 if switch == "use_cta" else 0]
    assert changed not in plain
    asks = "Follow|follow|Tell me|Save|Send|Share|Say so|try|Which"
    assert switch != "use_cta" or re.search(asks, changed)


@pytest.mark.parametrize("topic", TOPICS)
def test_titles_are_not_repeated_until_all_were_given(topic: str) -> None:
    count = sum(len(entry.titles) for entry in bank(topic).entries)
    given_titles: list[str] = []
    for seed in range(count):
        given_titles.append(suggest_title(topic, seed=seed, avoid=given_titles).title)

    assert len(set(given_titles)) == count
    assert max(map(len, given_titles)) <= TITLE_LIMIT
    assert suggest_title(topic, seed=1, avoid=given_titles).title in given_titles


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"duration_seconds": 9}, "duration"),
        ({"duration_seconds": 181}, "duration"),
        ({"variations": 3}, "variations"),
        ({"title": "  "}, "title"),
        ({"rate": 0.0}, "rate"),
    ],
)
def test_an_order_out_of_bounds_is_refused(wrong: dict[str, object], field: str) -> None:
    right: dict[str, object] = {"topic": "SPACE", "title": "Venus", "duration_seconds": 30}

    with pytest.raises(BadRequestError, match=field):
        ScriptOrder(**{**right, **wrong})  # type: ignore[arg-type]


PLAIN = EntryRules(naming=(), plain=(), whole=False)
NOTHING = Ends(opening=(), closing=(), cost=0.0)


def test_a_riddle_is_always_followed_by_its_answer() -> None:
    entries = bank("MYTHOLOGY").entries
    riddles = [entry for entry in entries if entry.whole]

    for target in range(8, 40):
        found = fill_script(riddles, [NOTHING], target, PLAIN)
        assert all(entry.more in found.text for entry in riddles if entry.subject in found.subjects)


def test_whole_stories_are_never_cut() -> None:
    entries = bank("SCARY_STORIES").entries
    whole = dataclasses.replace(PLAIN, whole=True)

    found = fill_script(entries, [NOTHING], 50, whole)

    assert all(entry.more in found.text for entry in entries if entry.subject in found.subjects)


@pytest.mark.parametrize("topic", TOPICS)
def test_every_title_of_the_bank_finds_its_own_entry(topic: str) -> None:
    for entry in bank(topic).entries:
        assert [find_lead(topic, title.upper()) for title in entry.titles] == [entry, entry]


@pytest.mark.parametrize(
    ("topic", "title", "subject"),
    [
        ("NATURE", "What makes the octopus so clever?", None),
        ("NATURE", "The Octopus", "the octopus"),
        ("SPACE", "Saturn's rings", "Saturn's rings"),
        ("FOOD", "Quantum Computers at Work", None),
    ],
)
def test_a_title_has_a_lead_only_if_an_entry_has_most_of_its_words(
    topic: str, title: str, subject: str | None
) -> None:
    lead = find_lead(topic, title)

    assert (lead.subject if lead else None) == subject


def test_entries_about_the_title_come_first() -> None:
    order = rank_entries("TRAVEL", "Hidden gems in Japan", None, random.Random(1))

    assert all("japan" in entry.keywords for entry in order[:3])
