import numpy as np
import pytest

from kit.engines.painting.poster.compose import Look, Picture, compose, flat
from kit.engines.painting.poster.plane import Stage
from kit.engines.prompt.landscape import read


def night(prompt: str, seed: int = 3) -> Picture:
    return compose(read(prompt, seed=seed), Look(stars=False), Stage(512, 512))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("prompt", ["a crescent moon over mountains", "crescent over a lake"])
def test_behind_the_dark_part_of_a_crescent_is_the_sky(prompt: str, seed: int) -> None:
    picture = night(prompt, seed)
    light, canvas = picture.light, flat(picture)
    dark = round(light.x + 0.5 * np.sign(light.shadow) * light.radius)
    beyond = round(light.x + 1.6 * np.sign(light.shadow) * light.radius)
    lit = round(light.x - 0.85 * np.sign(light.shadow) * light.radius)
    row = round(light.y)

    assert light.shadow
    assert canvas[:, row, dark] == pytest.approx(canvas[:, row, beyond], abs=0.08)
    assert canvas[:, row, lit].mean() > canvas[:, row, dark].mean() + 0.3
    # No ring around it either: its glow fades without an edge.
    away = canvas[
        1, row, dark : dark + 60 * int(np.sign(light.shadow)) : int(np.sign(light.shadow))
    ]
    assert np.abs(np.diff(away)).max() < 0.02


def test_the_words_choose_the_moon() -> None:
    full = [night("a full moon over hills", seed).light.shadow for seed in range(5)]
    crescent = [night("crescent moon over hills", seed).light.shadow for seed in range(5)]

    assert not any(full)
    assert all(crescent)


def test_a_crescent_means_night_unless_the_prompt_says_dusk() -> None:
    assert read("a crescent over the sea", seed=1).time == "night"
    assert read("the sea at dusk with a crescent", seed=1).time == "dusk"
    assert night("the sea at dusk with a crescent").light.shadow
