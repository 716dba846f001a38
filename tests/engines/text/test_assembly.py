import dataclasses

import pytest

from kit.engines.text.assembly import Ends, Telling, filled
from kit.engines.text.bank import Entry, bank, stems
from kit.engines.text.speech import seconds

ENTRIES = bank("NATURE").entries
PLAIN = Telling(naming=(), plain=(), every=1, whole=False)
NOTHING = Ends(opening=(), closing=(), cost=0.0)


def names_itself(entry: Entry) -> bool:
    subject = stems(entry.subject)
    return len(subject & stems(f"{entry.text} {entry.more}")) >= len(subject) / 2


@pytest.mark.parametrize("target", [8, 20, 60, 170])
def test_the_time_is_met(target: float) -> None:
    text = filled(ENTRIES, [NOTHING], target, PLAIN).text

    assert seconds(text) == pytest.approx(target, rel=0.1)


def test_the_lead_stands_first_and_is_told_in_full() -> None:
    lead = ENTRIES[0]

    found = filled(ENTRIES, [NOTHING], 40, PLAIN, lead=lead)

    assert found.text.startswith(f"{lead.text} {lead.more} ")
    assert found.told[0] == lead.subject


def test_a_brief_lead_leaves_room_for_others() -> None:
    telling = dataclasses.replace(PLAIN, brief=True, plain=("And then.", "Next."))

    found = filled(ENTRIES, [NOTHING], 20, telling, lead=ENTRIES[0])

    assert ENTRIES[0].more not in found.text
    assert len(found.told) >= 2


def test_bridges_stand_between_entries_in_order_and_name_what_follows() -> None:
    telling = dataclasses.replace(PLAIN, naming=("Next, {subject}.",), plain=("And then.",))
    entries = [entry for entry in ENTRIES if not names_itself(entry)]

    found = filled(entries, [NOTHING], 60, telling)

    assert f"Next, {found.told[1]}." in found.text
    assert found.text.index("Next, ") < found.text.index("And then.")


def test_a_bridge_does_not_name_what_the_next_sentence_names() -> None:
    entries = [entry for entry in ENTRIES if names_itself(entry)]
    telling = dataclasses.replace(PLAIN, naming=("Next, {subject}.",), plain=("And then.",))

    text = filled(entries, [NOTHING], 30, telling).text

    assert "And then." in text
    assert "Next, " not in text


def test_what_another_script_tells_of_is_not_all_that_is_told() -> None:
    lead = ENTRIES[0]
    telling = dataclasses.replace(PLAIN, brief=True, stale={lead.subject})

    found = filled(ENTRIES, [NOTHING], 12, telling, lead=lead)

    assert found.fits
    assert found.told[0] == lead.subject
    assert len(found.told) > 1


def test_a_text_with_nothing_of_its_own_or_of_the_wrong_length_says_so() -> None:
    lead = ENTRIES[0]
    telling = dataclasses.replace(PLAIN, stale={lead.subject})
    length = seconds(f"{lead.text} {lead.more}")

    assert filled([lead], [NOTHING], length, PLAIN, lead=lead).fits
    assert not filled([lead], [NOTHING], length, telling, lead=lead).fits
    assert not filled([lead], [NOTHING], 3 * length, PLAIN, lead=lead).fits


def test_of_two_ends_the_one_that_does_not_repeat_how_a_sentence_begins_is_taken() -> None:
    entry = ENTRIES[0]
    word = entry.text.split()[0]
    same = Ends(opening=(f"{word} and this.",), closing=(), cost=0.0)
    other = Ends(opening=("Only and this.",), closing=(), cost=0.3)

    text = filled([entry], [same, other], seconds(entry.text) + 2, PLAIN).text

    assert text.startswith("Only and this.")


def test_a_riddle_is_told_with_its_answer_or_not_at_all() -> None:
    entries = bank("MYTHOLOGY").entries
    riddles = [entry for entry in entries if entry.whole]

    for target in range(8, 40):
        found = filled(riddles, [NOTHING], target, PLAIN)
        assert all(entry.more in found.text for entry in riddles if entry.subject in found.told)


def test_whole_stories_are_never_cut() -> None:
    entries = bank("SCARY_STORIES").entries
    telling = dataclasses.replace(PLAIN, whole=True)

    found = filled(entries, [NOTHING], 50, telling)

    assert all(entry.more in found.text for entry in entries if entry.subject in found.told)


def test_the_better_of_two_ends_is_taken_when_both_fit() -> None:
    good = Ends(opening=("Good.",), closing=("Bye.",), cost=0.0)
    poor = Ends(opening=("Poor.",), closing=("Bye.",), cost=5.0)

    text = filled(ENTRIES, [poor, good], 30, PLAIN).text

    assert text.startswith("Good. ")
    assert text.endswith(" Bye.")


def test_a_text_that_is_taken_is_not_given_again() -> None:
    first = filled(ENTRIES, [NOTHING], 30, PLAIN).text
    second = filled(ENTRIES, [NOTHING], 30, PLAIN, unlike=[first]).text

    assert first != second


def test_a_time_that_cannot_be_met_gets_the_nearest_text() -> None:
    found = filled(ENTRIES[:1], [NOTHING], 100, PLAIN)

    assert found.text == f"{ENTRIES[0].text} {ENTRIES[0].more}"
    assert found.told == (ENTRIES[0].subject,)
