"""Parameters: exactly the valid values pass, and each other value gets an error message."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.errors import ParameterError
from kit.parameters import (
    UNKNOWN_LIMITS,
    check,
    check_settings,
    file_name_problems,
    script_problems,
    suggest,
    value_problem,
)
from kit.wire import Model, Parameter, Rule, WriteScripts, bounds

COUNT = Parameter(name="count", type="integer", default=1, minimum=1, maximum=10)
RATIO = Parameter(name="ratio", type="number", minimum=0, maximum=1)
SIZE = Parameter(name="size", default="small", enum=["small", "big"])
TAGS = Parameter(name="tags", max_items=3)
SMOOTH = Parameter(name="smooth", type="boolean", required=True)
PICTURE = Parameter(name="picture", type="image", media=True, required=True, max_items=2)
MODEL = Model(
    id="demo",
    prompt_required=True,
    media_parameters=[PICTURE],
    setting_parameters=[COUNT, RATIO, SIZE, TAGS, SMOOTH],
    pricing=Rule(base=Decimal(1)),
)
GOOD: dict[str, Any] = {"prompt": "x", "parameters": {"smooth": True}, "media": {"picture": ["p"]}}

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=2)
    ),
    max_leaves=5,
)


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


RULES: dict[str, Any] = {
    "count": lambda v: is_number(v) and 1 <= v <= 10 and v == int(v),
    "ratio": lambda v: is_number(v) and 0 <= v <= 1,
    "size": lambda v: v in ("small", "big") if isinstance(v, str) else False,
    "tags": lambda v: isinstance(v, list) and len(v) <= 3 and all(isinstance(t, str) for t in v),
    "smooth": lambda v: isinstance(v, bool),
}


@pytest.mark.parametrize("parameter", MODEL.setting_parameters, ids=lambda p: p.name)
@given(value=anything)
def test_exactly_the_valid_values_pass(parameter: Parameter, value: Any) -> None:
    problem = value_problem(parameter, value)

    assert (problem is None) == bool(RULES[parameter.name](value))
    assert problem is None or problem.startswith(("must be", "holds"))


@given(st.fixed_dictionaries({}, optional={p.name: anything for p in MODEL.setting_parameters}))
def test_a_request_passes_when_each_of_its_values_does(values: dict[str, Any]) -> None:
    given_ = {name: value for name, value in values.items() if value is not None}
    valid = "smooth" in given_ and all(RULES[name](value) for name, value in given_.items())
    try:
        checked = check(MODEL, prompt="x", parameters=values, media=GOOD["media"])
    except ParameterError as error:
        assert not valid
        named = {detail["field"].partition(".")[2] for detail in error.details or ()}
        wrong = {name for name, value in given_.items() if not RULES[name](value)}
        assert named == wrong | ({"smooth"} if "smooth" not in given_ else set())
    else:
        assert valid
        assert checked == {"count": 1, "size": "small", **given_}


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000, 2**53, 1e300], ids=range(5))
def test_a_number_outside_the_range_of_json_readers_is_refused(value: float) -> None:
    for kind in ("integer", "number"):
        problem = value_problem(Parameter(name="free", type=kind), value)

        assert problem is not None
        assert len(problem) < 120


@pytest.mark.parametrize("value", [2**53 - 1, -(2**53) + 1, 0, 5.0])
def test_an_unlimited_number_may_use_the_whole_range_of_json(value: float) -> None:
    assert value_problem(Parameter(name="free", type="integer"), value) is None


def test_a_whole_float_becomes_an_integer() -> None:
    preset = COUNT.model_copy(update={"default": 5.0})
    for parameter, values in ((COUNT, {"count": 5.0}), (preset, {})):
        assert repr(check_settings([parameter], values)) == "({'count': 5}, [])"


def test_a_value_of_an_unknown_type_is_accepted() -> None:
    assert value_problem(Parameter(name="odd", type="matrix"), [[1]]) is None


def test_none_counts_as_not_given() -> None:
    result = check(MODEL, **{**GOOD, "parameters": {"smooth": False, "count": None}})

    assert result == {"count": 1, "size": "small", "smooth": False}


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"prompt": None}, "prompt", "is required"),
        ({"prompt": " \n"}, "prompt", "is required"),
        ({"prompt": "x" * (bounds.TEXT + 1)}, "prompt", "4,001 characters"),
        ({"parameters": {}}, "parameters.smooth", "is required"),
        ({"parameters": {"smoth": True}}, "parameters.smoth", "did you mean 'smooth'"),
        ({"parameters": {"picture": "p"}}, "parameters.picture", "name it in mediaUploads"),
        ({"media": {}}, "mediaUploads.picture", "is required"),
        ({"media": {"picture": [1, 2, 3]}}, "mediaUploads.picture", "at most 2"),
        ({"parameters": {"pictur": "p"}}, "parameters.pictur", "did you mean 'picture'"),
        ({"media": {"pictures": [1]}}, "mediaUploads.pictures", "did you mean 'picture'"),
        ({"media": {"x": [1]}}, "mediaUploads.x", "no such medium; there is 'picture'"),
    ],
)
def test_an_error_names_the_wrong_field(change: dict[str, Any], field: str, sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        check(MODEL, **{**GOOD, **change})

    messages = {detail["field"]: detail["message"] for detail in caught.value.details or ()}
    assert sentence in messages[field]


def test_all_problems_are_reported_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        check(MODEL, prompt="", parameters={"count": 0, "x": 1}, media={})

    assert len(caught.value.details or ()) == 5


def test_a_prompt_is_measured_after_trimming() -> None:
    assert check(MODEL, **{**GOOD, "prompt": " " + "x" * bounds.TEXT + "\n"})


def test_a_model_without_a_prompt_refuses_one() -> None:
    mute = MODEL.model_copy(update={"supports_prompt": False, "prompt_required": True})

    assert check(mute, **{**GOOD, "prompt": "  "})
    with pytest.raises(ParameterError, match="takes no prompt"):
        check(mute, **GOOD)


def test_a_suggestion_is_the_closest_name_or_a_list_of_names() -> None:
    assert suggest("sise", ["size", "count"]) == "; did you mean 'size'?"
    assert suggest("space", ["HISTORY", "SPACE"]) == "; did you mean 'SPACE'?"
    assert suggest("x", ["size", "count"]) == "; there is 'count', 'size'"
    assert suggest("x", []) == "; there is none"
    assert suggest("x", map(str, range(600))).endswith("'131', '132', '133' and 560 more")


@pytest.mark.parametrize(
    ("bound", "text"), [(2**32 - 1, "4294967295"), (20.0, "20"), (0.1234567, "0.1234567")]
)
def test_a_limit_is_reported_with_all_its_digits(bound: float, text: str) -> None:
    parameter = Parameter(name="n", type="number", maximum=bound)

    assert value_problem(parameter, 2**40) == (f"must be at most {text}, not 1099511627776")


@pytest.mark.parametrize("kind", ["string", "integer", "boolean", "enum"])
def test_an_enum_value_is_valid_whatever_the_parameter_type(kind: str) -> None:
    times = Parameter(name="times", type=kind, enum=[1, 2.5, "auto"])

    assert [value_problem(times, value) for value in (1, 2.5, "auto")] == [None] * 3
    assert value_problem(times, True) is not None  # to Python it equals 1, to a service it does not
    assert value_problem(times, "1") is not None


SEED = Parameter(name="seed", type="integer", minimum=0, maximum=2**64 - 1)
LONG = "x" * (bounds.TEXT + 1)


def test_our_limits_do_not_apply_to_other_services() -> None:
    foreign = Model(id="demo", setting_parameters=[SEED])
    request: dict[str, Any] = {"prompt": LONG, "parameters": {"seed": 2**63}, "media": {}}

    assert check(foreign, **request) == {"seed": 2**63}
    with pytest.raises(ParameterError) as caught:
        check(foreign.model_copy(update={"pricing": Rule(base=Decimal(1))}), **request)
    assert [detail["field"] for detail in caught.value.details or ()] == [
        "prompt",
        "parameters.seed",
    ]


def test_limits_of_a_parameter_apply_to_other_services() -> None:
    assert value_problem(SEED, 2**63, UNKNOWN_LIMITS) is None
    assert value_problem(SEED, 2**64, UNKNOWN_LIMITS) == (
        "must be at most 18446744073709551615, not 18446744073709551616"
    )
    assert value_problem(SEED, float("inf"), UNKNOWN_LIMITS) == "must be a whole number, not inf"


@pytest.mark.parametrize("kind", ["object", "float32", "matrix"])
def test_nan_and_infinity_are_refused_at_any_depth(kind: str) -> None:
    free = Parameter(name="free", type=kind)

    for value in (float("nan"), {"a": [1, {"b": float("inf")}]}, [(1.0, float("-inf"))]):
        assert "JSON has no such numbers" in (value_problem(free, value) or "")
    assert value_problem(free, {"a": [1e300, 10**400, {"b": None}]}) is None
    assert "JSON has no" in (
        value_problem(free.model_copy(update={"max_items": 2}), [free, {"a": float("nan")}]) or ""
    )


FREE = Parameter(name="free", type="object")
TEXT = Parameter(name="text")


@pytest.mark.parametrize(
    ("parameter", "value", "sentence"),
    [
        (TEXT, "x" * 4001, "has 4,001 characters, at most 4,000 are allowed"),
        (TEXT.model_copy(update={"max_length": 9}), "x" * 10, "has 10 characters, at most 9"),
        (TAGS.model_copy(update={"max_length": 9}), ["x", "x" * 10], "at most 9"),
        (FREE, {"a": ["x" * 4001]}, "has 4,001 characters"),
        (FREE, [0] * 201, "holds 201 items, at most 200"),
        (FREE, {"a": dict.fromkeys(map(str, range(201)))}, "holds 201 items"),
        (FREE, {"k" * 4001: 1}, "has 4,001 characters"),
        (FREE, [[[[[[[[1]]]]]]]], "is nested in more than 8 levels"),
    ],
)
def test_our_limits_of_length_and_depth_apply_to_our_service_only(
    parameter: Parameter, value: Any, sentence: str
) -> None:
    assert sentence in (value_problem(parameter, value) or "")
    if parameter.max_length is None:
        assert value_problem(parameter, value, UNKNOWN_LIMITS) is None


def test_a_value_at_its_limits_is_valid() -> None:
    longer = TEXT.model_copy(update={"max_length": 5000})

    assert value_problem(TEXT, "x" * 4000) is None
    assert value_problem(longer, "x" * 5000) is None
    assert value_problem(FREE, [[[[[[["x" * 4000] * 200]]]]]]) is None


def test_a_recursive_value_is_refused_for_any_service() -> None:
    endless: list[Any] = []
    endless.append(endless)

    assert "levels" in (value_problem(FREE, endless, UNKNOWN_LIMITS) or "")
    assert "levels" in (value_problem(FREE, endless) or "")


def test_all_parameters_together_are_limited_to_64_kb() -> None:
    known = [Parameter(name=f"t{number}") for number in range(20)]
    values = {parameter.name: "x" * 4000 for parameter in known}

    assert check_settings(known, values)[1] == [
        ("parameters", "has 80,171 bytes as JSON, at most 65,536 are allowed")
    ]
    assert check_settings(known, values, limits=UNKNOWN_LIMITS)[1] == []
    assert check_settings(known, dict(list(values.items())[:16]))[1] == []


def test_no_suggestions_are_made_for_many_unknown_names() -> None:
    def messages(number: int) -> list[str]:
        return [why for _, why in check_settings([SIZE], {f"sise{n}": 1 for n in range(number)})[1]]

    assert all("did you mean 'size'" in why for why in messages(20))
    assert set(messages(21)) == {"unknown parameter"}
    assert suggest("size" * 26, ["size" * 25]) == f"; there is {'size' * 25!r}"


@pytest.mark.parametrize("value", [[[0] * 9_999] * 9_999, {"a": "x" * 9_999}, "x" * 9_999, 10**99])
def test_a_wrong_value_is_reported_in_a_short_message(value: Any) -> None:
    assert len(value_problem(COUNT, value) or "") < 100


@pytest.mark.parametrize("name", ["", "x" * 256, "a/b.png", "a\\b.png", "a\n.png"])
def test_an_invalid_file_name_of_an_upload_is_refused(name: str) -> None:
    assert [field for field, _ in file_name_problems(name)] == ["fileName"]


def test_the_title_and_hook_angle_of_a_script_are_limited() -> None:
    def wrong_fields(**texts: str) -> list[str]:
        order = WriteScripts(topic="SPACE", duration="30", **{"title": "x", **texts})
        return [field for field, _ in script_problems(order)]

    assert wrong_fields(title=f" {'x' * 200} ", hook_angle="x" * 300) == []
    assert wrong_fields(title="x" * 201, hook_angle="x" * 301) == ["title", "hookAngle"]
    assert wrong_fields(title=" ") == ["title"]
