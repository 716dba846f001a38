"""Identifiers sort by creation."""

from concurrent.futures import ThreadPoolExecutor

from kit.service.store import ids
from tests.moments import moment_of

NOW = 1_700_000_000_000


def latest_time() -> int:
    """Return the time of the last id of this process: ids only grow."""
    return moment_of(ids.new("x", 0))


def test_ids_of_one_millisecond_are_ordered_and_unique() -> None:
    made = [ids.new("gen", NOW) for _ in range(2000)]

    assert made == sorted(set(made))


def test_ids_stay_in_order_when_the_clock_goes_back() -> None:
    made = [ids.new("gen", now) for now in (NOW + 5000, NOW, NOW + 5001)]

    assert made == sorted(made)


def test_ids_of_many_threads_are_unique() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: ids.new("gen", NOW), range(4000)))

    assert len(set(made)) == 4000


def test_an_id_contains_its_time() -> None:
    later = latest_time() + 1
    made = ids.new("led", later)

    assert moment_of(made) == later
    assert made.startswith("led_")
    assert len(made) == 30


def test_the_floor_of_a_time_is_below_its_ids_and_above_earlier_ones() -> None:
    moment = latest_time() + 2
    before, at = ids.new("gen", moment - 1), ids.new("gen", moment)

    assert before < ids.floor("gen", moment) < at
    assert ids.floor("gen", -5) == "gen_" + "0" * 26
