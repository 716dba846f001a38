import numpy as np
import pytest

from kit.engines.painting.framing import focus, laid_down, pool, spotlit, third, told
from kit.engines.prompt.brief import Brief, read


def _brief(prompt: str, seed: int = 1) -> Brief:
    return read(prompt, {"aspect_ratio": "16:9", "size": 64}, seed)


def test_thirds_are_four_places_that_seeds_choose_from() -> None:
    places = {third(_brief("silk", seed)) for seed in range(40)}

    assert len(places) == 4
    assert all(share in (1 / 3, 2 / 3) for place in places for share in place)


def test_words_move_the_focus_and_nothing_else_does() -> None:
    assert focus(_brief("silk"), (0.1, 0.2)) == (0.1, 0.2)
    assert focus(_brief("centered silk"), (0.1, 0.2)) == (0.5, 0.5)
    assert focus(_brief("silk, rule of thirds"), (0.1, 0.2)) == third(_brief("silk"))


def test_the_first_word_that_has_a_value_counts() -> None:
    assert told(_brief("wide silk"), {"wide": 2.0, "close": 0.5}) == 2.0
    assert told(_brief("silk"), {"wide": 2.0}) == 1.0


def test_light_falls_round_its_place_in_every_shape_of_frame() -> None:
    light = pool(90, 160, (0.25, 0.5), 0.3)

    assert np.unravel_index(light.argmax(), light.shape) == (45, 40)
    assert light[45, 40 + 27] == pytest.approx(np.exp(-1.0), abs=0.01)
    assert light[45 + 27, 40] == pytest.approx(np.exp(-1.0), abs=0.01)


def test_a_spot_leaves_the_rest_in_the_dark() -> None:
    picture = np.ones((3, 60, 100), np.float32)
    spotlit(picture, (0.5, 0.5), 0.3, 0.1, most=1.2)

    assert picture[0, 30, 50] == pytest.approx(1.2)
    assert picture[0, 0, 0] == pytest.approx(0.1, abs=0.01)


def test_the_near_end_of_a_surface_is_larger_than_its_far_end() -> None:
    stripes = (np.arange(240) // 6 % 2).astype(np.float32)
    seen = laid_down(np.broadcast_to(stripes, (3, 120, 240)).copy())

    def turns(row: int) -> int:
        return int((np.diff(seen[0, row] > 0.5) != 0).sum())

    assert seen.shape == (3, 120, 240)
    assert turns(118) < 0.8 * turns(55)
    assert np.ptp(seen[0, 4]) < 0.3 < np.ptp(seen[0, 118])
