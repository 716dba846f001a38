import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting import space
from kit.engines.painting.space.cast import Cast, cast
from kit.engines.painting.space.galaxy import Spiral, spiral
from kit.engines.painting.space.gas import Gas, nebula
from kit.engines.painting.space.stars import add_flare, field_of_stars
from kit.engines.prompt.brief import Brief, read


def _brief(prompt: str, seed: int = 1, size: int = 128) -> Brief:
    return read(prompt, {"aspect_ratio": "1:1", "size": size, "family": "space"}, seed)


def _cast(prompt: str, seed: int = 1) -> Cast:
    return cast(np.random.default_rng(seed), _brief(prompt, seed))


@pytest.mark.parametrize(
    ("prompt", "subject"),
    [
        ("a purple nebula", "nebula"),
        ("saturn", "ringed"),
        ("a lava planet", "planet"),
        ("spiral galaxy", "galaxy"),
        ("sunrise from orbit", "orbit"),
        ("starfield", "stars"),
        ("a supernova", "nova"),
    ],
)
def test_words_choose_what_stands_in_the_sky(prompt: str, subject: str) -> None:
    assert _cast(prompt).subject == subject


@pytest.mark.parametrize(
    ("prompt", "kind"),
    [
        ("lava planet", "lava"),
        ("the moon, a lunar planet", "moon"),
        ("jupiter", "banded"),
        ("earth", "ocean"),
        ("frozen planet", "icy"),
    ],
)
def test_words_choose_the_kind_of_planet(prompt: str, kind: str) -> None:
    assert _cast(prompt).planets[-1].kind == kind


def test_an_open_sky_visits_every_subject() -> None:
    found = {_cast("space", seed).subject for seed in range(60)}

    assert found >= {"nebula", "planet", "ringed", "galaxy", "orbit"}


def test_a_nebula_takes_its_hues() -> None:
    def balance(hue: float) -> float:
        gas = Gas(hues=(hue, hue, hue), chroma=1.0, amount=0.8, core=(0.5, 0.5))
        shine = nebula(np.random.default_rng(2), 96, 96, gas, 6, Progress()).shine
        return float(shine[0].mean() / shine[2].mean())

    assert balance(25.0) > 2.0
    assert balance(260.0) < 0.6


def test_more_gas_fills_more_of_the_sky() -> None:
    def filled(amount: float) -> float:
        gas = Gas(hues=(300.0, 340.0, 255.0), chroma=1.0, amount=amount, core=(0.5, 0.5))
        return float(nebula(np.random.default_rng(2), 96, 96, gas, 6, Progress()).thickness.mean())

    assert filled(0.9) > 1.5 * filled(0.1)


def test_a_galaxy_has_a_bright_core_and_fades_outward() -> None:
    it = Spiral(
        x=64.0, y=64.0, radius=55.0, opening=0.8, turn=0.0, arms=2, pitch=0.3,
        hues=(70.0, 255.0, 355.0), chroma=1.0,
    )  # fmt: skip

    shine = spiral(np.random.default_rng(1), 128, 128, it, 6, Progress()).shine.mean(axis=0)

    assert shine[62:67, 62:67].mean() > 3 * shine[60:68, 90:100].mean()
    assert shine[:6, :6].mean() < 0.05


def test_thick_gas_hides_stars() -> None:
    hidden = np.zeros((200, 200), np.float32)
    hidden[:, 100:] = 1.0

    stars = field_of_stars(np.random.default_rng(1), hidden, 1.0)

    assert stars[:, :, :95].sum() > 5 * stars[:, :, 105:].sum()


def test_stars_have_many_sizes_and_colors() -> None:
    stars = field_of_stars(np.random.default_rng(1), np.zeros((256, 256), np.float32), 1.0)
    peaks = stars.max(axis=0)
    bright = peaks > np.percentile(peaks, 97)
    ratio = stars[0][bright] / np.maximum(stars[2][bright], 1e-6)

    assert (peaks > 0.05).mean() < 0.25
    assert np.percentile(ratio, 90) > 1.3 > 0.95 > np.percentile(ratio, 10)


def test_a_flare_at_the_edge_stays_inside() -> None:
    picture = np.zeros((3, 60, 60), np.float32)

    add_flare(picture, (0.0, 59.0), 0.5, np.ones((3, 1, 1), np.float32))
    add_flare(picture, (900.0, 30.0), 0.5, np.ones((3, 1, 1), np.float32))

    assert picture[0].argmax() == 59 * 60
    assert picture[:, 20, 40].max() == 0.0


def test_most_of_a_starry_sky_is_dark_but_not_empty() -> None:
    pixels = space.paint(_brief("starfield", 3, 200), Progress())

    assert np.median(pixels) < 60
    assert pixels.max() > 200
