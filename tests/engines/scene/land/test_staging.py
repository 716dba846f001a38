import cv2
import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting.families import paint
from kit.engines.painting.land.coast import coast_of
from kit.engines.painting.land.staging import Staging, staging_of
from kit.engines.painting.land.vista import vista
from kit.engines.prompt.brief import Brief, read

SIZE = 112
SEEDS = (1, 2)
LANDS = ("mountain lake", "dunes", "pine forest", "island", "mesa", "rolling hills")


def brief(prompt: str, seed: int = 1) -> Brief:
    return read(prompt, {"aspect_ratio": "1:1", "size": SIZE, "detail": "low"}, seed)


def painted(prompt: str, seed: int = 1) -> np.ndarray:
    return np.asarray(paint(brief(prompt, seed), Progress()))


def luma(picture: np.ndarray) -> np.ndarray:
    return picture @ np.array([0.2126, 0.7152, 0.0722])


def edges(picture: np.ndarray) -> float:
    """Return how much brightness changes from pixel to pixel, where grain is smoothed away."""
    soft = cv2.GaussianBlur(luma(picture).astype(np.float32), (0, 0), 1.0)
    return float((np.hypot(*np.gradient(soft)) > 2.5).mean())


def test_without_words_nothing_is_changed() -> None:
    assert staging_of(()) == staging_of(("thirds", "centered")) == Staging()


@pytest.mark.parametrize("land", LANDS)
@pytest.mark.parametrize("hour", ["at dawn", "at noon", "at sunset", ""])
def test_a_centered_sun_shines_in_the_middle(land: str, hour: str) -> None:
    picture = luma(painted(f"a centered sun over a {land} {hour}", 2))
    soft = cv2.GaussianBlur(picture, (0, 0), 1.5)[: round(0.62 * SIZE)]
    row, column = np.unravel_index(int(soft.argmax()), soft.shape)

    assert abs(column / SIZE - 0.5) < 0.05
    assert soft[row, column] > 225
    assert soft[row, column] > 12 + soft[row, [column - 22, column + 22]].min()


@pytest.mark.parametrize("land", ["mountain lake", "dunes", "island"])
def test_a_centered_moon_shines_in_the_middle(land: str) -> None:
    soft = cv2.GaussianBlur(luma(painted(f"a centered full moon over a {land}")), (0, 0), 1.5)
    row, column = np.unravel_index(int(soft[: SIZE // 2].argmax()), (SIZE // 2, SIZE))

    assert abs(column / SIZE - 0.5) < 0.05
    assert soft[row, column] > 80 + np.median(soft[: SIZE // 2])


def test_a_named_sun_by_day_is_in_the_sky_and_an_unnamed_one_is_not() -> None:
    def named(prompt: str) -> bool:
        return vista(brief(prompt), horizon=0.46, height=6.5).sun.shown

    assert named("a lake with the sun at noon")
    assert not named("a sunny lake at noon")


@pytest.mark.parametrize("land", LANDS)
def test_a_minimal_picture_has_far_fewer_edges(land: str) -> None:
    shares = [
        edges(painted(f"minimalist {land} at noon", seed)) / edges(painted(f"{land} at noon", seed))
        for seed in SEEDS
    ]

    assert np.mean(shares) < 0.6


@pytest.mark.parametrize("land", ["mountain lake", "mesa", "island"])
@pytest.mark.parametrize(("words", "least"), [("epic", 1.25), ("close-up of", 1.25)])
def test_an_epic_or_near_subject_is_taller(land: str, words: str, least: float) -> None:
    def height(said: str, seed: int) -> float:
        one = brief(f"{said} clear {land} at noon", seed)
        horizon = vista(one, horizon=0.46, height=6.5).camera.horizon
        sky = np.asarray(paint(one, Progress()), np.float32)[: round(horizon)]
        away = np.abs(np.diff(cv2.GaussianBlur(luma(sky), (0, 0), 1.2), axis=0)).max(axis=1)
        return float(horizon - np.flatnonzero(away > 14)[0])

    plain, large = (np.mean([height(said, seed) for seed in SEEDS]) for said in ("", words))

    assert large > least * plain


def test_a_wide_view_shows_smaller_things_than_a_near_one() -> None:
    wide, close = (staging_of((word,)) for word in ("wide", "close"))

    assert wide.part < 0.7 < 1.2 < close.part
    assert close.near > 1.5


@pytest.mark.parametrize("land", LANDS[:4:2])
def test_moods_set_light_and_contrast(land: str) -> None:
    def measured(words: str) -> tuple[float, float]:
        picture = luma(painted(f"{words} {land} at noon"))
        return float(picture.mean()), float(picture.std())

    plain, gloomy, menacing = (measured(words) for words in ("clear", "gloomy", "menacing"))

    assert menacing[0] < 0.8 * gloomy[0] < 0.75 * plain[0]
    assert measured("clear pastel")[1] < 0.8 * plain[1]
    assert measured("clear calm")[1] < 0.95 * plain[1]
    assert measured("clear low-key")[0] < 0.8 * plain[0] < 0.8 * measured("clear high-key")[0]
    assert measured("clear harsh")[1] > 1.08 * plain[1]
    assert measured("clear, soft light,")[1] < 0.9 * plain[1]


@pytest.mark.parametrize("land", ["mountain lake", "dunes", "island"])
def test_a_silhouette_is_dark_land_before_a_light_sky(land: str) -> None:
    dark = luma(painted(f"silhouette of a {land} at sunset", 2))

    assert np.median(dark[: SIZE // 4]) > 110
    assert np.percentile(dark[SIZE // 2 :], 20) < 40


def test_the_same_scene_is_seen_with_and_without_a_word_of_mood() -> None:
    plain, vivid, other = (
        cv2.GaussianBlur(luma(painted(f"{word} lake at dawn", seed)), (0, 0), 2).ravel()
        for word, seed in (("", 4), ("vivid", 4), ("", 5))
    )

    assert np.corrcoef(plain, vivid)[0, 1] > 0.97
    assert np.corrcoef(plain, other)[0, 1] < 0.95


def test_a_minimal_sea_has_one_thing_on_it() -> None:
    lands = {
        words: {coast_of(brief(f"minimalist {words}", seed)).land for seed in range(12)}
        for words in ("sea", "sailboat", "lighthouse")
    }

    assert lands == {"sea": {"isles"}, "sailboat": {"none"}, "lighthouse": {"cliffs"}}


def test_an_epic_sea_has_something_that_towers() -> None:
    assert "none" not in {coast_of(brief("epic sea", seed)).land for seed in range(12)}


def test_a_sun_stands_over_a_volcano_and_not_behind_it() -> None:
    picture = luma(painted("a centered sun over a volcano at sunset"))
    soft = cv2.GaussianBlur(picture, (0, 0), 1.5)[: SIZE // 2]
    row, column = np.unravel_index(int(soft.argmax()), soft.shape)

    assert abs(column / SIZE - 0.5) < 0.06
    assert row < 0.3 * SIZE


def test_tones_stand_in_the_facts() -> None:
    facts = brief("a menacing sea, high contrast").facts()

    assert facts["tones"] == ["dark", "hard"]
