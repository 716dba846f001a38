import pytest

from kit.engines.prompt.backgrounds import background_of, background_problems
from kit.engines.prompt.brief import Brief


@pytest.mark.parametrize(
    "text", ["foggy forest", "mountains at sunset", "snow", "birds", "🌊", "autumn", "red hills"]
)
def test_words_for_a_place_an_hour_or_weather_give_a_landscape(text: str) -> None:
    assert isinstance(background_of(text, 1), Brief)


@pytest.mark.parametrize(
    ("text", "colors"),
    [
        ("teal", ((0, 128, 128),)),
        ("Light blue to #102030", ((173, 216, 230), (16, 32, 48))),
        ("navy", ((16, 30, 74),)),
        ("burgundy", ((220, 20, 60),)),
        ("forest green to black", ((34, 139, 34), (0, 0, 0))),
        ("rgb(10, 20, 30)", ((10, 20, 30),)),
        ("rust", ((42.0, 0.12),)),
        ("green", ((0, 128, 0),)),
    ],
)
def test_words_for_colors_give_the_colors(text: str, colors: object) -> None:
    assert background_of(text, 1) == colors


def test_unknown_words_are_refused() -> None:
    assert [name for name, _ in background_problems("background", "asdf")] == ["background"]
    assert list(background_problems("background", "")) == []
    assert background_of("asdf", 1) == ()
