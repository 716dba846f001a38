import pytest

from kit.engines.painting.grades import MOODS, TONES, glows, printed
from kit.engines.painting.tone import Film
from kit.engines.prompt.brief import Brief, read


def _brief(prompt: str) -> Brief:
    return read(prompt, {"aspect_ratio": "1:1", "size": 64}, 1)


def test_without_words_the_film_stays_as_it_is() -> None:
    film = Film(exposure=1.3, contrast=1.04, vignette=0.28)

    assert printed(film, _brief("nebula")) == film


@pytest.mark.parametrize("word", [*MOODS, "high key", "low key", "high contrast", "soft light"])
def test_every_mood_and_tone_changes_the_film(word: str) -> None:
    assert printed(Film(), _brief(f"{word} nebula")) != Film()


def test_words_add_up_and_leave_something_to_see() -> None:
    gloomy, menacing = (
        printed(Film(), _brief(f"{word} nebula")) for word in ("gloomy", "menacing")
    )

    assert 0.5 < menacing.exposure < gloomy.exposure < 1.0
    assert menacing.vignette > gloomy.vignette
    assert set(TONES) == {"bright", "dark", "hard", "soft", "outline"}


def test_neon_is_a_thing_more_than_a_mood() -> None:
    neon, vivid = _brief("neon street"), _brief("vivid street")

    assert glows(neon)
    assert not glows(vivid)
    assert printed(Film(), neon).saturation < printed(Film(), vivid).saturation
