"""Text read as the value of a parameter: the same in forms, magics and on the command line."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kit import typed
from kit.errors import ConfigError
from kit.wire import Model, Parameter


def one(type: str = "string", **facts: Any) -> Parameter:
    return Parameter(name="it", type=type, **facts)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (one("integer"), " 7 ", 7),
        (one("int64"), "7", 7),
        (one("Integer"), "7", 7),
        (one("number"), ".5", 0.5),
        (one("number"), "2.0", 2),
        (one("float"), ".25", 0.25),
        (one("boolean"), "yes", True),
        (one("bool"), "true", True),
        (one("bool"), "No", False),
        (one("string"), "007", "007"),
        (one("text"), "007", "007"),
        (one("text"), "[1, 2]", "[1, 2]"),
        (one("tensor"), "[1, 2]", [1, 2]),
        (one("object"), '{"a": 1}', {"a": 1}),
        (one("tensor"), "a lake", "a lake"),
        # what a type of another service takes, it knows
        (one("int64"), "auto", "auto"),
        (one("float"), "nan", "nan"),
        # JSON cannot send these
        (one("tensor"), "NaN", "NaN"),
        (one("tensor"), "1e999", "1e999"),
        (one("tensor"), "[" * 100_000, "[" * 100_000),
        # a choice is what reads as it was typed
        (one("string", enum=[1, 2, 3]), "2", 2),
        (one("enum", enum=["a", 0.5, True]), "0.5", 0.5),
        (one("enum", enum=["a", 0.5, True]), "true", True),
        (one("string", enum=[1, "1"]), "1", "1"),
        (one("number", enum=[0.5, 1]), "1.0", 1),
        (one("string", enum=[""]), "", ""),
    ],
)
def test_a_text_is_read_by_its_type(parameter: Parameter, text: str, value: Any) -> None:
    read = typed.parse_value(parameter, [text])

    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        (["a lake"], ["a lake"]),
        (["a lake", "dawn, ink"], ["a lake", "dawn, ink"]),
        (['["a lake", "dawn"]'], ["a lake", "dawn"]),
        (['"two\\nlines"'], ["two\nlines"]),
        ([""], []),
    ],
)
@pytest.mark.parametrize("most", [1, 3])
def test_a_list_is_several_texts_or_one_of_json(texts: list[str], value: Any, most: int) -> None:
    assert typed.parse_value(one(max_items=most), texts) == value


def test_the_items_of_a_list_are_read_by_their_type() -> None:
    assert typed.parse_value(one("integer", max_items=3), ["1", " 2"]) == [1, 2]
    assert typed.parse_value(one(max_items=3, enum=[1, 2]), ["1", "2"]) == [1, 2]


@pytest.mark.parametrize(
    ("parameter", "texts", "sentence"),
    [
        (one("integer"), ["many"], "it must be a whole number, not 'many'"),
        (one("integer"), ["2.5"], "it must be a whole number, not '2.5'"),
        (one("number"), ["wide"], "it must be a number, not 'wide'"),
        (one("number"), ["inf"], "it must be a number, not 'inf'"),
        (one("boolean"), ["maybe"], "it must be true or false, not 'maybe'"),
        (one("integer", max_items=2), ["1", "x"], "it must be a whole number, not 'x'"),
        (one("integer"), [" "], "it has no value: leave it out to have its default"),
        (one("int64"), [""], "it has no value"),
        (one("string"), ["a", "b"], "it is given more than once"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(
    parameter: Parameter, texts: list[str], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        typed.parse_value(parameter, texts)


def test_a_name_that_is_none_is_told_what_is_close() -> None:
    model = Model(id="paint", setting_parameters=[one(), Parameter(name="steps", type="integer")])

    assert typed.parse_values(model, {"steps": ["3"], "it": ["x"]}) == {"steps": 3, "it": "x"}
    with pytest.raises(ConfigError, match="no parameter 'stesp'; did you mean 'steps'"):
        typed.parse_values(model, {"stesp": ["3"]})
    with pytest.raises(ConfigError, match="no parameter 'pictur'; did you mean 'picture'"):
        typed.parse_values(model, {"pictur": ["a.png"]}, others=["picture"])


@pytest.mark.parametrize("text", ['{"a": NaN}', " [1, [-Infinity]]", "[1e999]"])
def test_an_object_with_a_number_that_json_does_not_have_is_no_text(text: str) -> None:
    with pytest.raises(ValueError, match="NaN or Infinity, which cannot be sent"):
        typed.parse_text(one("object"), text)
    with pytest.raises(ConfigError, match="it holds NaN"):
        typed.parse_value(one("object"), [text])
    quoted = typed.format_text(one("object"), text)  # who means the text writes it as one
    assert typed.parse_text(one("object"), quoted) == text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0,5", "must be a number, not '0,5': write 0.5"),
        ("-,25", "must be a number, not '-,25': write -.25"),
        ("1,500", "must be a number, not '1,500': write 1500, or 1.500 for decimals"),
        ("1,2,3", "must be a number, not '1,2,3'"),
        ("a,b", "must be a number, not 'a,b'"),
    ],
)
def test_a_comma_is_told_how_to_be_written(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        typed.parse_text(one("number"), text)
    with pytest.raises(ValueError, match=r"write 0\.5"):  # nor is it a word of another service's
        typed.parse_text(one("float"), "0,5")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.sampled_from(["string", "text", "tensor", "float"]), st.text())
def test_a_text_reads_back(type: str, text: str) -> None:
    parameter = one(type)
    stripped = text if type in ("string", "text") else text.strip() or "x"
    with suppress(ValueError):  # a text that a number could be written as is read as the number
        assume(type != "float" or not math.isfinite(float(stripped)))

    assert typed.parse_text(parameter, typed.format_text(parameter, stripped)) == stripped
    assert typed.parse_item(parameter, typed.format_line(parameter, stripped)) == stripped


@given(_JSON.filter(lambda value: value is not None))
def test_any_value_of_an_unknown_type_reads_back(value: Any) -> None:
    parameter = one("tensor")

    assert typed.parse_text(parameter, typed.format_text(parameter, value)) == value
