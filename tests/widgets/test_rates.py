from decimal import Decimal

import pytest

from kit import pricing, wire
from kit.widgets.prices import price_sentence, usual_price
from kit.widgets.prices import quote as draw_quote

SIZE = {"name": "size", "type": "string", "default": "large", "enum": ["small", "large"]}
SECOND = {"medium": "audio", "credits": 0.03}
LARGER = {"parameter": "size", "values": {"large": 1.5}}


def model(**rule: object) -> wire.Model:
    found = wire.Model.model_validate(
        {
            "id": "m",
            "assetType": "video",
            "settingParameters": [SIZE],
            "mediaParameters": [{"name": "audio", "type": "audio", "media": True}],
            "pricing": {"base": 0.02, **rule},
        }
    )
    prices = {
        "credits_from": pricing.lowest_price(found),
        "credits_at_defaults": pricing.default_price(found),
    }
    return found.model_copy(update=prices)


@pytest.mark.parametrize(
    ("rule", "short", "words"),
    [
        ({}, "0.02", "from 0.02 credits"),
        ({"units": [SECOND]}, "0.02 + 0.03/s", "from 0.02 credits, 0.03 credits a second of audio"),
        (
            {"units": [SECOND], "multipliers": [LARGER]},
            "0.03 + 0.045/s",
            "from 0.02 credits, 0.03 credits with its defaults, 0.045 credits a second of audio",
        ),
    ],
)
def test_the_price_per_second_of_an_input_is_shown(rule: object, short: str, words: str) -> None:
    assert isinstance(rule, dict)
    found = model(**rule)

    assert usual_price(found) == short
    assert price_sentence(found).replace("\N{NO-BREAK SPACE}", " ") == words


def test_a_missing_lowest_price_is_left_out() -> None:
    found = wire.Model(id="m", credits_at_defaults=Decimal(2))

    assert price_sentence(found).replace("\N{NO-BREAK SPACE}", " ") == "2 credits with its defaults"
    assert price_sentence(wire.Model(id="m")) == "price unknown"


def test_the_label_of_an_estimate_is_escaped_once() -> None:
    quote = wire.Quote(total=Decimal(1), source="default")

    assert "estimated, with the model&#x27;s defaults<" in draw_quote(quote)


def test_the_displayed_rate_matches_the_charge() -> None:
    found = model(units=[SECOND], multipliers=[LARGER])
    minute = {"audio": [pricing.Medium("audio", pricing.Fraction(60))]}

    quote = pricing.price(pricing.rule_of(found), {"size": "large"}, minute)

    start, second = (Decimal(part.removesuffix("/s")) for part in usual_price(found).split(" + "))
    assert quote.total == start + 60 * second


def test_a_model_without_a_price_rule_shows_no_price() -> None:
    assert usual_price(wire.Model(id="m", asset_type="image")) == ""
