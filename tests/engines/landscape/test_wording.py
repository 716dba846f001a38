"""Wording: posters and films of landscapes are directed by the words that people use."""

import pytest

from kit.engines.prompt.landscape import read


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("raining over the hills", {"weather": "rain"}),
        ("snow-capped mountains in summer", {"season": "summer"}),
        ("a lake in midwinter", {"season": "winter"}),
        ("a maroon sky over a lake", {"tints": ("crimson",)}),
        ("a dark blue sea at noon", {"time": "day", "tints": ("blue",)}),
        ("mountains, high quality", {"composition": ()}),
        ("the hills by night time", {"time": "night"}),
        ("Aurora's hills at noon", {"time": "day", "extras": ()}),
        ("don't show birds over the sea at noon", {"extras": ()}),
    ],
)
def test_a_poster_understands_what_a_scene_does(prompt: str, expected: dict[str, object]) -> None:
    for seed in range(6):
        facts = {name: getattr(read(prompt, seed=seed), name) for name in expected}
        assert facts == expected


def test_the_sun_with_fireflies_is_a_low_one() -> None:
    assert {read("fireflies and the sun", seed=seed).time for seed in range(12)} == {"sunset"}
