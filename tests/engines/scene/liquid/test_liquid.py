from dataclasses import replace

import numpy as np
import pytest

from kit.engines.base import Progress
from kit.engines.painting import liquid
from kit.engines.painting.liquid.currents import Currents, Stirring, stirred
from kit.engines.painting.liquid.gilding import gilded
from kit.engines.prompt.brief import read

_HOW = Stirring(cells=2.5, octaves=5, gain=0.45, reach=0.12)


def _painted(prompt: str, *, seed: int = 3, size: int = 128) -> np.ndarray:
    settings = {"aspect_ratio": "1:1", "size": size, "family": "liquid"}
    return liquid.paint(read(prompt, settings, seed), Progress()).astype(float)


def _currents(size: int = 128) -> Currents:
    return stirred(np.random.default_rng(1), size, size, _HOW, Progress())


def test_each_round_folds_the_liquid_more() -> None:
    currents = _currents()

    def rough(plane: np.ndarray) -> float:
        return float(np.abs(np.diff(plane, axis=1)).mean() / plane.std())

    assert rough(currents.fast) > rough(currents.drift)
    assert currents.slow.shape == (128, 128)


def test_the_whirls_do_not_depend_on_the_size_of_the_picture() -> None:
    # A larger picture shows finer noise in it, but as many large whirls.
    small = np.abs(np.fft.rfft(_currents(96).slow.mean(axis=0)))[1:9]
    large = np.abs(np.fft.rfft(_currents(192).slow.mean(axis=0)))[1:9]

    assert np.argmax(small) == pytest.approx(np.argmax(large), abs=3)


@pytest.mark.parametrize("word", ["marble", "ink", "silk", "oil", "lava", "paint"])
def test_every_substance_is_painted(word: str) -> None:
    assert _painted(word).std() > 6.0


def test_marble_is_pale_unless_it_is_dark() -> None:
    assert _painted("marble").mean() > 150
    assert _painted("black marble").mean() < 100


def test_ink_leaves_the_water_clear_and_smoke_the_air_dark() -> None:
    ink, smoke = _painted("ink"), _painted("dark smoke")

    assert np.percentile(ink, 90) > 200
    assert np.median(smoke) < 90


@pytest.mark.parametrize("prompt", ["gold marble", "kintsugi marble"])
def test_gold_runs_in_veins_and_does_not_color_the_stone(prompt: str) -> None:
    pixels = _painted(prompt, size=256)
    yellow = pixels[..., 0] - pixels[..., 2]

    assert 0.002 < (yellow > 60).mean() < 0.25
    assert np.median(np.abs(yellow)) < 25


def test_veins_are_thin_lines_of_gold() -> None:
    gray = np.full((3, 128, 128), 0.2, np.float32)

    gold = gilded(gray, _currents(), Progress(), stone=True)

    veins = gold[0] - gold[2] > 0.1
    assert 0.001 < veins.mean() < 0.2


def test_black_is_no_color_of_gold_silk() -> None:
    gold, blue = _painted("gold silk"), _painted("blue silk")

    assert gold.shape == blue.shape
    assert blue[..., 2].mean() > blue[..., 0].mean()


def test_night_is_darker_than_day() -> None:
    brief = read("silk", {"aspect_ratio": "1:1", "size": 128, "family": "liquid"}, 5)

    day, night = (
        liquid.paint(replace(brief, time_of_day=time), Progress()).mean()
        for time in ("day", "night")
    )

    assert night < 0.85 * day


def test_lava_glows_in_few_places_and_is_dark_elsewhere() -> None:
    red, _, blue = np.moveaxis(_painted("lava"), -1, 0)

    assert 0.05 < (red > 200).mean() < 0.6
    assert (red < 70).mean() > 0.25
    assert red.mean() > 1.5 * blue.mean()


def test_lava_glows_in_the_color_that_is_asked_for() -> None:
    red, _, blue = np.moveaxis(_painted("blue lava"), -1, 0)

    assert blue.mean() > 1.3 * red.mean()
