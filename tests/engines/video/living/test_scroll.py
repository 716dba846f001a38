import numpy as np
import pytest

from kit.engines.film.filming import Take
from kit.engines.film.living.scroll import Scroll, Turns, sharpness
from kit.engines.painting.land.fields import tile

LOOP = Take(width=160, height=90, fps=24, frames=96, loop=True)
ONCE = Take(width=160, height=90, fps=24, frames=96)


def scroll(take: Take, speed: float = 20.0) -> Scroll:
    noise = tile(np.random.default_rng(3), cells=32, octaves=3)
    y, x = np.indices((60, 400), np.float32)
    return Scroll(noise, x, y, speed, take)


def moved(before: np.ndarray, after: np.ndarray) -> int:
    """Return by how many rows the second looks like the first one gone down."""
    fits = {
        step: np.abs(np.roll(before, step, axis=0)[12:-12] - after[12:-12]).mean()
        for step in range(-10, 11)
    }
    return min(fits, key=lambda step: fits[step])


@pytest.mark.parametrize("take", [LOOP, ONCE])
@pytest.mark.parametrize("moment", [0.0, 0.3, 0.6])
def test_noise_runs_toward_larger_places(take: Take, moment: float) -> None:
    noise = scroll(take)
    step = 0.05  # a fifth of a second

    assert moved(noise.at(moment), noise.at(moment + step)) == pytest.approx(4, abs=1)


def test_a_loop_ends_where_it_began_and_a_clip_goes_on() -> None:
    assert np.allclose(scroll(LOOP).at(1.0), scroll(LOOP).at(0.0), atol=1e-4)
    assert np.abs(scroll(ONCE).at(1.0) - scroll(ONCE).at(0.0)).mean() > 0.5


def test_a_loop_is_as_lively_at_every_moment() -> None:
    spread = [scroll(LOOP).at(moment).std() for moment in np.linspace(0, 1, 9)]

    assert min(spread) > 0.7 * max(spread)


@pytest.mark.parametrize("take", [LOOP, ONCE])
def test_runs_begin_with_the_first_one_in_its_middle(take: Take) -> None:
    (before, share), (_, rest) = Turns(take, 2.6).at(0.0)

    assert (before, share, rest) == (0.0, 1.0, 0.0)


def test_a_run_is_unseen_where_it_begins_anew() -> None:
    turns = Turns(LOOP, 2.0)
    moments = np.linspace(0, 1, 400, endpoint=False)
    runs = np.array([turns.at(moment)[0] for moment in moments])
    jumps = np.abs(np.diff(runs[:, 0])) > 0.5 * turns.seconds

    assert jumps.sum() == 2
    assert runs[1:][jumps, 1].max() < 0.02
    assert turns.seconds == 2.0


def test_a_blend_of_two_unlike_things_lost_its_contrast_in_the_middle() -> None:
    assert sharpness(1.0) == sharpness(0.0) == 1.0
    assert sharpness(0.5) == pytest.approx(2**0.5)
