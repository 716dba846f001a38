from itertools import product

import pytest

from kit.engines.painting.poster.palettes import NAMED, TIMES, palette_for
from kit.engines.prompt.landscape import read
from kit.engines.sizes import ASPECTS, longest_side


@pytest.mark.parametrize(("time", "name"), list(product(TIMES, NAMED)))
def test_every_palette_keeps_the_lightness_of_the_hour(time: str, name: str) -> None:
    own = TIMES[time]
    tinted = palette_for(read(f"a clear {time}", seed=1, palette=name))

    assert [color[0] for color in tinted.sky + tinted.land] == [
        color[0] for color in own.sky + own.land
    ]


def test_a_color_word_gives_its_hue_to_the_land() -> None:
    assert palette_for(read("teal mountains at dusk", seed=1)).land[1][2] == 192


def test_two_color_words_share_land_and_light() -> None:
    palette = palette_for(read("navy and coral sea at sunset", seed=1))

    assert (palette.land[1][2], palette.sky[3][2]) == (265, 32)


def test_green_hills_by_day_keep_a_blue_sky() -> None:
    palette = palette_for(read("green hills by day", seed=1))

    assert palette.land[1][2] == 148
    assert palette.sky == TIMES["day"].sky


def test_moods_strengthen_and_soften_colors() -> None:
    soft, plain, strong = (
        palette_for(read(f"{mood} sunset mountains", seed=1)).sky[1][1]
        for mood in ("pastel", "clear", "vivid")
    )

    assert soft < plain < strong


@pytest.mark.parametrize("aspect", ASPECTS)
def test_sizes_have_the_asked_shape(aspect: str) -> None:
    across, down = ASPECTS[aspect]
    width, height = longest_side(aspect, 1000)

    assert max(width, height) == 1000
    assert width / height == pytest.approx(across / down, rel=0.002)
