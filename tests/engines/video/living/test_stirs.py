import numpy as np

from kit.engines.base import Progress
from kit.engines.film.filming import Take
from kit.engines.film.living import depths
from kit.engines.film.living.motions import heavens, stirred
from kit.engines.painting.families import paint
from kit.engines.painting.land import motion as stirring
from kit.engines.prompt.brief import read

TAKE = Take(width=256, height=144, fps=24, frames=48, loop=True)


def told(prompt: str) -> tuple[np.ndarray, list[stirring.Stir]]:
    brief = read(prompt, {"aspect_ratio": "16:9", "size": 192, "detail": "low"}, 3)
    with stirring.heard() as stirs:
        picture = paint(brief, Progress())
    return picture, stirs


def moving(prompt: str) -> list[str]:
    picture, stirs = told(prompt)
    return [type(part).__name__ for part in stirred(stirs, picture.shape[:2], (280, 158), TAKE, 3)]


def test_everything_that_was_told_moves() -> None:
    assert moving("an erupting volcano at night") == ["Rising", "Fountain", "Lava"]
    assert set(moving("a waterfall at noon")) == {"Cascade", "Drifting"}
    assert moving("a mountain lake") == []


def test_smoke_and_its_shine_are_sky_that_no_cloud_drifts_over() -> None:
    picture, stirs = told("an erupting volcano at night, clear")
    small = depths.small(picture)
    guess = depths.sky_of(small, 0.52)
    sky, clear = heavens(stirs, guess)
    smoke = next(stir for stir in stirs if isinstance(stir, stirring.Smoke))
    row, column = (round(place) for place in (0.6 * smoke.crater[1], smoke.crater[0]))

    assert sky.shape == clear.shape == small.shape[:2]
    assert guess[row, column] < 0.1  # what seems to be land
    assert sky[row, column] == 1
    assert clear[row, column] < 0.5
    assert clear[4, 4] == 1
    assert sky[-1].max() == 0


def test_a_sky_without_smoke_is_as_guessed() -> None:
    guess = np.ones((9, 16), np.float32)

    assert heavens(told("a waterfall at noon")[1], guess) == (guess, guess)
