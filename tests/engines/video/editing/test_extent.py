"""The part of a video that is asked for, and whether there is so much of it."""

from typing import Any

import pytest

from kit.engines.base import Order
from kit.engines.models.video_edit import Edit
from kit.engines.models.video_join import Join

DEFAULTS = {p.name: p.default for p in Edit.definition.settings if p.default is not None}
JOINING = {p.name: p.default for p in Join.definition.settings if p.default is not None}


@pytest.mark.parametrize(
    ("seconds", "values", "said"),
    [
        (5.0, {"start": 30}, ("start", "begins at 30 s, but the video lasts only 5 s")),
        (5.0, {"start": 2, "end": 1}, ("end", "ends at 1 s, but begins at 2 s")),
        (700.0, {}, ("video", "lasts 700 s; at most 600 s")),
        (400.0, {"speed": 0.5}, ("speed", "would last 800 s; at most 600 s")),
        (400.0, {"speed": 0.5, "start": 150}, None),
        (5.0, {"end": 99}, None),
        (600.4, {}, None),
        (None, {"start": 30}, None),
        (None, {"speed": 0.5, "end": 600}, None),
        (None, {"start": 2, "end": 1}, ("end", "ends at 1 s")),
    ],
)
def test_a_part_that_is_not_there_is_refused_before_the_charge(
    seconds: float | None, values: dict[str, Any], said: tuple[str, str] | None
) -> None:
    known = {} if seconds is None else {"video": [seconds]}
    parameters = {**DEFAULTS, **values}
    order = Order(prompt="", parameters=parameters, media={"video": 1}, seconds=known)

    found = list(Edit().check(order))

    assert [name for name, _ in found] == ([said[0]] if said else [])
    assert not said or said[1] in found[0][1]


def test_clips_that_are_too_long_together_are_refused_before_the_charge() -> None:
    order = Order(
        prompt="", parameters=JOINING, media={"clips": 3}, seconds={"clips": [300, 299, 2.4]}
    )

    assert list(Join().check(order)) == [
        ("clips", "the clips last 601 s together; at most 600 s can be joined")
    ]
    assert not [*Join().check(Order(prompt="", parameters=JOINING, media={"clips": 3}))]


@pytest.mark.parametrize(
    ("values", "refused"),
    [
        ({}, True),
        ({"speed": 0.25}, False),
        ({"start": 19.5}, True),
        ({"start": 50, "end": 80}, False),
    ],
)
def test_captions_that_nobody_can_say_in_time_are_refused_before_the_charge(
    values: dict[str, Any], refused: bool
) -> None:
    parameters = {**DEFAULTS, "captions": "honey never spoils " * 60, **values}
    whole = 90.0 if "end" in values else 20.0
    order = Order(prompt="", parameters=parameters, media={"video": 1}, seconds={"video": [whole]})

    found = list(Edit().check(order))

    assert [name for name, _ in found] == ["captions"] * refused
    assert not refused or "shorten them or choose a longer part" in found[0][1]
