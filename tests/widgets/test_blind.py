from __future__ import annotations

from typing import Any

import pytest

from kit.errors import ConfigError
from kit.explore.ratings import rank
from kit.widgets.blind import BlindComparison
from tests.widgets.gallery_items import new_item, photo
from tests.widgets.tree import below, find

WORDS = "a lighthouse at dusk"
ITEMS = [
    new_item(f"gen_{n}", small=photo(64, 64, seed=n), prompt=WORDS, model_id=f"model-{n}")
    for n in range(4)
]


def html(widget: Any) -> str:
    return " ".join(str(getattr(one, "value", "")) for one in below(widget))


def choose_by_number(blind: BlindComparison) -> None:
    """Prefer the generation with the higher number, to the end."""
    while blind.pair is not None:
        left, right = blind.pair
        blind.choose("left" if left > right else "right")


def test_a_blind_pair_reveals_no_prompt_model_or_price() -> None:
    shown = html(BlindComparison(ITEMS, rank))

    assert shown.count("<img") == 2
    assert not any(word in shown for word in (WORDS, "gen_", "model-", "0.02"))


@pytest.mark.parametrize("seed", range(5))
def test_choices_become_a_ranking_with_models_and_prompts(seed: int) -> None:
    blind = BlindComparison(ITEMS, rank, seed=seed)
    choose_by_number(blind)
    found = blind.ranking()

    assert found.index.tolist() == ["gen_3", "gen_2", "gen_1", "gen_0"]
    assert found["model_id"].tolist()[0] == "model-3"
    assert html(blind).index("gen_3") < html(blind).index("gen_0")
    assert html(blind).count("<img") == 4
    assert repr(blind) == "<BlindComparison of 4 generations · 6 of 6 choices>"
    with pytest.raises(ConfigError, match=r"ranking\(\) has the order"):
        blind.choose("left")


def test_a_button_chooses_its_side() -> None:
    blind = BlindComparison(ITEMS[:2], rank, seed=1)
    assert blind.pair is not None
    _, right = blind.pair

    find(blind, "Right is better").click()

    assert blind.ranking().index[0] == right


def test_a_partial_comparison_has_a_ranking() -> None:
    blind = BlindComparison(ITEMS, rank)
    blind.choose("equal")

    assert sorted(blind.ranking()["tied"].tolist()) == [0, 0, 1, 1]
    with pytest.raises(ConfigError, match="'left', 'right' or 'equal', not 'both'"):
        blind.choose("both")


def test_the_same_generation_twice_cannot_be_compared() -> None:
    with pytest.raises(ConfigError, match="two different generations"):
        BlindComparison([ITEMS[0], ITEMS[0]], rank)


def test_the_saved_html_has_the_ranking_only_after_all_choices() -> None:
    blind = BlindComparison(ITEMS, rank)
    blind.choose("left")
    assert "1 of 6 pairs were compared" in (before := blind._repr_mimebundle_()["text/html"])
    assert not any(word in before for word in (WORDS, "gen_", "model-", "<img"))

    choose_by_number(blind)

    after = blind._repr_mimebundle_()["text/html"]
    assert after.index("gen_3") < after.index("gen_0")
