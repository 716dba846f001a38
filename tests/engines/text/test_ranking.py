import random

import pytest

from kit.engines.text.bank import bank
from kit.engines.text.ranking import lead_for, ranked, speaks_of
from kit.wire import TOPICS


@pytest.mark.parametrize("topic", TOPICS)
def test_every_title_of_the_bank_leads_to_its_own_entry(topic: str) -> None:
    for entry in bank(topic).entries:
        assert [lead_for(topic, title.upper()) for title in entry.titles] == [entry, entry]


@pytest.mark.parametrize(
    ("topic", "title", "subject"),
    [
        ("NATURE", "What makes the octopus so clever?", None),
        ("NATURE", "The Octopus", "the octopus"),
        ("SPACE", "Saturn's rings", "Saturn's rings"),
        ("FOOD", "Quantum Computers at Work", None),
    ],
)
def test_a_title_has_a_lead_only_if_the_bank_speaks_of_most_of_it(
    topic: str, title: str, subject: str | None
) -> None:
    lead = lead_for(topic, title)

    assert (lead.subject if lead else None) == subject


def test_what_a_title_speaks_of_comes_first() -> None:
    order = ranked("TRAVEL", "Hidden gems in Japan", None, random.Random(1))

    assert all("japan" in entry.keywords for entry in order[:3])


def test_what_was_told_steps_back_behind_what_fits_as_well() -> None:
    first = ranked("TRAVEL", "Hidden gems in Japan", None, random.Random(1))[0].subject
    order = ranked("TRAVEL", "Hidden gems in Japan", None, random.Random(1), [first])

    place = [entry.subject for entry in order].index(first)
    assert 0 < place <= 3


def test_a_lead_stays_first_even_if_it_was_told() -> None:
    lead = bank("SPACE").entries[0]

    assert ranked("SPACE", lead.titles[0], lead, random.Random(1), [lead.subject])[0] is lead


def test_what_hardly_fits_is_not_told_twice() -> None:
    title = "The Secret Life of My Grandmother's Piano"
    first = ranked("INTERESTING_FACTS", title, None, random.Random(1))[0].subject
    second = ranked("INTERESTING_FACTS", title, None, random.Random(1), [first])[0].subject

    assert first != second


@pytest.mark.parametrize(
    ("title", "known"), [("Octopus Facts", True), ("7 Things About My Bicycle", False)]
)
def test_a_topic_speaks_of_what_an_entry_is_named_after(title: str, known: bool) -> None:
    assert speaks_of("NATURE", title) is known
