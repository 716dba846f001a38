import subprocess
import sys

import pytest

from kit.engines.base import Progress
from kit.engines.editing.picture.painted import behind
from kit.engines.prompt.backgrounds import asks_for_place, color_words, ground_problems


@pytest.mark.parametrize(
    ("text", "colors"),
    [
        ("light blue", ["lightblue"]),
        ("navy blue to black", ["navy", "black"]),
        ("forest green", ["forestgreen"]),
        ("#abc, #A0B0C0!", ["#abc", "#a0b0c0"]),
        ("burgundy", ["crimson"]),
        ("rgb(10, 20, 30)", ["rgb(10, 20, 30)"]),
        ("asdf", []),
        ("#12345", []),
    ],
)
def test_colors_are_read_in_one_word_or_two(text: str, colors: list[str]) -> None:
    assert color_words(text) == colors
    assert not asks_for_place(text)


@pytest.mark.parametrize("text", ["foggy forest", "FORESTS", "🌲", "northern lights", "red sunset"])
def test_places_hours_and_weather_are_places(text: str) -> None:
    assert asks_for_place(text)


@pytest.mark.parametrize("text", ["asdf", "quite nice", "😀", "日本", "#12345", "rgb(300, 0, 0)"])
def test_what_is_refused_before_is_what_cannot_be_painted(text: str) -> None:
    ((name, sentence),) = ground_problems("background", text)

    assert name == "background"
    assert repr(text) in sentence
    with pytest.raises(Exception, match="names no color"):
        behind(text, 64, 64, 1, Progress())


@pytest.mark.parametrize("text", ["teal", "Light blue", "mauve to white", "🌲", "rgb(10, 20, 30)"])
def test_what_is_not_refused_can_be_painted(text: str) -> None:
    assert not [*ground_problems("background", text)]
    assert behind(text, 80, 64, 1, Progress()).shape == (64, 80, 3)


def test_a_light_blue_ground_is_light_and_blue() -> None:
    red, green, blue = behind("light blue", 64, 64, 1, Progress())[20:40, 20:40].mean(axis=(0, 1))

    assert blue > green > red > 140


def test_the_sentence_stays_short_whatever_was_written() -> None:
    ((_, sentence),) = ground_problems("prompt", "asdf " * 500)

    assert len(sentence) < 250


def test_no_picture_is_loaded_to_read_words() -> None:
    code = "import kit.engines.prompt.backgrounds, sys; print({'numpy', 'cv2'} & {*sys.modules})"

    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)

    assert done.stdout.strip() == "set()"
