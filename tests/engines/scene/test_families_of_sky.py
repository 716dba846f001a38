"""What every painter of streets, skies, liquids and lines keeps to."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from kit.engines.base import CanceledError, Progress
from kit.engines.painting import city, flow, liquid, space
from kit.engines.prompt.brief import Brief, read

PAINTERS: dict[str, Callable[[Brief, Progress], np.ndarray]] = {
    "city": city.paint,
    "space": space.paint,
    "liquid": liquid.paint,
    "flow": flow.paint,
}
families = pytest.mark.parametrize("family", PAINTERS)


def painted(
    family: str, prompt: str = "", *, seed: int = 1, size: int = 128, **values: str
) -> np.ndarray:
    settings = {"aspect_ratio": "1:1", "size": size, "family": family, **values}
    return PAINTERS[family](read(prompt, settings, seed), Progress())


def difference(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs(one.astype(float) - other.astype(float)).mean())


@families
def test_the_same_brief_gives_the_same_pixels(family: str) -> None:
    assert np.array_equal(painted(family, "violet"), painted(family, "violet"))


@families
def test_another_seed_gives_another_picture(family: str) -> None:
    assert difference(painted(family, seed=1), painted(family, seed=2)) > 4.0


@families
@pytest.mark.parametrize("aspect", ["1:1", "9:16", "21:9"])
def test_the_picture_has_the_size_of_the_brief(family: str, aspect: str) -> None:
    brief = read("", {"aspect_ratio": aspect, "size": 150, "family": family}, 3)

    pixels = PAINTERS[family](brief, Progress())

    assert pixels.shape == (brief.height, brief.width, 3)
    assert pixels.dtype == np.uint8
    assert pixels.std() > 5.0


@families
@pytest.mark.parametrize("detail", ["low", "high"])
def test_every_detail_is_painted(family: str, detail: str) -> None:
    assert painted(family, detail=detail, size=96).std() > 5.0


@families
def test_progress_rises_to_one_in_many_steps(family: str) -> None:
    seen: list[float] = []
    settings = {"aspect_ratio": "1:1", "size": 96, "family": family}

    PAINTERS[family](read("", settings, 1), Progress(seen.append))

    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    assert len(seen) >= 5


@families
def test_a_canceled_picture_stops(family: str) -> None:
    progress = Progress()
    settings = {"aspect_ratio": "1:1", "size": 96, "family": family}
    progress.cancel()

    with pytest.raises(CanceledError):
        PAINTERS[family](read("", settings, 1), progress)


@families
def test_a_canceled_picture_stops_on_the_way_too(family: str) -> None:
    progress = Progress(lambda done: progress.cancel() if done > 0.3 else None)
    settings = {"aspect_ratio": "1:1", "size": 96, "family": family}

    with pytest.raises(CanceledError):
        PAINTERS[family](read("", settings, 1), progress)


@families
def test_color_words_color_the_picture(family: str) -> None:
    def warmth(prompt: str) -> float:
        pixels = painted(family, prompt, seed=4).astype(float)
        return float((pixels[..., 0] - pixels[..., 2]).mean())

    assert warmth("orange nebula stroke ink") > warmth("blue nebula stroke ink") + 3.0


@families
def test_pastel_is_less_colorful_than_vivid(family: str) -> None:
    def chroma(prompt: str) -> float:
        pixels = painted(family, prompt, seed=4).astype(float)
        return float((pixels.max(axis=2) - pixels.min(axis=2)).mean() / (pixels.mean() + 1.0))

    assert chroma("pastel teal nebula ink stroke") < chroma("vivid teal nebula ink stroke")


@families
@pytest.mark.parametrize("word", ["wide", "close", "centered", "minimal", "dramatic"])
def test_words_of_composition_change_the_picture(family: str, word: str) -> None:
    plain = painted(family, "galaxy stroke", seed=6, size=96)
    # Unknown words vary the seed; here only the composition may.
    settings = {"aspect_ratio": "1:1", "size": 96, "family": family}
    brief = read("galaxy stroke", settings, 6)
    told = replace(brief, composition=(word,))
    told = replace(told, mood="dramatic") if word == "dramatic" else told

    assert difference(plain, PAINTERS[family](told, Progress())) > 0.5
