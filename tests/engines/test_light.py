"""Effects of words and settings on the light of paintings, by comparing two pictures."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pytest

from kit.engines.base import Asset
from tests.engines.rendering import frames_of, render, seen_in

Paint: TypeAlias = Callable[..., Asset]
PLACES = ("lake", "desert", "forest", "sea", "city", "mountains", "hills")
#: Prompts that only name a family of scenes.
FAMILIES = {
    "lake": "a mountain lake",
    "desert": "a desert",
    "forest": "a forest",
    "sea": "the sea",
    "city": "a city street",
    "space": "a planet in space",
    "liquid": "liquid marble",
    "flow": "flowing lines",
}
#: Slower models, each with one place.
OTHERS = [("scene", "lake"), ("drift", "hills"), ("living-scene", "sea"), ("flythrough", "desert")]
STILLS = [(model, place) for model in ("poster", "scene-fast") for place in PLACES]


@pytest.fixture(scope="module")
def paint(tmp_path_factory: pytest.TempPathFactory) -> Paint:
    """Render a small picture or clip with a model, each only once."""

    @cache
    def paint_once(model: str, prompt: str, values: tuple[tuple[str, Any], ...]) -> Asset:
        return render(model, tmp_path_factory.mktemp(model), prompt, **dict(values))

    return lambda model, prompt, **values: paint_once(model, prompt, tuple(sorted(values.items())))


def light(pixels: np.ndarray) -> float:
    return float(pixels.mean())


def contrast(pixels: np.ndarray) -> float:
    """Return how much the light changes from row to row beyond the foreground."""
    far = pixels[: pixels.shape[0] * 2 // 3].mean(axis=2)
    return float(np.abs(np.diff(far, axis=0)).mean())


def warmth(pixels: np.ndarray) -> float:
    return float((pixels[..., 0] - pixels[..., 2]).mean())


def roughness(pixels: np.ndarray) -> float:
    return float(np.abs(np.diff(pixels, axis=1)).mean())


@pytest.mark.parametrize(("model", "place"), [*STILLS, *OTHERS])
def test_a_night_is_darker_than_a_day(model: str, place: str, paint: Paint) -> None:
    night, day = (seen_in(paint(model, f"clear {place} at {hour}")) for hour in ("night", "noon"))

    assert light(night) < light(day)


@pytest.mark.parametrize(("model", "place"), [*STILLS, *OTHERS[:-1]])
def test_fog_takes_contrast_away(model: str, place: str, paint: Paint) -> None:
    thick, clear = (seen_in(paint(model, f"{how} {place} at noon")) for how in ("foggy", "clear"))

    assert contrast(thick) < contrast(clear)


@pytest.mark.parametrize("weather", ["rainy", "snowfall over", "stormy", "hazy", "cloudy"])
@pytest.mark.parametrize(("model", "place"), STILLS)
def test_every_weather_is_visible_in_every_place(
    model: str, place: str, weather: str, paint: Paint
) -> None:
    other = seen_in(paint(model, f"{weather} {place} at noon"))

    assert (other != seen_in(paint(model, f"clear {place} at noon"))).any()


@pytest.mark.parametrize(
    ("model", "family"),
    [*(("scene-fast", f) for f in FAMILIES), ("scene", "city"), ("living-scene", "city")],
)
def test_a_prompt_selects_the_same_family_as_the_setting(
    model: str, family: str, paint: Paint
) -> None:
    found, named = (paint(model, FAMILIES[family], family=f) for f in ("auto", family))
    other = paint(model, FAMILIES[family], family="flow" if family == "liquid" else "liquid")

    assert found.path.read_bytes() == named.path.read_bytes() != other.path.read_bytes()


@pytest.mark.parametrize("model", ["poster", "scene", "drift"])
def test_a_warm_palette_is_warmer_than_a_cool_one(model: str, paint: Paint) -> None:
    warm, cool = (
        seen_in(paint(model, "hills at dusk", palette=name)) for name in ("ember", "lagoon")
    )

    assert warmth(warm) > warmth(cool)


def test_mist_adds_light_and_grain_adds_roughness(paint: Paint) -> None:
    plain, misty, grainy = (
        seen_in(paint("poster", "clear mountains at dusk", **values))
        for values in ({"mist": 0}, {"mist": 1}, {"mist": 0, "grain": True})
    )

    assert light(misty) > light(plain)
    assert roughness(grainy) > roughness(plain)


def test_stars_are_brighter_than_a_dark_sky(paint: Paint) -> None:
    starry, bare = (
        seen_in(paint("poster", "clear mountains at night", stars=stars))[:80, :90].max()
        for stars in (True, False)
    )

    assert starry > bare


@pytest.mark.parametrize(("hours", "sign"), [("day_to_night", 1), ("night_to_day", -1)])
def test_hours_change_from_light_to_dark_or_from_dark_to_light(
    paint: Paint, hours: str, sign: int
) -> None:
    frames = frames_of(paint("living-scene", "a clear desert", hours=hours))

    assert sign * light(frames[0]) > sign * light(frames[-1])
