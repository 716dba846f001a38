from collections.abc import Collection

import pytest

from kit.engines.film.filming import CAMERAS
from kit.engines.film.flight import MOVES
from kit.engines.prompt.moves import moves_of
from kit.engines.prompt.reading import read


def camera(prompt: str, able: Collection[str], setting: str = "auto") -> str:
    return moves_of(prompt, {"camera": setting}, able).camera


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("Slow pan to the LEFT over a lake", "pan_left"),
        ("camera slowly pans right across the dunes", "pan_right"),
        ("zoom in on the mountain", "push"),
        ("the camera moves closer", "push"),
        ("slow zoom out from a cabin", "pull"),
        ("the camera pulls back", "pull"),
        ("crane up over a forest", "rise"),
        ("a drone rises above the woods", "rise"),
        ("camera orbits around the island", "arc"),
        ("locked-off shot of a harbor", "still"),
        ("a lake. First zoom out, then pan left", "pull"),
    ],
)
def test_words_select_the_camera_move(prompt: str, expected: str) -> None:
    assert camera(prompt, CAMERAS) == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("the camera circles a summit", "orbit"),
        ("we fly low over the water", "skim"),
        ("bird's-eye view of dunes", "high"),
        ("the camera descends into the canyon", "descend"),
        ("fly straight through the canyon", "forward"),
    ],
)
def test_words_select_the_move_of_a_flight(prompt: str, expected: str) -> None:
    assert camera(prompt, MOVES) == expected


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "the sun rises over a still lake",
        "an orbiting planet",
        "rising mountains, a path to the left",
        "a panda on the left bank",
        "no zoom in, please",
        "without any camera pan left",
    ],
)
def test_words_that_are_not_about_the_camera_select_no_move(prompt: str) -> None:
    assert camera(prompt, CAMERAS) == ""


def test_a_setting_overrules_words_and_a_model_ignores_unknown_moves() -> None:
    assert camera("pan left", CAMERAS, setting="rise") == "rise"
    assert camera("pan left", MOVES) == ""
    assert read("pan left over hills", {"camera": "auto"}, 1, moves=MOVES).unused == ("pan",)


@pytest.mark.parametrize(
    ("asked", "prompt", "hours"),
    [
        ("auto", "a valley from day to night", "day_to_night"),
        ("auto", "time-lapse of clouds over a bay", "day_to_night"),
        ("auto", "sunset turns into night", "day_to_night"),
        ("auto", "night becomes day", "night_to_day"),
        ("auto", "a valley by night", "fixed"),
        ("auto", "no time lapse", "fixed"),
        ("fixed", "from day to night", "fixed"),
        ("night_to_day", "from day to night", "night_to_day"),
    ],
)
def test_words_select_the_passing_hours_unless_a_setting_does(
    asked: str, prompt: str, hours: str
) -> None:
    assert moves_of(prompt, {"hours": asked}, CAMERAS).hours == hours
