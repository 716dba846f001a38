"""Prices: terms add up, one rounding, and no valid request is below the lowest price."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kit import pricing
from kit.errors import ConfigError
from kit.parameters import value_problem
from kit.pricing import (
    Medium,
    check_rule,
    cost,
    credits,
    default_price,
    lowest_price,
    millicredits,
    price,
)
from kit.wire import Model, Multiplier, Parameter, Rule, UnitPrice

SECONDS = Parameter(name="seconds", type="integer", default=5, minimum=1, maximum=60)
RATIO = Parameter(name="ratio", type="number", minimum=0.25, maximum=4)
SIZE = Parameter(name="size", default="480p", enum=["480p", "720p", "1080p"])
RATE = Parameter(name="rate", type="integer", enum=[15, 30, 60])
SMOOTH = Parameter(name="smooth", type="boolean", required=True)
VOICE = Parameter(name="voice", type="audio", media=True)
SETTINGS = [SECONDS, RATIO, SIZE, RATE, SMOOTH]

amounts = st.decimals(0, 20, places=4)
factors = st.decimals("0.05", 8, places=2)
rules = st.builds(
    Rule,
    base=amounts,
    units=st.lists(
        st.builds(
            UnitPrice, parameter=st.sampled_from(["seconds", "ratio", "rate"]), credits=amounts
        )
        | st.builds(UnitPrice, medium=st.just("voice"), credits=amounts),
        max_size=3,
    ),
    multipliers=st.lists(
        st.builds(
            Multiplier,
            parameter=st.just("size"),
            values=st.dictionaries(st.sampled_from(["480p", "720p", "1080p"]), factors),
        )
        | st.builds(
            Multiplier,
            parameter=st.just("rate"),
            values=st.dictionaries(st.sampled_from(["15", "30", "60"]), factors),
        )
        | st.builds(
            Multiplier,
            parameter=st.just("smooth"),
            values=st.dictionaries(st.sampled_from(["true", "false"]), factors),
        ),
        max_size=3,
    ),
)
requests = st.fixed_dictionaries(
    {"seconds": st.integers(1, 60), "size": st.sampled_from(SIZE.enum), "smooth": st.booleans()},
    optional={
        "ratio": st.floats(0.25, 4).map(lambda x: round(x, 3)),
        "rate": st.sampled_from([15, 30, 60]),
    },
)
voices = st.lists(
    st.builds(Medium, st.just("audio"), st.integers(0, 600_000).map(lambda ms: Fraction(ms, 1000))),
    max_size=2,
)


def model(rule: Rule) -> Model:
    return Model(id="m", setting_parameters=SETTINGS, media_parameters=[VOICE], pricing=rule)


@example(
    rule=Rule(
        base=Decimal("107.6200001"),
        multipliers=[
            Multiplier(parameter="size", values={"480p": Decimal(factor)})
            for factor in ("0.21", "7.01", "0.05")
        ],
    ),
    request={"size": "480p"},
    voice=[],
)
@given(rules, requests, voices)
def test_the_terms_add_up_to_the_total(
    rule: Rule, request: dict[str, Any], voice: list[Medium]
) -> None:
    quote = price(rule, request, {"voice": voice})

    assert sum(Fraction(term.credits) for term in quote.terms) == Fraction(quote.total)


@given(rules, requests, voices)
def test_a_price_is_rounded_up_once_to_a_hundredth(
    rule: Rule, request: dict[str, Any], voice: list[Medium]
) -> None:
    quote = price(rule, request, {"voice": voice})
    roundings = [term for term in quote.terms if term.kind == "rounding"]
    exact = sum(Fraction(term.credits) for term in quote.terms if term.kind != "rounding")

    assert Fraction(quote.total) * 100 == -(-exact * 100 // 1)
    assert len(roundings) <= 1
    assert all(0 < term.credits < Decimal("0.01") for term in roundings)
    assert cost(rule, request, {"voice": voice}) == millicredits(quote.total)


@given(rules, requests, voices)
def test_no_valid_request_is_below_the_lowest_price(
    rule: Rule, request: dict[str, Any], voice: list[Medium]
) -> None:
    check_rule(model(rule))

    assert lowest_price(model(rule)) <= price(rule, request, {"voice": voice}).total


@given(rules)
def test_the_lowest_price_is_that_of_a_valid_request(rule: Rule) -> None:
    found = [
        price(rule, request).total
        for size in SIZE.enum or ()
        for rate in (None, 15, 30, 60)
        for ratio in (None, 0.25)
        for smooth in (True, False)
        for request in [
            {"seconds": 1, "size": size, "rate": rate, "ratio": ratio, "smooth": smooth}
        ]
    ]

    assert lowest_price(model(rule)) == min(found)


@given(rules, requests)
def test_a_price_does_not_depend_on_the_order_of_parameters(
    rule: Rule, request: dict[str, Any]
) -> None:
    assert price(rule, dict(reversed(request.items()))) == price(rule, request)


@given(rules)
def test_a_price_rule_survives_serialization(rule: Rule) -> None:
    back = Rule.model_validate_json(rule.model_dump_json(by_alias=True))

    assert price(back, {"seconds": 7}) == price(rule, {"seconds": 7})


@given(st.integers(0, 10**15))
def test_credits_convert_to_millicredits_and_back(amount: int) -> None:
    assert millicredits(credits(amount)) == amount


def test_amounts_below_a_millicredit_are_refused() -> None:
    with pytest.raises(ValueError, match="finer"):
        millicredits(Decimal("0.0001"))


def test_each_term_of_a_quote_names_its_parameter() -> None:
    rule = Rule(
        base=Decimal("0.1"),
        units=[UnitPrice(parameter="seconds", credits=Decimal("0.02"))],
        multipliers=[Multiplier(parameter="size", values={"720p": Decimal("1.555")})],
    )
    terms = price(rule, {"seconds": 5, "size": "720p"}).terms

    assert [(t.kind, t.parameter, t.value) for t in terms] == [
        ("base", None, None),
        ("unit", "seconds", 5),
        ("multiplier", "size", "720p"),
        ("rounding", None, None),
    ]
    assert [t.credits for t in terms] == [Decimal(x) for x in ("0.1", "0.1", "0.111", "0.009")]


def test_units_are_exact_for_fractions_and_for_all_files_of_an_input() -> None:
    each = Decimal("0.02")
    rule = Rule(units=[UnitPrice(parameter="ratio", credits=each)])
    rule.units.append(UnitPrice(medium="voice", credits=each))
    voices = [Medium("audio", Fraction(3, 2)), Medium("audio", Fraction(8))]
    quote = price(rule, {"ratio": 2.5}, {"voice": voices})

    assert [(t.parameter, t.value) for t in quote.terms[:2]] == [("ratio", 2.5), ("voice", 9.5)]
    assert [t.credits for t in quote.terms[:2]] == [Decimal("0.05"), Decimal("0.19")]
    assert quote.total == Decimal("0.24")


@pytest.mark.parametrize(
    ("value", "key"), [(True, "true"), (False, "false"), (2, "2"), (2.0, "2"), (2.5, "2.5")]
)
def test_a_multiplier_is_looked_up_by_the_text_of_its_value(value: Any, key: str) -> None:
    rule = Rule(base=Decimal(1), multipliers=[Multiplier(parameter="x", values={key: Decimal(3)})])

    assert price(rule, {"x": value}).total == 3


def test_the_lowest_price_assumes_the_shortest_required_files() -> None:
    rule = Rule(base=Decimal("0.03"), units=[UnitPrice(medium="voice", credits=Decimal("0.01"))])
    needed = model(rule).model_copy(
        update={"media_parameters": [VOICE.model_copy(update={"required": True})]}
    )
    shortest = {"voice": [Medium("audio", Fraction(1, 1000))]}

    assert lowest_price(needed) == price(rule, {}, shortest).total == Decimal("0.04")
    assert lowest_price(model(rule)) == Decimal("0.03")


def test_the_default_price_uses_the_default_parameters() -> None:
    rule = Rule(units=[UnitPrice(parameter="seconds", credits=Decimal("0.1"))])

    assert default_price(model(rule)) == Decimal("0.5")
    assert lowest_price(model(rule)) == Decimal("0.1")


@pytest.mark.parametrize(
    ("parameter", "sentence"),
    [
        (Parameter(name="n", type="integer"), "has no minimum"),
        (Parameter(name="n", type="integer", minimum=-1), "below 0"),
        (Parameter(name="n", type="integer", enum=[-1, 1]), "below 0"),
        (Parameter(name="n", type="string", minimum=0), "not a number"),
        (Parameter(name="n", type="number", minimum=0, max_items=3), "not a number"),
    ],
)
def test_only_non_negative_numbers_have_unit_prices(parameter: Parameter, sentence: str) -> None:
    rule = Rule(units=[UnitPrice(parameter="n", credits=Decimal(1))])
    with pytest.raises(ConfigError, match=sentence):
        check_rule(Model(id="m", setting_parameters=[parameter], pricing=rule))


def test_a_model_without_a_rule_is_refused() -> None:
    with pytest.raises(ConfigError, match="no price rule"):
        pricing.rule_of(Model(id="m"))


@given(requests)
def test_the_generated_requests_are_valid(request: dict[str, Any]) -> None:
    known = {p.name: p for p in SETTINGS}
    assume(request)

    assert [value_problem(known[name], value) for name, value in request.items()] == [None] * len(
        request
    )
