"""Parsing text as the value of a parameter: for forms, magics and the command line."""

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


def make(type: str = "string", **facts: Any) -> Parameter:
    return Parameter(name="it", type=type, **facts)


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (make("integer"), " 7 ", 7),
        (make("int64"), "7", 7),
        (make("Integer"), "7", 7),
        (make("number"), ".5", 0.5),
        (make("number"), "2.0", 2),
        (make("float"), ".25", 0.25),
        (make("boolean"), "yes", True),
        (make("bool"), "true", True),
        (make("bool"), "No", False),
        (make("string"), "007", "007"),
        (make("text"), "007", "007"),
        (make("text"), "[1, 2]", "[1, 2]"),
        (make("tensor"), "[1, 2]", [1, 2]),
        (make("object"), '{"a": 1}', {"a": 1}),
        (make("tensor"), "a lake", "a lake"),
        # other services know what their types accept
        (make("int64"), "auto", "auto"),
        (make("float"), "nan", "nan"),
        # JSON cannot send these
        (make("tensor"), "NaN", "NaN"),
        (make("tensor"), "1e999", "1e999"),
        (make("tensor"), "[" * 100_000, "[" * 100_000),
        # a choice is selected by its text
        (make("string", enum=[1, 2, 3]), "2", 2),
        (make("enum", enum=["a", 0.5, True]), "0.5", 0.5),
        (make("enum", enum=["a", 0.5, True]), "true", True),
        (make("string", enum=[1, "1"]), "1", "1"),
        (make("number", enum=[0.5, 1]), "1.0", 1),
        (make("string", enum=[""]), "", ""),
    ],
)
def test_a_text_is_parsed_by_its_type(parameter: Parameter, text: str, value: Any) -> None:
    result = typed.parse_value(parameter, [text])

    assert result == value
    assert type(result) is type(value)


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
def test_a_list_is_several_texts_or_json(texts: list[str], value: Any, most: int) -> None:
    assert typed.parse_value(make(max_items=most), texts) == value


def test_the_items_of_a_list_are_parsed_by_their_type() -> None:
    assert typed.parse_value(make("integer", max_items=3), ["1", " 2"]) == [1, 2]
    assert typed.parse_value(make(max_items=3, enum=[1, 2]), ["1", "2"]) == [1, 2]


@pytest.mark.parametrize(
    ("parameter", "texts", "sentence"),
    [
        (make("integer"), ["many"], "it must be a whole number, not 'many'"),
        (make("integer"), ["2.5"], "it must be a whole number, not '2.5'"),
        (make("number"), ["wide"], "it must be a number, not 'wide'"),
        (make("number"), ["inf"], "it must be a number, not 'inf'"),
        (make("boolean"), ["maybe"], "it must be true or false, not 'maybe'"),
        (make("integer", max_items=2), ["1", "x"], "it must be a whole number, not 'x'"),
        (make("integer"), [" "], "it has no value: leave it out to have its default"),
        (make("int64"), [""], "it has no value"),
        (make("string"), ["a", "b"], "it is given more than once"),
    ],
)
def test_an_invalid_text_is_reported(parameter: Parameter, texts: list[str], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        typed.parse_value(parameter, texts)


def test_an_unknown_parameter_is_reported_with_a_suggestion() -> None:
    model = Model(id="paint", setting_parameters=[make(), Parameter(name="steps", type="integer")])

    assert typed.parse_values(model, {"steps": ["3"], "it": ["x"]}) == {"steps": 3, "it": "x"}
    with pytest.raises(ConfigError, match="no parameter 'stesp'; did you mean 'steps'"):
        typed.parse_values(model, {"stesp": ["3"]})
    with pytest.raises(ConfigError, match="no parameter 'pictur'; did you mean 'picture'"):
        typed.parse_values(model, {"pictur": ["a.png"]}, others=["picture"])


@pytest.mark.parametrize("text", ['{"a": NaN}', " [1, [-Infinity]]", "[1e999]"])
def test_nan_and_infinity_in_json_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="NaN or Infinity, which cannot be sent"):
        typed.parse_text(make("object"), text)
    with pytest.raises(ConfigError, match="it holds NaN"):
        typed.parse_value(make("object"), [text])
    quoted = typed.format_text(make("object"), text)  # the text itself is quoted
    assert typed.parse_text(make("object"), quoted) == text


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
def test_a_decimal_comma_is_refused_with_the_correct_form(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        typed.parse_text(make("number"), text)
    with pytest.raises(ValueError, match=r"write 0\.5"):  # nor is it passed on to another service
        typed.parse_text(make("float"), "0,5")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.sampled_from(["string", "text", "tensor", "float"]), st.text())
def test_a_formatted_text_is_parsed_back(type: str, text: str) -> None:
    parameter = make(type)
    stripped = text if type in ("string", "text") else text.strip() or "x"
    with suppress(ValueError):  # a text that is a number is parsed as the number, or refused
        assume(type != "float" or not math.isfinite(float(stripped.replace(",", "."))))

    assert typed.parse_text(parameter, typed.format_text(parameter, stripped)) == stripped
    assert typed.parse_item(parameter, typed.format_line(parameter, stripped)) == stripped


@given(_JSON.filter(lambda value: value is not None))
def test_a_formatted_value_of_an_unknown_type_is_parsed_back(value: Any) -> None:
    parameter = make("tensor")

    assert typed.parse_text(parameter, typed.format_text(parameter, value)) == value
