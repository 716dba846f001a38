"""Prompt templates expand to many prompts, each with its choices."""

import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.errors import ConfigError
from kit.explore.sweeps.templates import MAX_PROMPTS, PromptTemplate, template


@pytest.mark.parametrize(
    ("text", "prompts"),
    [
        ("a lake", ["a lake"]),
        ("a {red|blue} barn", ["a red barn", "a blue barn"]),
        ("{a|b}{c|d}", ["ac", "ad", "bc", "bd"]),
        ("a {|dark} lake", ["a lake", "a dark lake"]),
        ("{a|{b|c} d}", ["a", "b d", "c d"]),
        ("{2$$a|b|c}", ["a, b", "a, c", "b, c"]),
        ("{1-2$$ and $$a|b}", ["a", "b", "a and b"]),
        ("{0-1$$a}!", ["!", "a!"]),
        (r"\{a\|b\} \__x\__", ["{a|b} __x__"]),
        ("a|b", ["a|b"]),
        ("{16:9|4:3}", ["16:9", "4:3"]),
    ],
)
def test_a_template_expands_to_its_prompts(text: str, prompts: list[str]) -> None:
    found = template(text)

    assert list(found) == prompts
    assert len(found) == len(prompts)


def test_named_lists_come_from_arguments_or_files(tmp_path: Path) -> None:
    (tmp_path / "place.txt").write_text("# places\nthe sea\n\n the hills \n")

    found = template("__place__ in __hue-2__", tmp_path, **{"hue-2": ["red", "blue"]})

    assert list(found)[:2] == ["the sea in red", "the sea in blue"]
    assert list(found)[3].choices == {"place": "the hills", "hue-2": "blue"}


def test_a_variant_has_its_choices_as_columns() -> None:
    frame = template("a {red|blue} barn in {fog|{light|heavy} rain}").frame()

    assert list(frame.columns) == ["prompt", "choice.1", "choice.2"]
    assert frame.iloc[5].to_list() == ["a blue barn in heavy rain", "blue", "heavy rain"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a {red|blue barn", "never closed"),
        ("a red} barn", "never opened"),
        ("{3$$a|b}", "more than its 2 options"),
        ("{2-1$$a|b}", "more than its 2 options"),
        ("__place__", "no list 'place'"),
        ("{" * 20 + "a" + "}" * 20, "at most 8 levels"),
        ("{15$$" + "|".join(map(str, range(30))) + "}", "ways to pick"),
        ("a" * 30_000, "at most 20,000"),
        ("{a|b}" * 70, "more prompts than can be counted"),
    ],
)
def test_an_invalid_template_is_reported(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        template(text)


def test_too_many_prompts_are_sampled_and_not_listed() -> None:
    many = template(" ".join("{a|b|c|d|e|f|g|h|i|j}" for _ in range(12)))

    drawn = many.sample(50, seed=3)

    assert len(many) == 10**12
    assert drawn == many.sample(50, seed=3) != many.sample(50, seed=4)
    assert len(set(drawn)) == 50
    with pytest.raises(ConfigError, match=r"sample\(100\)"):
        iter(many)
    assert len(template("{a|b|c}").sample(10)) == 3
    assert len(many.sample(MAX_PROMPTS * 2)) == MAX_PROMPTS


@given(
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True), max_size=4)
)
def test_every_combination_occurs_once(options: list[list[str]]) -> None:
    found: PromptTemplate = template("-".join("{" + "|".join(each) + "}" for each in options))

    assert list(found) == ["-".join(each) for each in itertools.product(*options)]
