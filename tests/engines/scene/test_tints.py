import numpy as np
import pytest

from kit.engines.painting.tints import asked, strength, three
from kit.engines.prompt.brief import Brief, read
from kit.engines.prompt.lexicon import COLORS

_DRAWN = [((1.0, 0.1), (2.0, 0.1), (3.0, 0.1))]


def _brief(prompt: str, palette: str = "auto") -> Brief:
    return read(prompt, {"aspect_ratio": "1:1", "size": 64, "palette": palette}, 1)


def test_color_words_come_before_the_palette() -> None:
    assert asked(_brief("teal ink", "ember")) == (COLORS["teal"],)
    assert len(asked(_brief("ink", "ember"))) == 4
    assert asked(_brief("ink")) == ()


def test_what_nobody_asks_for_is_drawn() -> None:
    assert three(np.random.default_rng(1), _brief("ink"), _DRAWN) == _DRAWN[0]


@pytest.mark.parametrize("prompt", ["teal ink", "teal and orange ink", "teal orange pink ink"])
def test_asked_tints_come_first_and_are_filled_up_to_three(prompt: str) -> None:
    brief = _brief(prompt)

    tints = three(np.random.default_rng(1), brief, _DRAWN)

    assert tints[: len(brief.colors)] == tuple(COLORS[word] for word in brief.colors)
    assert all(0.0 <= hue < 360.0 and chroma > 0.0 for hue, chroma in tints)


def test_moods_weaken_and_strengthen_colors() -> None:
    weak, plain, strong = (strength(_brief(f"{word} ink")) for word in ("pastel", "some", "vivid"))

    assert weak < plain < strong
