import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.media.color import Bytes
from kit.engines.painting.heightfield.covers import cover_of
from kit.engines.painting.heightfield.ground import colored
from kit.engines.painting.heightfield.light import film_of, light_of
from kit.engines.painting.heightfield.sky import heaven
from kit.engines.painting.heightfield.terrain import GRID, Land
from kit.engines.painting.land.look import Look, look_for
from kit.engines.prompt.brief import read

FLAT = Land(
    "desert",
    np.full((GRID, GRID), 10.0, np.float32),
    None,
    np.zeros((GRID, GRID), np.uint8),
    np.zeros((1, 1, 2), np.uint8),
)


def look_of(prompt: str) -> Look:
    return look_for(read(prompt, {"aspect_ratio": "1:1", "size": 512}, 1))


def land_of(prompt: str) -> Bytes:
    """Return a part of a plain of sand in the light of a prompt."""
    look = look_of(prompt)
    light = light_of(look, (1.0, 0.0), outlined="silhouette" in prompt)
    colors = colored(
        FLAT, cover_of("desert", "summer"), look, light, np.random.default_rng(1), Progress()
    )
    return colors[:256, :256, :3]


def sky_of(prompt: str) -> Bytes:
    """Return the brightness of a sky away from the sun."""
    one = heaven(look_of(prompt), (0.0, 0.4), 3.0, 200.0, np.random.default_rng(1))
    return one.picture[..., 0]


def test_a_look_without_moods_is_developed_as_it_is() -> None:
    look = look_of("dunes at noon")

    assert film_of(look) == (1.0, 0.0, look.saturation)


@pytest.mark.parametrize(
    ("mood", "softer"), [("pastel", True), ("high key", True), ("high contrast", False)]
)
def test_moods_change_the_contrast_of_flights_and_not_their_colors(mood: str, softer: bool) -> None:
    look = look_of(f"{mood} dunes at noon")
    contrast, lift, saturation = film_of(look)

    assert (contrast < 1.0, lift > 0.0) == (softer, softer)
    assert contrast * saturation == pytest.approx(look.saturation)


def test_land_and_sky_show_the_mood() -> None:
    pastel, plain = (land_of(f"{mood}dunes at noon") for mood in ("pastel ", ""))
    assert pastel.mean(axis=2).std() < 0.85 * plain.mean(axis=2).std()

    sky, usual = (np.ptp(sky_of(f"{mood}dunes at sunset")) for mood in ("pastel ", ""))
    assert sky < 0.9 * usual


def test_silhouettes_are_dark_before_their_sky() -> None:
    outlined, plain = (land_of(f"{what}dunes at sunset") for what in ("silhouette of ", ""))

    assert 4 < outlined.mean() < 0.35 * plain.mean()
