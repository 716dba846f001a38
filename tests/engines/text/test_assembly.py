import dataclasses

import pytest

from kit.engines.text.assembly import Ends, Telling, filled
from kit.engines.text.bank import Entry, bank
from kit.engines.text.speech import seconds

ENTRIES = bank("NATURE").entries
PLAIN = Telling(bridges=(), every=1, whole=False)
NOTHING = Ends(opening=(), closing=(), cost=0.0)


def says_its_name_first(entry: Entry) -> bool:
    return entry.text.casefold().startswith(entry.subject.casefold())


@pytest.mark.parametrize("target", [8, 20, 60, 170])
def test_the_time_is_met(target: float) -> None:
    text, _ = filled(ENTRIES, [NOTHING], target, PLAIN)

    assert seconds(text) == pytest.approx(target, rel=0.1)


def test_the_lead_stands_first_and_is_told_in_full() -> None:
    lead = ENTRIES[0]

    text, told = filled(ENTRIES, [NOTHING], 40, PLAIN, lead=lead)

    assert text.startswith(f"{lead.text} {lead.more} ")
    assert told[0] == lead.subject


def test_a_brief_lead_leaves_room_for_others() -> None:
    telling = dataclasses.replace(PLAIN, brief=True)

    text, told = filled(ENTRIES, [NOTHING], 20, telling, lead=ENTRIES[0])

    assert ENTRIES[0].more not in text
    assert len(told) >= 2


def test_bridges_stand_between_entries_in_order_and_name_what_follows() -> None:
    telling = dataclasses.replace(PLAIN, bridges=("Next, {subject}.", "And then."))

    entries = [entry for entry in ENTRIES if not says_its_name_first(entry)]

    text, told = filled(entries, [NOTHING], 60, telling)

    assert f"Next, {told[1]}." in text
    assert text.index("Next, ") < text.index("And then.")


def test_a_bridge_does_not_name_what_the_next_sentence_begins_with() -> None:
    entries = [entry for entry in ENTRIES if says_its_name_first(entry)]
    telling = dataclasses.replace(PLAIN, bridges=("Next, {subject}.",), spare=("And then.",))

    text, _ = filled(entries, [NOTHING], 30, telling)

    assert "And then." in text
    assert "Next, " not in text


def test_whole_stories_are_never_cut() -> None:
    entries = bank("SCARY_STORIES").entries
    telling = dataclasses.replace(PLAIN, whole=True)

    text, told = filled(entries, [NOTHING], 50, telling)

    assert all(entry.more in text for entry in entries if entry.subject in told)


def test_the_better_of_two_ends_is_taken_when_both_fit() -> None:
    good = Ends(opening=("Good.",), closing=("Bye.",), cost=0.0)
    poor = Ends(opening=("Poor.",), closing=("Bye.",), cost=5.0)

    text, _ = filled(ENTRIES, [poor, good], 30, PLAIN)

    assert text.startswith("Good. ")
    assert text.endswith(" Bye.")


def test_a_text_that_is_taken_is_not_given_again() -> None:
    first, _ = filled(ENTRIES, [NOTHING], 30, PLAIN)
    second, _ = filled(ENTRIES, [NOTHING], 30, PLAIN, unlike=[first])

    assert first != second


def test_a_time_that_cannot_be_met_gets_the_nearest_text() -> None:
    text, told = filled(ENTRIES[:1], [NOTHING], 100, PLAIN)

    assert text == f"{ENTRIES[0].text} {ENTRIES[0].more}"
    assert told == (ENTRIES[0].subject,)
