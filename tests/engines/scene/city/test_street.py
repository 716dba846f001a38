import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting import city
from kit.engines.painting.city.hours import hour_of
from kit.engines.painting.city.weather import rain, snow
from kit.engines.prompt.brief import read


def _street(prompt: str, *, seed: int = 2, size: int = 160) -> np.ndarray:
    settings = {"aspect_ratio": "1:1", "size": size, "family": "city"}
    return city.paint(read(prompt, settings, seed), Progress()).astype(float)


def test_hours_go_from_dark_to_bright() -> None:
    night, sunset, day = (
        _street(f"clear {time} street").mean() for time in ("night", "sunset", "day")
    )

    assert night < sunset
    assert night < 0.6 * day


def test_a_clear_day_has_a_blue_sky() -> None:
    top = _street("clear day street centered")[:6, 60:100]

    assert top[..., 2].mean() > top[..., 0].mean() + 10


def test_the_sun_sets_at_the_end_of_the_street() -> None:
    pixels = _street("clear sunset street centered")

    middle = pixels[70:95, 65:95].mean()
    assert middle > pixels.mean() + 30
    assert middle > 120


def test_snow_whitens_the_ground() -> None:
    snowy, dry = (_street(f"{word} day street")[115:].mean() for word in ("snowfall", "clear"))

    assert snowy > dry + 15


@pytest.mark.parametrize(
    ("prompt", "falls"), [("snowy street at noon", "snow"), ("sunny street", "clear")]
)
def test_weather_that_only_the_words_imply_is_understood(prompt: str, falls: str) -> None:
    same = prompt.replace("snowy", "snowfall") if falls == "snow" else prompt
    brightest = _street(prompt)[115:].mean()

    assert brightest == pytest.approx(_street(same)[115:].mean(), abs=40)
    assert brightest > _street("rainy night street")[115:].mean()


def test_mist_hides_the_far_end() -> None:
    def contrast(prompt: str) -> float:
        return float(_street(prompt)[60:88, 60:100].std())

    assert contrast("misty day street") < contrast("clear day street")


def test_neon_is_asked_for_by_name() -> None:
    settings = {"aspect_ratio": "1:1", "size": 64, "family": "city"}
    plain, neon = (
        hour_of(np.random.default_rng(1), read(prompt, settings, 1))
        for prompt in ("clear day street", "clear day neon street")
    )

    assert neon.neon > 3 * plain.neon


def test_rain_and_snow_add_light_only_where_there_is_some() -> None:
    for fall in (rain, snow):
        lit = np.full((3, 120, 120), 0.4, np.float32)
        dark = np.zeros((3, 120, 120), np.float32)
        fall(np.random.default_rng(1), lit, 1.0)
        fall(np.random.default_rng(1), dark, 1.0)

        assert lit.max() > 0.45
        assert lit.min() == pytest.approx(0.4, abs=1e-3)
        assert dark.max() < 0.05


@pytest.mark.parametrize("prompt", ["street at noon", "neon street by night"])
def test_a_street_in_ink_is_gray(prompt: str) -> None:
    settings = {"aspect_ratio": "1:1", "size": 96}
    ink, midnight = (
        city.paint(read(prompt, {**settings, "palette": palette}, 1), Progress()).astype(int)
        for palette in ("ink", "midnight")
    )

    assert np.ptp(ink, axis=2).mean() < 8 < 0.4 * np.ptp(midnight, axis=2).mean()
