import numpy as np
import pytest

from kit.engines.painting.poster.compose import Look, Picture, compose, flat
from kit.engines.painting.poster.framing import framed
from kit.engines.painting.poster.plane import Stage
from kit.engines.painting.poster.recipes import RECIPES
from kit.engines.prompt import lexicon
from kit.engines.prompt.landscape import Scene, read

WORDS = tuple(lexicon.COMPOSITIONS)


def composed(scene: Scene) -> Picture:
    return compose(scene, Look(), Stage(160, 160))


def directed(subject: str, *words: str, seed: int = 3) -> Scene:
    scene = read(f"clear {subject} at noon", seed=seed)
    return Scene(**{**scene.facts(), "composition": words, "tints": (), "extras": ()})


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("subject", RECIPES)
def test_every_word_visibly_directs_every_subject(subject: str, word: str) -> None:
    plain, other = (flat(composed(directed(subject, *words))) for words in ((), (word,)))

    assert np.abs(plain - other).mean() > 0.008


@pytest.mark.parametrize("subject", RECIPES)
def test_a_low_camera_sees_more_sky_and_a_high_one_less(subject: str) -> None:
    low, plain, high = (framed(RECIPES[subject], words) for words in (("low",), (), ("high",)))

    assert low.horizon > plain.horizon + 0.1 > high.horizon + 0.2
    assert plain is RECIPES[subject]


@pytest.mark.parametrize("subject", ["sea", "lake"])
@pytest.mark.parametrize("word", WORDS)
def test_the_shore_goes_with_the_horizon(subject: str, word: str) -> None:
    plain, moved = RECIPES[subject], framed(RECIPES[subject], (word,))

    assert plain.shore is not None
    assert moved.shore is not None
    assert moved.shore - plain.shore == pytest.approx(moved.horizon - plain.horizon)
    assert moved.shore < 0.93


def test_close_shapes_are_larger_than_wide_ones() -> None:
    wide, close = (framed(RECIPES["hills"], (word,)) for word in ("wide", "close"))

    assert all(
        far.height[0] < 0.6 * near.height[0] and far.tall <= near.tall
        for far, near in zip(wide.bands, close.bands, strict=True)
    )


def test_a_centered_light_stands_in_the_middle_and_one_on_thirds_at_a_third() -> None:
    for seed in range(6):
        middle = composed(directed("mountains", "centered", seed=seed)).light.x / 160
        third = composed(directed("mountains", "thirds", seed=seed)).light.x / 160

        assert middle == pytest.approx(0.5)
        assert min(abs(third - 1 / 3), abs(third - 2 / 3)) < 0.001
    assert framed(RECIPES["sea"], ("thirds",)).horizon == pytest.approx(2 / 3)


def test_a_minimal_picture_has_fewer_ridges_and_no_birds() -> None:
    plain, minimal = (composed(directed("forest", *words)) for words in ((), ("minimal",)))
    counts = [sum(p.name == "ridge" for p in one.back + one.front) for one in (plain, minimal)]

    assert counts == [7, 3]
    assert {"birds"} <= {p.name for p in plain.back}
    assert "birds" not in {p.name for p in minimal.back}


def test_several_words_keep_the_horizon_inside_the_frame() -> None:
    for recipe in RECIPES.values():
        assert framed(recipe, ("low", "minimal", "dramatic", "close")).horizon <= 0.8
        assert framed(recipe, ("high",)).horizon >= 0.3


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("a drone shot of hills", ("high",)),
        ("cinematic sea, rule of thirds", ("dramatic", "thirds")),
        ("minimal symmetrical desert", ("minimal", "centered")),
        ("hills at high noon", ()),
        ("hills, not minimal", ()),
    ],
)
def test_the_prompt_tells_the_composition(prompt: str, words: tuple[str, ...]) -> None:
    scene = read(prompt, seed=1)

    assert scene.composition == words
    assert scene.facts()["composition"] == list(words)
